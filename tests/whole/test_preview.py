"""A note that is saved while the handbook is served is seen without the whole site being built."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.samples import note

ALONE = "this page alone"
WHOLE = "Building documentation..."
FOLLOWED = "all pages are up to date"
EARLIER = "the site of the last preview is shown"
BUILT = "Documentation built"
OLD = "来自上一次预览"
LIMIT_S = 90.0
"""After which what does not come is missing; a busy machine takes its time."""


class Served:
    """A project that is served by a process of its own."""

    def __init__(self, project: Project, port: int = 0) -> None:
        """Start it, at a port of its own unless one is given, and wait for the first page."""
        self.project = project
        self.log = project.root / ".cache" / "serve.log"  # no file of the root: those count
        self.log.parent.mkdir(exist_ok=True)
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", port))
            self.port = port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}/"
        command = [sys.executable, "-m", "mkdocs", "serve", "--no-strict", "--livereload"]
        env = {**os.environ, "DISABLE_MKDOCS_2_WARNING": "true", "NO_MKDOCS_2_WARNING": "1"}
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [*command, "--dev-addr", f"127.0.0.1:{port}"],
                cwd=project.root,
                env=env | {"SITE_URL": "", "REPO_URL": ""},
                stdout=log,
                stderr=log,
            )
        self.wait(lambda: "Serving on" in self.said(), "it is served")

    def keep(self) -> Path:
        """Return the site that is kept for the next preview, when it is."""
        folder = self.project.root / ".cache" / "preview"
        self.wait(lambda: any(not one.suffix for one in folder.glob("*")), "the site is kept")
        return next(one for one in folder.iterdir() if not one.suffix)

    def answered_first(self) -> None:
        """It listened with the site of the last preview, before one was built."""
        assert EARLIER in self.said()
        assert BUILT not in self.said().partition("Serving on")[0]

    def end(self) -> None:
        self.process.terminate()
        self.process.wait()

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def page(self, name: str) -> str:
        with urllib.request.urlopen(self.address + name) as answer:
            text: str = answer.read().decode()
        return text

    def rewrite(self, name: str, old: str, new: str) -> None:
        path = self.project.root / "docs" / name
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    def wait(self, is_so: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + LIMIT_S
        while not is_so():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < end, f"never: {what}\n{self.said()}"
            time.sleep(0.1)


@pytest.fixture
def served(project: Project, tmp_path: Path) -> Iterator[Served]:
    project.write("docs/topic/two.md", note("## 节\n\n只有中文\n", "第二篇"))
    project.add_to_nav("topic/two.md")
    one = Served(project)
    yield one
    one.end()


def test_a_saved_text_is_seen_alone_and_a_title_everywhere(served: Served) -> None:
    """The pages of both languages where one note stands for both; then the rest of the site."""
    served.rewrite("topic/one.md", "零拷贝", "新的一句 [死链](gone.md)")
    served.wait(lambda: "新的一句" in served.page("topic/one.html"), "the text is seen")
    served.wait(lambda: "gone.md" in served.said().partition(ALONE)[2], "its dead link is reported")
    assert served.said().count(WHOLE) == 1
    assert "其他页面" in served.page("topic/one.html")
    assert "其他页面" not in served.page("topic/two.html")

    served.rewrite("topic/one.md", " [死链](gone.md)", "")
    served.rewrite("topic/two.md", "只有中文", "两边都新")
    served.wait(lambda: "两边都新" in served.page("topic/two.html"), "the text is seen")
    served.wait(lambda: "两边都新" in served.page("en/topic/two.html"), "in its stead too")
    assert served.said().count(WHOLE) == 1
    assert 'lang="en"' in served.page("en/topic/two.html")

    served.wait(lambda: FOLLOWED in served.said(), "the whole site follows")
    served.wait(lambda: "其他页面" not in served.page("topic/one.html"), "nothing is to follow")
    assert "新的一句" in served.page("topic/one.html")
    assert "两边都新" in served.page("en/topic/two.html")

    before = served.said().count(ALONE)
    served.rewrite("topic/two.md", "第二篇", "改了题目")
    served.wait(lambda: "改了题目" in served.page("topic/one.html"), "another page has the title")
    assert served.said().count(ALONE) == before


@pytest.mark.slow
def test_the_next_preview_answers_with_the_site_of_the_last(served: Served) -> None:
    """At once where nothing has changed; else every page says that it is of an earlier one."""
    kept = served.keep()
    served.end()
    again = Served(served.project, served.port)
    try:
        again.answered_first()
        assert OLD not in again.page("topic/one.html")
        again.wait(lambda: BUILT in again.said(), "the site is built none the less")
        again.rewrite("topic/one.md", "零拷贝", "新的一句")
        again.wait(lambda: "新的一句" in again.page("topic/one.html"), "the text is seen")
        again.wait(lambda: ALONE in again.said(), "it was rendered alone")
        again.wait(lambda: FOLLOWED in again.said(), "the whole site follows")
        assert again.keep() != kept
    finally:
        again.end()

    again.rewrite("topic/one.md", "新的一句", "又一句")
    again.rewrite("topic/two.md", "第二篇", "改了题目")
    third = Served(served.project, served.port)
    try:
        third.answered_first()
        for name in ("topic/one.html", "en/topic/two.html", "index.html"):
            page = third.page(name)
            if OLD in page or "from an earlier preview" in page:
                assert "改了题目" not in page
            else:  # a machine so busy that it is built by now
                assert BUILT in third.said()
        third.rewrite("topic/two.md", "只有中文", "开头就改")  # while the first build runs
        third.wait(lambda: "开头就改" in third.page("en/topic/two.html"), "the text is seen")
        assert "又一句" in third.page("topic/one.html")
        assert "改了题目" in third.page("topic/one.html")
        assert OLD not in third.page("topic/one.html")
    finally:
        third.end()
