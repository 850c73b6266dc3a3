"""Calculators: entries, answers in words, presets, command line, fence, and the scripts' form."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pygments.lexers.javascript import JavascriptLexer
from pygments.token import Comment, Name, String
from selectolax.lexbor import LexborHTMLParser

from hooks.calc import presets, registry
from hooks.calc.engine import CalcError, Engine
from hooks.data.facts import FactBase
from hooks.pages import calculator
from hooks.pages.frame import Stock
from tests import ours, samples
from tests.samples import read_yaml

ROOT = Path(__file__).resolve().parents[2]
FACTS = ours.facts()
NAMES = list(registry.script_of())
STOCK = Stock(FACTS, ROOT / "docs", ROOT)
LANGUAGES = ("zh", "en")
REFUSED = read_yaml(Path(__file__).with_name("refused.yml"))
HAN = re.compile(r"[\u4e00-\u9fff]")


# Records


def test_every_calculator_has_a_page_in_the_navigation() -> None:
    assert len(NAMES) == 29
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"- calc/{name}.md" in config, name
        for suffix in ("", ".en"):
            text = (ROOT / f"docs/calc/{name}{suffix}.md").read_text(encoding="utf-8")
            assert f"```calc\n{name}\n```" in text


def test_every_script_is_loaded(calc: Engine) -> None:
    files = {path.name for path in registry.FOLDER.glob("*.js")}
    assert files == {*registry.BASE, *registry.TOPICS, *registry.FORM}
    assert list(calc.records) == NAMES


def texts_of(record: Any, path: str = "") -> list[tuple[str, dict[str, str]]]:
    """Every {zh, en} of a record with its place."""
    if isinstance(record, dict):
        if set(record) == {"zh", "en"}:
            return [(path, record)]
        return [
            found for key, value in record.items() for found in texts_of(value, f"{path}/{key}")
        ]
    if isinstance(record, list):
        return [found for i, value in enumerate(record) for found in texts_of(value, f"{path}/{i}")]
    return []


@pytest.mark.parametrize("name", NAMES)
def test_records_speak_both_languages(calc: Engine, name: str) -> None:
    record = calc.record(name)
    found = texts_of(record)
    assert len(found) > 10
    for place, text in found:
        assert text["zh"] and text["en"] and not HAN.search(text["en"]), place
    for entry in (*record["inputs"], *record["outputs"]):
        assert entry["label"], entry["key"]
    assert record["formula"] and record["assumptions"]
    assert re.fullmatch(r"[a-z0-9-]+(/[a-z0-9-]+)+", record["note"])


@pytest.mark.parametrize("name", NAMES)
def test_calculators_answer_as_they_stand(calc: Engine, name: str) -> None:
    """The form's first entries, and the worked example, make sense."""
    shown = calc.show(name, {}, "en")
    assert shown["errors"] == []
    assert shown["rows"]
    assert not any(row["text"] in ("–", "∞", "NaN") for row in shown["rows"])
    assert calc.show(name, calc.record(name)["example"]["inputs"], "zh")["errors"] == []


@pytest.mark.parametrize("name", NAMES)
def test_presets_name_rows_that_exist_and_fill_inputs(calc: Engine, name: str) -> None:
    for entry in calc.record(name)["inputs"]:
        if entry.get("kind") != "preset":
            continue
        rows = [choice["value"] for choice in entry["choices"]]
        assert entry["value"] in rows, entry["key"]
        assert rows[0] == ""
        filled = calc.show(name, {}, "en")["filled"]
        if entry.get("when") is None:
            assert any(one["preset"] == entry["key"] for one in filled.values()), entry["key"]
        for row in rows[1:]:  # a row may lack a figure, but what it has must fit its input
            errors = calc.show(name, {entry["key"]: row}, "en")["errors"]
            assert {error["key"] for error in errors} <= {
                key["key"] for key in calc.record(name)["inputs"] if "value" not in key
            } | {"tp", "active"}, (row, errors)


# Entries


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["of"])
def test_bad_entries_are_told_what_makes_sense(calc: Engine, case: dict[str, Any]) -> None:
    for language in {*LANGUAGES} & {*case}:
        (error,) = calc.show(case["run"], case["inputs"], language)["errors"]
        assert error["key"] == case["key"] and case[language] in error["text"]
    with pytest.raises(CalcError, match=f"^{case['run']}: {case['key']}: "):
        calc.run(case["run"], case["inputs"])


def test_layers_that_do_not_divide_are_said_to_be_rounded(calc: Engine) -> None:
    shown = calc.show("training-memory", {"pp": 3}, "en")
    assert "80 layers do not divide by 3: this is the fullest stage, with 27" in shown["remarks"][0]
    assert calc.show("training-memory", {"pp": 4}, "en")["remarks"] == []
    whole = calc.run("training-memory", {"pp": 1})["weights"]
    assert calc.run("training-memory", {"pp": 3})["weights"] == pytest.approx(whole * 27 / 80)


@pytest.mark.parametrize(("language", "words"), [("zh", "放不下"), ("en", "do not fit")])
def test_no_room_is_said_in_words(calc: Engine, language: str, words: str) -> None:
    shown = calc.show("kv-cache", {"gpus": 1}, language)
    free = next(row["text"] for row in shown["rows"] if row["key"] == "free")
    assert words in free and "64.58 GB" in free and "−" not in free
    assert shown["outputs"]["largest"] == shown["outputs"]["tokens"] == 0


def test_hidden_inputs_do_not_count(calc: Engine) -> None:
    """Chunks belong to interleaving: nonsense there does not stop 1F1B."""
    plain = calc.run("pipeline", {"schedule": "1f1b"})
    assert calc.run("pipeline", {"schedule": "1f1b", "chunks": "nonsense"}) == plain
    assert calc.show("pipeline", {"schedule": "interleaved", "chunks": "no"}, "en")["errors"]


def test_what_is_written_counts_before_the_preset(calc: Engine) -> None:
    known = calc.run("roofline", {"gpu": "h200-sxm"})
    assert known["ridge"] == pytest.approx(989.5e12 / 4800e9)
    assert calc.run("roofline", {"gpu": "h200-sxm", "bandwidth": 2400})["ridge"] == pytest.approx(
        2 * known["ridge"]
    )


def test_own_numbers_need_no_data() -> None:
    bare = Engine(base=FactBase())
    try:
        assert bare.run("pcie", {"rate": 32})["line"] == pytest.approx(63.015, abs=1e-3)
        with pytest.raises(CalcError, match=r"pcie: rate: Enter a number from 0\.1 to 1,024 GT/s"):
            bare.run("pcie", {})
    finally:
        bare.close()


def test_unknown_calculators_get_the_nearest_name(calc: Engine) -> None:
    with pytest.raises(CalcError, match=r"no calculator 'rofline'; did you mean 'roofline'\?"):
        calc.run("rofline", {})


# Presets as a script


def test_presets_script_is_plain_and_says_sources() -> None:
    data = presets.presets(FACTS, ["pcie", "no-such-family"])
    assert list(data["families"]) == ["pcie"]
    value, source, day = data["families"]["pcie"]["rows"][4]["cells"]["lane_rate"]
    assert (value, day) == (32, "2026-11-21")
    assert data["sources"][source]["url"].startswith("http")
    text = presets.script(data)
    assert text.startswith("calc.setData({") and text.endswith("});\n")
    assert json.loads(text[len("calc.setData(") : -3]) == data


# The fence


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", NAMES)
def test_block_says_everything_without_script(calc: Engine, name: str, language: str) -> None:
    folder = "calc" if language == "zh" else "en/calc"
    html = calculator.render(name, STOCK, language, folder)
    tree = LexborHTMLParser(html)
    record = calc.record(name)
    assert [node.text() for node in tree.css(".arithmatex")] == [
        f"\\[{tex}\\]" for tex in record["formula"]
    ]
    text = tree.body.text() if tree.body else ""
    for assumption in record["assumptions"]:
        assert assumption[language] in text
    for row in calc.show(name, record["example"]["inputs"], language)["rows"]:
        assert row["label"] in text and row["text"] in text
    if language == "en":
        assert not HAN.search(text)
    assert tree.css_first("form, script, input") is None


def test_block_in_a_note_is_folded_and_links_to_its_page(tmp_path: Path) -> None:
    titles = {"calc/roofline": "Roofline", "chip/roofline": "Roofline <model>"}
    notes, _ = samples.tree(
        tmp_path, {f"{one}.en.md": samples.note("", title) for one, title in titles.items()}
    )
    html = calculator.render(
        " roofline\n", Stock(FACTS, ROOT / "docs", ROOT, notes), "en", "en/chip"
    )
    tree = LexborHTMLParser(html)
    links = {node.text(): node.attributes["href"] for node in tree.css("a")}
    assert links["Roofline"] == "../calc/roofline.html"
    assert links["Roofline <model>"] == "roofline.html"
    assert tree.css_first("details.calc__more .arithmatex") is not None


def test_block_of_nothing_offers_the_nearest() -> None:
    with pytest.raises(CalcError, match="did you mean 'kv-cache'"):
        calculator.render("kvcache", STOCK, "zh")


def test_page_loads_only_what_its_calculators_need() -> None:
    html = '<div class="calc" data-calc="pcie"></div>'
    names = [address.rpartition("/")[2] for address in calculator.scripts_of(html)]
    form = ("presets.js", *registry.FORM)
    assert names == [*registry.BASE, "links.js", *form]


# The scripts' form

NEW_WORDS = frozenset("let const class async await yield import export of".split())
NEW_NAMES = frozenset(
    "assign entries includes padStart padEnd startsWith endsWith repeat from isInteger isFinite"
    " log2 log10 sign trunc cbrt hypot Map Set Promise Symbol Proxy fetch fill findIndex"
    " flat".split()
)
ALLOWED_NAMES = {"form.js": {"fill", "entries"}, "core.js": {"entries"}, "address.js": {"entries"}}


@pytest.mark.parametrize("path", sorted(registry.FOLDER.glob("*.js")), ids=lambda path: path.name)
def test_scripts_are_for_old_browsers_too(path: Path) -> None:
    """ES5: no words, operators or methods of later editions; short enough to read."""
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") < 560
    previous = ""
    for token, value in JavascriptLexer().get_tokens(text):
        if (
            token in Comment
            or (token in String and token is not String.Backtick)
            or not value.strip()
        ):
            continue
        assert token is not String.Backtick and "`" not in value, value
        assert value not in ("=>", "...", "**", "?.", "??"), value
        assert value not in NEW_WORDS, value
        if token in Name and previous == ".":
            assert value not in NEW_NAMES - ALLOWED_NAMES.get(path.name, set()), value
        previous = value
    assert '"use strict"' in text
    assert "innerHTML" not in text and "document.write" not in text


@pytest.mark.parametrize("name", [*registry.BASE, *registry.TOPICS])
def test_formulas_touch_no_page(name: str) -> None:
    code = (registry.FOLDER / name).read_text(encoding="utf-8")
    assert not re.search(r"\b(document|window|navigator|location|localStorage)\b\.", code)
