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

from hooks.site import offline
from tests.conftest import Project
from tests.samples import note

ALONE = "this page alone"
WHOLE = "Building documentation..."
NOTICE = "这一页已更新"
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
    """The pages of both languages where one note stands for both."""
    served.rewrite("topic/one.md", "零拷贝", "新的一句 [死链](gone.md)")
    served.wait(lambda: "新的一句" in served.page("topic/one.html"), "the text is seen")
    served.wait(lambda: "gone.md" in served.said().partition(ALONE)[2], "its dead link is reported")
    assert served.said().count(WHOLE) == 1
    assert NOTICE in served.page("topic/one.html")
    assert NOTICE not in served.page("topic/two.html")

    served.rewrite("topic/one.md", " [死链](gone.md)", "")
    served.rewrite("topic/two.md", "只有中文", "两边都新")
    served.wait(lambda: "两边都新" in served.page("topic/two.html"), "the text is seen")
    served.wait(lambda: "两边都新" in served.page("en/topic/two.html"), "in its stead too")
    assert served.said().count(WHOLE) == 1
    assert 'lang="en"' in served.page("en/topic/two.html")

    before = served.said().count(ALONE)
    served.rewrite("topic/two.md", "第二篇", "改了题目")
    served.wait(lambda: "改了题目" in served.page("topic/one.html"), "another page has the title")
    assert served.said().count(ALONE) == before
    served.wait(lambda: NOTICE not in served.page("topic/one.html"), "all pages are of one build")
    assert "新的一句" in served.page("topic/one.html")


def test_what_a_build_cannot_take_leaves_what_is_served(served: Served) -> None:
    """Fields that are bad: a build of all says so, and one that is good follows."""
    served.rewrite("topic/one.md", "kind: note", "sort: note")
    served.wait(lambda: "unknown field 'sort'" in served.said(), "the field is reported")
    assert "零拷贝" in served.page("topic/one.html")
    # Copies for reading offline are taken away, and none is made.
    assert served.page("sw.js") == offline.GONE.read_text(encoding="utf-8")
    assert "offline.js" not in served.page("index.html")
    served.rewrite("topic/one.md", "sort: note", "kind: note")
    served.rewrite("topic/one.md", "零拷贝", "新的一句")
    served.wait(lambda: "新的一句" in served.page("topic/one.html"), "the text is seen")
