"""The trees that builds are measured on, and what is made of the measurements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.build import builders, notes, page, run
from bench.build.notes import Copy
from hooks.markdown import parse
from hooks.notes import Note

ORDER = ["index", "chip/index", "chip/hbm", "about/index", "ccl/ring"]
HEAD = "---\ntitle: 环\ndescription: d\nprerequisites: [chip/hbm]\n---\n\n# 环\n\n"


def test_notes_come_again_under_new_ids() -> None:
    ids = [one.id for one in notes.chosen(ORDER, 16)]
    first, second = ["chip/index", "chip/hbm", "ccl/ring"], ["chip-2/index", "chip-2/hbm"]
    assert ids == ["index", "about/sources", *first, *second, "ccl-2/ring"]


@pytest.mark.parametrize(
    ("link", "number", "expected"),
    [
        ("../chip/hbm.md#a", 1, "../chip/hbm.md#a"),
        ("../chip/hbm.en.md#a", 2, "../chip-2/hbm.en.md#a"),
        ("../chip/index.md", 2, "../chip/index.md"),  # not in the second copy
        ("../calc/units.md#x", 2, "../index.md"),
        ("figures/ring.svg", 2, "../ccl/figures/ring.svg"),
        ("#here", 2, "#here"),
        ("https://example.com/x.md", 2, "https://example.com/x.md"),
    ],
)
def test_links_are_kept(link: str, number: int, expected: str) -> None:
    held = {("chip/hbm", 1): "chip/hbm", ("chip/hbm", 2): "chip-2/hbm"}
    held[("chip/index", 1)] = "chip/index"
    text = f"{HEAD}See [x]({link}).\n"
    note = Note("ccl/ring.md", "docs/ccl/ring.md", "zh", text, parse(text), None)
    made = notes.text(note, Copy("ccl/ring", number), held)
    assert f"[x]({expected})" in made
    assert ("# 环 2\n" in made) == (number == 2)
    assert ("chip-2/hbm" in made.partition("# ")[0]) == (number == 2)


def test_the_plain_configuration_holds_nothing_of_ours() -> None:
    text = (
        "a: 1\nhooks: [x]\ntheme:\n  name: material\n  custom_dir: o\nplugins:\n  - search\nb: 2\n"
    )
    assert builders.plain(text) == "a: 1\ntheme:\n  name: material\nb: 2\n"


@pytest.mark.parametrize("power", [1.0, 1.5])
def test_exponent(power: float) -> None:
    points = [(size, 3 * size**power) for size in (500, 1000, 5000)]
    assert run.exponent(points) == pytest.approx(power)


def test_page_shows_ratios_and_says_what_is_missing(tmp_path: Path) -> None:
    assert page.render("speed", "en", tmp_path) == "No record yet."
    cost = {"wall_s": 1.0, "cpu_s": 10.0, "peak_mb": 99.0}
    row = {"load": 1.0, "plain": cost, "cold": cost | {"cpu_s": 15.0}, "same": cost}
    rows = [row | {"pages": size} for size in (500, 1000)]
    record = {
        "date": "2026-01-02",
        "part": "build",
        "options": ["--repeats=1"],
        "zensical": False,
        "machine": {"processor": "P", "cores": 2},
        "versions": {"Python": "3"},
        **run.summary(rows),
    }
    (tmp_path / "build.json").write_text(json.dumps(record), encoding="utf-8")
    shown = page.render("speed", "en", tmp_path)
    assert "| 500 | 1.50 | 1.00 | 10.0 s (1.0 s on the clock) | 99 MB |" in shown
    assert "Zensical was not installed" in shown and "this handbook 0.0" in shown


def test_page_shows_when_a_save_is_seen(tmp_path: Path) -> None:
    first = {"wall_s": 9.0, "cpu_s": 6.0}
    row = {"pages": 40, "load": 2.0, "save_s": 0.5, "save_most_s": 0.75}
    record = {
        "date": "2026-01-02",
        "part": "save",
        "options": ["--sizes=40"],
        "machine": {"processor": "P", "cores": 2},
        "versions": {"Python": "3"},
        "rows": [row | {"first_warm": first, "first_cold": first}],
    }
    (tmp_path / "save.json").write_text(json.dumps(record), encoding="utf-8")
    shown = page.render("save", "en", tmp_path)
    assert "| 40 | 0.50 s | 0.75 s | 6.0 s (9.0 s on the clock) |" in shown
    assert "`python -m bench save --sizes=40`" in shown and "load of the machine 2, " in shown
