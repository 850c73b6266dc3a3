"""Pages that are rendered by all cores at once, or taken from an earlier build: the same bytes.

MkDocs renders one page after the other. It still does so here, with every event of every plugin,
but what is costly in it (Markdown to HTML, completing that, templates) finds its result ready: each
is looked up by a hash of all that it depends on, at the moment at which MkDocs asks for it. Worker
processes make those results beforehand, by doing MkDocs' steps in a copy of this process; what they
find they leave in the store, and nothing else of theirs counts. A result that is missing, or that
came with a message, is made as ever. So a wrong guess costs time only.

Four things are replaced, each for one object at a time: `Page.render` of MkDocs, the environment
of templates that `on_env` returns, the step in which mermaid2 reads a finished page, and that in
which Material's search reads one.
HANDBOOK_CACHE=off leaves them alone, and so does a generator whose version is not known here.
"""

from __future__ import annotations

import functools
import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import jinja2
import mkdocs
from mkdocs.commands import build as mkdocs_build
from mkdocs.structure.files import InclusionLevel
from mkdocs.structure.pages import Page
from mkdocs.utils import get_build_timestamp

from hooks import dependencies, handbook, proxies
from hooks.build import Build, Effects
from hooks.links import includes
from hooks.notes import history
from hooks.site import Kept, current, inputs, store, workers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation

KNOWN: Final = ("1.6.1", "1.6.7")
"""Versions of MkDocs and of its successor whose `Page.render` sets what is kept here."""
SWITCH: Final = "HANDBOOK_CACHE"
FOLDER: Final = ".cache/build"
_CHARTS: Final = 16
"""So many charts are worth the start of an engine that draws them."""
_SITE_DATES: Final = "git_site_revision"
_HERE: Final = Path(__file__).resolve().parent
log = logging.getLogger("mkdocs.plugins.handbook")


def is_wanted() -> bool:
    """Tell whether results are kept and made beforehand; says why not, if it is the version."""
    if os.environ.get(SWITCH, "").lower() in ("off", "0", "false", "no"):
        return False
    if mkdocs.__version__ not in KNOWN:
        log.info(f"handbook: not accelerated: {mkdocs.__version__} is none of {', '.join(KNOWN)}")
        return False
    return True


def made_from(config: MkDocsConfig, root: Path) -> str:
    """Return a hash of all that a build reads; empty where that is not to be known."""
    if not is_wanted():
        return ""
    try:
        return current.sources(
            root,
            Path(config.docs_dir),
            Path(__file__).parent,
            dependencies.settings(config),
            config.nav,
            logging.getLogger("mkdocs").getEffectiveLevel(),
            history.head(root),
            history.tags(root),
            get_build_timestamp() // 86400,
        )
    except inputs.UnknownValueError:
        return ""


def begin(build: Build, made_from: str, config: MkDocsConfig) -> Accelerator | None:
    """Return what accelerates a build; None where it is unwanted, or where a setting is of a kind
    of which no hash can be made: then every page is made as ever.
    """
    if not is_wanted():
        return None
    try:
        dependencies.settings(config)
    except inputs.UnknownValueError as error:
        log.info(f"handbook: not accelerated: {error}")
        return None
    found = Accelerator(build, made_from)
    proxies.watch_scripts(config, found.store, code())
    proxies.watch_search(config)
    return found


@functools.cache
def code() -> str:
    """Return a hash of the code that makes results, and of what is installed.

    Asked once: what is changed later is not what this process has loaded.
    """
    return inputs.digest(inputs.packages(), inputs.of_files([_HERE], _HERE))


def kept(root: Path) -> Kept:
    """Return what earlier builds made of a repository's files; nothing where it is unwanted."""
    return Kept(store.Store(root / FOLDER), code()) if is_wanted() else Kept()


@dataclass(slots=True)
class Rendered:
    """What Markdown became: all that `Page.render` sets, completed, and what that left."""

    content: str
    toc: Any
    title: str | None
    anchors: set[str]
    links: list[tuple[str, dict[str, str]]]
    effects: Effects


class Accelerator:
    """The results of one build."""

    def __init__(self, build: Build, made_from: str) -> None:
        """Take a build whose sources have been read, and what it is made from."""
        self.build = build
        self.made_from = made_from
        tree = build.tree
        self.store = store.Store(tree.root / FOLDER)
        self.messages = proxies.Counter()
        logging.getLogger("mkdocs").addHandler(self.messages)
        titles = {path: note.title for path, note in tree.notes.notes.items()}
        self.sources = inputs.digest(
            inputs.packages(),
            inputs.of_files(
                [
                    Path(__file__).parent,
                    *(tree.root / name for name in ("overrides", "tools", "LICENSE", "NOTICE")),
                    *(tree.docs / path for path in tree.notes.other_files),
                ],
                tree.root,
            ),
            titles,
            sorted(build.held),
            build.is_serving,
            logging.getLogger("mkdocs").getEffectiveLevel(),  # by which messages are counted
        )
        """Everything that any page may depend on, but notes and configuration."""
        self.common = ""
        self.frame = ""
        self.nav: Navigation | None = None
        self.taken: dict[str, Rendered] = {}
        self.open: dict[str, tuple[str, int]] = {}
        """Keys of pages that are being rendered, and how many messages there were before."""
        self.fresh = 0
        self.complete: Page | None = None
        """The page that was rendered last."""
        self.texts = includes.Texts(tree.docs, tree.notes.other_files | tree.notes.notes.keys())

    def close(self, site: Path) -> None:
        """End it: remember what the site was made from, and keep the folder within bounds.

        A site that came with warnings is made again, so that they are said again.
        """
        if self.made_from and not self.messages.warnings:
            current.remember(self.build.tree.root, site, self.made_from)
        logging.getLogger("mkdocs").removeHandler(self.messages)
        self.build.tree.data.kept.save()
        self.store.prune()

    # Markdown to HTML

    def begin_language(self, nav: Navigation, config: MkDocsConfig, files: Files) -> None:
        """Render the pages of a language beforehand, where they are many; last in `on_nav`."""
        self.common = inputs.digest(
            self.sources,
            self.build.language,
            dependencies.settings(config),
            sorted((one.src_uri, one.dest_uri, one.inclusion.name, one.url) for one in files),
        )
        self.frame, self.nav = "", nav
        self.taken.clear()
        self.fresh = 0
        shown = [one.page for one in _shown(files, self.build) if one.page is not None]
        changed = [page for page in shown if self._mark(page) not in self.store]

        # Calculators answer in this process alone: ask them all before the others begin.
        tree = self.build.tree
        for page in changed:
            note = tree.notes.notes.get(page.file.src_uri)
            if note is not None:
                handbook.check_shown(note, tree.data)

        def work(number: int) -> None:
            self.messages.silence()
            mkdocs_build._populate_page(changed[number], config, files)

        if len(changed) >= workers.ENOUGH:
            self._draw()
        changed.sort(key=lambda page: -len(page.file.content_string))
        workers.spread(work, len(changed))

    def _draw(self) -> None:
        """Draw the charts of all languages, in few processes: their engine is slow to start."""
        fences = self.build.tree.fences
        charts = fences.undrawn()
        workers.spread(lambda number: fences.draw(*charts[number]), len(charts), each=_CHARTS)

    def _mark(self, page: Page) -> str:
        """Return a key that is known when nothing about a page seems to have changed."""
        twin = self._twin(page.file.src_uri)
        text = page.file.content_string
        return inputs.digest("mark", self.common, page.file.src_uri, page.file.dest_uri, text, twin)

    def _twin(self, source: str) -> str:
        notes = self.build.tree.notes
        note = notes.notes.get(source)
        twin = notes.twin(note, "en" if note.language == "zh" else "zh") if note else None
        return twin.text if twin else ""

    def watch(self, page: Page) -> None:
        """Let a page find its HTML ready when MkDocs renders it; the one before is complete."""
        self._fold()
        self.complete = page
        page.render = lambda config, files: self._render(page, config, files)  # type: ignore[method-assign]

    def _fold(self) -> None:
        if self.complete is not None and not self.build.is_serving:
            proxies.fold(self.complete)
        self.complete = None

    def _render(self, page: Page, config: MkDocsConfig, files: Files) -> None:
        key = self._key(page)
        found = self.store.get(key)
        links = _links(found, files) if isinstance(found, Rendered) else None
        if found is None or links is None:
            self.fresh += 1
            self.open[page.file.src_uri] = (key, self.messages.count)
            Page.render(page, config, files)
            return
        page.content = found.content
        page.toc = found.toc
        page._title_from_render = found.title
        page.present_anchor_ids = found.anchors
        page.links_to_anchors = links
        self.taken[page.file.src_uri] = found

    def _key(self, page: Page) -> str:
        assert page.markdown is not None
        note = self.build.tree.notes.notes.get(page.file.src_uri)
        sections = [section.title for section in page.ancestors]
        return inputs.digest(
            "page",
            self.common,
            page.file.src_uri,
            page.file.dest_uri,
            str(page.title),
            sections,
            self.build.filled,
            page.markdown,
            note.text if note else "",
            self._twin(page.file.src_uri),
            self._included(self.build.filled + "\n" + page.markdown),
        )

    def _included(self, text: str) -> list[tuple[str, str]]:
        """Return what a text includes, and what that includes, with the whole text of each."""
        found: dict[str, str] = {}
        waiting = [text]
        while waiting:
            for one in includes.includes(waiting.pop()):
                if one.path not in found:
                    found[one.path] = self.texts.get(one.path) or ""
                    waiting.append(found[one.path])
        return sorted(found.items())

    def ready(self, page: Page) -> Rendered | None:
        """Return what a page that has just been rendered is complete with, if that was known."""
        return self.taken.pop(page.file.src_uri, None)

    def keep(self, page: Page, content: str, effects: Effects) -> None:
        """Keep a page that has just been completed, unless anything was said or found of it."""
        key, before = self.open.pop(page.file.src_uri, ("", 0))
        if not key or effects.found or not effects.is_whole or self.messages.count != before:
            return
        links = [(file.src_uri, found) for file, found in (page.links_to_anchors or {}).items()]
        anchors = page.present_anchor_ids or set()
        title = page._title_from_render
        self.store.put(key, Rendered(content, page.toc, title, anchors, links, effects))
        if self._mark(page) not in self.store:
            self.store.put(self._mark(page), None)

    # Templates

    def templates(self, env: jinja2.Environment, config: MkDocsConfig, files: Files) -> Any:
        """Return an environment whose templates find their pages ready. Comes last in `on_env`."""
        self._fold()
        shown, nav = _shown(files, self.build), self.nav
        assert nav is not None
        self.frame = inputs.digest(self.common, dependencies.frame(nav, shown))
        env.bytecode_cache = proxies.Compiled(self.store, code())
        watched = proxies.Environment(env, self.framed)
        mark = inputs.digest("frame", self.frame)
        if self.fresh >= workers.ENOUGH or mark not in self.store:

            def work(number: int) -> None:
                self.messages.silence()
                page = shown[number].page
                assert page is not None
                page.active = True
                try:
                    template = watched.get_template(page.meta.get("template", "main.html"))
                    context = mkdocs_build.get_context(nav, shown, config, page)
                    context = config.plugins.on_page_context(
                        context, page=page, config=config, nav=nav
                    )
                    text = template.render(context)
                    for step in config.plugins.events["post_page"]:
                        if isinstance(step, proxies.Scripted):
                            step(text, page=page, config=config)
                finally:
                    page.active = False

            workers.spread(work, len(shown))
            self.store.put(mark, None)
        return watched

    def framed(self, template: jinja2.Template, context: Any) -> str:
        """Return a page in its template; but for a preview, nobody asks for its text again."""
        page = context.get("page")
        if page is None:
            return template.render(context)
        try:
            return self._framed(template, context, page)
        finally:
            if not self.build.is_serving:  # MkDocs keeps every page until the end
                page.content = page.markdown = ""  # its title is there only while these are texts

    def _framed(self, template: jinja2.Template, context: Any, page: Page) -> str:
        content = page.content or ""
        try:
            key = self._framed_key(template, context, page, content)
        except inputs.UnknownValueError:
            return template.render(context)
        found = self.store.get(key)
        if isinstance(found, list):  # what stands around the content, which is kept once
            return content.join(found)
        before = self.messages.count
        text = template.render(context)
        if self.messages.count == before:
            self.store.put(key, text.split(content, 1) if content else [text])
        return text

    def _framed_key(self, template: jinja2.Template, context: Any, page: Page, content: str) -> str:
        others = {
            name: dependencies.reference(value)
            for name, value in context.items()
            if name not in ("nav", "pages", "config", "page", "build_date_utc")
        }
        config = context["config"]
        meta = {name: value for name, value in page.meta.items() if _SITE_DATES not in name}
        return inputs.digest(
            "template",
            self.frame,
            template.name or "",
            content,
            dependencies.toc(page.toc),
            meta,
            dependencies.about(page),
            config.extra.get("alternate"),
            others,
        )


def _shown(files: Files, build: Build) -> Sequence[Any]:
    level = InclusionLevel.is_in_serve if build.is_serving else InclusionLevel.is_included
    return files.documentation_pages(inclusion=level)


def _links(found: Rendered, files: Files) -> dict[Any, dict[str, str]] | None:
    known = files.src_uris
    if any(path not in known for path, _ in found.links):
        return None
    return {known[path]: anchors for path, anchors in found.links}
