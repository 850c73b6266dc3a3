"""What the home page is made of: tiles of calculators, counts, cards of paths."""

from __future__ import annotations

from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from hooks.calc import CalcError
from hooks.calc import engine as calc_engine
from hooks.pages import calculator
from hooks.pages.frame import Stock
from tests import ours

ROOT = Path(__file__).resolve().parents[2]
TILE = "training-memory: model, dp -> total, weights"


@pytest.fixture(scope="module")
def calc() -> calc_engine.Engine:
    return calc_engine.default(ours.facts())


@pytest.fixture(scope="module")
def stock() -> Stock:
    return Stock(ours.facts(), ROOT / "docs", ROOT)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_tile_answers_before_a_script_and_leads_to_all_of_it(
    calc: calc_engine.Engine, stock: Stock, language: str
) -> None:
    folder = "." if language == "zh" else "en"
    html = calculator.render(TILE, stock, language, folder)
    tree = LexborHTMLParser(html)
    rows = {row["key"]: row for row in calc.show("training-memory", {}, language)["rows"]}
    shown = [node.text() for node in tree.css("dd")]
    assert shown == [rows["total"]["text"], rows["weights"]["text"]]
    assert len(tree.css(".calc__field")) == 2
    full = tree.css_first("a.calc-tile__full")
    assert full is not None and full.attributes["href"] == "calc/training-memory.html"
    scripts = calculator.scripts_of(html)
    assert any(one.endswith("training-memory.js") for one in scripts)


@pytest.mark.parametrize(
    ("fence", "message"),
    [
        ("training-memori: model -> total", "did you mean 'training-memory'"),
        ("training-memory: modle -> total", "did you mean 'model'"),
        ("training-memory: model -> totl", "did you mean 'total'"),
        ("training-memory: model", "must name an output"),
        ("training-memory: -> total", "must name an input"),
    ],
)
def test_tile_of_nothing_is_refused(stock: Stock, fence: str, message: str) -> None:
    with pytest.raises(CalcError, match=message):
        calculator.render(fence, stock, "zh")
