"""Numbers in prose: compared with their data, linked to their source, refused when they differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import markdown
import pytest
from selectolax.lexbor import LexborHTMLParser

from hooks.data.load import load_facts
from hooks.findings.finding import Finding
from hooks.handbook import Tree
from hooks.notes.catalogue import load
from hooks.notes.note import Catalogue
from hooks.pages.values import links, values
from hooks.pages.values.check import check_note

ROOT = Path(__file__).resolve().parents[2]
FAMILY = """\
family: gpu
title: {zh: 显卡, en: GPUs}
columns:
  link: {title: {zh: 互联, en: Link}, unit: GB/s, direction: uni, per: GPU}
  both: {title: {zh: 互联, en: Link}, unit: GB/s, direction: bi, per: GPU}
  bf16: {title: BF16, unit: TFLOPS, density: dense, per: GPU}
  links: {title: {zh: 链路数, en: Links}, unit: none, per: GPU}
  memory: {title: {zh: 显存, en: Memory}, unit: GB}
  power: {title: {zh: 功耗, en: Power}, unit: W}
  form: {title: {zh: 形态, en: Form}}
rows:
  h100:
    title: H100
    cells:
      link: {value: 450, source: paper, read: 2026-11-21, confidence: A}
      both: {value: 1800, source: paper, read: 2026-11-21, confidence: A}
      bf16: {value: 989.4, source: paper, read: 2026-11-20, confidence: B}
      links: {value: 18, source: paper, read: 2026-11-21, confidence: A}
      memory: {value: 3352, source: paper, read: 2026-11-21, confidence: A}
      form: {value: {zh: 模组, en: a module}, source: paper, read: 2026-11-21, confidence: A}
"""
SOURCES = """\
paper: {title: Paper "one", publisher: NVIDIA, url: "https://example.org/p?a=1&b=2",
        date: "2022", read: 2026-11-21, kind: primary}
"""
RECORD: dict[str, Any] = {
    "schema": 1, "id": "p2p", "title": "P2P", "date": "2026-11-21", "command": "run",
    "machine": {"gpu": "NVIDIA H200"},
    "program": {"path": "p.cu", "sha256": "0" * 64},
    "specification": [{"id": "s", "value": 450, "unit": "GB/s", "direction": "uni"}],
    "results": [
        {
            "id": "pairs", "title": {"zh": "每对", "en": "Each pair"}, "unit": "GB/s",
            "direction": "uni", "statistic": "median", "n": 20, "axes": ["src", "bytes"],
            "points": [
                {"src": 0, "bytes": 4194304, "value": 395.97, "p5": 395.1},
                {"src": 1, "bytes": 4194304, "value": 200},
            ],
        },
        {"id": "one", "title": "One", "unit": "µs", "axes": [], "points": [{"value": 3.25}]},
        {
            "id": "models", "title": "Models", "unit": "ms", "axes": ["model"],
            "points": [{"model": "Llama 3.1 8B", "value": 7.8}],
        },
        {
            "id": "steps", "title": "Steps", "unit": "ms", "axes": ["p", "micro", "lt"],
            "points": [{"p": 2, "micro": 4, "lt": 1, "value": 7.5}],
        },
    ],
    "summary": [
        {
            "title": "Median", "value": 396, "unit": "GB/s", "direction": "uni",
            "ratio_to": {"spec": "s", "ratio": 0.88}, "spread": {"min": 390, "max": 397},
            "result": "pairs",
        }
    ],
}  # fmt: skip
HEAD = (
    "---\ntitle: T\ndescription: D\nkind: note\nverified: 2026-11-21\ntags: [a, b]\n---\n\n# T\n\n"
)
LINE = HEAD.count("\n") + 1
PAIRS = "t/measured/p2p.json#pairs"


def ring(name: str, inputs: dict[str, Any]) -> Mapping[str, float]:
    """Stand in for the calculators: time of a ring all-reduce."""
    if name != "ring":
        raise KeyError(f"there is no calculator '{name}'")
    n, size, rate = inputs["n"], inputs["bytes"], inputs["rate"]
    return {"seconds": 2 * (n - 1) / n * size / (rate * 1e9)}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one family, one record and no notes."""
    for name in ("facts", "sources"):
        (tmp_path / "docs/data" / name).mkdir(parents=True)
    (tmp_path / "docs/t/measured").mkdir(parents=True)
    (tmp_path / "docs/data/facts/gpu.yml").write_text(FAMILY, encoding="utf-8")
    (tmp_path / "docs/data/sources/a.yml").write_text(SOURCES, encoding="utf-8")
    (tmp_path / "docs/t/measured/p2p.json").write_text(json.dumps(RECORD), encoding="utf-8")
    return tmp_path


def checked(notes: Catalogue, root: Path) -> list[Finding]:
    """Return what is wrong with the markers of all notes."""
    asked = resolver(root)
    return [one for note in notes.notes.values() for one in check_note(note, notes, asked)]


def resolver(root: Path) -> values.Resolver:
    """Return what looks markers up, with the stand-in for calculators."""
    base, findings = load_facts(root / "docs/data")
    assert findings == []
    return values.Resolver(base, root / "docs", root, frozenset({"calc/ring"}), ring)


def check(root: Path, body: str, language: str = "en") -> list[str]:
    """Check a note of this text; findings as text without the file."""
    (root / "docs/a.en.md").unlink(missing_ok=True)
    name = "a.md" if language == "zh" else "a.en.md"
    (root / "docs" / name).write_text(HEAD + body + "\n", encoding="utf-8")
    notes, _ = load(root / "docs", root)
    found = checked(notes, root)
    return [one.text.removeprefix(f"docs/{name}:") for one in found]


@pytest.mark.parametrize(
    "body",
    [
        "In one direction 450 GB/s<!-- fact gpu/h100/link -->.",
        "Each way it is **0.45 TB/s**<!-- fact gpu/h100/link -->[^1].\n\n[^1]: x",
        "Bidirectional: 1.8 TB/s<!-- fact gpu/h100/both -->",
        "Bidirectional: 1,800 GB/s<!-- fact gpu/h100/both -->",
        "Both ways 14.4 Tb/s<!-- fact gpu/h100/both -->",
        "Dense: 989.4 TFLOPS<!-- fact gpu/h100/bf16 -->",
        "Dense: 989 TFLOPS<!-- fact gpu/h100/bf16 -->",
        "Dense: 0.99 PFLOPS<!-- fact gpu/h100/bf16 -->",
        "Dense: about 990 TFLOPS<!-- fact gpu/h100/bf16 round=2 -->.",
        "18<!-- fact gpu/h100/links --> links",
        "3.4 TB<!-- fact gpu/h100/memory -->",
        "It is _a module_<!-- fact gpu/h100/form -->.",
        "| GB/s, one direction | b |\n|---|---|\n| 450 GB/s<!-- fact gpu/h100/link --> | c |",
        "- dense\n- dense 989 TFLOPS<!-- fact gpu/h100/bf16 -->\n    - uni",
        "> [!NOTE]\n> 450 GB/s<!-- fact gpu/h100/link --> one way",
        "450 GB/s<!-- fact gpu/h100/link terms=above --> as said above.",
        "A range of 5-18<!-- fact gpu/h100/links --> links",
        f"One way 396 GB/s<!-- measured {PAIRS}?src=0&bytes=4MiB -->",
        f"One way 396.0 GB/s<!-- measured {PAIRS}?src=0&bytes=4194304 -->",
        f"One way 395 GB/s<!-- measured {PAIRS}?src=0&bytes=4MiB&show=p5 -->",
        f"Over 20<!-- measured {PAIRS}?src=0&bytes=4MiB&show=n --> runs",
        "3.3 µs<!-- measured t/measured/p2p.json#one -->",
        "7.8 ms<!-- measured t/measured/p2p.json#models?model=Llama%203.1%208B -->",
        "One way 396 GB/s<!-- measured t/measured/p2p.json#summary/1 -->",
        "It is 450 of 88%<!-- measured t/measured/p2p.json#summary/1?show=ratio -->",
        "0.88<!-- measured t/measured/p2p.json#summary/1?show=ratio --> of it",
        "One way 390 GB/s<!-- measured t/measured/p2p.json#summary/1?show=min --> at least",
        "3.5 ms<!-- calc ring n=8 bytes=9e8 rate=450 -> seconds s -->",
        "0.0035<!-- calc ring n=8 bytes=9e8 rate=@gpu/h100/link -> seconds --> s",
        "`450<!-- fact no/such/thing -->` is code",
        "```\n1<!-- fact no/such/thing -->\n```",
        "<!-- a remark --> and 5<!-- another remark -->",
    ],
)
def test_a_number_that_is_right_passes(body: str, root: Path) -> None:
    assert check(root, body) == []


def test_chinese_words_and_signs(root: Path) -> None:
    body = (
        "双向合计约 1.8 TB/s<!-- fact gpu/h100/both -->，单向450 GB/s<!-- fact gpu/h100/link -->。"
    )
    notes = "<!-- fact gpu/h100/both -->", "<!-- fact gpu/h100/link -->"
    assert all(one in body for one in notes)
    share = "是450的88%<!-- measured t/measured/p2p.json#summary/1?show=ratio -->。"
    assert check(root, body + share + "它是模组<!-- fact gpu/h100/form -->。", "zh") == []


# Text, what the one finding must say. `{1}` is the first line of the text.
WRONG = [
    ("one way 451 GB/s<!-- fact gpu/h100/link -->",
     "{1}:17: error[value-differs] '451 GB/s' is not what the data say: 450 GB/s; "
     "did you mean '450 GB/s'?"),
    ("both ways 1.7 TB/s<!-- fact gpu/h100/both -->", "did you mean '1.8 TB/s'?"),
    ("both ways 2 TB/s<!-- fact gpu/h100/both -->x\n\nboth ways 1 TB/s<!-- fact gpu/h100/both -->",
     "'1 TB/s' is not what the data say: 1800 GB/s; did you mean '1.8 TB/s'?"),
    ("both ways 1,900 GB/s<!-- fact gpu/h100/both -->", "did you mean '1,800 GB/s'?"),
    ("dense 1000 TFLOPS<!-- fact gpu/h100/bf16 round=2 -->", "did you mean '990 TFLOPS'?"),
    ("one way 450<!-- fact gpu/h100/link -->", "error[value-unit] '450' lacks its unit"),
    ("one way 450<!-- fact gpu/h100/link -->", "did you mean '450 GB/s'?"),
    ("one way 450 GB<!-- fact gpu/h100/link -->", "'450 GB' is not in GB/s"),
    ("one way 450 GB/S<!-- fact gpu/h100/link -->", "unit 'S' is not known"),
    ("18 GB<!-- fact gpu/h100/links -->", "'18 GB' is not in a bare number"),
    ("it is a box<!-- fact gpu/h100/form -->", "the text before the marker must be 'a module'"),
    ("some words<!-- fact gpu/h100/link -->", "a number must stand right before the marker"),
    ("450 GB/s<!-- fact gpu/h100/link -->", "error[value-terms] the sentence does not say 'one"),
    ("450 GB/s<!-- fact gpu/h100/link -->. In one direction", "[value-terms]"),
    ("both ways 450 GB/s<!-- fact gpu/h100/link -->", "[value-terms]"),
    ("989 TFLOPS<!-- fact gpu/h100/bf16 -->, sparse", "does not say 'dense'"),
    ("1<!-- fact gup/h100/link -->", "no family of facts 'gup'; did you mean 'gpu'?"),
    ("1<!-- fact gpu/h10/link -->", "no row of 'gpu' 'h10'; did you mean 'h100'?"),
    ("1<!-- fact gpu/h100/lnik -->", "no column of 'gpu' 'lnik'; did you mean 'link'?"),
    ("1<!-- fact gpu/h100/power -->", "row 'h100' of 'gpu' has no 'power'"),
    ("1<!-- fact gpu/h100 -->", "must read '<!-- fact FAMILY/ROW/COLUMN -->'"),
    ("1<!-- facts gpu/h100/link -->", "there is no marker 'facts'; did you mean 'fact'?"),
    ("1<!-- fact gpu/h100/link rund=2 -->", "no option 'rund' of a marker"),
    ("1<!-- fact gpu/h100/link round=x -->", "'round' takes the number of significant digits"),
    ("## 18<!-- fact gpu/h100/links --> links", "a heading holds no values"),
    ("1<!-- measured t/measured/p2q.json#pairs -->", "did you mean 't/measured/p2p.json'?"),
    ("1<!-- measured t/measured/p2p.json -->", "must read '<!-- measured TOPIC/measured/NAME"),
    ("1<!-- measured t/measured/p2p.json#pair -->", "did you mean 'pairs'?"),
    (f"1<!-- measured {PAIRS} -->", "'pairs' has 2 such points; say src, bytes too"),
    (f"1<!-- measured {PAIRS}?scr=0 -->", "no axis of 'pairs' 'scr'; did you mean 'src'?"),
    (f"1<!-- measured {PAIRS}?src=7 -->", "no 'src' of 'pairs' '7'; there are: 0, 1"),
    (f"1<!-- measured {PAIRS}?src -->", "'src' must read axis=value"),
    (f"1<!-- measured {PAIRS}?src=1&show=p5 -->", "the point has no 'p5', only value"),
    (f"1<!-- measured {PAIRS}?src=1&show=vlaue -->", "did you mean 'value'?"),
    ("1<!-- measured t/measured/p2p.json#summary/2 -->", "must be summary/1 to summary/1"),
    (f"one way 400 GB/s<!-- measured {PAIRS}?src=0 -->", "did you mean '396 GB/s'?"),
    ("1<!-- calc rnig n=8 -> seconds -->", "calculator 'rnig': there is no calculator 'rnig'"),
    ("1<!-- calc ring n=8 bytes=1 rate=1 -> secnds -->", "did you mean 'seconds'?"),
    ("1<!-- calc ring n=8 -->", "must read '<!-- calc NAME key=value"),
    ("5 ms<!-- calc ring n=8 bytes=9e8 rate=450 -> seconds s -->", "did you mean '3.5 ms'?"),
    ("1<!-- calc ring n=8 bytes=1 rate=@gpu/h10/link -> seconds -->", "did you mean 'h100'?"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "said"), WRONG, ids=[f"{a} | {b}"[:90] for a, b in WRONG])
def test_what_is_wrong_with_a_number(body: str, said: str, root: Path) -> None:
    found = check(root, body)
    assert len(found) == 1, found
    assert said.replace("{1}", str(LINE)) in found[0]


def test_twins_have_the_same_markers(root: Path) -> None:
    (root / "docs/a.md").write_text(
        HEAD + "单向 450 GB/s<!-- fact gpu/h100/link -->\n", encoding="utf-8"
    )
    assert check(root, "One way 450 GB/s<!-- fact gpu/h100/link round=3 -->") == []
    (root / "docs/a.en.md").write_text(HEAD + "One way 450 GB/s\n", encoding="utf-8")
    notes, _ = load(root / "docs", root)
    assert [one.text for one in checked(notes, root)] == [
        f"docs/a.md:{LINE}:12: error[value-twin] the marker 'fact gpu/h100/link' is not in "
        "docs/a.en.md as often as here; add it there"
    ]


# --------------------------------------------------------------------------- on the site


def page(root: Path, body: str, language: str = "en") -> tuple[LexborHTMLParser, list[str]]:
    """Render a page of this Markdown as the site does, and make its numbers links."""
    html = markdown.markdown(body, extensions=["tables", "md_in_html", "attr_list"])
    done, problems = links.render(
        html, resolver(root), language=language, page_dir="en/t" if language == "en" else "t"
    )
    return LexborHTMLParser(done), problems


def test_a_fact_is_a_link_to_its_source_that_says_where_it_was_read(root: Path) -> None:
    tree, problems = page(root, "A **450 GB/s**<!-- fact gpu/h100/link --> link")
    link = tree.css_first("p strong a.value")
    assert problems == []
    assert link is not None
    assert link.text() == "450 GB/s"
    assert link.attributes["href"] == "https://example.org/p?a=1&b=2"
    assert link.attributes["title"] == (
        'H100 · Link · one direction · per GPU; NVIDIA: Paper "one", 2022; read 2026-11-21; '
        "confidence A"
    )


def test_sources_are_listed_once_at_the_end(root: Path) -> None:
    link = "450 GB/s<!-- fact gpu/h100/link -->"
    body = f"{link} {link} 18<!-- fact gpu/h100/links -->"
    tree, _ = page(root, body, "zh")
    refs = [node.attributes["data-ref"] for node in tree.css("p a.value")]
    assert refs == ["S1", "S1", "S2"]
    items = tree.css("details.value-sources li a")
    assert [item.text().split("；")[0] for item in items] == [
        "H100 · 互联 · 单向 · 每 GPU",
        "H100 · 链路数 · 每 GPU",
    ]


def test_a_measured_number_leads_to_its_record_and_says_that_it_is_stale(root: Path) -> None:
    tree, _ = page(root, f"396 GB/s<!-- measured {PAIRS}?src=0 -->")
    link = tree.css_first("p a.value--measured.value--stale")
    assert link is not None
    assert link.attributes["href"] == "../../t/measured/p2p.json"
    assert (link.attributes["title"] or "").startswith(
        "measured: Each pair; median; NVIDIA H200; on 2026-11-21"
    )
    assert "stale" in tree.css_first("p").text()  # type: ignore[union-attr]


def test_an_axis_named_like_a_character_reference_stays_an_axis(root: Path) -> None:
    said = "7.5 ms<!-- measured t/measured/p2p.json#steps?p=2&micro=4&lt=1 -->"
    tree, problems = page(root, said)
    assert problems == []
    assert tree.css_first("p a.value--measured").text() == "7.5 ms"  # type: ignore[union-attr]
    assert check(root, said) == []


def test_a_computed_number_leads_to_its_calculator(root: Path) -> None:
    tree, _ = page(root, "3.5 ms<!-- calc ring n=8 bytes=9e8 rate=450 -> seconds s -->")
    link = tree.css_first("p a.value--calc")
    assert link is not None
    assert link.attributes["href"] == "../calc/ring.html?ring.n=8&ring.bytes=9e8&ring.rate=450"
    assert link.attributes["title"] == ("computed: ring(n = 8, bytes = 9e8, rate = 450) → seconds")


def test_numbers_in_tables_and_lists_are_links_and_code_is_left_alone(root: Path) -> None:
    body = (
        "| a |\n|---|\n| 18<!-- fact gpu/h100/links --> |\n\n"
        "- 18<!-- fact gpu/h100/links -->\n\n`18<!-- fact gpu/h100/links -->`"
    )
    tree, problems = page(root, body)
    assert problems == []
    assert len(tree.css("td > a.value")) == len(tree.css("ul:not(details ul) > li > a.value")) == 1
    assert tree.css("code a") == []
    assert "<!-- fact gpu/h100/links -->" in tree.css_first("code").text()  # type: ignore[union-attr]


def test_a_page_without_markers_is_not_touched(root: Path) -> None:
    html = "<p>450 GB/s <!-- a remark --> &lt;!-- fact gpu/h100/link --&gt;</p>"
    assert links.render(html, resolver(root), language="en") == (html, [])


def test_a_marker_where_checks_do_not_look_is_reported(root: Path) -> None:
    _, problems = page(root, "<div>\n451 GB/s<!-- fact gpu/h100/link -->\n</div>")
    assert len(problems) == 1
    assert "'451 GB/s' is not what the data say" in problems[0]


def test_the_markers_of_the_handbook_hold(handbook: Tree) -> None:
    found = [one.text for one in handbook.findings if one.rule.startswith("value-")]
    assert found == []
