"""What tests share: a browser, a built site, a server for it, and small trees of notes."""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from playwright.sync_api import Browser, sync_playwright

from tests import samples
from tools import browser as browser_tool

ROOT = Path(__file__).resolve().parent.parent
# A change is refused for what it breaks, not for an example that happens to be tried that day.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
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


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on a free local port; yields the address with a trailing slash."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


def run_mkdocs(
    arguments: list[str], *, cwd: Path = ROOT, generator: str = "mkdocs", **env: str
) -> subprocess.CompletedProcess[str]:
    """Run MkDocs in a process of its own, as a user does."""
    environment = {**os.environ, "DISABLE_MKDOCS_2_WARNING": "true", "NO_MKDOCS_2_WARNING": "1"}
    environment.update({"SITE_URL": "", "REPO_URL": ""} | env)
    return subprocess.run(
        [sys.executable, "-m", generator, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The handbook, built strictly with an address and a repository known."""
    target = tmp_path_factory.mktemp("build") / "site"
    run = run_mkdocs(
        ["build", "--strict", "--site-dir", str(target)],
        SITE_URL="https://handbook.example/base/",
        REPO_URL="https://github.com/example/handbook",
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "WARNING" not in run.stderr, run.stderr
    return target


@pytest.fixture(scope="session")
def site_address(site: Path) -> Iterator[str]:
    """The built handbook over http, below the path it was built for."""
    parent = site.parent / "server"
    parent.mkdir(exist_ok=True)
    (parent / "base").symlink_to(site)
    with serve(parent) as address:
        yield f"{address}base/"


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=browser_tool.find(), args=CHROMIUM_FLAGS
        )
        yield chromium
        chromium.close()


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

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file of the project."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

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
