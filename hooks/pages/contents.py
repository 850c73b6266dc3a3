"""The cross-topic table of contents, topic listings and home page lists, as Markdown.

One renderer writes them for the home page, the topic pages and the files at the root.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from hooks.findings import Finding
from hooks.notes import Catalogue, Entry, Note, section_title
from hooks.pages.view import View, escape

_BLOCK = re.compile(
    r"(?P<open><!-- contents(?: depth=(?P<depth>\d))? -->).*?(?P<close><!-- /contents -->)",
    re.DOTALL,
)
_ABOUT = "about"
"""The folder of the pages about the handbook itself, which are no part of its contents."""
"""Notes in a list of the newest."""
_WRITTEN = {"CONTENTS.md": "zh", "CONTENTS.en.md": "en"}
"""The files at the root that are partly generated, and their languages."""


def contents(view: View, entries: Sequence[Entry], depth: int = 3) -> str:
    """Return every topic, note and heading down to level `depth`, folded by topic.

    Headings of level 1 repeat the title and are left out. Pages at the root are left out too:
    they are about the handbook, not part of it.
    """
    blocks: list[str] = []
    for entry in entries:
        if entry.children and _index_path(entry) != f"{_ABOUT}/index.md":
            blocks += _topic_blocks(view, entry, depth)
    return "\n\n".join(blocks)


def _topic_blocks(view: View, entry: Entry, depth: int, above: str = "") -> Iterator[str]:
    name = above + section_title(entry, view.notes, view.language)
    pages = [one.path for one in entry.children if one.path and not _is_index(one)]
    shown = list(filter(None, map(view.note, pages)))  # drafts are not
    if shown:
        unit = view.words("contents")["note" if len(shown) == 1 else "notes"]
        lines = "\n".join(line for note in shown for line in _note_lines(view, note, depth))
        summary = f"{html.escape(name, quote=False)} · {len(shown)} {unit}"
        yield f'<details markdown="1">\n<summary>{summary}</summary>\n\n{lines}\n\n</details>'
    for child in entry.children:
        if child.children:
            yield from _topic_blocks(view, child, depth, f"{name} / ")


def _note_lines(view: View, note: Note, depth: int) -> Iterator[str]:
    is_own = note.language == view.language
    yield f"- {view.link(note)}{'' if is_own else view.words('contents')['untranslated']}"
    for heading in note.source.headings:
        if 2 <= heading.level <= depth:
            yield f"{'    ' * (heading.level - 1)}- {view.link(note, heading.id, heading.text)}"


def topic_listing(view: View, entries: Sequence[Entry], index_path: str) -> str:
    """Return the notes and subtopics of the topic with an index page, with their descriptions.

    A group that has no index page is listed by its notes.
    """
    entry, lines = _topic(entries, index_path), []
    for child in _listed(entry.children) if entry is not None else ():
        note = None if _is_index(child) else view.note(child.path or _index_path(child))
        if note is not None:
            text = escape(note.meta.description) if note.meta else ""
            lines.append(f"- **{view.link(note)}**<br>{text}")
    return "\n".join(lines)


def _listed(children: Sequence[Entry]) -> list[Entry]:
    groups = ([one] if one.path or _index_path(one) else one.children for one in children)
    return [one for group in groups for one in group]


def _topic(entries: Sequence[Entry], index_path: str) -> Entry | None:
    for entry in entries:
        if _index_path(entry) == index_path:
            return entry
        if found := _topic(entry.children, index_path):
            return found
    return None


def _is_index(entry: Entry) -> bool:
    return entry.path.rpartition("/")[2] == "index.md"


def _index_path(entry: Entry) -> str:
    return next((child.path for child in entry.children if _is_index(child)), "")


def refresh(text: str, view: View, entries: Sequence[Entry]) -> str:
    """Return `text` with each `<!-- contents … -->` … `<!-- /contents -->` block written anew."""

    def block(match: re.Match[str]) -> str:
        body = contents(view, entries, int(match["depth"] or 3))
        return f"{match['open']}\n\n{body}\n\n{match['close']}"

    return _BLOCK.sub(block, text)


def check_root(
    root: Path, entries: Sequence[Entry], notes: Catalogue, *, write: bool = False
) -> list[Finding]:
    """Compare the committed contents with the notes; rewrite them if asked."""
    findings: list[Finding] = []
    for name, language in _WRITTEN.items():
        path = root / name
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        fresh = refresh(text, View(notes, language, "docs"), entries)
        if fresh != text:
            if write:
                path.write_text(fresh, encoding="utf-8")
            pairs = zip(text.split("\n"), fresh.split("\n"), strict=False)
            line = next((n for n, (old, new) in enumerate(pairs, 1) if old != new), 1)
            message = "it is stale; run: python -m hooks contents --write"
            findings.append(Finding(name, line, 1, "stale-contents", message))
    return findings
