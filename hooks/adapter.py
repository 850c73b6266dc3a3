"""The only module that knows MkDocs: turns build events into calls of the others.

mkdocs-static-i18n builds once a language with one configuration, nesting the second build in the
first one's `post_build`. What a build must remember therefore lives in `config.extra`, and the
outermost `post_build` (priority below the plugin's -100, plugin no longer building) is the one
moment at which all pages of all languages are on disk.
"""

from __future__ import annotations

import html as html_lib
import logging
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority, get_plugin_logger
from mkdocs.structure.nav import Section

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # MkDocs loads this file by path, whatever the working directory
    sys.path.insert(0, str(ROOT))

from hooks import accelerate, complete, dependencies, preview
from hooks import build as building
from hooks.build import Build, Place
from hooks.findings import Finding, has_errors
from hooks.handbook import read_tree
from hooks.markdown import HeadingIdsExtension
from hooks.notes import drafts, navigation
from hooks.pages import fences as data_fences
from hooks.search import install as search_install
from hooks.site import current, offline, publish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

log = get_plugin_logger("handbook")
for _talkative in ("mermaid2", "mkdocs_static_i18n"):  # a line a page, of no use to anybody
    logging.getLogger(f"mkdocs.plugins.{_talkative}").setLevel(logging.WARNING)
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
    made_from = "" if is_serving else accelerate.made_from(config, ROOT)
    if made_from and current.is_current(ROOT, site, made_from):
        log.info(f"nothing has changed since the site in {site} was built: it stays as it is")
        raise SystemExit(0)
    log.info("checking the notes")
    tree = read_tree(
        ROOT,
        Path(config.docs_dir),
        repo_url=config.repo_url or "",
        site_url=config.site_url or "",
    )
    build = building.begin(tree, site, is_serving=is_serving)
    if not is_serving:
        config.nav = drafts.published_nav(config.nav or [], build.held)
    config.extra[_KEY] = build
    config.extra[_FAST] = accelerate.begin(build, made_from, config)
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
    """Leave drafts out of the site; a preview shows them. Tell when notes were changed last."""
    build = _build(config)
    plugin = config.plugins.get("git-revision-date-localized")
    dependencies.tell_dates(build, files, plugin, is_wanted=accelerate.is_wanted())
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


def on_serve(server: LiveReloadServer, config: MkDocsConfig, builder: Any) -> None:
    """Let a saved note be seen at once."""
    preview.attach(server, config, builder)


@event_priority(100)  # Before Material's search plugin
def on_page_context(context: dict[str, Any], page: Page, config: MkDocsConfig, **_: object) -> None:
    """Spare Material's search plugin the parsing of pages for an index that ours replaces."""
    if search_install.read_settings(config.extra.get("search")).engine == "own":
        page.meta["search"] = {**(page.meta.get("search") or {}), "exclude": True}


@event_priority(-200)  # After static-i18n (-100) has built every language and offline has written
def on_post_build(config: MkDocsConfig) -> None:
    """Complete the site, check every page of it, and put it in place."""
    if getattr(config.plugins.get("i18n"), "building", False):
        return  # a nested build: the outermost one finishes the site
    build = _build(config)
    staged = Path(config.site_dir)
    log.info("building the search index and checking every page")
    settings = search_install.read_settings(config.extra.get("search"))
    site_url = config.site_url or ""
    _say(complete.complete_site(build, staged, config.theme.dirs, settings, site_url), build)
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
