"""The handbook's sources, read and checked once: what commands, a build and CI have in common."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from hooks.cache import FOLDER, Cache, digest, of_files
from hooks.data import Layout, facts, glossary, measured_check, resources
from hooks.drawings import diagrams, figure_check
from hooks.findings import Finding
from hooks.links import Settings, assets, check_links, moved, safety, text
from hooks.markdown import generated, split, text_of
from hooks.notes import (
    Catalogue,
    Note,
    budgets,
    catalogue,
    drafts,
    navigation,
    prerequisites,
    published,
    questions,
    twins,
)  # fmt: skip
from hooks.pages import Data, markers, messages, topics
from hooks.pages import catalogue as everything
from hooks.pages import data as data_fences
from hooks.pages import glossary as glossary_page
from hooks.pages.values import check as value_check
from hooks.search.words import term_forms


@dataclass(frozen=True, slots=True)
class Tree:
    """The sources of a site, read once."""

    root: Path
    docs: Path
    notes: Catalogue
    entries: tuple[navigation.Entry, ...]
    data: Data
    areas: list[topics.Area]
    findings: list[Finding]
    """Everything the checks found, sorted."""
    moved: Mapping[str, str]
    """What took the place of pages and headings that are gone since a release."""
    settings: Settings
    """Where it lies, by which links to itself are known."""

    @property
    def facts(self) -> facts.FactBase:
        """The facts, as far as they are valid."""
        return self.data.facts[0]

    @property
    def glossary(self) -> glossary.Glossary:
        """The terms, as far as they are valid."""
        return self.data.glossary[0]


def read_tree(
    root: Path, docs: Path | None = None, *, repo_url: str = "", site_url: str = ""
) -> Tree:
    """Read the sources below `root` and check them; messages are relative to it.

    The notes lie in `docs`, by default `root/docs`; links to itself are known by the addresses of
    the repository and the site.
    """
    docs = docs or root / "docs"
    layout, kept = Layout(docs), Cache(root / FOLDER)
    notes, wrong = catalogue.load(docs, root, kept)
    shown = published(notes)
    entries, wrong_entries = navigation.load(root / "mkdocs.yml", notes)
    areas, wrong_areas = topics.load(layout.topics, layout.name(layout.topics))
    library, wrong_library = resources.load_resources(layout.resources, {area.id for area in areas})
    former, wrong_moves = moved.read(layout, shown)
    data = Data(root, notes, library, kept, docs)
    settings = Settings(repo_url, site_url, root, docs.name)
    drawings = diagrams.Drawings(docs)
    tree = Tree(root, docs, notes, entries, data, areas, [], former, settings)
    found = [
        *(*wrong, *wrong_entries, *wrong_areas, *wrong_library, *wrong_moves),
        *twins.check_pairs(notes),
        *twins.missing(shown),
        *drafts.check_drafts(notes),
        *prerequisites.check_prerequisites(notes),
        *questions.check_questions(notes),
        *_orphans(root, docs, notes),
        *(drawings.check(diagrams_of(notes)) if (docs / diagrams.LIBRARY).is_file() else ()),
        *_check_data(data),
        *check_links(notes, settings, generated_ids(tree, kept=True)),
    ]
    return replace(tree, findings=sorted(set(found)))


def reread(tree: Tree, note: Note) -> tuple[Note, list[Finding]]:
    """Return a note as its file is now, and what cannot be read of it."""
    data = (tree.docs / note.path).read_bytes()
    return catalogue.read_note(note.path, data, tree.docs, tree.docs.name)


def check_note(tree: Tree, path: str) -> list[Finding]:
    """Check one note of a tree, quickly: its text, what it shows, and its links."""
    note = tree.notes.notes[path]
    found = check_links(tree.notes, tree.settings, generated_ids(tree), note)
    return sorted({*_verdict(note, tree.data), *found})


def diagrams_of(notes: Catalogue) -> list[diagrams.Diagram]:
    """Return the mermaid fences of the notes."""
    return [
        diagrams.Diagram(note.file, fence.line, fence.text)
        for note in notes.notes.values()
        for fence in note.source.fences
        if fence.info.split(" ")[0] == "mermaid"
    ]


def _orphans(root: Path, docs: Path, notes: Catalogue) -> Iterator[Finding]:
    beside = [root / "mkdocs.yml", *root.glob("*.md"), *(root / "overrides").rglob("*")]
    for one in assets.orphans(notes, docs, docs.name, [one for one in beside if one.is_file()]):
        if f"/{diagrams.FOLDER}/" not in one.file:  # named by hashes, which no note writes
            yield one


def _check_data(data: Data) -> Iterator[Finding]:
    """Check the data, and what each note says and shows by itself: once, until that changes."""
    docs, notes, kept = data.docs, data.notes, data.cache
    terms = of_files([Layout(docs).terms], docs)
    texts = [(path, note.text) for path, note in notes.notes.items()]
    key: tuple[object, ...] = (data.stamp, terms, texts, sorted(notes.other_files))
    yield from data.facts[1]
    yield from kept.recall(
        "glossary", key, lambda: data.glossary[1] + glossary_page.check(data.glossary[0], notes)
    )
    yield from data.messages[1]
    yield from data.kit[1]
    yield from messages.check(data.messages[0], notes)
    for note in notes.notes.values():
        twin = notes.twin(note)
        key = (note.path, note.text, twin.text if twin is not None else "", data.stamp, terms)
        yield from kept.recall("verdict", key, partial(_verdict, note, data))
    for path in sorted(notes.other_files):
        file, name = docs / path, f"{docs.name}/{path}"
        if path.endswith(".svg") and "/figures/" in path:
            key = (name, file.read_bytes())
            yield from kept.recall("figure", key, partial(figure_check.check_svg, file, name))
        elif path.endswith(".json") and "/measured/" in path:
            key = (path, data.stamp)
            make = partial(measured_check.check_record, file, data.root, data.facts[0])
            yield from kept.recall("record", key, make)


def _verdict(note: Note, data: Data) -> list[Finding]:
    """Check what a note says and shows, without the places that it links to."""
    findings = [*text.check(note), *safety.check_note(note)]
    for fence in note.source.fences:
        kind = fence.info.split(" ")[0]
        if kind in data_fences.KINDS:
            try:
                data.fences.check(kind, fence, note)
            except data_fences.ERRORS as error:
                place = (note.file, fence.line, 1)
                findings.append(Finding(*place, f"{kind}-block", str(error)))
    if "<!--" in note.text:
        findings += value_check.check_note(note, data.notes, data.resolver)
    if not note.is_draft:
        findings += budgets.check_note(note)
    findings += term_forms.check_note(note, list(data.glossary[0].terms.values()))
    return findings


def fill(tree: Tree, markdown: str, path: str, language: str) -> str:
    """Return the Markdown of the note at a path with what is generated at its markers."""
    if markers.MARKER.search(markdown) is None:
        return markdown
    page = markers.Page(
        published(tree.notes),
        language,
        posixpath.relpath(".", posixpath.dirname(path) or "."),
        path=path,
        data=tree.data,
        entries=tree.entries,
        areas=tree.areas,
    )
    return markers.fill_markers(markdown, page)


def generated_ids(tree: Tree, *, kept: bool = False) -> Callable[[Note], frozenset[str]]:
    """Return what gives the ids that a build adds to a note's page: by items, and at markers.

    `kept` tells that what all of them depend on is known, so that results may be kept.
    """
    data, those = tree.data, cache(lambda: everything.by_page(tree.data.items))

    def make(note: Note) -> frozenset[str]:
        found = everything.ids(those(), note)
        body = split(note.text).body
        filled = fill(tree, body, note.path, note.language)
        if filled != body:
            found |= generated(text_of(filled.strip("\n"), tree.docs)).source.ids
        return found

    @cache
    def stamp() -> str:
        layout = Layout(tree.docs)
        files = of_files([tree.root / "mkdocs.yml", layout.terms], tree.root)
        texts = [(path, note.text) for path, note in tree.notes.notes.items()]
        return digest(data.stamp, files, texts, sorted(tree.notes.other_files))

    @cache
    def of_path(path: str) -> frozenset[str]:
        make_own = partial(make, tree.notes.notes[path])
        return data.cache.recall("ids", (stamp(), path), make_own) if kept else make_own()

    return lambda note: of_path(note.path)
