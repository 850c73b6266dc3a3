"""The same sources give the same bytes: from the cache, anew, wherever, whenever and by whom."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hooks import build as building
from hooks.pages import Effects, Place
from hooks.search.sections import Page
from tests.conftest import ROOT, Once, Project
from tests.samples import note, stepped
from tests.whole.test_build import fingerprint

TABLE = "```facts\ntable: nvlink\n```\n"


def _rewrite(project: Project, name: str, old: str, new: str) -> None:
    path = project.root / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


CHANGES: dict[str, Callable[[Project], object]] = {
    "text": lambda one: _rewrite(one, "docs/topic/one.md", "零拷贝", "改过的一句"),
    "title": lambda one: _rewrite(one, "docs/topic/two.md", "第二篇", "另一个题目"),
    "heading of a twin": lambda one: _rewrite(one, "docs/topic/one.en.md", "Memory", "Device"),
    "data cell": lambda one: _rewrite(one, "docs/data/facts/nvlink.yml", '{zh: "', '{zh: "改'),
    "figure": lambda one: one.write("docs/topic/figures/x.svg", stepped("other")),
    "program": lambda one: one.write("docs/topic/part.txt", "print('another')\n"),
    "navigation": lambda one: _rewrite(
        one,
        "mkdocs.yml",
        "topic/two.md\n      - topic/three.md",
        "topic/three.md\n      - topic/two.md",
    ),
    "translated": lambda one: one.write("docs/topic/data.en.md", note(TABLE, "Data")),
}


@pytest.fixture(scope="session")
def built(once: Once) -> Path:
    """A small handbook that has been built, with what its build has kept."""

    def build(folder: Path) -> None:
        project = Project(folder)
        project.fill()
        (folder / "docs/data/facts").unlink()
        facts = "docs/data/facts/nvlink.yml"
        project.write(facts, (ROOT / facts).read_bytes())
        project.write("docs/topic/part.txt", "print('one')\n")
        listing = '```python\n--8<-- "topic/part.txt"\n```\n'
        project.write("docs/topic/data.md", note(f"{TABLE}\n{listing}", "数据"))
        for end, title in (("", "来源"), (".en", "Sources")):
            project.write(f"docs/about/sources{end}.md", note("<!-- sources -->\n", title))
        project.add_to_nav("topic/data.md", "about/sources.md")
        run = project.build()
        assert run.returncode == 0, run.stdout + run.stderr

    return once("rebuilds", build)


# Changes that no page has in common are made together; two of the four wait for a release.
TOGETHER = (
    "text, data cell, figure",
    "title, translated",
    "heading of a twin, program",
    "navigation",
)


@pytest.mark.parametrize(
    "names",
    [pytest.param(one, marks=[pytest.mark.release] * (n > 1)) for n, one in enumerate(TOGETHER)],
)
def test_same_bytes_after_a_change(built: Path, tmp_path: Path, names: str) -> None:
    for folder in ("warm", "cold"):
        shutil.copytree(built, tmp_path / folder, symlinks=True)
        one = Project.__new__(Project)
        one.root = tmp_path / folder
        for name in names.split(", "):
            CHANGES[name](one)
        if folder == "cold":
            shutil.rmtree(one.root / ".cache")
        run = one.build()
        assert run.returncode == 0, run.stdout + run.stderr
    warm, cold = (fingerprint(tmp_path / folder / "site") for folder in ("warm", "cold"))
    assert warm == cold
    assert warm != fingerprint(built / "site")


@pytest.mark.slow
def test_same_site_in_another_folder(tmp_path: Path, small_site: Path) -> None:
    """From files that another day wrote, in another time zone."""
    root = tmp_path / "a/deeper/two"
    root.mkdir(parents=True)
    project = Project(root)
    project.fill()
    for file in (root / "docs").rglob("*.md"):
        os.utime(file, (0, time.time() - 90_000))
    run = project.build(TZ="Asia/Tokyo", PYTHONHASHSEED="1")
    assert run.returncode == 0, run.stderr
    assert fingerprint(project.site) == fingerprint(small_site)


def test_a_note_without_translation_learns_its_second_address() -> None:
    nothing = SimpleNamespace(notes=SimpleNamespace(notes={}))
    build: Any = SimpleNamespace(found=[], searched={}, files={}, asked={}, tree=nothing)
    found = Page("ccl/ring.html", "ccl/ring", "zh", "环")
    for page, effects in (
        ("ccl/ring.html", Effects(searched=[found])),
        ("en/ccl/ring.html", Effects(fallback="en/ccl/ring.html")),
    ):
        place = Place("ccl/ring.md", page, "环", (), "zh", lambda _: None, str)
        building.merge(build, effects, place)
    (one,) = build.searched.values()
    assert (one.location, one.fallback) == ("ccl/ring.html", "en/ccl/ring.html")
