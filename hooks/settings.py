"""What a build sets in the configuration of MkDocs, and how it says what is wrong"""

from __future__ import annotations

import html as html_lib
import logging
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.plugins import get_plugin_logger

from hooks import accelerate
from hooks import build as building
from hooks.findings import Finding, has_errors
from hooks.handbook import read_tree
from hooks.markdown import HeadingIdsExtension, renderer
from hooks.notes import drafts
from hooks.pages import fences as data_fences
from hooks.site import current, publish

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

    from hooks.build import Build

log = get_plugin_logger("handbook")
for _talkative in ("mermaid2", "mkdocs_static_i18n"):  # a line a page, of no use to anybody
    logging.getLogger(f"mkdocs.plugins.{_talkative}").setLevel(logging.WARNING)


def language(config: MkDocsConfig) -> str:
    """Return the language that is being built."""
    found = getattr(config.plugins.get("i18n"), "current_language", None)
    return str(found or "zh")


def say(findings: Sequence[Finding], build: Build) -> None:
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


def begin(config: MkDocsConfig, root: Path) -> tuple[Build, str]:
    """Read and check the sources.

    Returns:
        The build, and what it is made from (empty while serving). Ends the program where the site
        is made from the same.
    """
    if not config.repo_url:
        config.edit_uri = None  # an edit button that leads nowhere is worse than none
    site = Path(config.site_dir)
    # `mkdocs serve` renders into a temporary folder of its own: nothing to protect there.
    is_serving = site.parent == Path(tempfile.gettempdir()) and site.name.startswith("mkdocs_")
    made_from = "" if is_serving else accelerate.made_from(config, root)
    if made_from and current.is_current(root, site, made_from):
        log.info(f"nothing has changed since the site in {site} was built: it stays as it is")
        raise SystemExit(0)
    log.info("checking the notes")
    tree = read_tree(
        root,
        Path(config.docs_dir),
        repo_url=config.repo_url or "",
        site_url=config.site_url or "",
        kept=accelerate.kept(root),
    )
    build = building.begin(tree, site, is_serving=is_serving)
    if not build.is_serving:
        config.nav = drafts.published_nav(config.nav or [], build.held)
    return build, made_from


def leave_out_drafts(files: Files, build: Build) -> None:
    """Take drafts out of the site; a preview shows them."""
    if not build.is_serving:
        for file in list(files.documentation_pages()):
            if file.src_uri.removesuffix(".md").removesuffix(".en") in build.held:
                files.remove(file)


def direct(config: MkDocsConfig, build: Build) -> None:
    """Say what is wrong with the sources; point MkDocs to the staging folder and our fences."""
    config.extra["offline_worker"] = not build.is_serving  # read by overrides/main.html
    say(build.tree.findings, build)
    config.markdown_extensions.append(HeadingIdsExtension())  # type: ignore[arg-type]
    if accelerate.is_wanted():
        if others := renderer.unknown():
            log.info(f"handbook: Markdown is not accelerated: {', '.join(others)}")
        else:
            config.markdown_extensions.append(renderer.RendererExtension())  # type: ignore[arg-type]
    _add_fences(config, build)
    if not build.is_serving:
        publish.recover(build.site)
        config.site_dir = str(publish.staging_dir(build.site))


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
