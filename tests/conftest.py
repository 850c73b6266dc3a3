"""What tests share: a browser, a built site, a server for it, and small trees of notes."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import http.server
import os
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from hooks.handbook import Tree, read_tree
from hooks.search.index import Index, build_index
from tests import samples
from tools import browser as browser_tool

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = "https://handbook.example/base/"
REPOSITORY = "https://github.com/example/handbook"
"""What the handbook is built with for tests; .ci/run builds it with the same."""
# A change is refused for what it breaks, not for an example that happens to be tried that day, and
# not for what else the machine is doing.
_SLOW = [HealthCheck.too_slow]
settings.register_profile("home", deadline=None, suppress_health_check=_SLOW)
settings.register_profile("ci", settings.get_profile("home"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "home")
# A browser may take long on a busy machine: what is waited for in vain fails, however late.
PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log line for each."""

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class Server(http.server.ThreadingHTTPServer):
    """Keeps more callers waiting than five, which a busy machine would turn away."""

    request_queue_size = 128


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on a free local port; yields the address with a trailing slash."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


def run_mkdocs(
    arguments: list[str], *, cwd: Path = ROOT, **env: str
) -> subprocess.CompletedProcess[str]:
    """Run MkDocs in a process of its own, as a user does."""
    environment = {**os.environ, "DISABLE_MKDOCS_2_WARNING": "true", "NO_MKDOCS_2_WARNING": "1"}
    environment.update({"SITE_URL": "", "REPO_URL": ""} | env)
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


Once = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Make a folder once for all workers of a run: whoever comes first makes it, the rest wait."""
    base = tmp_path_factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base

    def make(name: str, fill: Callable[[Path], None]) -> Path:
        folder, done = root / name, root / f"{name}.done"
        with (root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                done.touch()
        return folder

    return make


@pytest.fixture(scope="session")
def site(once: Once) -> Path:
    """The handbook, built strictly with an address and a repository known; nobody changes it.

    It lies where the last run has built it, and pages that have not changed come from the cache.
    HANDBOOK_SITE names one that has just been built with these two, such as `site`.
    """
    place = ROOT / ".cache/tests/site"

    if ready := os.environ.get("HANDBOOK_SITE"):
        sitemap = ROOT / ready / "sitemap.xml"
        assert sitemap.is_file(), f"HANDBOOK_SITE: there is no site in '{ready}'"
        assert ADDRESS in sitemap.read_text("utf-8"), f"HANDBOOK_SITE: build it for {ADDRESS}"
        return ROOT / ready

    def build(_: Path) -> None:
        run = run_mkdocs(
            ["build", "--strict", "--site-dir", str(place)], SITE_URL=ADDRESS, REPO_URL=REPOSITORY
        )
        assert run.returncode == 0, run.stdout + run.stderr
        assert "WARNING" not in run.stderr, run.stderr

    once("handbook", build)
    return place


@pytest.fixture(scope="session")
def handbook(once: Once) -> Tree:
    """The handbook's sources: whoever comes first reads them, the rest take what is kept."""
    read: list[Tree] = []
    once("read", lambda _: read.append(read_tree(ROOT)))
    return read[0] if read else read_tree(ROOT)


@pytest.fixture(scope="session")
def notes_index(once: Once) -> Index:
    """The search index of the handbook's notes, made once for all workers."""

    def make(folder: Path) -> None:
        made = build_index(ROOT / "docs", ROOT / "docs/data/terms")
        (folder / "index.pickle").write_bytes(pickle.dumps(made))

    found: Index = pickle.loads((once("index", make) / "index.pickle").read_bytes())
    return found


@pytest.fixture(scope="session")
def site_address(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The built handbook over http, below the path it was built for."""
    parent = tmp_path_factory.mktemp("server")
    (parent / "base").symlink_to(site)
    with serve(parent) as address:
        yield f"{address}base/"


@pytest.fixture(scope="session")
def small_site(once: Once) -> Path:
    """A small handbook, built: several kinds and tags, former addresses, calculators in a note.

    Nothing is known of its address. Who changes it copies it.
    """

    def build(folder: Path) -> None:
        project = Project(folder)
        project.fill()
        run = project.build()
        assert run.returncode == 0, run.stdout + run.stderr

    return once("small", build) / "site"


def be_patient(browser: Browser) -> None:
    """Let pages of this browser wait as long as `expect` does, for addresses and presses too."""
    new_context, new_page = browser.new_context, browser.new_page

    def patient_context(**options: Any) -> BrowserContext:
        context = new_context(**options)
        context.set_default_timeout(PATIENCE_MS)
        return context

    def patient_page(**options: Any) -> Page:
        page = new_page(**options)
        page.set_default_timeout(PATIENCE_MS)
        return page

    browser.new_context = patient_context  # type: ignore[method-assign]
    browser.new_page = patient_page  # type: ignore[method-assign]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the browser tests run in another engine, which `playwright install` fetches."""
    parser.addoption("--engine", default="chromium", choices=["chromium", "firefox", "webkit"])


@pytest.fixture(scope="session")
def browser(pytestconfig: pytest.Config) -> Iterator[Browser]:
    """A browser without windows: Chromium, or what `--engine` names."""
    name = pytestconfig.getoption("engine")
    own = {"executable_path": browser_tool.find(), "args": CHROMIUM_FLAGS}
    with sync_playwright() as playwright:
        options: dict[str, Any] = own if name == "chromium" else {}
        opened = getattr(playwright, name).launch(timeout=PATIENCE_MS, **options)
        be_patient(opened)
        yield opened
        opened.close()


class Project:
    """A small handbook of its own: this repository's code around a few notes."""

    NAV = "nav:\n  - index.md\n  - Topic:\n      - topic/index.md\n      - topic/one.md\n"

    def __init__(self, root: Path) -> None:
        """Lay out the project below `root` with a home page, a topic and one pair of notes."""
        self.root = root
        for name in ("hooks", "overrides"):
            (root / name).symlink_to(ROOT / name)
        # The adapter finds its root beside its own file: give this project an entry of its own.
        (root / "adapter.py").write_text(
            f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n"
            "from pathlib import Path\nfrom hooks import adapter\n"
            "adapter.ROOT = Path(__file__).parent\n"
            "from hooks.adapter import *\n",
            encoding="utf-8",
        )
        config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
        config = config[: config.index("\nnav:")] + "\n" + self.NAV
        config = config.replace("hooks/adapter.py", "adapter.py")
        (root / "mkdocs.yml").write_text(config, encoding="utf-8")
        (root / "docs").mkdir()
        (root / "docs" / "assets").symlink_to(ROOT / "docs" / "assets")
        for path, title, body in (
            ("index", "首页", "欢迎\n"),
            ("index.en", "Home", "Welcome\n"),
            ("topic/index", "主题", "<!-- notes -->\n"),
            ("topic/index.en", "Topic", "<!-- notes -->\n"),
            ("topic/one", "第一篇", "## 显存带宽\n\n零拷贝\n"),
            ("topic/one.en", "Note one", "## Memory bandwidth\n\nzero-copy\n"),
        ):
            self.write(f"docs/{path}.md", samples.note(body, title))

    def fill(self) -> None:
        """Add what browser tests look for: kinds, tags, former addresses, calculators."""
        for name, text in samples.BROWSED.items():
            self.write(f"docs/{name}.md", text)
        self.write("docs/topic/figures/x.svg", samples.stepped("step"))
        self.lend_data()
        self.write("docs/data/moved.yml", samples.MOVED)
        self.add_to_nav("topic/two.md", "topic/three.md")

    def lend_data(self) -> None:
        """Add the handbook's facts, for presets, but not the rows that name its notes."""
        folder = self.root / "docs" / "data"
        folder.mkdir()
        for name in ("facts", "sources"):
            (folder / name).symlink_to(ROOT / "docs" / "data" / name)

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file of the project."""
        samples.lay(self.root, {name: content})

    def add_to_nav(self, *lines: str) -> None:
        """Append pages to the topic in the navigation."""
        with (self.root / "mkdocs.yml").open("a", encoding="utf-8") as file:
            file.writelines(f"      - {line}\n" for line in lines)

    def build(self, *flags: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Build `site/`, strictly."""
        return run_mkdocs(["build", "--strict", *flags], cwd=self.root, **env)

    @property
    def site(self) -> Path:
        """Where the site is built."""
        return self.root / "site"

    def page(self, name: str) -> str:
        """Return a built page."""
        return (self.site / name).read_text(encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A small handbook to build."""
    return Project(tmp_path)
