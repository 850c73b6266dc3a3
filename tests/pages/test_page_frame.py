"""The frame of a note's page: its card, what to read before and after it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hooks.notes import Entry, minutes
from hooks.pages import foot, page
from hooks.pages.view import View
from tests.samples import note, tree

NAV = (
    Entry(path="index.md"),
    Entry(
        title="T",
        children=tuple(Entry(path=f"t/{name}.md") for name in ("index", "one", "two", "three")),
    ),
)

PAGES = {
    "to the next section": (
        '<h1>T</h1>\n<h2 id="t">Takeaway</h2>\n<p>A.</p>\n<h2 id="n">N</h2>\n<p>B.</p>',
        '<h2 id="t">Takeaway</h2>\n<p>A.</p>\n</section>',
    ),
    "to the end": ('<h2 id="t">Takeaway</h2>\n<p>A.</p>', "<p>A.</p></section>"),
}


@pytest.mark.parametrize("case", PAGES)
def test_the_takeaway_is_a_card(case: str, tmp_path: Path) -> None:
    html, wanted = PAGES[case]
    found, _ = tree(tmp_path, {"t/one.en.md": note("## Takeaway\n\nA.\n")})
    made = page.card(html, found.notes["t/one.en.md"])
    section = made[made.index("<section") : made.index("</section>") + 10]
    assert section.startswith('<section class="takeaway">\n<h2 id="t">') and wanted in section
    assert made.replace('<section class="takeaway">\n', "").replace(
        f"</section>{page.AFTER}\n", ""
    ) == (html)


def test_a_page_without_one_stays_as_it_is(tmp_path: Path) -> None:
    found, _ = tree(tmp_path, {"t/one.md": note("## 数据\n\n甲\n\n## 一句话结论\n\n乙\n")})
    html = '<h2 id="数据">数据</h2><p>甲</p><h2 id="一句话结论">一句话结论</h2><p>乙</p>'
    assert page.card(html, found.notes["t/one.md"]) == html


def test_an_empty_corner_is_no_heading() -> None:
    head = '<thead><tr><th></th><th style="text-align: right;"></th><th>GPU</th></tr></thead>'
    assert page.free_corners(head) == (
        '<thead><tr><td></td><td style="text-align: right;"></td><th>GPU</th></tr></thead>'
    )


TEXTS = {
    "characters": ("a.md", "字" * 1200, 3),
    "words": ("a.en.md", "word " * 660, 3),
    "a table counts half": ("a.md", "| 甲 |\n| --- |\n" + "| " + "字" * 1600 + " |\n", 2),
    "code by its lines": ("a.md", "```text\n" + "x = 1\n" * 80 + "```\n", 2),
    "folds not at all": ("a.md", f"<details>\n{'字' * 4000}\n</details>\n", 1),
    "nor references": ("a.md", f"字\n\n## 参考资料\n\n{'字' * 4000}\n", 1),
}


@pytest.mark.parametrize("case", TEXTS)
def test_reading_time(case: str, tmp_path: Path) -> None:
    name, body, wanted = TEXTS[case]
    found, _ = tree(tmp_path, {name: note(f"{body}\n")})
    assert minutes(found.notes[name]) == wanted


BODIES = {
    "t/index": ("", "[1](one.md) [2](two.md)"),
    "t/one": ("", "[1](one.md) [5](five.md)"),
    "t/two": ("t/one", "[5](five.md) [5](five.md)"),
    "t/three": ("t/one, t/two", "x"),
    "t/five": ("", "[1](one.md)"),
    "about/us": ("", "[3](../t/three.md)"),
}
FEET = {
    "t/one": {"Read next": ["two"], "Linked from": ["three", "five"]},
    "t/two": {"Read first": ["one"], "Read next": ["three"]},
    "t/three": {"Read first": ["one", "two"], "Linked from": ["us"]},
    "t/five": {"Linked from": ["one", "two"]},
    "t/index": {},
}


@pytest.mark.parametrize("at", FEET)
def test_one_box_says_what_to_read_before_and_next_and_what_leads_here(
    at: str, tmp_path: Path
) -> None:
    files: dict[str, str | bytes] = {}
    for name, (ids, body) in BODIES.items():
        kind = "map" if name == "t/index" else f"note\nprerequisites: [{ids}]"
        for end in (".md", ".en.md"):
            text = note(body.replace(".md", end) + "\n", f"{name[2:]} <&>")
            files[name + end] = text.replace("kind: note", f"kind: {kind}")
    notes, _ = tree(tmp_path, files)
    ways = foot.ways(View(notes, "en"), NAV)
    box = foot.foot(ways, at, lambda one: f"to/{one}.html")
    shown = {
        row.partition("<p>")[2].partition("</p>")[0]: re.findall(r"/(\w+)\.html\"", row)
        for row in box.split('<div class="order__row">')[1:]
    }
    assert shown == FEET[at]
    assert ("&lt;&amp;&gt;" in box) == bool(shown)
    assert foot.foot(ways, at, lambda _: None) == ""


def test_of_the_notes_that_lead_here_eight_are_named(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        f"t/from-{number}.md": note("[1](to.md)\n") for number in range(10)
    }
    notes, _ = tree(tmp_path, files | {"t/to.md": note("x\n")})
    ways = foot.ways(View(notes, "zh"), ())
    assert foot.foot(ways, "t/to", str).count("<li>") == foot.MOST == 8
