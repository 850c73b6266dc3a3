"""Run every check on the sources: what the command line, a build and CI have in common."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from hooks.calc import engine as calc_engine
from hooks.data import (
    coverage,
    facts,
    glossary,
    glossary_load,
    load,
    measured_check,
    paths,
    resources,
)
from hooks.drawings import diagrams, figures
from hooks.findings import Finding
from hooks.links import Settings, addresses, assets, check, digest, ids, includes
from hooks.markdown import parse, split
from hooks.notes import (
    FOLDER,
    Catalogue,
    Memory,
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
    DataFences,
    Item,
    contents,
    markers,
    source_use,
    term_marks,
    topic_map,
    topic_tree,
)
from hooks.pages import catalogue as everything
from hooks.pages import coverage as coverage_page
from hooks.pages import fences as data_fences
from hooks.pages import glossary as glossary_page
from hooks.pages import paths as paths_page
from hooks.pages import resources as resources_page
from hooks.pages import sources as bibliography
from hooks.pages.values import values
from hooks.search.words import term_forms
from hooks.site import anki

WRITTEN = {"README.md": "zh", "README.en.md": "en", "CONTENTS.md": "zh", "CONTENTS.en.md": "en"}
"""The files at the root that are partly generated, and their languages."""
MERMAID = "assets/vendor/mermaid/mermaid.min.js"


@dataclass(frozen=True, slots=True)
class Tree:
    """The sources of a site, read once."""

    root: Path
    docs: Path
    notes: Catalogue
    entries: tuple[navigation.Entry, ...]
    facts: facts.FactBase
    areas: list[topic_map.Area]
    coverage: coverage.Coverage | None
    """What the documents ask that the handbook grew from; None where it is bad or absent."""
    paths: tuple[paths.LearningPath, ...]
    """Learning paths; empty where they are bad or absent."""
    library: resources.Library
    """The library of resources, as far as it is valid."""
    glossary: glossary.Glossary
    fences: DataFences
    """Renders the fences that show data; what the check has rendered is there already."""
    resolver: values.Resolver
    """Looks up the numbers in prose, likewise."""
    items: tuple[Item, ...]
    """All that readers may look for, of every kind."""
    findings: list[Finding]
    """Everything the checks found, sorted."""


def read_tree(
    root: Path, docs: Path | None = None, *, repo_url: str = "", site_url: str = ""
) -> Tree:
    """Read the sources below `root` and check them.

    Args:
        root: The repository root, which messages are relative to.
        docs: The folder of notes; default `root/docs`.
        repo_url: The repository's address, by which links to itself are known.
        site_url: The address the site is published at, likewise.
    """
    docs = docs or root / "docs"
    settings = Settings(repo_url=repo_url, site_url=site_url, docs_prefix=docs.name, root=root)
    memory = Memory(root / FOLDER, f"{docs} {settings!r}")
    notes, findings = catalogue.load(docs, root, memory=memory)
    # Mermaid's parser is a process of its own, which works beside the rest.
    with ThreadPoolExecutor(1) as beside:
        drawn = beside.submit(_check_diagrams, notes, docs, root)
        tree = _read_rest(root, docs, notes, settings, memory)
        findings += tree.findings + drawn.result()
    return replace(tree, findings=sorted(set(findings)))


def _read_rest(
    root: Path, docs: Path, notes: Catalogue, settings: Settings, memory: Memory
) -> Tree:
    findings: list[Finding] = []
    digests = digest.of_all(notes, settings, memory)
    memory.save()
    texts = includes.Texts(docs, notes.other_files)
    findings += twins.check_pairs(notes)
    findings += budgets.check_budgets(published(notes)) + drafts.check_drafts(notes)
    findings += prerequisites.check_prerequisites(notes)
    findings += questions.check_questions(notes)
    for one in digests.values():
        findings += one.safety
    config = root / "mkdocs.yml"
    entries: tuple[navigation.Entry, ...] = ()
    if config.is_file():
        entries = navigation.read_navigation(config)
        findings += navigation.check_navigation(entries, notes)
    findings += assets.orphans(notes, docs, digests, settings, _beside(root))
    base, problems = load.load_facts(docs / "data")
    findings += problems
    areas, problems = topic_map.load(docs / "map.yml", "docs/map.yml")
    findings += problems + topic_tree.check(areas, notes)
    findings += missing_translations(published(notes))
    folder = docs / "data" / resources.FOLDER
    library, problems = resources.load_resources(folder, {area.id for area in areas})
    findings += problems
    covered, problems = _check_coverage(notes, docs, library)
    findings += problems
    ways, problems = _check_paths(notes, docs)
    findings += problems
    terms, problems = _check_terms(notes, docs)
    findings += problems
    findings += addresses.check_aliases(notes)
    register = root / addresses.REGISTER
    if register.is_file():
        lines = register.read_text(encoding="utf-8").splitlines()
        findings += addresses.check_register(lines, published(notes))
    fences = DataFences(base, docs, root, notes, cache=root / ".cache" / "charts")
    findings += _check_blocks(fences)
    resolver = values.Resolver(base, docs, root, frozenset(notes.ids()), known=fences.known)
    findings += values.check_notes(notes, resolver)
    items = everything.gather(published(notes), terms, library, fences, calc_engine.default(base))
    findings += everything.check(items, notes)
    tree = Tree(
        root,
        docs,
        notes,
        entries,
        base,
        areas,
        covered,
        ways,
        library,
        terms,
        fences,
        resolver,
        items,
        findings,
    )
    findings += check.check_sources(notes, texts, settings, digests, generated_ids(tree))
    return tree


def fill(
    tree: Tree,
    markdown: str,
    path: str,
    language: str,
    added: Mapping[str, datetime.date] | None = None,
) -> str:
    """Return a page's Markdown with what is generated at its markers.

    Args:
        tree: The sources.
        markdown: The page's text.
        path: The note's path below the docs folder.
        language: The language of the page.
        added: The day on which each file of a note was added, where it matters.
    """

    def users(language: str) -> dict[str, list[Note]]:
        return source_use.users(tree.notes, tree.facts, tree.resolver, language)

    def library(language: str) -> str:
        cited = resources_page.citing(
            tree.library, tree.notes, language, tree.facts, users(language)
        )
        return resources_page.render(tree.library, tree.areas, cited, language)

    def uses(language: str) -> glossary_page.Uses:
        order = [page.path.removesuffix(".md") for one in tree.entries for page in one.pages()]
        return term_marks.Marks(tree.glossary).uses(published(tree.notes), order, language)

    return markers.fill_markers(
        markdown,
        page_path=path,
        language=language,
        entries=tree.entries,
        notes=published(tree.notes),
        added=added or {},
        areas=tree.areas,
        root=tree.root,
        sources=lambda language: bibliography.render(tree.facts, users(language), language),
        asked=tree.coverage,
        learning=tree.paths,
        has_deck=anki.is_available(),
        library=tree.library,
        resources=library,
        glossary=tree.glossary,
        items=tree.items,
        uses=uses if added is not None else None,
    )


def generated_ids(tree: Tree) -> Callable[[Note], frozenset[str]]:
    """Return what gives the ids that a build adds to a note's page: by items, and at markers."""
    those = everything.by_page(tree.items)
    known: dict[str, frozenset[str]] = {}

    def of(note: Note) -> frozenset[str]:
        if note.path not in known:
            found = everything.ids(those, note)
            body = split(note.text).body
            filled = fill(tree, body, note.path, note.language)
            if filled != body:
                found |= ids.on_site(parse(filled))
            known[note.path] = found
        return known[note.path]

    return of


def _check_coverage(
    notes: Catalogue, docs: Path, library: resources.Library
) -> tuple[coverage.Coverage | None, list[Finding]]:
    path = docs / "data" / coverage.FILE
    found, document, findings = coverage.load_coverage(path, f"docs/data/{path.name}")
    if found is not None and document is not None:
        findings += coverage_page.check(found, document, notes, library)
    return (None if findings else found), findings


def _check_paths(
    notes: Catalogue, docs: Path
) -> tuple[tuple[paths.LearningPath, ...], list[Finding]]:
    path = docs / "data" / paths.FILE
    found, document, findings = paths.load_paths(path, f"docs/data/{path.name}")
    if found and document is not None:
        findings += paths_page.check(found, document, notes)
    return (() if findings else found), findings


def _check_terms(notes: Catalogue, docs: Path) -> tuple[glossary.Glossary, list[Finding]]:
    found, findings = glossary_load.read_glossary(docs / glossary_load.FOLDER)
    findings += glossary_page.check(found, notes)
    return found, findings + term_forms.check_forms(notes, list(found.terms.values()))


def _check_diagrams(notes: Catalogue, docs: Path, root: Path) -> list[Finding]:
    library = docs / MERMAID
    drawn = [
        diagrams.Diagram(note.file, fence.line, fence.text)
        for note in notes.notes.values()
        for fence in note.source.fences
        if fence.info.split(" ")[0] == "mermaid"
    ]
    if not drawn or not library.is_file():
        return []
    return diagrams.check_diagrams(drawn, library, root / ".cache" / "diagrams")


def _beside(root: Path) -> list[Path]:
    """Return the files outside the notes that may name assets."""
    files = [root / "mkdocs.yml", *root.glob("*.md"), *(root / "overrides").rglob("*")]
    return [path for path in files if path.is_file()]


def _check_blocks(fences: DataFences) -> list[Finding]:
    """Check what notes show beside text: data, figures, measured records."""
    root, docs, notes = fences.root, fences.docs, fences.notes
    findings: list[Finding] = []
    for note in notes.notes.values():
        for fence in note.source.fences:
            kind = fence.info.split(" ")[0]
            if kind in data_fences.KINDS:
                try:
                    fences.check(kind, fence, note)
                except data_fences.ERRORS as error:
                    place = (note.file, fence.line, 1)
                    findings.append(Finding(*place, f"{kind}-block", str(error)))
    for path in sorted(notes.other_files):
        if path.endswith(".svg") and "/figures/" in path:
            file = docs / path
            findings += figures.check_svg(file, file.relative_to(root).as_posix())
        elif path.endswith(".json") and "/measured/" in path:
            known, texts = fences.known, fences.base.texts
            findings += measured_check.check_record(docs / path, root, known, texts)
    return findings


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


def register_findings(tree: Tree, *, write: bool = False) -> list[Finding]:
    """Tell whether the register of published addresses lacks any of today's; add them if asked.

    That is for a release: a branch may still rename what nobody has read yet.
    """
    path = tree.root / addresses.REGISTER
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    fresh = addresses.merged(text.splitlines(), published(tree.notes))
    if fresh == text:
        return []
    if write:
        path.write_text(fresh, encoding="utf-8")
    count = len(set(fresh.splitlines()) - set(text.splitlines()))
    message = f"{count} new addresses are not registered; run: make register"
    return [Finding(addresses.REGISTER, 0, 0, "stale-register", message)]


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
