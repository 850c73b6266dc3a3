"""The page about the checks: whole in both languages, and made from what there is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bench import check_page
from hooks.findings import rules
from hooks.pages import markers

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("speed", "peers")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_rule_stands_in_the_table(language: str) -> None:
    table = markers.rules_table(language)
    for rule in rules.all_rules():
        assert f"| `{rule.name}`" in table
    rows = table.split("\n")
    assert len(rows) == len(rules.all_rules()) + 2
    cells = {len(re.findall(r"(?<!\\)\|", row)) for row in rows}
    assert cells == {4}, "no cell breaks its row"


def test_every_rule_is_told_in_chinese() -> None:
    for rule in rules.all_rules():
        assert all(re.search(r"[\u4e00-\u9fff]", text) for text in rule.words["zh"])


@pytest.mark.parametrize("language", ["zh", "en"])
def test_records_in_the_repository_are_shown(language: str) -> None:
    page = "\n".join(check_page.render(part, language) for part in PARTS)
    record = json.loads((ROOT / "bench/results/check.json").read_text(encoding="utf-8"))
    quality = record["quality"]
    for name, row in quality["tools"].items():
        shown = f"{row['found']} / {quality['defects']} | {row['false']} / {quality['valid']} |"
        assert shown in page, name
    assert f"{record['ratios']['build_to_check']:.0f}" in page


def test_without_records_the_page_says_so(tmp_path: Path) -> None:
    assert [check_page.render(part, "en", tmp_path) for part in PARTS] == ["No record yet."] * 2
    (tmp_path / "check.json").write_text("{", encoding="utf-8")
    assert [check_page.render(part, "en", tmp_path) for part in PARTS] == ["No record yet."] * 2


@pytest.mark.parametrize(
    ("cpu", "shown"),
    [
        ({"first": 0.07, "again": 0.04}, ["4.0% (7.0% of the processor time", "| 4.0% |"]),
        ({}, ["| 4.0% |\n", "| 4.0% |"]),
    ],
    ids=["a process beside the first build", "a record that does not tell"],
)
def test_what_runs_beside_is_told_where_it_matters(
    tmp_path: Path, cpu: dict[str, float], shown: list[str]
) -> None:
    record = json.loads((ROOT / "bench/results/check.json").read_text(encoding="utf-8"))
    ratios = record["ratios"]
    for one in ("first", "again"):
        ratios[f"share_of_build_{one}"] = 0.04
        ratios.pop(f"share_of_cpu_{one}")
    ratios |= {f"share_of_cpu_{one}": value for one, value in cpu.items()}
    (tmp_path / "check.json").write_text(json.dumps(record), encoding="utf-8")
    page = check_page.render("speed", "en", tmp_path)
    rows = [row + "\n" for row in page.split("\n") if "Share of the checks" in row]
    assert len(rows) == 2
    assert all(text in row for text, row in zip(shown, rows, strict=True))
