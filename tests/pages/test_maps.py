"""The topic tree down to its leaves, the neighbours of a note, and the data of the graph."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hooks.data import load_coverage
from hooks.notes.note import Catalogue
from hooks.pages import backlinks, graph, markers, topic_map, topic_tree
from hooks.tree import Tree
from tests.samples import note, tree

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = pytest.mark.parametrize("language", ["zh", "en"])
NAMES = ("a/index", "a/one", "a/two", "a/sub/index", "a/sub/x", "a/left")
HEAD = (
    "- id: a\n  title: {zh: 甲, en: A}\n  groups:\n"
    "    - {title: {zh: 组, en: Group}, notes: [a/two, a/one], covers: {zh: 某, en: c}, "
    "items: ITEMS}\n"
    "    - {title: {zh: 下, en: Below}, notes: [a/sub], covers: {zh: 某, en: c}}\n"
    "    - {title: {zh: 空, en: Void}, notes: [a/void], covers: {zh: 某, en: c}}\n"
)
MAX_BYTES = 6000
"""What the box of neighbours may weigh on a page."""


@pytest.fixture(scope="module")
def notes(handbook: Tree) -> Catalogue:
    return handbook.notes


@pytest.fixture(scope="module")
def areas() -> list[topic_map.Area]:
    found, findings = topic_map.load(ROOT / "docs/data/topics.yml", "docs/data/topics.yml")
    assert findings == []
    return found


def small(tmp_path: Path, items: str) -> tuple[Catalogue, list[topic_map.Area], list[str]]:
    """Return a few notes, the map beside them, and what is said of it."""
    files: dict[str, str | bytes] = {"data/topics.yml": HEAD.replace("ITEMS", items)}
    for name in NAMES:
        files[f"{name}.md"] = note("## 节\n\nx\n", f"zh-{name}")
        files[f"{name}.en.md"] = note("## Part\n\nx\n", f"en-{name}")
    found, problems = tree(tmp_path, files)
    assert problems == []
    given, findings = topic_map.load(tmp_path / "docs/data/topics.yml", "docs/data/topics.yml")
    findings += topic_tree.check(given, found)
    assert {one.rule for one in findings} <= {"map"}
    return found, given, [one.message for one in findings]


ITEMS = {
    "a note": ("[{title: N, at: a/one}]", "", "[N](a/one.md)"),
    "a heading": ("[{title: N, at: 'a/one#节'}]", "", "[N](a/one.md#节)"),
    "planned": ("[{title: N, planned: b/x}]", "", 'N <small class="planned">计划中</small>'),
    "planned, and there by now": ("[{title: N, planned: a/one}]", "", "[N](a/one.md)"),
    "an unknown note": ("[{title: N, at: a/no}]", "leads to 'a/no', which does not exist", ""),
    "an unknown heading": ("[{title: N, at: 'a/one#x'}]", "leads to 'a/one#x', which does", ""),
    "neither": ("[{title: N}]", "must have 'at' or 'planned', one of the two", ""),
    "both": ("[{title: N, at: a/one, planned: b/x}]", "must have 'at' or 'planned'", ""),
}


@pytest.mark.parametrize("case", ITEMS)
def test_items_lead_to_what_exists(tmp_path: Path, case: str) -> None:
    items, message, shown = ITEMS[case]
    found, given, said = small(tmp_path, items)
    assert (len(said) == 1 and message in said[0]) if message else said == []
    assert message or f"- {shown}" in topic_tree.render(given, found, "zh")


@LANGUAGES
def test_tree_has_every_note_once(tmp_path: Path, language: str) -> None:
    found, given, said = small(tmp_path, "[]")
    assert said == []
    assert topic_tree.members(given[0], found) == [["a/two", "a/one"], ["a/sub/x"], [], ["a/left"]]
    text = topic_tree.render(given, found, language, prefix="..")
    for name in NAMES:
        assert text.count(f"[{language}-{name}](../") == 1
    assert text.count("<details") == text.count("</details>") == 5
    assert ("4 篇，1 项计划中" if language == "zh" else "4 notes, 1 planned") in text


@LANGUAGES
def test_ours_has_every_note_of_its_areas(
    notes: Catalogue, areas: list[topic_map.Area], language: str
) -> None:
    assert topic_tree.check(areas, notes) == []
    text = topic_tree.render(areas, notes, language)
    ids = {area.id for area in areas}
    for one in notes.notes.values():
        if one.language == language and one.topic.partition("/")[0] in ids:
            assert f"]({one.path})" in text, one.path


def test_ours_has_every_node_of_the_mind_map(notes: Catalogue, areas: list[topic_map.Area]) -> None:
    """Whatever answers a node of the map it began with, or will, is in the tree."""
    coverage = load_coverage(ROOT / "docs/data/coverage.yml", "f")[0]
    assert coverage is not None
    groups = [group for area in areas for group in area.groups]
    named = {item.at or item.planned for group in groups for item in group.items}
    named |= {name for group in groups for name in group.notes}
    named |= {one for area in areas for ids in topic_tree.members(area, notes) for one in ids}
    named |= {f"{area.id}/index" for area in areas}
    folders = {name.partition("#")[0].removesuffix("/index") for name in named}
    for name, row in coverage.of("003").items():
        if int(name[-3:]) < 23:  # articles and people are for the resources
            continue
        for answer in row.answers or (row.planned,):
            assert answer and answer.partition("#")[0].removesuffix("/index") in folders, name


def linked(tmp_path: Path) -> Catalogue:
    """Four notes: one and two link to each other, one to three, three needs four."""
    bodies = {
        "t/one": "[2](two.md) [3](three.md) [2](two.md)\n",
        "t/two": "[1](one.md)\n",
        "t/three": "x\n",
        "t/four": "x\n",
        "t/index": "[1](one.md)\n",
        "t/alone": "x\n",
        "about/us": "[1](../t/one.md)\n",
    }
    files: dict[str, str | bytes] = {
        f"{name}.md": note(body, name) for name, body in bodies.items()
    }
    text = str(files["t/three.md"])
    files["t/three.md"] = text.replace("kind: note\n", "kind: note\nprerequisites: [t/four]\n")
    return tree(tmp_path, files)[0]


NEIGHBOURS = {
    "t/one": {"互相提到": ["t/two"], "提到本文": ["about/us"], "本文提到": ["t/three"]},
    "t/two": {"互相提到": ["t/one"]},
    "t/three": {"提到本文": ["t/one"], "本文提到": ["t/four"]},
    "t/four": {"提到本文": ["t/three"]},
    "t/index": {},
    "t/alone": {},
}


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_by_direction(tmp_path: Path, name: str) -> None:
    found = linked(tmp_path)
    sources = backlinks.backlinks(found, "zh").get(name, [])
    box = graph.foot(name, sources, graph.shown(found, "zh"), "zh", lambda one: f"to/{one}")
    sides = re.findall(r"<div><p>(.*?)</p><ul>(.*?)</ul>", box)
    got = {side: re.findall(r'href="to/([^"]+)"', items) for side, items in sides}
    assert got == NEIGHBOURS[name]
    assert (f'href="to/maps/index?note={name}#graph"' in box) == bool(got)


def test_data_of_the_graph(tmp_path: Path) -> None:
    found = linked(tmp_path)
    text = graph.data(found, [], "zh")
    data = json.loads(text.removeprefix("window.handbookGraph=").removesuffix(";\n"))
    ids = [row[0] for row in data["notes"]]
    assert ids == ["t/four", "t/one", "t/three", "t/two"]
    assert {tuple(sorted((ids[a], ids[b]))) for a, b in data["pairs"]} == {
        ("t/one", "t/two"),
        ("t/one", "t/three"),
        ("t/four", "t/three"),
    }
    assert data["areas"] == ["t/index"]


@LANGUAGES
def test_ours_is_whole_and_light(
    notes: Catalogue, areas: list[topic_map.Area], language: str
) -> None:
    data = json.loads(graph.data(notes, areas, language).partition("=")[2].removesuffix(";\n"))
    assert len(data["notes"]) > 100 and len(data["pairs"]) > len(data["notes"])
    back = backlinks.backlinks(notes, language)
    nearby = graph.shown(notes, language)
    heaviest = max(
        len(graph.foot(one, back.get(one, []), nearby, language, lambda to: f"../../{to}.html"))
        for one in notes.ids()
    )
    assert heaviest < MAX_BYTES
    text = markers.fill_markers(
        "<!-- tree -->\n\n<!-- graph -->\n",
        page_path="maps/index.md",
        language=language,
        entries=(),
        notes=notes,
        added={},
        areas=areas,
    )
    assert 'class="tree"' in text and 'class="graph"' in text and "<!--" not in text
