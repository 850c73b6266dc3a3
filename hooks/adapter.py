"""Turns the events of MkDocs into calls of the others; beside `preview`, only this module knows it.

mkdocs-static-i18n builds once a language with one configuration, nesting the second build in the
first one's `post_build`. What a build must remember therefore lives in `config.extra`, and the
outermost `post_build` (priority below the plugin's -100, plugin no longer building) is the one
moment at which all pages of all languages are on disk.
"""

from __future__ import annotations

import gc
import logging
import posixpath
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority, get_plugin_logger
from mkdocs.structure.nav import Section
from mkdocs.structure.toc import get_toc

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # MkDocs loads this file by path, whatever the working directory
    sys.path.insert(0, str(ROOT))

from hooks import build as building
from hooks import handbook, preview
from hooks.findings import Finding
from hooks.notes import navigation
from hooks.pages import Place
from hooks.site import offline, publish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

    from hooks.build import Build

log = get_plugin_logger("handbook")
# A line a page, of no use to anybody.
logging.getLogger("mkdocs.plugins.mkdocs_static_i18n").setLevel(logging.WARNING)
_KEY = "handbook"


def _build(config: MkDocsConfig) -> Build:
    build: Build = config.extra[_KEY]
    return build


def _language(config: MkDocsConfig) -> str:
    return str(getattr(config.plugins.get("i18n"), "current_language", None) or "zh")


def _say(findings: Sequence[Finding], build: Build) -> None:
    """Log errors, which end a build (not while serving), and how many warnings there are."""
    errors = [finding for finding in findings if finding.severity == "error"]
    for finding in errors:
        (log.warning if build.is_serving else log.error)(finding.text)
    if len(errors) < len(findings):
        log.info(f"{len(findings) - len(errors)} warnings, which `make check` lists")
    if errors and not build.is_serving:
        raise PluginError(f"{len(errors)} error(s) above; the site was not changed")


@event_priority(100)  # Before static-i18n (-100) and the others read the configuration
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Read and check the sources once, and direct the build to a staging folder."""
    if _KEY in config.extra:
        return config
    if not config.repo_url:
        config.edit_uri = None  # an edit button that leads nowhere is worse than none
    log.info("reading and checking the notes")
    gc.set_threshold(100_000, 50, 1000)  # see __main__.py
    docs, repo_url, site_url = Path(config.docs_dir), config.repo_url or "", config.site_url or ""
    tree = handbook.read_tree(ROOT, docs, repo_url=repo_url, site_url=site_url)
    site = Path(config.site_dir)
    # `mkdocs serve` renders into a temporary folder of its own: nothing to protect there.
    is_serving = site.parent == Path(tempfile.gettempdir()) and site.name.startswith("mkdocs_")
    build = config.extra[_KEY] = building.begin(tree, site, is_serving=is_serving)
    config.extra["offline_worker"] = not is_serving  # read by overrides/main.html
    _say(tree.findings, build)
    if not is_serving:
        config.nav = navigation.as_written(build.tree.entries)
        publish.recover(site)
        config.site_dir = str(publish.staging_dir(site))
    return config


@event_priority(100)  # Before static-i18n looks for the files of a language
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Leave drafts out of the site; a preview shows them."""
    build = _build(config)
    for file in () if build.is_serving else list(files.documentation_pages()):
        if file.src_uri.removesuffix(".md").removesuffix(".en") in build.shared.held:
            files.remove(file)
    return files


@event_priority(-200)  # After static-i18n has replaced the navigation
def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Name each section after its index page, in the language being built."""
    build, language = _build(config), _language(config)
    build.about[language] = config.site_description or ""

    def rename(items: Sequence[Any], entries: Sequence[navigation.Entry]) -> None:
        for item, entry in zip(items, entries, strict=False):
            if isinstance(item, Section):
                item.title = navigation.section_title(entry, build.tree.notes, language)
                rename(item.children, entry.children)

    rename(nav.items, build.tree.entries)
    config.extra["handbook_nav"] = nav  # for `on_env`
    return nav


def _place(page: Page, files: Files, language: str) -> Place:
    def url_of(note_id: str) -> str | None:
        file = files.get_file_from_path(f"{note_id}.md")
        return file.url_relative_to(page.file) if file is not None else None

    def address(target: str) -> str:
        scheme, host, path, query, anchor = urlsplit(target)
        if scheme or host or not path or path.startswith("/"):
            return target
        folder = posixpath.dirname(page.file.src_uri)
        path = posixpath.normpath(posixpath.join(folder, unquote(path)))
        file = files.get_file_from_path(path)
        if file is None:
            return target
        return urlunsplit(("", "", file.url_relative_to(page.file), query, anchor))

    sections = tuple(str(section.title) for section in page.ancestors)[::-1]
    title = str(page.title or "")
    where = (page.file.src_uri, page.file.dest_uri, title, sections, language)
    return Place(*where, url_of, address)


@event_priority(100)  # Before plugins look at the Markdown
def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Write the generated lists at their markers; let the page find its HTML ready."""
    build = _build(config)
    place = _place(page, files, _language(config))

    def render(*_: object) -> None:
        made = building.recall_page(build, page.markdown or "", place)
        page.content, contents, build.effects = made
        page.toc = get_toc(list(contents))

    page.render = render  # type: ignore[assignment,method-assign]
    return handbook.fill(build.tree, markdown, place.source, place.language)


@event_priority(100)  # Before other plugins change what is complete
def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Hand what the page leaves to the build, and end it with what knows the other notes."""
    build = _build(config)
    place = _place(page, files, _language(config))
    building.merge(build, build.effects, place)
    if said := build.progress(place.language):
        log.info(said)
    return html + building.foot(build, place)


@event_priority(-200)  # After every other has changed the environment
def on_env(env: Environment, config: MkDocsConfig, files: Files) -> None:
    """Let a preview keep what pages of this language are rendered with."""
    if _build(config).is_serving:
        nav = config.extra["handbook_nav"]
        preview.left.append(preview.Left(config, nav, files, env, _language(config)))


on_serve = preview.attach  # a saved note is seen at once


@event_priority(100)  # Before Material's search plugin
def on_page_context(context: dict[str, Any], page: Page, config: MkDocsConfig, **_: object) -> None:
    """Spare Material's search plugin the parsing of pages for an index that ours replaces."""
    page.meta["search"] = {**(page.meta.get("search") or {}), "exclude": True}


@event_priority(-200)  # After static-i18n (-100) has built every language and offline has written
def on_post_build(config: MkDocsConfig) -> None:
    """Complete the site, check every page of it, and put it in place."""
    if getattr(config.plugins.get("i18n"), "building", False):
        return  # a nested build: the outermost one finishes the site
    build, staged, site_url = _build(config), Path(config.site_dir), config.site_url or ""
    log.info("building the search index and checking every page")
    queries = config.extra["search"]["queries"]
    _say(building.complete_site(build, staged, config.theme.dirs, queries, site_url), build)
    if build.is_serving:
        offline.switch_off(staged)
    else:
        version = offline.install(staged)  # last: it lists every file with its hash
        log.info(f"offline copies: version {version}")
        publish.swap(staged, build.site)
        config.site_dir = str(build.site)
        log.info(f"site written to {build.site}")
    build.tree.data.cache.prune()
