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
from tests import ours

ROOT = Path(__file__).resolve().parents[2]
FACTS = ours.facts()
NAMES = list(registry.script_of())
LANGUAGES = ("zh", "en")
HAN = re.compile(r"[\u4e00-\u9fff]")


# Records


def test_every_calculator_has_a_page_in_the_navigation() -> None:
    assert len(NAMES) == 28
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


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1024", 1024),
        ("1,024", 1024),
        ("1 024", 1024),
        ("12,345,678.5", 12345678.5),
        ("70B", 70e9),
        ("70 b", 70e9),
        ("1.5T", 1.5e12),
        ("64Ki", 65536),
        ("1Gi", 2**30),
        ("15e12", 15e12),
        (".5", 0.5),
        ("１２８", 128),
        ("７０Ｂ", 70e9),
        ("3万", 30000),
        ("2亿", 2e8),
        ("-1", -1),
    ],
)
def test_numbers_are_read_as_people_write_them(calc: Engine, text: str, value: float) -> None:
    assert calc._call("parseNumber", [text]) == value


@pytest.mark.parametrize(
    "text", ["", "abc", "1,02", "12x", "1e", "--1", "0x10", "1..2", "Infinity", "NaN", "70 Bn", "K"]
)
def test_what_is_no_number_is_refused(calc: Engine, text: str) -> None:
    assert calc._call("parseNumber", [text]) is None  # NaN, as JSON has it


@pytest.mark.parametrize(
    ("name", "entries", "key", "zh", "en"),
    [
        pytest.param(
            "collective",
            {"ranks": "-8"},
            "ranks",
            "请填 2 到 1,048,576 之间的整数。",
            "Enter a whole number from 2 to 1,048,576.",
            id="negative",
        ),
        pytest.param(
            "collective", {"ranks": "8.5"}, "ranks", "之间的整数。", "a whole number", id="broken"
        ),
        pytest.param(
            "collective",
            {"protocol": "own", "alpha": "fast"},
            "alpha",
            "请填 0.001 到 100,000 µs 之间的数。",
            "Enter a number from 0.001 to 100,000 µs.",
            id="no number",
        ),
        pytest.param(
            "collective",
            {"ranks": 12, "per_node": 8},
            "ranks",
            "倍数",
            "must be a multiple of the GPUs per node (8)",
            id="does not divide",
        ),
        pytest.param(
            "training-memory",
            {"tp": 128},
            "tp",
            "不会超过注意力头数 64",
            "cannot exceed the 64 heads",
            id="more slices than heads",
        ),
        pytest.param(
            "pipeline",
            {"schedule": "interleaved", "stages": 4, "micro": 6},
            "micro",
            "4 的倍数",
            "a multiple of the 4 stages",
            id="interleaving",
        ),
        pytest.param(
            "fat-tree",
            {"ports": 100_000},
            "ports",
            "最多接 2,048 个端口",
            "at most 2,048 ports",
            id="too large",
        ),
        pytest.param(
            "network", {"mtu": 9000}, "mtu", "256 到 4096", "between 256 and 4096", id="mtu"
        ),
        pytest.param(
            "pcie",
            {"gen": "gen9"},
            "gen",
            "没有“gen9”这一项",
            "There is no 'gen9'",
            id="no such row",
        ),
        pytest.param(
            "pcie", {"lane": 16}, "lane", "是不是 lanes", "did you mean 'lanes'?", id="typo"
        ),
        pytest.param(
            "roofline",
            {"gpu": "a100-sxm-80", "dtype": "fp8"},
            "peak",
            "数据里没有 A100 SXM 80 GB 的这一项；请填",
            "The data have no such figure for A100 SXM 80 GB. Enter a number",
            id="no figure",
        ),
        pytest.param(
            "kv-cache",
            {"context": " "},
            "context",
            "空着，不能算；请填 1 到",
            "This is empty. Enter a whole number from 1",
            id="emptied",
        ),
        pytest.param(
            "kv-cache",
            {"parameters": ""},
            "parameters",
            "空着",
            "This is empty.",
            id="emptied, though a row would fill it",
        ),
        pytest.param(
            "training-memory",
            {"model": "deepseek-v3"},
            "ep",
            "取决于专家并行数。请填",
            "depends on expert parallelism. Enter a whole number",
            id="experts without expert parallelism",
        ),
        pytest.param(
            "training-memory",
            {"model": "mixtral-8x7b", "ep": 3},
            "ep",
            "整除每层的 8 个专家",
            "must divide the 8 experts",
            id="experts that do not divide",
        ),
        pytest.param(
            "training-memory",
            {"model": "mixtral-8x7b", "ep": 8, "sp": False},
            "sp",
            "要开序列并行",
            "need sequence parallelism",
            id="experts and slices without sequence parallelism",
        ),
        pytest.param(
            "training-memory",
            {"sequence": 100, "cp": 64, "tp": 1},
            "sequence",
            "整除",
            "divisible by the 64 of context parallelism",
            id="tokens that do not divide",
        ),
        pytest.param(
            "inference",
            {"model": "mixtral-8x7b", "chosen": 9},
            "chosen",
            "不会多于每层的 8 个",
            "No more can be chosen than the 8 experts",
            id="more chosen than there are",
        ),
        pytest.param(
            "inference",
            {"active": "900B"},
            "active",
            "不会多于总参数",
            "cannot exceed all parameters",
            id="more active than all",
        ),
    ],
)
def test_bad_entries_are_told_what_makes_sense(
    calc: Engine, name: str, entries: dict[str, Any], key: str, zh: str, en: str
) -> None:
    for language, words in (("zh", zh), ("en", en)):
        (error,) = calc.show(name, entries, language)["errors"]
        assert error["key"] == key
        assert words in error["text"]
    with pytest.raises(CalcError, match=f"^{name}: {key}: "):
        calc.run(name, entries)


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


# Words


@pytest.mark.parametrize(
    ("value", "form", "zh", "en"),
    [
        (
            70272,
            {"kind": "bytes", "digits": 6},
            "70.272 kB（68.625 KiB）",
            "70.272 kB (68.625 KiB)",
        ),
        (512, {"kind": "bytes"}, "512 B", "512 B"),
        (80e9, {"kind": "bytes"}, "80 GB（74.51 GiB）", "80 GB (74.51 GiB)"),
        (999.99e9, {"kind": "bytes"}, "1 TB（931.3 GiB）", "1 TB (931.3 GiB)"),
        (15552000, {"kind": "seconds"}, "180 天", "180 days"),
        (0.004218, {"kind": "seconds"}, "4.218 ms", "4.218 ms"),
        (90, {"kind": "seconds"}, "90 s", "90 s"),
        (600, {"kind": "seconds"}, "10 分钟", "10 min"),
        (6.3e24, {"kind": "flop"}, "6.3×10²⁴ FLOP", "6.3×10²⁴ FLOP"),
        (989.4e12, {"kind": "flops"}, "989.4 TFLOP/s", "989.4 TFLOP/s"),
        (0.462, {"kind": "ratio"}, "46.2 %", "46.2 %"),
        (1234567.8, {"kind": "count"}, "1,234,568", "1,234,568"),
        (450, {"unit": "GB/s"}, "450 GB/s", "450 GB/s"),
        (-263.5e9, {"kind": "bytes"}, "−263.5 GB（−245.4 GiB）", "−263.5 GB (−245.4 GiB)"),
        ({"zh": "环", "en": "ring"}, {}, "环", "ring"),
    ],
)
def test_results_are_written_with_clear_units(
    calc: Engine, value: Any, form: dict[str, Any], zh: str, en: str
) -> None:
    assert calc._call("format", [value, form, "zh"]) == zh
    assert calc._call("format", [value, form, "en"]) == en


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (3.352, "TB/s", "GB/s", 3352),
        (400, "Gb/s", "GB/s", 50),
        (228, "KiB", "B", 233472),
        (989.4, "TFLOPS", "TFLOPS", 989.4),
        (1830, "MHz", "GHz", 1.83),
        (70.55, "Gparam", "", 70.55e9),
        (132, "none", "", 132),
    ],
)
def test_units_of_the_data_are_converted(
    calc: Engine, value: float, source: str, target: str, expected: float
) -> None:
    assert calc._call("convert", [value, source, target]) == expected


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
    html = calculator.render_block(name, calculators=calc, language=language, page_dir=folder)
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


def test_block_in_a_note_is_folded_and_links_to_its_page(calc: Engine) -> None:
    titles = {"calc/roofline": "Roofline", "chip/roofline": "Roofline <model>"}
    html = calculator.render_block(
        " roofline\n", calculators=calc, language="en", page_dir="en/chip", titles=titles
    )
    tree = LexborHTMLParser(html)
    links = {node.text(): node.attributes["href"] for node in tree.css("a")}
    assert links["Roofline"] == "../calc/roofline.html"
    assert links["Roofline <model>"] == "roofline.html"
    assert tree.css_first("details.calc__more .arithmatex") is not None


def test_block_of_nothing_offers_the_nearest(calc: Engine) -> None:
    with pytest.raises(CalcError, match="did you mean 'kv-cache'"):
        calculator.render_block("kvcache", calculators=calc, language="zh")


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
ALLOWED_NAMES = {
    "form.js": {"fill", "entries"},
    "core.js": {"entries"},
    "address.js": {"entries"},
}


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
