"""Run every check on the sources: what the command line, a build and CI have in common."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from hooks import cache
from hooks.calc import registry
from hooks.data import (
    Layout,
    measured_check,
    paths,
    resources,
)
from hooks.drawings import diagrams, figure_check
from hooks.findings import Finding
from hooks.links import Settings, assets, check, moved, safety, text
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
)
from hooks.pages import (
    contents,
    topics,
)
from hooks.pages import fences as data_fences
from hooks.pages import glossary as glossary_page
from hooks.pages import paths as paths_page
from hooks.pages.values import check as values
from hooks.search.words import term_forms
from hooks.tree import Data, Tree, generated_ids

WRITTEN = {"README.md": "zh", "README.en.md": "en", "CONTENTS.md": "zh", "CONTENTS.en.md": "en"}
"""The files at the root that are partly generated, and their languages."""


_PROGRAM = re.compile(rb'"path": "([^"\\]+)"')
_NO_DATA = re.compile(
    r"assets/(?!javascripts/calc/)|data/(?:raw|external|published|moved)|.*\.(?:svg|png|jpe?g|webp|pdf)\Z"
)
"""Files that no figure on a page is taken from."""


def read_tree(
    root: Path,
    docs: Path | None = None,
    *,
    repo_url: str = "",
    site_url: str = "",
) -> Tree:
    """Read the sources below `root` and check them.

    Args:
        root: The repository root, which messages are relative to.
        docs: The folder of notes; default `root/docs`.
        repo_url: The repository's address, by which links to itself are known.
        site_url: The address the site is published at, likewise.
    """
    docs = docs or root / "docs"
    settings = Settings(repo_url, site_url, root, docs.name)
    kept = cache.Cache(root / cache.FOLDER)
    notes, findings = catalogue.load(docs, root, kept)
    tree = _read_rest(root, docs, notes, settings, kept)
    findings += tree.findings + _check_diagrams(notes, docs)
    return replace(tree, findings=sorted(set(findings)))


def reread(tree: Tree, note: Note) -> tuple[Note, list[Finding]]:
    """Return a note as its file is now, and what cannot be read of it."""
    prefix = note.file.removesuffix(f"/{note.path}")
    data = (tree.docs / note.path).read_bytes()
    return catalogue.read_note(note.path, data, tree.docs, prefix)


def check_note(tree: Tree, path: str, repo_url: str = "", site_url: str = "") -> list[Finding]:
    """Check one note of a tree, quickly: its text, what it shows, and its links."""
    note = tree.notes.notes[path]
    settings = Settings(repo_url, site_url, tree.root, tree.docs.name)
    findings = _verdict(note, tree.data)
    findings += check.check_links(tree.notes, settings, generated_ids(tree), note)
    return sorted(set(findings))


def _read_rest(
    root: Path,
    docs: Path,
    notes: Catalogue,
    settings: Settings,
    kept: cache.Cache,
) -> Tree:
    findings: list[Finding] = []
    layout = Layout(docs)
    findings += twins.check_pairs(notes)
    findings += drafts.check_drafts(notes)
    findings += prerequisites.check_prerequisites(notes)
    findings += questions.check_questions(notes)
    config = root / "mkdocs.yml"
    entries: tuple[navigation.Entry, ...] = ()
    if config.is_file():
        entries = navigation.read_navigation(config)
        findings += navigation.check_navigation(entries, notes)
    hidden = f"/{diagrams.FOLDER}/"  # named by hashes, which no note writes
    orphans = assets.orphans(notes, docs, docs.name, _beside(root))
    findings += [one for one in orphans if hidden not in one.file]
    areas, problems = topics.load(layout.topics, layout.name(layout.topics))
    findings += problems
    findings += missing_translations(published(notes))
    library, problems = resources.load_resources(layout.resources, {area.id for area in areas})
    findings += problems
    ways, problems = _check_paths(notes, layout)
    findings += problems
    former, problems = _check_published(published(notes), layout)
    findings += problems
    data = Data(root, docs, notes, library, kept)
    data.stamp = _stamp(data)
    findings += _check_data(data)
    tree = Tree(
        root,
        docs,
        notes,
        entries,
        data,
        areas,
        ways,
        library,
        findings,
        former,
    )
    rest = cache.of_files([config, layout.report, layout.terms], root)
    texts = [(path, note.text) for path, note in notes.notes.items()]
    made_from = cache.digest(data.stamp, rest, texts, sorted(notes.other_files))
    findings += check.check_links(notes, settings, generated_ids(tree, made_from))
    return tree


def _check_published(notes: Catalogue, layout: Layout) -> tuple[dict[str, str], list[Finding]]:
    """Return what has moved since a release, and which of its addresses no longer answer."""
    former: dict[str, str] = {}
    findings: list[Finding] = []
    if layout.moved.is_file():
        text = layout.moved.read_text(encoding="utf-8")
        former, findings = moved.load(text, layout.name(layout.moved), notes)
    if layout.published.is_file():
        lines = layout.published.read_text(encoding="utf-8").splitlines()
        findings += moved.check(lines, layout.name(layout.published), notes, former)
    return former, findings


def _check_paths(
    notes: Catalogue, layout: Layout
) -> tuple[tuple[paths.LearningPath, ...], list[Finding]]:
    path = layout.paths
    found, document, findings = paths.load_paths(path, layout.name(path))
    if found and document is not None:
        findings += paths_page.check(found, document, notes)
    return (() if findings else found), findings


def diagrams_of(notes: Catalogue) -> list[diagrams.Diagram]:
    """Return the mermaid fences of the notes."""
    return [
        diagrams.Diagram(note.file, fence.line, fence.text)
        for note in notes.notes.values()
        for fence in note.source.fences
        if fence.info.split(" ")[0] == "mermaid"
    ]


def _check_diagrams(notes: Catalogue, docs: Path) -> list[Finding]:
    written = diagrams_of(notes)
    if not written or not (docs / diagrams.LIBRARY).is_file():
        return []
    return diagrams.Drawings(docs).check(written)


def _beside(root: Path) -> list[Path]:
    """Return the files outside the notes that may name assets."""
    files = [root / "mkdocs.yml", *root.glob("*.md"), *(root / "overrides").rglob("*")]
    return [path for path in files if path.is_file()]


def _check_data(data: Data) -> list[Finding]:
    """Check the data, and what each note says and shows by itself: once, until that changes."""
    root, docs, notes, stamp, kept = data.root, data.docs, data.notes, data.stamp, data.cache
    layout = Layout(docs)
    terms = _hash(docs, layout.terms.glob("*"))
    texts = [(path, note.text) for path, note in notes.notes.items()]
    everything = cache.digest(stamp, terms, texts, sorted(notes.other_files))
    findings = [*data.facts[1]]

    def of_all() -> list[Finding]:
        return data.glossary[1] + glossary_page.check(data.glossary[0], notes)

    findings += kept.recall("together", everything, of_all)
    for note in notes.notes.values():
        twin = notes.twin(note, "en" if note.language == "zh" else "zh")
        key = (note.path, note.text, twin.text if twin is not None else "", stamp, terms)
        findings += kept.recall("verdict", key, partial(_verdict, note, data))
    for path in sorted(notes.other_files):
        file = docs / path
        if path.endswith(".svg") and "/figures/" in path:
            name = file.relative_to(root).as_posix()
            figure = (name, file.read_bytes())
            findings += kept.recall("figure", figure, partial(figure_check.check_svg, file, name))
        elif path.endswith(".json") and "/measured/" in path:
            findings += kept.recall("record", (path, stamp), partial(_check_record, file, data))
    return findings


def _verdict(note: Note, data: Data) -> list[Finding]:
    """Check what a note says and shows, without the places that it links to."""
    alone = Catalogue({note.path: note})
    findings = [*text.check(note), *safety.check_note(note), *check_shown(note, data)]
    if not note.is_draft:
        findings += budgets.check_budgets(alone)
    if note.language == "zh":
        findings += term_forms.check_forms(alone, list(data.glossary[0].terms.values()))
    return findings


def _hash(docs: Path, files: Iterable[Path]) -> str:
    """Return a hash of files and their paths."""
    mark = hashlib.blake2b(digest_size=20)
    for path in sorted(one for one in files if one.is_file()):
        data = path.read_bytes()
        name = path.relative_to(docs).as_posix()
        mark.update(f"{name}\0{len(data)}\0".encode("utf-8", "surrogatepass") + data)
    return mark.hexdigest()


def _stamp(data: Data) -> str:
    """Return a hash of everything beside a note and its twin that the numbers on pages rest on:
    data, records, the programs that they name, calculators, and the names of all notes.
    """
    notes, docs = data.notes, data.docs
    files = [docs / path for path in notes.other_files if _NO_DATA.match(path) is None]
    mark = hashlib.blake2b(_hash(docs, files).encode(), digest_size=20)
    named: set[str] = set()
    for path in files:
        if path.suffix == ".json" and "/measured/" in path.as_posix():
            names = _PROGRAM.findall(path.read_bytes())
            named.update(name.decode("utf-8", "replace") for name in names)
    for name in sorted(named):
        program = data.root / name
        if not name.startswith(f"{docs.name}/") and program.is_file():
            mark.update(name.encode() + b"\0" + program.read_bytes())
    mark.update(_hash(registry.FOLDER, registry.scripts()).encode())
    for note in notes.notes.values():
        mark.update(f"{note.path}\0{note.title}\0".encode("utf-8", "surrogatepass"))
    return mark.hexdigest()


def check_shown(note: Note, data: Data) -> list[Finding]:
    """Check what a note shows beside its prose, and the numbers in it."""
    findings: list[Finding] = []
    for fence in note.source.fences:
        kind = fence.info.split(" ")[0]
        if kind in data_fences.KINDS:
            try:
                data.fences.check(kind, fence, note)
            except data_fences.ERRORS as error:
                place = (note.file, fence.line, 1)
                findings.append(Finding(*place, f"{kind}-block", str(error)))
    if "<!--" in note.text:
        findings += values.check_note(note, data.notes, data.resolver)
    return findings


def _check_record(file: Path, data: Data) -> list[Finding]:
    base = data.facts[0]
    return measured_check.check_record(file, data.root, data.fences.known, base)


def missing_translations(notes: Catalogue) -> list[Finding]:
    """Tell which notes exist in one language only; readers of the other see a notice."""
    names = {"zh": "Chinese", "en": "English"}
    findings = []
    for note in notes.notes.values():
        other = "en" if note.language == "zh" else "zh"
        if notes.twin(note, other) is None:
            message = f"no {names[other]} twin yet; its readers see this page with a notice"
            findings.append(Finding(note.file, 0, 0, "untranslated", message))
    return findings


def publish(tree: Tree) -> bool:
    """Write down the pages and headings of a release; tell whether that changed the file."""
    path = Layout(tree.docs).published
    fresh = "".join(
        f"{one}\n" for one in sorted(moved.current(published(tree.notes)) | {*tree.moved})
    )
    if path.is_file() and path.read_text(encoding="utf-8") == fresh:
        return False
    path.write_text(fresh, encoding="utf-8")
    return True


def readme_findings(tree: Tree, *, write: bool = False, site_url: str = "") -> list[Finding]:
    """Compare the committed contents with the notes; rewrite them if asked.

    With `site_url`, the README files say that the site is there.
    """
    findings: list[Finding] = []
    notes = published(tree.notes)
    for name, language in WRITTEN.items():
        path = tree.root / name
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        fresh = contents.refresh(text, tree.entries, notes, language=language, prefix="docs")
        if site_url:
            fresh = contents.refresh_site(fresh, site_url, language)
        if fresh != text:
            if write:
                path.write_text(fresh, encoding="utf-8")
            pairs = zip(text.split("\n"), fresh.split("\n"), strict=False)
            line = next((n for n, (old, new) in enumerate(pairs, 1) if old != new), 1)
            message = "it is stale; run: make contents"
            findings.append(Finding(name, line, 1, "stale-contents", message))
    return findings
