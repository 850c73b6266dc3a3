"""Check the links, anchors, footnotes and headings of the notes, without building the site.

A link must work in both places where people read: on the site, and in GitHub's view of the file.
Each rule is in `hooks.links`; here they are applied to a tree, includes put in first.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from hooks.findings import Finding, nearest
from hooks.links import digest, includes, note_rules, uses
from hooks.links.digest import Digest
from hooks.links.settings import HANDBOOK, Settings
from hooks.links.target_rules import TargetRules, moved
from hooks.links.targets import resolve
from hooks.markdown import parse, split
from hooks.notes import Catalogue, Note


def check_sources(
    catalogue: Catalogue,
    read: Mapping[str, str] | None = None,
    settings: Settings = HANDBOOK,
    digests: Mapping[str, Digest] | None = None,
    generated: Callable[[Note], frozenset[str]] = lambda _: frozenset(),
) -> list[Finding]:
    """Check every note.

    Args:
        catalogue: The notes.
        read: Texts of the other files that notes include, by path below the docs folder.
        settings: The addresses of the handbook.
        digests: What is known of each note's text, where the caller has it.
        generated: Gives the ids that a build adds to the page of a note.
    """
    texts = _Texts(catalogue, {} if read is None else read)
    if digests is None:
        digests = digest.of_all(catalogue, settings)
    expanded: dict[str, includes.Expanded] = {}
    included: set[str] = set()
    including = [path for path, note in catalogue.notes.items() if note.may_include]
    for note in (catalogue.notes[path] for path in including):
        included.update(one.path for one in includes.located(note.text))
        found = includes.expand(note, texts)
        if found is not None:
            expanded[note.path] = found
    sources = {path: parse(split(found.text).body) for path, found in expanded.items()}
    targets = TargetRules(catalogue, settings, sources, generated)
    drafts = targets.drafts
    # The ids of a page with includes are not those of its text: links to it are looked at closely.
    plain = {path: one for path, one in digests.items() if path not in expanded}
    reached = {path: one for path, one in plain.items() if catalogue.notes[path].id not in drafts}
    findings: list[Finding] = []
    for path, one in plain.items():
        if path in included:
            findings += (finding for finding in one.text if finding.rule not in _NEED_THE_WHOLE)
        else:
            findings += one.text
        note = catalogue.notes[path]
        is_good = not digest.unmet(one, reached, catalogue.other_files)
        for use in one.odd if is_good else uses.of_text(note.source, note.text):
            findings += targets.check(note, use)
    said = {_key(finding) for finding in findings}
    for path, found in expanded.items():
        note = catalogue.notes[path]
        whole = replace(note, text=found.text, source=sources[path])
        for finding in _check_text(whole, targets):
            placed = _at_origin(finding, note, found, catalogue, settings)
            if _key(placed) not in said or placed.file == note.file:
                said.add(_key(placed))
                findings.append(placed)
    known = targets.files.all if including else []
    for path, note in catalogue.notes.items():
        if note.may_include:
            findings += includes.check(note, texts, known, catalogue.notes)
        findings += digests[path].title
        findings += _check_fields(note, digests[path], targets)
    return sorted(set(findings))


def check_links(
    note: Note,
    catalogue: Catalogue,
    settings: Settings,
    generated: Callable[[Note], frozenset[str]],
) -> Iterator[Finding]:
    """Yield what is wrong with the links of one note, but those to pages with included texts."""
    targets = TargetRules(catalogue, settings, {}, generated)
    for use in uses.of_text(note.source, note.text):
        other = catalogue.notes.get(resolve(use.target, note.path).path or "")
        if other is None or not other.may_include:
            yield from targets.check(note, use)


class _Texts(Mapping[str, str]):
    """The texts that may be included: the notes, and what was read beside them."""

    def __init__(self, catalogue: Catalogue, read: Mapping[str, str]) -> None:
        self.notes = catalogue.notes
        self.others = catalogue.other_files
        self.read = read

    def __getitem__(self, path: str) -> str:
        if path in self.notes:
            return self.notes[path].text
        return self.read[path]

    def __contains__(self, path: object) -> bool:
        return path in self.notes or path in self.read or path in self.others

    def get(self, path: str, default: str | None = None) -> str | None:  # type: ignore[override]
        return self[path] if path in self.notes or path in self.read else default

    def __iter__(self) -> Iterator[str]:
        yield from self.notes
        yield from self.read

    def __len__(self) -> int:
        return len(self.notes) + len(self.read)


def _key(finding: Finding) -> tuple[str, int, str, str]:
    return (finding.file, finding.line, finding.rule, finding.target)


def _check_text(note: Note, targets: TargetRules) -> Iterator[Finding]:
    """Yield the findings of a text with its includes put in."""
    yield from note_rules.of_note(note.file, note.text, note.source)
    for use in uses.of_text(note.source, note.text):
        yield from targets.check(note, use)
    yield from note_rules.of_tags(note.file, note.source)


_NEED_THE_WHOLE = frozenset({"undefined-reference", "unused-definition", "footnote"})


def _at_origin(
    finding: Finding, note: Note, found: includes.Expanded, catalogue: Catalogue, settings: Settings
) -> Finding:
    path, line = found.origins[min(max(finding.line, 1), len(found.origins)) - 1]
    if path == note.path:
        return replace(finding, line=line)
    other = catalogue.notes.get(path)
    prefix = settings.docs_prefix
    file = other.file if other else posixpath.normpath(posixpath.join(prefix, path))
    return moved(finding, file, line, note.file)


def _check_fields(note: Note, known_of: Digest, targets: TargetRules) -> Iterator[Finding]:
    if note.meta is not None and note.meta.prerequisites:
        known = targets.catalogue.ids()
        for wanted in note.meta.prerequisites:
            if wanted not in known:
                lines = enumerate(note.text.split("\n"), 1)
                line = next((number for number, text in lines if wanted in text), 1)
                message = f"prerequisite '{wanted}' does not exist"
                hint = nearest(wanted, known)
                yield Finding(note.file, line, 1, "dead-link", message, wanted, hint)
    for use in known_of.fields:
        yield from targets.check(note, use)
