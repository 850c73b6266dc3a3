"""A preview in which a saved note is seen at once: its page alone is rendered anew, the rest later.

`mkdocs serve` builds everything after each change. Here, as long as nothing but the text of notes
has changed since the last build, their pages are rendered with what that build left in memory, and
written into the folder that is served. When nobody has saved for a while, a process of its own
builds the whole site beside it, which then takes the place of the first. Any other change (fields
that other pages show, settings, data, code, notes that come and go) is built as ever.

What is replaced is `builder` of MkDocs' own server; nothing is where its version is not known.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import mkdocs
from mkdocs.commands import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.livereload import _timestamp
from mkdocs.structure.files import InclusionLevel

from hooks import accelerate, beside, handbook, resume
from hooks import build as building
from hooks.build import Build
from hooks.site import publish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import jinja2
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation

    from hooks.findings import Finding
    from hooks.notes import Note

PAUSE_S: Final = 4.0
"""How long nobody has saved when the whole site is built."""
START_S: Final = 1.0
"""How long the first page has the processor for itself, before a first build that was put off."""
LOOK_S: Final = 0.1
"""Seconds between looks at the notes; MkDocs itself looks at all files every half second."""
MOST: Final = 4
"""So many notes at once are rendered alone; more are a change of branch, or the like."""
_OWN: Final = {"description", "verified", "length", "hide"}
"""Fields of which other pages show nothing, or nothing but a description that may come later."""
_KEY: Final = "handbook_preview"
NAV: Final = "handbook_nav"
"""Where the adapter leaves the navigation of the language being built."""
_NOTICE: Final = {
    "zh": "这一页已更新；其他页面、搜索和列表稍后跟上。",
    "en": "This page is up to date; other pages, search and lists follow shortly.",
}
log = logging.getLogger("mkdocs.plugins.handbook")


@dataclass(slots=True)
class Kept:
    """What a build of one language leaves: enough to render a page of it again."""

    language: str
    files: Files
    nav: Navigation
    env: jinja2.Environment
    settings: dict[str, Any]
    theme: dict[str, Any]
    alternate: Any
    plugins: dict[str, dict[str, Any]]
    """What plugins remember; they forget it when the next language begins."""


def keep(config: MkDocsConfig, files: Files, env: jinja2.Environment) -> None:
    """Keep what the language being built is rendered with. Comes last in `on_env`."""
    build = config.extra["handbook"]
    assert isinstance(build, Build)
    if build.is_serving:
        plain = {name: value for name, value in config.items() if isinstance(value, (str, bool))}
        theme = {name: copy.deepcopy(config.theme[name]) for name in config.theme}
        alternate = copy.deepcopy(config.extra.get("alternate"))
        plugins = {name: dict(vars(plugin)) for name, plugin in config.plugins.items()}
        made = Kept(build.language, files, config.extra[NAV], env, plain, theme, alternate, plugins)
        config.extra.setdefault(_KEY, {})[build.language] = made


def _put_back(config: MkDocsConfig, kept: Kept) -> None:
    """Let a configuration, its theme and its plugins be as when a language was built."""
    for name, value in kept.settings.items():
        config[name] = value
    for name, value in kept.theme.items():
        config.theme[name] = copy.deepcopy(value)
    config.extra["alternate"] = copy.deepcopy(kept.alternate)
    for name, plugin in config.plugins.items():
        vars(plugin).update(kept.plugins[name])


def attach(server: LiveReloadServer, config: MkDocsConfig, builder: Callable[..., None]) -> None:
    """Let a server of MkDocs show saved notes at once; a first build has been made, or put off."""
    if mkdocs.__version__ not in accelerate.KNOWN:
        log.info(f"handbook: every save builds all pages: MkDocs {mkdocs.__version__} is not known")
        return
    Preview(server, config, builder)


class Preview:
    """What is served, and how it follows what is saved."""

    def __init__(
        self,
        server: LiveReloadServer,
        config: MkDocsConfig,
        builder: Callable[..., None],
    ) -> None:
        """Take the place of the server's builder, and begin to look at notes."""
        self.server, self.whole, self.first = server, builder, config
        self.config: MkDocsConfig | None = config
        """The configuration of the last build; None where that failed."""
        self.watched = [Path(config.docs_dir), Path(config.config_file_path or "mkdocs.yml")]
        self.watched += [Path(one) for one in config.watch]
        self.site = Path(config.site_dir)
        self.seen = _look(self.watched)
        self.due = 0.0
        """When the whole site is to be built; 0: it is not."""
        self.beside: subprocess.Popen[bytes] | None = None
        """The process that builds it."""
        self.staged = self.site
        """Where it does so."""
        self.is_over = False
        self.shown: resume.Shown | None = None
        """An earlier site, which is served while the first build is made."""
        self.keeping: resume.Keeping | None = None
        if resumed := config.extra.get(resume.RESUMED):
            site, is_same = resumed
            self.shown = resume.Shown(server, site, is_same=is_same)
            self.config, self.due = None, time.monotonic() + START_S
            log.info("handbook: the site of the last preview is shown until this one is built")
        else:
            self._keep()
        server.builder = self.build
        ended = server.shutdown

        def shutdown(wait: bool = False) -> None:
            self.is_over = True
            self._stop()
            ended(wait)

        server.shutdown = shutdown  # type: ignore[method-assign]
        threading.Thread(target=self._watch, daemon=True).start()

    # When

    def _watch(self) -> None:
        """Wake the server when a note is saved, a pause is over or a build beside it is done."""
        told: object = None
        while not self.is_over:
            time.sleep(LOOK_S)
            seen, due, running = self.seen, self.due, self.beside
            stamps = {path: _stamp(path) for path in seen if path.endswith(".md")}
            saved = [(path, stamp) for path, stamp in stamps.items() if stamp != seen[path]]
            is_due = bool(due) and time.monotonic() > due
            is_done = running is not None and running.poll() is not None
            wish = (saved, is_due and due, is_done)
            if (saved or is_due or is_done) and wish != told:  # it is told once
                with self.server._rebuild_cond:
                    self.server._want_rebuild = True
                    self.server._rebuild_cond.notify_all()
            told = wish

    def build(self) -> None:
        """Do what is to be done: the server calls it when anything may have changed."""
        now = _look(self.watched)
        changed = {path for path in now.keys() | self.seen if now.get(path) != self.seen.get(path)}
        self.seen = now
        if self.shown is not None:
            self._catch_up(self.shown, is_changed=bool(changed))
        elif changed:
            self._stop()
            if not self._alone(sorted(changed)):
                self._everything()
        elif self.beside is not None and self.beside.poll() is not None and self._adopt():
            pass
        else:
            if self.due and time.monotonic() > self.due:
                self._begin()
            self._leave_browsers()  # nothing that they show has changed

    # The whole site

    def _everything(self) -> None:
        """Build everything here and now."""
        self.config, self.due = None, 0.0
        config = self._load(self.site)
        made_from = resume.begin(config)
        self.whole(config)
        self.config = config
        if self.shown is not None:
            self.shown.end(made_from)
        self._keep()

    def _keep(self) -> None:
        """Begin to keep what has been built for the next preview."""
        if self.config is not None and self.config.extra.get(resume.KEY):
            load = functools.partial(self._load, self.site)
            self.keeping = resume.Keeping(self.config, load)

    def _catch_up(self, shown: resume.Shown, *, is_changed: bool) -> None:
        """Make the first build while an earlier site is shown; browsers wait for nothing."""
        if is_changed:
            shown.is_same = False
        self._leave_browsers()
        try:
            self._everything()
        except BaseException:
            shown.is_same = False
            raise
        self.shown = None
        if not shown.is_same:
            self.server._wanted_epoch = _timestamp()

    def _leave_browsers(self) -> None:
        """Let browsers have what there is, and not load it again."""
        with self.server._epoch_cond:
            self.server._wanted_epoch = self.server._visible_epoch
            self.server._epoch_cond.notify_all()

    def _load(self, site: Path) -> MkDocsConfig:
        first = self.first
        config: MkDocsConfig = load_config(
            config_file=first.config_file_path,
            site_dir=str(site),
            strict=first.strict,
            use_directory_urls=first.use_directory_urls,
        )
        config.site_url = first.site_url
        return config

    def _begin(self) -> None:
        """Begin to build everything in a process of its own, which the next save ends."""
        self.due = 0.0
        self.staged = Path(tempfile.mkdtemp(prefix="mkdocs_"))  # of this name: see adapter.py
        log.info("handbook: nobody has saved for a while: the other pages are built")
        self.beside = beside.start(self.first, self.staged)

    def _adopt(self) -> bool:
        """Serve what has been built beside; tell whether it was."""
        assert self.beside is not None
        is_good = self.beside.returncode == 0
        self.beside = None
        if not is_good:
            log.warning("handbook: the other pages could not be built; save again to try again")
            shutil.rmtree(self.staged, ignore_errors=True)
            return False
        old = self.site.with_name(f"{self.site.name}_old")
        self.site.rename(old)
        self.staged.rename(self.site)
        shutil.rmtree(old, ignore_errors=True)
        log.info("handbook: all pages are up to date")
        return True

    def _stop(self) -> None:
        """End the build beside, and the keeping of a site that is about to change."""
        if self.keeping is not None:
            self.keeping.stop()
        running, self.beside = self.beside, None
        if running is None:
            return
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                running.kill()
            else:
                os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        shutil.rmtree(self.staged, ignore_errors=True)

    # One page

    def _alone(self, changed: list[str]) -> bool:
        """Render notes alone, if that is all that has changed; tell whether it was."""
        config, began = self.config, time.monotonic()
        kept: dict[str, Kept] = config.extra.get(_KEY, {}) if config is not None else {}
        if config is None or not kept or len(changed) > MOST:
            return False
        build: Build = config.extra["handbook"]
        notes = build.tree.notes.notes
        fresh: dict[str, Note] = {}
        findings: list[Finding] = []
        for name in changed:
            old = notes.get(os.path.relpath(name, config.docs_dir).replace(os.sep, "/"))
            if old is None or name not in self.seen:
                return False
            note, wrong = handbook.reread(build.tree, old)
            if not _is_text_alone(old, note):
                return False
            fresh[old.path] = note
            findings += wrong
        notes.update(fresh)
        building.forget(build)
        config.extra["handbook_accelerator"] = None  # it has been closed with its build
        try:
            for path in fresh:
                for one in kept.values():
                    findings += _render(config, one, path, build)
        except Exception as error:
            log.warning(f"handbook: {', '.join(fresh)}: not to be rendered alone: {error}")
            return False
        with self.server._epoch_cond:  # browsers need not wait for the check
            self.server._visible_epoch = self.server._wanted_epoch
            self.server._epoch_cond.notify_all()
        took = time.monotonic() - began
        log.info(f"handbook: {', '.join(fresh)}: this page alone, in {took:.2f} s")
        for path in fresh:
            findings += handbook.check_note(
                build.tree, path, config.repo_url or "", config.site_url or ""
            )
        for finding in sorted(set(findings)):
            log.warning(finding.text)
        self.due = time.monotonic() + PAUSE_S
        return True


def _is_text_alone(old: Note, new: Note) -> bool:
    """Tell whether two states of a note look the same from other pages, but for descriptions."""
    if old.meta is None or new.meta is None or "material/tags" in old.text + new.text:
        return False
    return old.meta.model_dump(exclude=_OWN) == new.meta.model_dump(exclude=_OWN)


def _render(config: MkDocsConfig, kept: Kept, path: str, build: Build) -> list[Finding]:
    """Render the page of a note in one language, if it has one; return what is wrong with it."""
    shown = kept.files.documentation_pages(inclusion=InclusionLevel.is_in_serve)
    findings: list[Finding] = []
    for file in shown:
        page = file.page
        if file.src_uri != path or page is None:
            continue
        _put_back(config, kept)
        build.language = kept.language
        vars(page).pop("render", None)  # of the build that has been accelerated
        mkdocs_build._populate_page(page, config, kept.files)
        is_excluded = file.inclusion.is_excluded()  # type: ignore[no-untyped-call]
        mkdocs_build._build_page(page, config, shown, kept.nav, kept.env, excluded=is_excluded)
        publish.add_files(Path(config.site_dir), build.effects.files)
        written = Path(file.abs_dest_path)
        text = written.read_text(encoding="utf-8")
        notice = resume.notice(_NOTICE[kept.language])
        head, end, tail = text.rpartition("</body>")
        written.write_text(f"{head}{notice}{end}{tail}" if end else text, encoding="utf-8")
        findings += build.effects.found
    return findings


def _look(watched: Iterable[Path]) -> dict[str, tuple[int, int] | None]:
    """Return when each file below some folders was written, and its size."""
    found = {}
    for one in watched:
        paths = [os.fspath(one)] if one.is_file() else _files(one)
        found.update({path: _stamp(path) for path in paths})
    return found


def _files(folder: Path) -> Iterator[str]:
    for base, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if name[0] != "." and name != "__pycache__"]
        yield from (os.path.join(base, name) for name in names if name[0] != ".")  # noqa: PTH118


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 (many, ten times a second)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
