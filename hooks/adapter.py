"""The only module that knows MkDocs: turns build events into calls of the others.

mkdocs-static-i18n builds once a language with one configuration, nesting the second build in the
first one's `post_build`. What a build must remember therefore lives in `config.extra`, and the
outermost `post_build` (priority below the plugin's -100, plugin no longer building) is the one
moment at which all pages of all languages are on disk.
"""

from __future__ import annotations

import datetime
import functools
import html as html_lib
import logging
import sys
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority, get_plugin_logger
from mkdocs.structure.nav import Section

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # MkDocs loads this file by path, whatever the working directory
    sys.path.insert(0, str(ROOT))

from hooks.calc import engine as calc_engine
from hooks.calc import presets as calc_presets
from hooks.data import downloads, resource_files
from hooks.drawings import figures
from hooks.findings import Finding, has_errors
from hooks.handbook import Tree, read_tree
from hooks.links import addresses, includes, safety
from hooks.markdown import HeadingIdsExtension
from hooks.notes import draft_ids, drafts, history, navigation, published, twins
from hooks.pages import (
    aliases,
    backlinks,
    graph,
    markers,
    paths,
    questions,
    resources,
    source_use,
    term_marks,
)
from hooks.pages import calculator as calc_page
from hooks.pages import fences as data_fences
from hooks.pages import sources as bibliography
from hooks.pages.values import links
from hooks.search import from_html, pages
from hooks.search import install as search_install
from hooks.search import material as search_material
from hooks.site import anki, carry, check, feeds, offline, plain, progress, publish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

log = get_plugin_logger("handbook")
for _talkative in ("mermaid2", "mkdocs_static_i18n"):  # a line a page, of no use to anybody
    logging.getLogger(f"mkdocs.plugins.{_talkative}").setLevel(logging.WARNING)
_KEY = "handbook"


@dataclass
class Build:
    """What one run of MkDocs remembers between events and languages."""

    tree: Tree
    """What is checked and, but in a preview, without drafts."""
    pace: progress.Pace
    held: frozenset[str]
    """The ids of drafts."""
    site: Path
    """Where the site goes once it is known to be good."""
    is_serving: bool
    added: dict[str, datetime.date]
    marks: term_marks.Marks
    language: str = "zh"
    page_dir: str = ""
    """Folder of the page being rendered, in the site; what fences link to starts there."""
    links_back: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    found: list[Finding] = field(default_factory=list)
    """What was found in rendered pages."""
    searched: list[pages.Page] = field(default_factory=list)
    """What search will find: the pages as rendered."""
    files: dict[str, str | bytes] = field(default_factory=dict)
    """What pages lead to, by paths in the site."""
    asked: dict[str, list[Any]] = field(default_factory=dict)
    """Interview questions as rendered, by the folder of their pages in the site."""
    about: dict[str, str] = field(default_factory=dict)
    """What the site says of itself, by language."""
    written: list[tuple[carry.Leaf, str]] = field(default_factory=list)
    """Pages as Markdown, their lists filled in, with the paths of their notes."""
    shown: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """The HTML of fences by kind, text and the folder of their page."""

    def calc_scripts(self, content: str) -> list[str]:
        """Return the scripts that the calculators of a page need; overrides/main.html asks."""
        return calc_page.scripts_of(content)

    def show(self, kind: str, text: str) -> str:
        """Return the HTML of a fence that shows data, on the page being rendered."""
        drawn = self.tree.fences.show(kind, text, self.language, self.page_dir)
        self.files |= drawn.files
        self.shown[kind, text, self.page_dir] = drawn.html
        return drawn.html


def _build(config: MkDocsConfig) -> Build:
    build = config.extra[_KEY]
    assert isinstance(build, Build)
    return build


def _language(config: MkDocsConfig) -> str:
    language = getattr(config.plugins.get("i18n"), "current_language", None)
    return str(language or "zh")


def _say(findings: Sequence[Finding], build: Build) -> None:
    """Log errors, which end a build (not while serving), and how many warnings there are."""
    for finding in findings:
        if finding.severity == "error":
            (log.warning if build.is_serving else log.error)(finding.text)
    warnings = sum(finding.severity != "error" for finding in findings)
    if warnings:
        log.info(f"{warnings} warnings, which `make check` lists")
    if has_errors(findings) and not build.is_serving:
        count = sum(finding.severity == "error" for finding in findings)
        raise PluginError(f"{count} error(s) above; the site was not changed")


@event_priority(100)  # Before static-i18n (-100) and the others read the configuration
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Read and check the sources once, and direct the build to a staging folder."""
    if _KEY in config.extra:
        _build(config).language = _language(config)
        return config
    if not config.repo_url:
        config.edit_uri = None  # an edit button that leads nowhere is worse than none
    site = Path(config.site_dir)
    # `mkdocs serve` renders into a temporary folder of its own: nothing to protect there.
    is_serving = site.parent == Path(tempfile.gettempdir()) and site.name.startswith("mkdocs_")
    log.info("checking the notes")
    tree = read_tree(
        ROOT,
        Path(config.docs_dir),
        repo_url=config.repo_url or "",
        site_url=config.site_url or "",
    )
    held = draft_ids(tree.notes)
    if held and not is_serving:
        config.nav = drafts.published_nav(config.nav or [], held)
        entries = drafts.published_entries(tree.entries, held)
        tree = replace(tree, notes=published(tree.notes), entries=entries)
    marks = term_marks.Marks(tree.glossary)
    build = Build(
        tree,
        progress.Pace(len(tree.notes.ids())),
        held,
        site,
        is_serving,
        history.first_days(ROOT),
        marks,
    )
    config.extra[_KEY] = build
    config.extra["offline_worker"] = not is_serving  # read by overrides/main.html
    _say(tree.findings, build)
    config.markdown_extensions.append(HeadingIdsExtension())  # type: ignore[arg-type]
    _add_fences(config, build)
    if not is_serving:
        publish.recover(site)
        config.site_dir = str(publish.staging_dir(site))
    return config


def fence_mermaid_custom(source: str, *_: object, **__: object) -> str:
    """Return a diagram for Material's renderer, readable as text without script.

    mermaid2 looks for a formatter of this name; its own leaves `<` and `&` unescaped.
    """
    return f'<pre class="mermaid"><code>{html_lib.escape(source, quote=False)}\n</code></pre>'


def _add_fences(config: MkDocsConfig, build: Build) -> None:
    superfences = config.mdx_configs.setdefault("pymdownx.superfences", {})
    fences = superfences.setdefault("custom_fences", [])
    for fence in fences:
        if fence["name"] == "mermaid":
            fence["format"] = fence_mermaid_custom
    fences += [
        {
            "name": kind,
            "class": kind,
            "format": lambda source, *_, kind=kind, **__: build.show(kind, source),
        }
        for kind in data_fences.KINDS
    ]


@event_priority(100)  # Before static-i18n looks for the files of a language
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Leave drafts out of the site; a preview shows them."""
    build = _build(config)
    if not build.is_serving:
        for file in list(files.documentation_pages()):
            path = file.src_uri
            if path.removesuffix(".md").removesuffix(".en") in build.held:
                files.remove(file)
    return files


@event_priority(-200)  # After static-i18n has replaced the navigation
def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Name each section after its index page, in the language being built."""
    build = _build(config)
    build.language = _language(config)
    build.about[build.language] = config.site_description or ""

    def rename(items: Sequence[Any], entries: Sequence[navigation.Entry]) -> None:
        for item, entry in zip(items, entries, strict=False):
            if isinstance(item, Section):
                item.title = navigation.section_title(entry, build.tree.notes, build.language)
                rename(item.children, entry.children)

    rename(nav.items, build.tree.entries)
    return nav


@event_priority(100)  # Before plugins look at the Markdown
def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Write the generated lists at their markers."""
    build = _build(config)
    build.page_dir = Path(page.file.dest_uri).parent.as_posix()
    filled = markers.fill_markers(
        markdown,
        page_path=page.file.src_uri,
        language=build.language,
        entries=build.tree.entries,
        notes=published(build.tree.notes),
        added=build.added,
        areas=build.tree.areas,
        root=ROOT,
        sources=lambda language: _sources(build, language),
        asked=build.tree.coverage,
        learning=build.tree.paths,
        has_deck=anki.is_available(),
        library=build.tree.library,
        resources=lambda language: _resources(build, language),
        glossary=build.tree.glossary,
    )
    note = build.tree.notes.notes.get(page.file.src_uri)
    if note is not None and not build.is_serving:
        leaf = carry.Leaf(
            page.file.dest_uri,
            note.id,
            build.language,
            note.title,
            note.meta.description if note.meta else "",
            note.meta.verified.isoformat() if note.meta else "",
            tuple(str(section.title) for section in page.ancestors)[::-1],
            filled,
            note.meta.kind if note.meta else "",
        )
        build.written.append((leaf, note.path))
    return filled


def _carried(build: Build, site_url: str) -> dict[str, str]:
    """Return the pages as Markdown and the lists of them, by their paths in the site."""
    texts = includes.Texts(build.tree.docs, build.tree.notes.other_files)
    put_in = functools.partial(includes.put_in, read=texts)
    places = [page.path.removesuffix(".md") for one in build.tree.entries for page in one.pages()]
    order = {note: number for number, note in enumerate(places)}
    leaves = []
    for leaf, path in sorted(build.written, key=lambda one: order.get(one[0].note, len(order))):
        folder = Path(leaf.page).parent.as_posix()
        shown = {
            (kind, text): html for (kind, text, at), html in build.shown.items() if at == folder
        }
        reading = plain.Reading(leaf.page, path, leaf.language, shown, put_in)
        leaves.append(replace(leaf, text=plain.plain(leaf.text, reading)))
    docs = build.tree.docs.name
    added = {leaf.page: build.added.get(f"{docs}/{path}") for leaf, path in build.written}
    days = {page: day for page, day in added.items() if day is not None}
    return carry.files(leaves, build.about, site_url) | feeds.files(leaves, days, site_url)


def _sources(build: Build, language: str) -> str:
    return bibliography.render(build.tree.facts, _users(build, language), language)


def _users(build: Build, language: str) -> dict[str, list[Any]]:
    tree = build.tree
    return source_use.users(tree.notes, tree.facts, tree.resolver, language)


def _resources(build: Build, language: str) -> str:
    tree = build.tree
    users = _users(build, language)
    cited = resources.citing(tree.library, tree.notes, language, tree.facts, users)
    return resources.render(tree.library, tree.areas, cited, language)


@event_priority(100)  # Check what Markdown made before anything is added to it
def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Check the content; give headings their twins' ids, figures their drawing, add backlinks."""
    build = _build(config)
    said = build.pace.step(build.language)
    if said:
        log.info(said)
    note = build.tree.notes.notes.get(page.file.src_uri)
    if note is None:
        return html
    build.found += safety.check_rendered(html, note.file, note.text)
    twin = build.tree.notes.twin(note, "en" if note.language == "zh" else "zh")
    if twin is not None:
        html = aliases.add_aliases(html, twins.twin_ids(note, twin))
    html = figures.inline_figures(
        html,
        page_dir=build.tree.docs / build.page_dir,
        docs_dir=build.tree.docs,
        language=build.language,
    )
    html, problems = links.render(
        html, build.tree.resolver, language=note.language, page_dir=build.page_dir
    )
    build.found += [Finding(note.file, 0, 0, "value-marker", one) for one in problems]
    if note.meta is not None and note.meta.kind == "questions":
        html, cards = questions.fold(html, note, twin)
        if note.language == build.language:
            build.asked.setdefault(build.page_dir, []).extend(cards)
    html = search_material.separate_cells(html)
    from_html.collect(
        build.searched,
        html,
        location=page.file.dest_uri,
        title=str(page.title or note.title),
        note=note,
        language=build.language,
        trail=[str(section.title) for section in page.ancestors][::-1],
    )
    if note.id in build.held:
        html = drafts.notice(build.language) + html
    html = build.marks.mark(html, note)  # after search has collected: it finds the text alone
    return html + _backlinks(page, note.id, build, config, files)


def _backlinks(page: Page, note_id: str, build: Build, config: MkDocsConfig, files: Files) -> str:
    if build.language not in build.links_back:
        build.links_back[build.language] = backlinks.backlinks(build.tree.notes, build.language)
    sources = build.links_back[build.language].get(note_id, [])

    def url_of(other: str) -> str | None:
        file = files.get_file_from_path(f"{other}.md")
        return file.url_relative_to(page.file) if file is not None else None

    ways = paths.foot(build.tree.paths, note_id, build.tree.notes, build.language, url_of)
    return ways + graph.foot(note_id, sources, build.tree.notes, build.language, url_of)


def _add_questions(build: Build, site_url: str) -> None:
    """Write the questions of each language beside their pages: for practice, and as a deck."""
    for folder, cards in build.asked.items():
        language = "en" if folder.startswith("en/") else "zh"
        build.files[f"{folder}/{questions.SCRIPT}"] = questions.data(cards, language)
        if anki.is_available():
            base = f"{site_url}{folder}/" if site_url else ""
            facts = [questions.facts_of(card, language) for card in cards]
            packed = anki.deck(cards, language, base, facts)
            build.files[f"{folder}/{questions.DECK}"] = packed


def _write_redirects(staged: Path, build: Build, config: MkDocsConfig) -> None:
    for old, new in addresses.redirects(build.tree.notes).items():
        language = "en" if old.startswith("en/") else "zh"
        canonical = f"{config.site_url}{new}" if config.site_url else ""
        target = staged / old
        target.parent.mkdir(parents=True, exist_ok=True)
        page = addresses.redirect_page(old, new, language, canonical)
        target.write_text(page, encoding="utf-8")


@event_priority(-200)  # After static-i18n (-100) has built every language and offline has written
def on_post_build(config: MkDocsConfig) -> None:
    """Complete the site, check every page of it, and put it in place."""
    if getattr(config.plugins.get("i18n"), "building", False):
        return  # a nested build: the outermost one finishes the site
    build = _build(config)
    staged = Path(config.site_dir)
    log.info("building the search index and checking every page")
    search_install.install(
        staged,
        search_material.find_theme_dir(config.theme.dirs),
        build.searched,
        list(build.tree.glossary.terms.values()),
        search_install.read_settings(config.extra.get("search")),
    )
    publish.add_licences(ROOT, staged)
    _write_redirects(staged, build, config)
    _add_questions(build, config.site_url or "")
    rows = calc_presets.files(calc_engine.default(build.tree.facts).data)
    rows |= graph.files(build.tree.notes, build.tree.areas)
    listed = resource_files(build.tree.library, resources.topics(build.tree.areas))
    publish.add_files(staged, _carried(build, config.site_url or ""))
    publish.add_files(staged, downloads.files(build.tree.facts) | build.files | rows | listed)
    findings = build.found + check.check_site(staged, site_url=config.site_url or "")
    _say(sorted(set(findings)), build)
    if build.is_serving:
        offline.switch_off(staged)
    else:
        version = offline.install(staged)  # last: it lists every file with its hash
        log.info(f"offline copies: version {version}")
        publish.swap(staged, build.site)
        config.site_dir = str(build.site)
        log.info(f"site written to {build.site}")
