"""The examples of data, values and charts in the guides for contributors really work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hooks.data.facts import FactBase
from hooks.drawings.charts import spec as charts
from hooks.notes.catalogue import load
from hooks.pages import facts_table
from hooks.pages.frame import Stock
from hooks.pages.values import check, values
from tests import ours
from tests.samples import note

ROOT = Path(__file__).resolve().parents[2]
GUIDES = {"docs/about/writing.md": "zh", "docs/about/writing.en.md": "en"}


@pytest.fixture(scope="module")
def base() -> FactBase:
    """The facts of the handbook."""
    return ours.facts()


def blocks(guide: str, kind: str) -> list[str]:
    """Return the fenced blocks of a kind in a guide."""
    text = (ROOT / guide).read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("guide", GUIDES)
def test_tables_and_charts_can_be_drawn(guide: str, base: FactBase) -> None:
    tables, drawn = blocks(guide, "facts"), blocks(guide, "chart")
    assert tables
    assert drawn
    for spec in tables:
        assert "facts__table" in facts_table.render(spec, base, "en")
    for spec in drawn:
        assert charts.read(spec, base, ROOT / "docs", "en").points


@pytest.mark.parametrize(("guide", "language"), GUIDES.items())
def test_numbers_in_sentences_are_right(
    guide: str, language: str, base: FactBase, tmp_path: Path
) -> None:
    text = next(block for block in blocks(guide, "markdown") if "<!-- fact" in block)
    (tmp_path / "docs").mkdir()
    name = "a.md" if language == "zh" else "a.en.md"
    (tmp_path / "docs" / name).write_text(note(text), encoding="utf-8")
    notes, _ = load(tmp_path / "docs", tmp_path)
    asked = values.Resolver(Stock(base, ROOT / "docs", ROOT))
    found = [one for note in notes.notes.values() for one in check.check_note(note, notes, asked)]
    assert text.count("<!-- ") == 3
    assert [one.text for one in found] == []
