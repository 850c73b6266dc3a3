"""The order of the notes: the `nav` of mkdocs.yml, read without MkDocs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from hooks.findings import Fast, Finding, nearest
from hooks.notes.note import Catalogue


@dataclass(frozen=True, slots=True)
class Entry:
    """A page or a section of the navigation."""

    path: str = ""
    """Path below `docs/`; empty for a section."""
    title: str = ""
    """The name written in the navigation; empty when the page's own title serves."""
    children: tuple[Entry, ...] = ()
    line: int = 0

    def pages(self) -> Iterator[Entry]:
        """Yield the pages below this entry, itself included, in order."""
        if self.path:
            yield self
        for child in self.children:
            yield from child.pages()


def read_navigation(config_file: Path) -> tuple[Entry, ...]:
    """Return the entries of `nav`, or nothing when the file has none."""
    node = yaml.compose(config_file.read_text(encoding="utf-8"), Loader=Fast)
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    nav = next((value for key, value in pairs if key.value == "nav"), None)
    return tuple(map(_entry, nav.value)) if isinstance(nav, yaml.SequenceNode) else ()


def _entry(node: yaml.Node) -> Entry:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode):
        return Entry(path=node.value, line=line)
    if isinstance(node, yaml.MappingNode) and node.value:
        key, value = node.value[0]
        if isinstance(value, yaml.SequenceNode):
            children = tuple(_entry(item) for item in value.value)
            return Entry(title=key.value, children=children, line=line)
        return Entry(path=str(value.value), title=key.value, line=line)
    return Entry(line=line)


def as_written(entries: Iterable[Entry]) -> list[Any]:
    """Return entries in the form that MkDocs has of its `nav`."""
    return [
        {one.title: one.path or as_written(one.children)} if one.title else one.path
        for one in entries
    ]


def check_navigation(entries: tuple[Entry, ...], catalogue: Catalogue) -> list[Finding]:
    """Report entries without a note and notes without an entry."""
    findings, file = [], "mkdocs.yml"
    pages = [page for entry in entries for page in entry.pages()]
    listed = {page.path for page in pages}
    for page in pages:
        if not page.path.startswith(("http:", "https:")) and page.path not in catalogue.notes:
            message = f"the navigation names '{page.path}', which does not exist under docs/"
            hint = nearest(page.path, catalogue.notes)
            findings.append(Finding(file, page.line, 1, "nav-missing", message, page.path, hint))
    for note in catalogue.notes.values():
        if f"{note.id}.md" not in listed:
            message = f"'{note.path}' is not in the navigation; add '{note.id}.md' to nav in {file}"
            findings.append(Finding(note.file, 1, 1, "nav-absent", message, target=note.path))
    return findings


def section_title(entry: Entry, catalogue: Catalogue, language: str) -> str:
    """Return a section's name in a language: the title of its index page, else as written."""
    for child in entry.children:
        if child.path.rpartition("/")[2] == "index.md":
            note = catalogue.in_language(child.path.removesuffix(".md"), language)
            if note is not None:
                return note.title
    return entry.title


def load(config: Path, notes: Catalogue) -> tuple[tuple[Entry, ...], list[Finding]]:
    """Return the entries of a configuration, and which of them and of the notes lack the other."""
    if not config.is_file():
        return (), []
    entries = read_navigation(config)
    return entries, check_navigation(entries, notes)
