"""The only module that knows MkDocs: turns build events into calls of the others.

mkdocs-static-i18n builds once a language with one configuration, nesting the second build in the
first one's `post_build`. What a build must remember therefore lives in `config.extra`, and the
outermost `post_build` (priority below the plugin's -100, plugin no longer building) is the one
moment at which all pages of all languages are on disk.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.plugins import event_priority, get_plugin_logger
from mkdocs.structure.nav import Section

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # MkDocs loads this file by path, whatever the working directory
    sys.path.insert(0, str(ROOT))

from hooks import accelerate, complete, dependencies, preview, resume, settings
from hooks import build as building
from hooks.build import Build, Place
from hooks.notes import navigation
from hooks.search import install as search_install
from hooks.site import offline, publish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

log = get_plugin_logger("handbook")
_KEY = "handbook"
_FAST = "handbook_accelerator"


def _build(config: MkDocsConfig) -> Build:
    build = config.extra[_KEY]
    assert isinstance(build, Build)
    return build


def _accelerator(config: MkDocsConfig) -> accelerate.Accelerator | None:
    found = config.extra[_FAST]
    assert found is None or isinstance(found, accelerate.Accelerator)
    return found


@event_priority(100)  # Before static-i18n (-100) and the others read the configuration
def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Read and check the sources once, and direct the build to a staging folder."""
    if _KEY in config.extra:
        _build(config).language = settings.language(config)
        return config
    build, made_from = settings.begin(config, ROOT)
    config.extra[_KEY] = build
    config.extra[_FAST] = accelerate.begin(build, made_from, config)
    settings.direct(config, build)
    return config


@event_priority(100)  # Before static-i18n looks for the files of a language
def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Leave drafts out of the site; a preview shows them. Tell when notes were changed last."""
    build = _build(config)
    plugin = config.plugins.get("git-revision-date-localized")
    dependencies.tell_dates(build, files, plugin, is_wanted=accelerate.is_wanted())
    settings.leave_out_drafts(files, build)
    return files


@event_priority(-200)  # After static-i18n has replaced the navigation
def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Name each section after its index page, in the language being built."""
    build = _build(config)
    build.language = settings.language(config)
    build.about[build.language] = config.site_description or ""

    def rename(items: Sequence[Any], entries: Sequence[navigation.Entry]) -> None:
        for item, entry in zip(items, entries, strict=False):
            if isinstance(item, Section):
                item.title = navigation.section_title(entry, build.tree.notes, build.language)
                rename(item.children, entry.children)

    rename(nav.items, build.tree.entries)
    config.extra[preview.NAV] = nav
    if accelerator := _accelerator(config):
        accelerator.begin_language(nav, config, files)
    return nav


def on_pre_page(page: Page, config: MkDocsConfig, files: Files) -> Page:
    """Let a page find its HTML ready."""
    if accelerator := _accelerator(config):
        accelerator.watch(page)
    return page


def _place(page: Page, files: Files) -> Place:
    def url_of(note_id: str) -> str | None:
        file = files.get_file_from_path(f"{note_id}.md")
        return file.url_relative_to(page.file) if file is not None else None

    sections = tuple(str(section.title) for section in page.ancestors)[::-1]
    title = str(page.title or "")
    return Place(page.file.src_uri, page.file.dest_uri, title, sections, url_of)


@event_priority(100)  # Before plugins look at the Markdown
def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Write the generated lists at their markers."""
    return building.fill(_build(config), markdown, _place(page, files))


@event_priority(100)  # Check what Markdown made before anything is added to it
def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Check a page as rendered, and complete it."""
    build, place, accelerator = _build(config), _place(page, files), _accelerator(config)
    ready = accelerator.ready(page) if accelerator else None
    if ready is not None:
        html, effects = ready.content, ready.effects
    else:
        html, effects = building.complete_page(build, html, place)
        if accelerator:
            accelerator.keep(page, html, effects)
    building.merge(build, effects, place)
    said = build.pace.step(build.language)
    if said:
        log.info(said)
    return html + building.foot(build, place)


@event_priority(-200)  # After every other has changed the environment
def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Any:
    """Let templates find their pages ready."""
    accelerator = _accelerator(config)
    preview.keep(config, files, env)
    return accelerator.templates(env, config, files) if accelerator else env


on_startup = resume.put_off  # a preview answers with the site of the last one
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
    build = _build(config)
    staged = Path(config.site_dir)
    log.info("building the search index and checking every page")
    search = search_install.read_settings(config.extra.get("search"))
    site_url = config.site_url or ""
    settings.say(complete.complete_site(build, staged, config.theme.dirs, search, site_url), build)
    if build.is_serving:
        offline.switch_off(staged)
    else:
        version = offline.install(staged)  # last: it lists every file with its hash
        log.info(f"offline copies: version {version}")
        publish.swap(staged, build.site)
        config.site_dir = str(build.site)
        log.info(f"site written to {build.site}")
    if accelerator := _accelerator(config):
        accelerator.close(build.site)
