"""Whole builds of a small handbook: what a reader gets, and that a bad build changes nothing."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hooks.findings.finding import has_errors
from hooks.handbook import read_tree
from hooks.search.engine import Engine
from hooks.search.terminal import read_site
from tests.conftest import Project
from tests.samples import note

Change = Callable[[Project], object]


def fingerprint(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_small_handbook(project: Project) -> None:
    """Addresses, twins, a topic page; and a note in one language, shown in the other's place."""
    project.write("docs/topic/two.md", note("## 独一\n", "只此一份"))
    project.add_to_nav("topic/two.md")
    run = project.build(SITE_URL="https://h.example/x/", REPO_URL="https://github.com/o/r")
    assert run.returncode == 0, run.stderr
    assert "WARNING" not in run.stderr
    chinese, english = project.page("topic/one.html"), project.page("en/topic/one.html")
    assert '<html lang="zh"' in chinese and '<html lang="en"' in english
    assert '<link rel="canonical" href="https://h.example/x/topic/one.html">' in chinese
    assert '<link rel="canonical" href="https://h.example/x/en/topic/one.html">' in english
    for page in (chinese, english):
        assert 'id="显存带宽"' in page and 'id="memory-bandwidth"' in page  # twins' ids
    assert 'href="https://github.com/o/r/edit/main/docs/topic/one.md"' in chinese
    assert 'href="https://github.com/o/r/edit/main/docs/topic/one.en.md"' in english
    entry = r'<strong><a href="one\.html">{}</a></strong><br\s*/?>\s*d\b'
    assert re.search(entry.format("第一篇"), project.page("topic/index.html"))
    assert re.search(entry.format("Note one"), project.page("en/topic/index.html"))
    untranslated = project.page("en/topic/two.html")
    assert "untranslated" in untranslated and "not" in untranslated
    assert re.search(r'<article[^>]* lang="zh"', untranslated)
    assert '<link rel="canonical" href="https://h.example/x/topic/two.html">' in untranslated
    sitemap = (project.site / "sitemap.xml").read_text(encoding="utf-8")
    assert "en/topic/two.html" not in sitemap and "topic/two.html" in sitemap


def test_a_note_in_english_alone_cannot_be_placed(project: Project) -> None:
    """The Chinese note is the source; without it, the small handbook is clean."""
    assert not has_errors(read_tree(project.root).findings)
    project.write("docs/topic/two.en.md", note("## Alone\n", "Only this"))
    project.add_to_nav("topic/two.md")
    assert "nav-missing" in {one.rule for one in read_tree(project.root).findings}


def test_without_addresses_nothing_is_made_up(small_site: Path) -> None:
    page = (small_site / "topic/one.html").read_text(encoding="utf-8")
    assert 'rel="canonical"' not in page
    assert "/edit/main/" not in page and 'class="md-source"' not in page
    assert "<loc>" not in (small_site / "sitemap.xml").read_text(encoding="utf-8")


def test_both_languages_are_in_the_search_index(small_site: Path) -> None:
    index = read_site(small_site)
    assert index is not None
    with Engine(index) as engine:
        for language, location in (
            ("zh", "topic/one.html#显存带宽"),
            ("en", "en/topic/one.html#memory-bandwidth"),
        ):
            assert engine.search("显存带宽", language)[0].location == location


def one(text: str) -> Change:
    """Return what writes a note anew, below the heading that its twin has too."""
    return lambda p: p.write("docs/topic/one.md", note(f"## 显存带宽\n\n{text}\n", "第一篇"))


def at(place: str, rule: str) -> str:
    return rf"docs/topic/{re.escape(place)}: error\[{rule}\] "


BAD: dict[str, tuple[Change, str]] = {
    "dead link": (one("[x](tow.md)"), at("one.md:12:5", "dead-link") + r"'tow\.md'"),
    "dead anchor": (
        one("[x](#显存)"),
        at("one.md:12:5", "dead-anchor") + ".* did you mean '#显存带宽'",
    ),
    "headings differ": (
        lambda p: p.write("docs/topic/one.en.md", note("### Memory\n", "Note one")),
        at("one.en.md:10:1", "twin-headings") + r".*docs/topic/one\.md:10",
    ),
    "broken YAML": (
        lambda p: p.write("docs/topic/one.md", "---\ntitle: [\n---\n# x\n"),
        at("one.md:3:1", "front-matter"),
    ),
    "bad field": (
        lambda p: p.write("docs/topic/one.md", note("x\n", "第一篇").replace("kind", "sort")),
        at("one.md:4:1", "front-matter") + "unknown field 'sort'",
    ),
    "invalid UTF-8": (
        lambda p: p.write("docs/topic/one.md", note("x\n", "第一篇").encode() + b"\xff"),
        at("one.md:11:1", "encoding") + "byte 0xff",
    ),
    "duplicate title": (
        lambda p: p.write("docs/topic/one.md", note("## 显存带宽\n", "主题")),
        r"error\[duplicate-title\] title '主题'",
    ),
    "script tag": (
        one("<script>alert(1)</script>"),
        at("one.md:12:1", "unsafe-html") + "HTML tag <script>",
    ),
    "event handler": (
        one('<b onclick="x()">y</b>'),
        at("one.md:12:1", "unsafe-html") + "event handler 'onclick'",
    ),
    "javascript link": (
        one("[x](javascript:alert(1))"),
        at("one.md:12:5", "unsafe-html") + "a link of scheme 'javascript:'",
    ),
    "include outside docs": (
        one('--8<-- "../mkdocs.yml"'),
        at("one.md:12:9", "include") + r"include '\.\./mkdocs\.yml' leaves docs/",
    ),
    "circular include": (
        one('--8<-- "topic/one.md"'),
        at("one.md:12:9", "include") + r"include 'topic/one\.md' is a note",
    ),
    "unparsable diagram": (
        one("```mermaid\nflowchart LR\n  A --> [\n```"),
        r"docs/topic/one\.md:1[345]:?\d*: error\[diagram-syntax\]",
    ),
    "unknown table": (
        one("```facts\ntable: nvlnk\n```"),
        at("one.md:13:1", "facts-block") + ".*nvlnk",
    ),
    "unknown calculator": (one("```calc\nunitz\n```"), at("one.md:13:1", "calc-block") + ".*unitz"),
    "chart of a record that is gone": (
        one("```chart\nfile: x.json\ndescription: 说明\n```"),
        at("one.md:13:1", "chart-block") + r".*docs/x\.json",
    ),
    "data without a source": (
        lambda p: p.write("docs/data/facts/x.yml", "family: x\ntitle: {zh: a, en: b}\n"),
        r"docs/data/facts/x\.yml:\d+",
    ),
    "note absent from navigation": (
        lambda p: p.write("docs/topic/two.md", note("x\n", "第二篇")),
        at("two.md:1:1", "nav-absent"),
    ),
    "navigation without note": (
        lambda p: p.add_to_nav("topic/gone.md"),
        r"mkdocs\.yml:\d+:1: error\[nav-missing\].*topic/gone\.md",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_names_the_place(project: Project, name: str) -> None:
    change, message = BAD[name]
    change(project)
    found = [one.text for one in read_tree(project.root).findings if one.severity == "error"]
    assert any(re.search(message, text) for text in found), found


def test_a_refused_build_leaves_the_site_whole(project: Project, small_site: Path) -> None:
    """Several findings at once, from notes, data and navigation."""
    shutil.copytree(small_site, project.site)
    before = fingerprint(project.site)
    chosen = [BAD["dead link"], BAD["data without a source"]]
    for change, _ in chosen:
        change(project)
    run = project.build()
    assert run.returncode != 0
    for _, message in chosen:
        assert re.search(message, run.stderr), run.stderr
    assert "Traceback" not in run.stderr
    assert fingerprint(project.site) == before


def test_killed_build_leaves_the_site_whole(project: Project, small_site: Path) -> None:
    shutil.copytree(small_site, project.site)
    before = fingerprint(project.site)
    staged = project.root / ".site-next"
    process = subprocess.Popen(
        [sys.executable, "-m", "mkdocs", "build", "--quiet"],
        cwd=project.root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )
    while not staged.exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL, "it had ended already"
    assert fingerprint(project.site) == before
    assert project.build().returncode == 0
    assert not staged.exists()
