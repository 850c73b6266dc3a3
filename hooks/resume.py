"""A preview that answers at once: with the site that the last one built, until its own is built.

`mkdocs serve` builds the whole site before it listens. Here its first build is put off where an
earlier preview has left its site, and that site is served. Each of its pages says so, unless what
it is made from (notes, data, code, settings, history, the address, the day) has the same hash as
now. `preview` builds the site right after the start, in the process that serves, since what a build
leaves in memory is what saved notes are rendered with.

What is replaced is the `build` that MkDocs' `serve` calls, once; nothing where its version is not
known, or without live reload, by which a page learns that a newer one is there.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import mkdocs
from mkdocs.commands import serve

from hooks import accelerate
from hooks.site import earlier

if TYPE_CHECKING:
    from collections.abc import Callable

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer

FOLDER: Final = ".cache/preview"
KEY: Final = "handbook_made_from"
"""Where a configuration tells what a build with it begins from."""
RESUMED: Final = "handbook_resumed"
_NOTICE: Final = {
    "zh": "这一页来自上一次预览，此后有改动；正在生成新的页面，完成后自动刷新。",
    "en": "This page is from an earlier preview, and something has changed since; "
    "it reloads when the new pages are built.",
}
STYLE: Final = (
    "position:fixed;inset:auto 0 0 auto;margin:.4rem;padding:.2rem .6rem;z-index:9;"
    "font-size:.6rem;color:var(--md-default-fg-color--light);"
    "background:var(--md-default-bg-color);border:1px solid var(--md-default-fg-color--lightest)"
)


def notice(text: str) -> str:
    """Return a line in the corner of a page of a preview."""
    return f'<p role="status" style="{STYLE}">{text}</p>'


def put_off(*, command: str, **_: object) -> None:
    """Let the first build of `mkdocs serve` wait, if there is a site to show meanwhile."""
    context = click.get_current_context(silent=True)
    asked = context.params if context is not None else {}
    if (
        command != "serve"
        or not asked.get("livereload")
        or asked.get("build_type")
        or mkdocs.__version__ not in accelerate.KNOWN
    ):
        return
    build = vars(serve)["build"]

    def first(config: MkDocsConfig, **options: Any) -> None:
        vars(serve)["build"] = build
        site, is_same = earlier.find(_folder(config), begin(config))
        if site is None:
            build(config, **options)
        else:
            config.extra[RESUMED] = (site, is_same)

    vars(serve)["build"] = first


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path or "mkdocs.yml").absolute().parent


def _folder(config: MkDocsConfig) -> Path:
    return _root(config) / FOLDER


def begin(config: MkDocsConfig) -> str:
    """Return what a preview's build is made from, as it is now, and keep it in its configuration.

    Asked of a configuration that has just been loaded; empty where no site is to be kept.
    """
    made_from = accelerate.made_from(config, _root(config))
    config.extra[KEY] = made_from
    return made_from


class Keeping:
    """A site that is being copied for the next preview, while nobody writes to it."""

    def __init__(self, config: MkDocsConfig, load: Callable[[], MkDocsConfig]) -> None:
        """Begin to copy the site of a configuration, unless its sources have changed.

        Args:
            config: The configuration that has been built.
            load: Loads the same again.
        """
        self._config, self._load = config, load
        self._is_over = False
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    def _keep(self) -> None:
        keep(self._config, self._load(), self.is_over)

    def is_over(self) -> bool:
        """Tell whether somebody wants to write to the site."""
        return self._is_over

    def stop(self) -> None:
        """End it: return when nothing reads the site any more."""
        self._is_over = True
        self._thread.join()


def keep(config: MkDocsConfig, fresh: MkDocsConfig, is_over: Callable[[], bool] = bool) -> None:
    """Keep the site of a configuration that has been built, unless its sources have changed."""
    made_from = str(config.extra.get(KEY, ""))
    if made_from and begin(fresh) == made_from:
        earlier.keep(_folder(config), made_from, Path(config.site_dir), is_over)


class Shown:
    """The earlier site, served until the build is done."""

    def __init__(self, server: LiveReloadServer, site: Path, *, is_same: bool) -> None:
        """Let a server show it.

        Args:
            server: MkDocs' own server.
            site: The folder of the earlier site.
            is_same: Whether a build would make the same.
        """
        self._server, self.is_same, self._root = server, is_same, server.root
        self._inject, self._fail = server._inject_js_into_html, server.error_handler
        server.root = str(site)
        server._inject_js_into_html = self._with_notice  # type: ignore[method-assign]
        server.error_handler = self._missing

    def _with_notice(self, content: bytes, epoch: int) -> bytes:
        if self._server._want_rebuild:  # something has been saved since the start
            self.is_same = False
        if not self.is_same:
            language = "en" if b'lang="en"' in content[:400] else "zh"
            head, end, tail = content.rpartition(b"</body>")
            said = notice(_NOTICE[language]).encode()
            content = head + said + end + tail if end else content + said
        made: bytes = self._inject(content, epoch)  # type: ignore[no-untyped-call]
        return made

    def _missing(self, code: int) -> bytes | None:
        """Answer for a page that the earlier site does not hold; it may be a new one."""
        page = Path(self._server.root) / f"{code}.html"
        epoch = self._server._visible_epoch
        return self._with_notice(page.read_bytes(), epoch) if page.is_file() else None

    def end(self, made_from: str) -> None:
        """Let the server show what has been built, and made from what."""
        self.is_same = self.is_same and Path(self._server.root).name == made_from
        self._server.root = self._root
        self._server._inject_js_into_html = self._inject  # type: ignore[method-assign]
        self._server.error_handler = self._fail
