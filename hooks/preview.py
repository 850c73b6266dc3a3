"""A preview in which a saved note is seen at once: its page alone is rendered again.

Where nothing but the text of a few notes has changed, their pages are rendered with what the last
build left in memory, and written into the folder that is served. Any other change is built whole.
"""

from __future__ import annotations

import copy
import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mkdocs.commands.build import get_context

from hooks import build as building
from hooks import handbook
from hooks.site import publish

if TYPE_CHECKING:
    from collections.abc import Iterable

    import jinja2
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

    from hooks.build import Build
    from hooks.findings import Finding
    from hooks.notes import Note

MOST: Final = 4
"""So many notes at once are rendered alone; more are a change of branch, or the like."""
_OWN: Final = {"description", "verified", "length", "hide"}
"""Fields of which other pages show nothing but what may come later."""
_NOTICE: Final = {
    "zh": "这一页已更新；列表和搜索要到下一次完整生成时才更新：改动别的东西，或重新启动预览。",
    "en": "This page is up to date. Lists and search follow with the next full build, which any "
    "other change or a restart makes.",
}
_STYLE: Final = (
    "position:fixed;inset:auto 0 0 auto;padding:.2rem .6rem;z-index:9;font-size:.6rem;"
    "background:var(--md-default-bg-color);border:1px solid var(--md-default-fg-color--lightest)"
)
log = logging.getLogger("mkdocs.plugins.handbook")


@dataclass
class Left:
    """What the last build left of one language: enough to render a page of it again."""

    config: MkDocsConfig
    nav: Navigation
    files: Files
    env: jinja2.Environment
    language: str

    def __post_init__(self) -> None:
        # What the next language changes in the configuration, its theme and its plugins.
        config = self.config
        self._own = {name: one for name, one in config.items() if isinstance(one, (str, bool))}
        self._theme = {name: copy.deepcopy(config.theme[name]) for name in config.theme}
        self._alternate = copy.deepcopy(config.extra.get("alternate"))
        self._plugins = {name: dict(vars(plugin)) for name, plugin in config.plugins.items()}

    def put_back(self) -> None:
        """Let the configuration be as when the language was built."""
        self.config.update(self._own)
        for name, one in self._theme.items():
            self.config.theme[name] = copy.deepcopy(one)
        self.config.extra["alternate"] = copy.deepcopy(self._alternate)
        for name, plugin in self.config.plugins.items():
            vars(plugin).update(self._plugins[name])


left: list[Left] = []
"""By language, in a preview; empty while a build is under way or after it has failed."""


def attach(server: LiveReloadServer, config: MkDocsConfig, **_: object) -> None:
    """Let a server of MkDocs show saved notes at once, once its first build has been made."""
    watched = [Path(config.docs_dir), Path(config.config_file_path), *map(Path, config.watch)]
    seen, whole = _look(watched), server.builder

    def build() -> None:
        nonlocal seen
        before, seen = seen, _look(watched)
        changed = [path for path in before | seen if before.get(path) != seen.get(path)]
        if not _alone(changed):
            left.clear()
            try:
                whole()
            except BaseException:
                left.clear()  # it may have failed after one language
                raise

    server.builder = build


def _look(watched: Iterable[Path]) -> dict[Path, tuple[int, int]]:
    """Return when each file was written, and its size."""
    files = (one for path in watched for one in (path.rglob("*") if path.is_dir() else [path]))
    found = ((one, one.stat()) for one in files if one.is_file() and one.suffix != ".pyc")
    return {one: (status.st_mtime_ns, status.st_size) for one, status in found}


def _alone(changed: list[Path]) -> bool:
    """Render notes alone, if their texts are all that has changed; tell whether it was so."""
    if not left or not 0 < len(changed) <= MOST:
        return False
    began, config = time.monotonic(), left[0].config
    build: Build = config.extra["handbook"]
    names = [Path(os.path.relpath(path, config.docs_dir)).as_posix() for path in changed]
    findings: list[Finding] = []
    for name, path in zip(names, changed, strict=True):
        old = build.tree.notes.notes.get(name)
        if old is None or not path.is_file():
            return False
        note, wrong = handbook.reread(build.tree, old)
        if not _is_text_alone(old, note):
            return False
        build.tree.notes.notes[name] = note
        findings += wrong
    building.forget(build)
    for one in left:
        for file in one.files.documentation_pages():
            if file.src_uri in names and file.page is not None:
                findings += _render(one, file.page, build)
    log.info(f"{', '.join(names)}: this page alone, in {time.monotonic() - began:.2f} s")
    for name in names:
        findings += handbook.check_note(build.tree, name)
    for finding in sorted(set(findings)):
        log.warning(finding.text)
    return True


def _is_text_alone(old: Note, new: Note) -> bool:
    """Tell whether two states of a note look the same from other pages, but for descriptions."""
    if old.meta is None or new.meta is None or "material/tags" in old.text + new.text:
        return False
    return old.meta.model_dump(exclude=_OWN) == new.meta.model_dump(exclude=_OWN)


def _render(one: Left, page: Page, build: Build) -> list[Finding]:
    """Render a page as MkDocs does and write it; return what is wrong with it."""
    config, files, plugins = one.config, one.files, one.config.plugins
    one.put_back()
    page.read_source(config)
    source = page.markdown or ""
    page.markdown = plugins.on_page_markdown(source, page=page, config=config, files=files)
    page.render(config, files)
    html = page.content or ""
    page.content = plugins.on_page_content(html, page=page, config=config, files=files)
    page.active = True
    context = get_context(one.nav, files.documentation_pages(), config, page)
    template = one.env.get_template(page.meta.get("template", "main.html"))
    context = plugins.on_page_context(context, page=page, config=config, nav=one.nav)
    text = plugins.on_post_page(template.render(context), page=page, config=config)
    page.active = False
    head, end, tail = text.rpartition("</body>")
    notice = f'<p role="status" style="{_STYLE}">{_NOTICE[one.language]}</p>'
    shown = f"{head}{notice}{end}{tail}"
    publish.add_files(Path(config.site_dir), {page.file.dest_uri: shown} | build.effects.files)
    return build.effects.found
