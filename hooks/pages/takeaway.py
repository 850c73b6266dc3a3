"""The takeaway of a note as a card at the top of its page; its heading and ids stay as they are."""

from __future__ import annotations

from hooks.notes import Note, is_takeaway

AFTER = "<!-- after the takeaway -->"
"""Where overrides/partials/content.html puts what may be done with the page."""
_HEADING = "<h2"
_ANCHORS = "<p><a id="
"""How a paragraph begins that holds nothing but places to link to: they belong to what follows."""


def card(html: str, note: Note) -> str:
    """Return a page with the section of its takeaway in a box; as it is, where there is none.

    Args:
        html: The page as rendered.
        note: The note that it was made from; the takeaway is its first section of level 2.
    """
    first = next((one for one in note.source.headings if one.level == 2), None)
    if first is None or not is_takeaway(first.text):
        return html
    start = html.find(_HEADING)
    end = html.find(_HEADING, start + 1)
    if start < 0:
        return html
    section = html[start:] if end < 0 else html[start:end]
    at = section.rfind(_ANCHORS)
    if at > 0 and not _text(section[at:]):
        section = section[:at]
    rest = html[start + len(section) :]
    return f'{html[:start]}<section class="takeaway">\n{section}</section>{AFTER}\n{rest}'


def _text(html: str) -> str:
    """Return what of a piece of HTML stands outside its tags."""
    return "".join(part.rpartition(">")[2] for part in html.split("<")).strip()
