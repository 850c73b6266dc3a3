"""The takeaway of a note as a card at the top of its page; its heading and ids stay as they are."""

from __future__ import annotations

from hooks.notes import Note, is_takeaway

AFTER = "<!-- after the takeaway -->"
"""Where overrides/partials/content.html puts what may be done with the page."""
_HEADING = "<h2"


def card(html: str, note: Note) -> str:
    """Return a page with its takeaway, its first section of level 2, in a box; else as it is."""
    first = next((one for one in note.source.headings if one.level == 2), None)
    start = html.find(_HEADING)
    if first is None or not is_takeaway(first.text) or start < 0:
        return html
    end = html.find(_HEADING, start + 1)
    before, section, rest = html[:start], html[start:end], html[end:]
    if end < 0:
        section, rest = html[start:], ""
    return f'{before}<section class="takeaway">\n{section}</section>{AFTER}\n{rest}'
