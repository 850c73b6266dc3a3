"""An accelerated build gives the same site as a plain one, whatever was changed before it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mkdocs.structure.pages import Page

from hooks import build as building
from hooks import proxies
from hooks.build import Effects, Place
from hooks.search import pages
from tests.conftest import Project
from tests.samples import note
from tests.whole.test_build import fingerprint

MANY = [f"topic/n{number}" for number in range(10)]
"""Enough notes for worker processes."""


def _rewrite(project: Project, name: str, old: str, new: str) -> None:
    path = project.root / "docs" / name
    if path.is_file():  # a translation may be gone by now
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def _delete(project: Project, name: str) -> None:
    (project.root / "docs" / name).unlink(missing_ok=True)


def _translate(project: Project, name: str) -> None:
    project.write(f"docs/{name}.en.md", note("## Own\n\nin English [^1]\n\n[^1]: a note\n", "Own"))


def _leave_out(project: Project, name: str) -> None:
    """Delete a note in both languages, and its place in the navigation."""
    _delete(project, f"{name}.md")
    _delete(project, f"{name}.en.md")
    _rewrite(project, "../mkdocs.yml", f"      - {name}.md\n", "")


def _take_in(project: Project, name: str) -> None:
    if not (project.root / f"docs/{name}.md").is_file():
        project.write(f"docs/{name}.md", note("## 回来\n\n又有了\n", "回来的"))
        project.add_to_nav(f"{name}.md")


def _rename(project: Project) -> None:
    _rewrite(project, "../mkdocs.yml", "topic/n3.md", "topic/moved.md")
    for end in (".md", ".en.md"):
        path = project.root / f"docs/topic/n3{end}"
        if path.is_file():
            path.rename(path.with_name(f"moved{end}"))


EDITS: dict[str, Callable[[Project], object]] = {
    "text": lambda one: _rewrite(one, "topic/n1.md", "正文", "改过的正文"),
    "title": lambda one: _rewrite(one, "topic/n2.md", "笔记 2", "另一个题目"),
    "heading of a twin": lambda one: _rewrite(one, "topic/one.en.md", "Memory", "Device memory"),
    "translated": lambda one: _translate(one, "topic/n4"),
    "untranslated": lambda one: _delete(one, "topic/n4.en.md"),
    "translation changed": lambda one: _rewrite(one, "topic/n4.en.md", "in English", "still so"),
    "calculator translated": lambda one: _translate(one, "topic/n6"),
    "calculator untranslated": lambda one: _delete(one, "topic/n6.en.md"),
    "renamed": _rename,
    "deleted": lambda one: _leave_out(one, "topic/n5"),
    "back": lambda one: _take_in(one, "topic/n5"),
    "included": lambda one: one.write("docs/topic/part.txt", "另一段\n"),
    "data": lambda one: _rewrite(one, "data/words.txt", "a", "b"),
    "frame": lambda one: _rewrite(one, "../mkdocs.yml", "AI Infra & HPC 手册", "手册"),
}


@pytest.fixture
def many(project: Project) -> Project:
    for number, name in enumerate(MANY):
        body = f'## 节\n\n正文 {number}\n\n--8<-- "topic/part.txt"\n\n见[前一篇](one.md)。\n'
        project.write(f"docs/{name}.md", note(body, f"笔记 {number}"))
    project.write("docs/topic/n6.md", note("## 节\n\n```calc\nunits\n```\n", "笔记 6"))
    project.write("docs/topic/part.txt", "一段\n")
    project.write("docs/data/words.txt", "a")
    project.add_to_nav(*(f"{name}.md" for name in MANY))
    return project


def _same(project: Project) -> None:
    """Build twice, accelerated and plain, and compare every byte."""
    fast = project.build()
    plain = project.build("--site-dir", str(project.root / "plain"), HANDBOOK_CACHE="off")
    assert fast.returncode == plain.returncode, fast.stderr + plain.stderr
    if not plain.returncode:
        assert fingerprint(project.site) == fingerprint(project.root / "plain")


@pytest.mark.slow
def test_same_bytes_after_changes(many: Project) -> None:
    """Cold by several processes; then after changes of every kind, by what is left of the cache."""
    assert many.build().returncode == 0
    for one in (path for number, path in enumerate(_entries(many)) if number % 3 == 0):
        one.write_bytes(one.read_bytes()[:40])  # as a killed build or a full disk leaves it
    again = many.build()
    assert again.returncode == 0 and "nothing has changed" in again.stderr
    (many.site / "index.html").write_text("spoilt", encoding="utf-8")
    for name in ("text", "title", "heading of a twin", "renamed", "included", "deleted", "data"):
        EDITS[name](many)
    _same(many)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_same_bytes_after_any_changes(many: Project, seed: int) -> None:
    """Every change once, three between two builds, in an order made at random."""
    names = random.Random(seed).sample(sorted(EDITS), len(EDITS))
    _same(many)
    for first in range(0, len(names), 3):
        for name in names[first : first + 3]:
            EDITS[name](many)
        _same(many)


def _entries(project: Project) -> list[Path]:
    found = sorted((project.root / ".cache/build").glob("??/*"))
    assert len(found) > len(MANY)
    return found


def test_a_note_without_translation_learns_its_second_address() -> None:
    build: Any = SimpleNamespace(found=[], searched={}, files={}, asked={}, written={})
    found = pages.Page("ccl/ring.html", "ccl/ring", "zh", "环", source="ccl/ring.md")
    for page, effects in (
        ("ccl/ring.html", Effects(searched=[found])),
        ("en/ccl/ring.html", Effects(fallback="en/ccl/ring.html")),
    ):
        building.merge(build, effects, Place("ccl/ring.md", page, "环", (), lambda _: None))
    (one,) = build.searched.values()
    assert (one.location, one.fallback) == ("ccl/ring.html", "en/ccl/ring.html")


def test_a_page_is_not_whole_after_a_fence_has_raised() -> None:
    """A worker may lack the engine of calculators; Markdown passes over what a fence raises."""

    def fail(*_: object) -> None:
        raise RuntimeError

    build: Any = SimpleNamespace(
        effects=Effects(),
        tree=SimpleNamespace(fences=SimpleNamespace(show=fail)),
        language="en",
        page_dir="",
    )
    with pytest.raises(RuntimeError):
        building.Build.show(build, "calc", "units")
    assert not build.effects.is_whole


def test_a_folded_page_shows_the_same_html() -> None:
    page = Page.__new__(Page)
    page.content, page.markdown = "<p>显存 \ud800</p>", "显存"
    proxies.fold(page)
    assert (page.content, page.markdown) == ("<p>显存 \ud800</p>", "")
    page.content = "<p>b</p>"
    assert page.content == "<p>b</p>"
