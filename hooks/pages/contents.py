"""The cross-topic table of contents, topic listings and home page lists, as Markdown.

One renderer writes them for the home page, the topic pages and README.md. Only the paths differ:
`prefix` leads from the page that shows the list to the docs folder.
"""

from __future__ import annotations

import datetime
import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from hooks.findings import Finding
from hooks.notes import Catalogue, Entry, Note, section_title
from hooks.pages.words import words_of

_SPECIAL = re.compile(r"([\\`*_\[\]<>$|])")
_BLOCK = re.compile(
    r"(?P<open><!-- contents(?: depth=(?P<depth>\d))?(?: lang=(?P<language>zh|en))? -->)"
    r".*?(?P<close><!-- /contents -->)",
    re.DOTALL,
)


# Pages about the handbook itself are no part of its contents.
_ABOUT = "about"


def escape(text: str) -> str:
    """Return text with the characters escaped that Markdown would read as markup."""
    return _SPECIAL.sub(r"\\\1", text)


def link(note: Note, prefix: str = "", fragment: str = "", text: str = "") -> str:
    """Return a Markdown link to a note or one of its headings."""
    target = posixpath.join(prefix, note.path) + (f"#{fragment}" if fragment else "")
    return f"[{escape(text or note.title)}]({target})"


def contents(
    entries: Sequence[Entry],
    catalogue: Catalogue,
    language: str,
    *,
    depth: int = 3,
    prefix: str = "",
) -> str:
    """Return every topic, note and heading down to level `depth`, folded by topic.

    Headings of level 1 repeat the title and are left out. Pages at the root are left out too:
    they are about the handbook, not part of it.
    """
    blocks = []
    for entry in entries:
        if entry.children and _index_path(entry) != f"{_ABOUT}/index.md":
            blocks.extend(_topic_blocks(entry, catalogue, language, depth, prefix, trail=()))
    return "\n\n".join(blocks)


def _topic_blocks(
    entry: Entry,
    catalogue: Catalogue,
    language: str,
    depth: int,
    prefix: str,
    trail: tuple[str, ...],
) -> list[str]:
    trail = (*trail, section_title(entry, catalogue, language))
    own = [child for child in entry.children if child.path and not _is_index(child)]
    blocks = []
    lines = []
    shown = 0  # drafts are not
    for child in own:
        note = catalogue.in_language(child.path.removesuffix(".md"), language)
        if note is not None:
            shown += 1
            lines.extend(_note_lines(note, language, depth, prefix))
    if lines:
        name = " / ".join(trail)
        unit = words_of("contents", language)["note" if shown == 1 else "notes"]
        count = f"{shown} {unit}"
        head = f'<details markdown="1">\n<summary>{_html(name)} · {count}</summary>'
        blocks.append(f"{head}\n\n" + "\n".join(lines) + "\n\n</details>")
    for child in entry.children:
        if child.children:
            blocks.extend(_topic_blocks(child, catalogue, language, depth, prefix, trail))
    return blocks


def _note_lines(note: Note, language: str, depth: int, prefix: str) -> list[str]:
    mark = "" if note.language == language else words_of("contents", language)["untranslated"]
    lines = [f"- {link(note, prefix)}{mark}"]
    for heading in note.source.headings:
        if 2 <= heading.level <= depth:
            indent = "    " * (heading.level - 1)
            lines.append(f"{indent}- {link(note, prefix, heading.id, heading.text)}")
    return lines


def topic_listing(entry: Entry, catalogue: Catalogue, language: str, *, prefix: str = "") -> str:
    """Return the notes and subtopics of a topic as a list with their descriptions."""
    lines = []
    for child in entry.children:
        page = child.path if child.path else _index_path(child)
        if not page or (child.path and _is_index(child)):
            continue
        note = catalogue.in_language(page.removesuffix(".md"), language)
        if note is not None:
            text = escape(note.meta.description) if note.meta else ""
            lines.append(f"- **{link(note, prefix)}**<br>{text}")
    return "\n".join(lines)


def newest(
    catalogue: Catalogue,
    language: str,
    added: Mapping[str, datetime.date],
    *,
    limit: int = 6,
    prefix: str = "",
) -> str:
    """Return the notes added last, newest first; `added` maps a note's file to its first day."""
    notes = _notes_shown(catalogue, language)
    today = datetime.datetime.now(tz=datetime.UTC).date()
    notes.sort(key=lambda note: (-added.get(note.file, today).toordinal(), note.id))
    word = words_of("contents", language)["added"]
    return "\n".join(
        f"- {link(note, prefix)} · {word} {added.get(note.file, today).isoformat()}"
        for note in notes[:limit]
    )


def last_verified(catalogue: Catalogue, language: str, *, limit: int = 6, prefix: str = "") -> str:
    """Return the notes whose facts were checked last, newest first."""
    notes = [note for note in _notes_shown(catalogue, language) if note.meta is not None]
    notes.sort(key=lambda note: (-_verified(note).toordinal(), note.id))
    word = words_of("contents", language)["verified"]
    return "\n".join(
        f"- {link(note, prefix)} · {word} {_verified(note).isoformat()}" for note in notes[:limit]
    )


def _verified(note: Note) -> datetime.date:
    day = note.meta.verified if note.meta is not None else None
    return day or datetime.date.min


def _notes_shown(catalogue: Catalogue, language: str) -> list[Note]:
    shown = (catalogue.in_language(note_id, language) for note_id in catalogue.ids())
    return [note for note in shown if note and note.topic and not note.is_index and _is_note(note)]


def _is_note(note: Note) -> bool:
    return note.meta is not None and note.meta.kind != "map" and note.topic != _ABOUT


def _is_index(entry: Entry) -> bool:
    return entry.path.rpartition("/")[2] == "index.md"


def _index_path(entry: Entry) -> str:
    return next((child.path for child in entry.children if _is_index(child)), "")


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def topic_entry(entries: Sequence[Entry], index_path: str) -> Entry | None:
    """Return the section whose index page is `index_path`."""
    for entry in entries:
        if _index_path(entry) == index_path:
            return entry
        found = topic_entry(entry.children, index_path)
        if found is not None:
            return found
    return None


def refresh(
    text: str, entries: Sequence[Entry], catalogue: Catalogue, *, language: str, prefix: str
) -> str:
    """Return `text` with each `<!-- contents … -->` … `<!-- /contents -->` block written anew."""

    def block(match: re.Match[str]) -> str:
        depth = int(match["depth"] or 3)
        chosen = match["language"] or language
        body = contents(entries, catalogue, chosen, depth=depth, prefix=prefix)
        return f"{match['open']}\n\n{body}\n\n{match['close']}"

    return _BLOCK.sub(block, text)


def refresh_site(text: str, site_url: str, language: str) -> str:
    """Return `text` with its `<!-- site -->` block saying where the site is."""
    said = {"zh": "在线阅读：", "en": "Online: "}[language]
    block = f"<!-- site -->\n{said}<{site_url}>\n<!-- /site -->"
    return re.sub(r"<!-- site -->.*?<!-- /site -->", lambda _: block, text, flags=re.DOTALL)


WRITTEN = {"README.md": "zh", "README.en.md": "en", "CONTENTS.md": "zh", "CONTENTS.en.md": "en"}
"""The files at the root that are partly generated, and their languages."""


def check_root(
    root: Path,
    entries: Sequence[Entry],
    notes: Catalogue,
    *,
    write: bool = False,
    site_url: str = "",
) -> list[Finding]:
    """Compare the committed contents with the notes; rewrite them if asked.

    With `site_url`, the README files say that the site is there.
    """
    findings: list[Finding] = []
    for name, language in WRITTEN.items():
        path = root / name
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        fresh = refresh(text, entries, notes, language=language, prefix="docs")
        if site_url:
            fresh = refresh_site(fresh, site_url, language)
        if fresh != text:
            if write:
                path.write_text(fresh, encoding="utf-8")
            pairs = zip(text.split("\n"), fresh.split("\n"), strict=False)
            line = next((n for n, (old, new) in enumerate(pairs, 1) if old != new), 1)
            message = "it is stale; run: python -m hooks contents --write"
            findings.append(Finding(name, line, 1, "stale-contents", message))
    return findings
