"""Numbers in prose: compared with their data, linked to their source, refused when they differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import markdown
import pytest
import yaml
from selectolax.lexbor import LexborHTMLParser

from hooks.calc import engine
from hooks.data.load import load_facts
from hooks.data.messages import read_messages
from hooks.findings.finding import Finding
from hooks.notes.catalogue import load
from hooks.notes.note import Catalogue
from hooks.pages.frame import Stock
from hooks.pages.values import links, values
from hooks.pages.values.check import check_note
from tests.pages import cases
from tests.samples import lay

DATA = cases("values")
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


@pytest.fixture(autouse=True)
def _calculators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "run", ring)
    monkeypatch.setattr(values, "_output_unit", lambda *_: "")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one family, one record and no notes."""
    files = {
        "data/facts/gpu.yml": yaml.safe_dump(DATA["facts"]),
        "data/sources/a.yml": yaml.safe_dump(DATA["sources"]),
        "t/measured/p2p.json": json.dumps(DATA["record"]),
        "data/messages/nccl.yml": yaml.safe_dump(DATA["messages"]),
        "calc/ring.md": HEAD,
    }
    return lay(tmp_path / "docs", files).parent


def checked(notes: Catalogue, root: Path) -> list[Finding]:
    """Return what is wrong with the markers of all notes."""
    asked = resolver(root)
    return [one for note in notes.notes.values() for one in check_note(note, notes, asked)]


def resolver(root: Path) -> values.Resolver:
    """Return what looks markers up, with the stand-in for calculators."""
    base, findings = load_facts(root / "docs/data")
    assert findings == []
    notes, _ = load(root / "docs", root)
    said, findings = read_messages(root / "docs/data/messages", "docs/data/messages")
    assert findings == []
    return values.Resolver(Stock(base, root / "docs", root, notes, said))


def check(root: Path, body: str, language: str = "en") -> list[str]:
    """Check a note of this text; findings as text without the file."""
    (root / "docs/a.en.md").unlink(missing_ok=True)
    name = "a.md" if language == "zh" else "a.en.md"
    (root / "docs" / name).write_text(HEAD + body + "\n", encoding="utf-8")
    notes, _ = load(root / "docs", root)
    found = checked(notes, root)
    return [one.text.removeprefix(f"docs/{name}:") for one in found]


@pytest.mark.parametrize("body", DATA["right"])
def test_a_number_that_is_right_passes(body: str, root: Path) -> None:
    assert check(root, body) == []


def test_chinese_words_and_signs(root: Path) -> None:
    body = (
        "双向合计约 1.8 TB/s<!-- fact gpu/h100/both -->，单向450 GB/s<!-- fact gpu/h100/link -->。"
    )
    share = "是450的88%<!-- measured t/measured/p2p.json#summary/1?show=ratio -->。"
    assert check(root, body + share + "它是模组<!-- fact gpu/h100/form -->。", "zh") == []


@pytest.mark.parametrize(("body", "said"), DATA["wrong"])
def test_what_is_wrong_with_a_number(body: str, said: str, root: Path) -> None:
    found = check(root, body)
    assert 1 <= len(found) <= 2, found  # the second names the data, which may be wrong instead
    assert said.replace("{1}", str(LINE)) in found[0]
    assert all("docs/data/facts/gpu.yml" in one and "warning" in one for one in found[1:])


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


STALE = "(stale: the program has changed)"
LINKED = [
    ("A **450 GB/s**<!-- fact gpu/h100/link --> link", "p strong a.value--a",
     "https://example.org/p?a=1&b=2",
     'H100 · Link · one direction · per GPU; NVIDIA: Paper "one", 2022; read 2026-11-21; '
     "confidence A"),
    (f"396 GB/s<!-- measured {PAIRS}?src=0 -->", "p a.value--measured.value--stale",
     "../../t/measured/p2p.json",
     f"measured: Each pair; median; NVIDIA H200; on 2026-11-21 {STALE}"),
    # Axes named like character references stay axes.
    ("7.5 ms<!-- measured t/measured/p2p.json#steps?p=2&micro=4&lt=1 -->", "p a.value--measured",
     "../../t/measured/p2p.json", f"measured: Steps; NVIDIA H200; on 2026-11-21 {STALE}"),
    ("3.5 ms<!-- calc ring n=8 bytes=9e8 rate=450 -> seconds s -->", "p a.value--calc",
     "../calc/ring.html?ring.n=8&ring.bytes=9e8&ring.rate=450",
     "computed: ring(n = 8, bytes = 9e8, rate = 450) → seconds"),
    ("| a |\n|---|\n| `from peer 10.0.0.2<33792> …`<!-- message nccl/no-answer --> |",
     "td a.value--message", "../messages/nccl.html#no-answer", "Nobody answered."),
]  # fmt: skip


@pytest.mark.parametrize(("body", "selector", "address", "title"), LINKED)
def test_a_number_is_a_link_to_where_it_comes_from_and_says_so(
    root: Path, body: str, selector: str, address: str, title: str
) -> None:
    tree, problems = page(root, body)
    assert problems == []
    (link,) = tree.css(selector)
    assert link.text() == body.partition("<!--")[0].rpartition("\n")[2].strip("A *|`")
    assert (link.attributes["href"], link.attributes["title"]) == (address, title)
    assert ("stale" in tree.text()) == ("--stale" in (link.attributes["class"] or ""))


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


def test_records_of_one_title_have_each_their_own_address(root: Path) -> None:
    folder = root / "docs/t/measured"
    (folder / "again.json").write_text((folder / "p2p.json").read_text("utf-8"), encoding="utf-8")
    one = f"396 GB/s<!-- measured {PAIRS}?src=0 -->"
    tree, _ = page(root, f"{one} {one.replace('p2p', 'again')}")
    shown = [(one.attributes["href"], one.attributes["data-ref"]) for one in tree.css("p a.value")]
    assert shown == [("../../t/measured/p2p.json", "S1"), ("../../t/measured/again.json", "S2")]


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
