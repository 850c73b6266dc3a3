"""Footnotes of a page: their order, the links of sources, marks, and the ways back."""

from __future__ import annotations

import re
from pathlib import Path

import markdown
import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from hooks.pages import footnotes
from hooks.search import from_html
from hooks.search.sections import Page
from tests.pages import cases
from tests.samples import note, tree

EXTENSIONS = ["footnotes", "tables", "md_in_html"]
Read = LexborHTMLParser


def rendered(tmp_path: Path, body: str, language: str = "en") -> str:
    name = "t/one.en.md" if language == "en" else "t/one.md"
    notes, _ = tree(tmp_path, {name: note(body)})
    made = markdown.markdown(note(body).split("---\n", 2)[2], extensions=EXTENSIONS)
    return footnotes.complete(made, notes.notes[name])


def entries(html: str) -> dict[str, LexborNode]:
    return {(one.id or "")[3:]: one for one in Read(html).css(".footnote > ol > li")}


CASES = cases("footnotes")
ADDRESSES = CASES["addresses"]


@pytest.mark.parametrize(("text", "expected"), ADDRESSES.values(), ids=ADDRESSES)
def test_addresses_are_links(tmp_path: Path, text: str, expected: list[str]) -> None:
    html = rendered(tmp_path, f"Said[^a].\n\n[^a]: {text}\n")
    entry = entries(html)["a"]
    links = [one for one in entry.css("a") if (one.attributes.get("href") or "")[0] != "#"]
    assert [one.attributes["href"] for one in links] == expected
    before = Read(markdown.markdown(f"S[^a].\n\n[^a]: {text}", extensions=["footnotes"]))
    whole = before.css_first("li")
    assert whole is not None and entry.text().strip() == whole.text().strip()


def test_addresses_in_the_text_stay_as_they_are(tmp_path: Path) -> None:
    html = rendered(tmp_path, "At https://a.example/b[^a].\n\n[^a]: T.\n")
    assert "<p>At https://a.example/b<sup" in html


@pytest.mark.parametrize(("address", "expected"), CASES["shown"].items())
def test_what_is_shown_of_an_address(address: str, expected: str) -> None:
    link = Read(footnotes.source_link(address)).css_first("a")
    assert link is not None
    assert link.text() == address == link.attributes["href"]
    assert link.attributes["rel"] == "noopener"
    for hidden in link.css(".source-link__whole"):
        hidden.replace_with("|" if "://" not in hidden.text() else "")
    assert link.text() == expected


MIXED = """\
- One[^late] in a list.

| a |
| --- |
| cell[^cell] |

Text[^first] and again[^late], and[^first].

[^first]: First, as in the other[^only].
[^unused]: Nothing.
[^late]: Late.
[^only]: Only below.
[^cell]: Cell.
"""


def test_numbers_follow_the_text(tmp_path: Path) -> None:
    html = rendered(tmp_path, MIXED)
    assert list(entries(html)) == ["late", "cell", "first", "only", "unused"]
    numbers = re.findall(r'href="#fn:(\w+)">(\d)</a>', html)
    text = [("late", "1"), ("cell", "2"), ("first", "3"), ("late", "1"), ("first", "3")]
    assert numbers == [*text, ("only", "4")]


def test_one_way_back_and_a_fold_of_all(tmp_path: Path) -> None:
    html = rendered(tmp_path, MIXED)
    ids = [one.id for one in Read(html).css("sup")]
    found = entries(html)
    for name, entry in found.items():
        arrows = [one.attributes["href"] for one in entry.css(".footnote-backref")]
        uses = [f"#{one}" for one in ids if (one or "").partition(":")[2] == name]
        assert arrows == uses[:1]
        listed = [one.attributes["href"] for one in entry.css(".footnote-uses a")]
        assert listed == (uses if len(uses) > 1 else [])
    fold = found["late"].css_first("summary")
    assert fold is not None and fold.text() == "used 2 times"
    assert "3 处引用" in rendered(tmp_path, "一[^a]二[^a]三[^a]\n\n[^a]: 文。\n", "zh")


GROUPS = """\
Text[^a][^b][^c][^d].

{}

[^a]: A.
[^b]: B (secondary), and C (secondary; by hearsay), no secondary school.

{}

[^c]: C.

Not a label: it goes on.

[^d]: D.
"""


@pytest.mark.parametrize(
    ("language", "labels", "words"),
    [
        ("en", ("Primary:", "Where claims circulate:"), ("primary", "Where claims circulate")),
        ("zh", ("一手：", "二手："), ("一手", "二手")),
    ],
)
def test_what_a_note_calls_its_sources(
    tmp_path: Path, language: str, labels: tuple[str, str], words: tuple[str, str]
) -> None:
    html = rendered(tmp_path, GROUPS.format(*labels), language)
    marks = {
        name: [one.text() for one in entry.css(".source-mark")]
        for name, entry in entries(html).items()
    }
    first, last = words
    assert marks == {"a": [first], "b": [first, "secondary", "secondary"], "c": [last], "d": []}
    assert not any(f"<p>{label}</p>" in html for label in labels)
    assert "<p>Not a label: it goes on.</p>" in html


def test_search_has_whole_addresses_and_no_ways_back(tmp_path: Path) -> None:
    address = "https://github.com/NVIDIA/nccl/blob/v2.30.7-1/src/graph/search/deep/topo.h"
    html = rendered(tmp_path, f"One[^a] two[^a].\n\nPrimary:\n\n[^a]: NCCL, {address} .\n")
    page = from_html.read_html(Page("t/one.html", "t/one", "en", "T"), html)
    text = page.sections[-1].text
    assert address in text and "used 2 times" not in text
