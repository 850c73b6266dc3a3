"""Figures: put into the page in its language, and refused when they would misbehave."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from selectolax.lexbor import LexborHTMLParser

from hooks.drawings.figure_check import check_svg
from hooks.drawings.figures import inline_figures
from tests.samples import read_yaml

ROOT = Path(__file__).resolve().parents[2]
STYLES = ROOT / "docs/assets/stylesheets"
PARTS = read_yaml(Path(__file__).with_name("figures.yml"))
INK = 'fill="var(--fig-ink, #1f2328)"'
HEAD = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 100" width="300" font-size="14">'
NAMES = "<title>T</title><desc>D</desc>"

FIGURE = f"""<?xml version="1.0" encoding="UTF-8"?>
<!-- drawn by hand -->
{HEAD}
{NAMES}
<defs><marker id="two-a" markerWidth="7" markerHeight="7">
<path d="M0 0L8 4L0 8z" {INK}/></marker></defs>
<rect width="300" height="100" fill="var(--fig-paper, #ffffff)"/>
<line x1="0" y1="0" x2="9" y2="9" stroke="var(--fig-nvlink, #2a7a2a)" marker-end="url(#two-a)"/>
<use href="#two-a"/>
<switch><text systemLanguage="zh" x="1" y="20" {INK}>交换机</text>
<text x="1" y="20" {INK}>Switch</text></switch>
<text x="1" y="60" {INK}>A &lt; B &amp; C</text>
</svg>
"""


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """A folder of notes with one figure, link/topo/figures/two.svg."""
    folder = tmp_path / "docs"
    (folder / "link/topo/figures").mkdir(parents=True)
    (folder / "link/topo/figures/two.svg").write_text(FIGURE, encoding="utf-8")
    return folder


def picture(src: str = "figures/two.svg", alt: str = "两块 GPU") -> str:
    """Return what Markdown makes of a picture alone in its paragraph."""
    return f'<p><img alt="{alt}" src="{src}" /></p>'


def drawn(html: str, docs: Path, language: str = "zh", page_dir: str = "link/topo") -> str:
    """Inline the figures of a page of the built site."""
    return inline_figures(html, page_dir=Path(page_dir), docs_dir=docs, language=language)


@pytest.mark.parametrize(
    ("language", "shown", "hidden"), [("zh", "交换机", "Switch"), ("en", "Switch", "交换机")]
)
def test_the_text_of_the_language_is_shown(
    language: str, shown: str, hidden: str, docs: Path
) -> None:
    html = drawn(picture(), docs, language)
    assert shown in html
    assert hidden not in html
    assert "switch>" not in html
    assert "systemLanguage" not in html


def test_the_drawing_is_named_by_the_alt_text_and_scales(docs: Path) -> None:
    tree = LexborHTMLParser(drawn(picture(alt="A &quot;b&quot; &lt; c"), docs))
    node = tree.css_first("figure.figure svg.figure__svg")
    assert node is not None
    attributes = node.attributes
    assert attributes["role"] == "img"
    assert attributes["aria-label"] == 'A "b" < c'
    assert attributes["viewbox" if "viewbox" in attributes else "viewBox"] == "0 0 300 100"
    assert "width" not in attributes
    assert "max-width:300px" in (attributes["style"] or "")
    assert tree.css_first("svg title") is None, "it would pop up as a tooltip"


def test_ids_are_unique_on_a_page_and_references_follow(docs: Path) -> None:
    html = drawn(picture() + "\n<p>text</p>\n" + picture(), docs)
    ids = re.findall(r'id="([^"]+)"', html)
    assert sorted(ids) == ["fig1-two-a", "fig2-two-a"]
    assert re.findall(r"url\(#([^)]+)\)", html) == ids
    assert re.findall(r'href="#([^"]+)"', html) == ids


@pytest.mark.parametrize("caption", ["图 1：两块 GPU", "Figure 12: <em>two</em> GPUs", "图1：x"])
def test_the_paragraph_that_follows_becomes_the_caption(caption: str, docs: Path) -> None:
    html = drawn(f"{picture()}\n<p>{caption}</p>\n<p>more</p>", docs)
    assert f"<figcaption>{caption}</figcaption></figure>\n<p>more</p>" in html


def stepped(kind: str, *parts: str) -> str:
    """Return a figure whose groups have these attributes besides kind and number."""
    groups = "\n".join(
        f'<g {kind}="{number}" {part}><text y="9" {INK}>{number}</text></g>'
        for number, part in enumerate(parts, 1)
    )
    return f"{HEAD}\n{NAMES}\n{groups}\n</svg>"


def said(number: int) -> str:
    """Return the captions of a step."""
    return f'data-caption-zh="第 {number} 步" data-caption-en="Step {number} &lt;b> &amp; c"'


@pytest.mark.parametrize(
    ("language", "first", "head"),
    [
        ("zh", "第 1 步", "逐步说明（2 步）"),
        ("en", "Step 1 &lt;b&gt; &amp; c", "Step by step (2 steps)"),
    ],
)
def test_sentences_of_steps_are_a_folded_list(
    language: str, first: str, head: str, docs: Path
) -> None:
    text = stepped("data-step", said(1), said(2))
    (docs / "link/topo/figures/two.svg").write_text(text, encoding="utf-8")
    html = drawn(f"{picture()}\n<p>图 1：步</p>", docs, language)
    tree = LexborHTMLParser(html)
    assert html.startswith('<figure class="figure figure--stepped"><div class="figure__scroll">')
    assert f"<summary>{head}</summary><ol><li>{first}</li><li>" in html
    assert "data-caption" not in html
    assert len(tree.css("svg [data-step]")) == len(tree.css("details[data-search-exclude] li")) == 2
    assert html.endswith("</ol></details><figcaption>图 1：步</figcaption></figure>")


@pytest.mark.parametrize(
    "html",
    [
        picture("figures/missing.svg"),
        picture("two.svg"),
        picture("figures/two.png"),
        picture("https://example.org/figures/two.svg"),
        picture("../../../../figures/two.svg"),
        '<p>inside <img alt="x" src="figures/two.svg" /> a sentence</p>',
        "<pre><code>&lt;img src=figures/two.svg&gt;</code></pre>",
    ],
)
def test_other_pictures_stay(html: str, docs: Path) -> None:
    assert drawn(html, docs) == html


def test_nothing_outside_the_notes_is_read(docs: Path) -> None:
    (docs.parent / "figures").mkdir()
    (docs.parent / "figures/two.svg").write_text(FIGURE, encoding="utf-8")
    html = picture("../../../figures/two.svg")
    assert drawn(html, docs) == html


# ---------------------------------------------------------------------- checks

BODY = (
    f'<rect width="300" height="100" fill="var(--fig-paper, #ffffff)"/><text y="9" {INK}>A</text>'
)


def findings(tmp_path: Path, text: str) -> list[tuple[str, int, str]]:
    """Return (rule, line, message) for a figure."""
    path = tmp_path / "x.svg"
    path.write_text(text, encoding="utf-8")
    found = check_svg(path, "docs/a/figures/x.svg")
    assert all(f.file == "docs/a/figures/x.svg" and f.severity == "error" for f in found)
    return [(f.rule, f.line, f.message) for f in found]


def test_a_good_figure_passes(tmp_path: Path) -> None:
    assert findings(tmp_path, FIGURE) == []


@pytest.mark.parametrize(("part", "rule", "said"), PARTS["refused"])
def test_what_is_refused(part: str, rule: str, said: str, tmp_path: Path) -> None:
    found = findings(tmp_path, f"{HEAD}{NAMES}\n{BODY}\n{part.replace('INK', INK)}\n</svg>")
    assert [(r, line) for r, line, _ in found] == [(rule, 3)], found
    assert said in found[0][2]


@pytest.mark.parametrize("part", PARTS["allowed"])
def test_what_is_allowed(part: str, tmp_path: Path) -> None:
    assert findings(tmp_path, f"{HEAD}{NAMES}{BODY}{part.replace('INK', INK)}</svg>") == []


HIDDEN = 'display="none" '


@pytest.mark.parametrize(
    "text",
    [
        stepped("data-step", said(1), said(2)),
        stepped("data-frame", said(1), HIDDEN + said(2)),
        stepped("data-step", said(1)).replace("</svg>", '<g data-step="1"/></svg>'),
    ],
)
def test_good_steps_pass(text: str, tmp_path: Path) -> None:
    assert findings(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (stepped("data-step", said(1), ""), "step 2 has no caption"),
        (stepped("data-step", said(1), 'data-caption-zh="二"'), "both data-caption-zh and"),
        (stepped("data-step", said(1), said(2)).replace('step="2"', 'step="3"'), "2 is missing"),
        (stepped("data-step", said(1), said(2)).replace('step="2"', 'step="1"'), "on line 3"),
        (stepped("data-step", said(1), said(2)).replace('step="2"', 'step="02"'), "from 1"),
        (stepped("data-step", said(1), said(2)).replace('step="2"', 'step="b"'), "from 1"),
        (stepped("data-frame", said(1), said(2)), "frames after the first"),
        (stepped("data-frame", HIDDEN + said(1)), "frames after the first"),
        (stepped("data-step", HIDDEN + said(1)), "frames after the first"),
        (stepped("data-step", said(1)).replace("</svg>", '<g data-frame="1"/></svg>'), "by both"),
        (FIGURE.replace("<rect ", '<rect data-step="1" ', 1), "number groups"),
        (FIGURE.replace("<rect ", '<rect data-caption-en="x" ', 1), "belongs to a group"),
    ],
)
def test_bad_steps_are_refused(text: str, message: str, tmp_path: Path) -> None:
    found = findings(tmp_path, text)
    assert any(message in one for _, _, one in found), found
    assert {rule for rule, _, _ in found} <= {"figure-structure", "figure-language"}


@pytest.mark.parametrize(
    ("text", "rule", "line", "said"),
    [
        ("<svg>\n<g>\n</svg>", "figure-xml", 3, "mismatched tag"),
        ("", "figure-xml", 1, "no element found"),
        ("<svg/>", "figure-xml", 1, "must have the root"),
        ("<html/>", "figure-xml", 1, "must have the root"),
        (f"<!DOCTYPE svg [<!ENTITY a 'b'>]>\n{HEAD}&a;</svg>", "figure-xml", 1, "document type"),
        (
            HEAD.replace("0 0 300 100", "0 0 wide") + NAMES + "</svg>",
            "figure-structure",
            1,
            "viewBox",
        ),
        (f"{HEAD}<desc>D</desc></svg>", "figure-structure", 1, "<title>"),
        (f"{HEAD}<title>T</title><desc> </desc></svg>", "figure-structure", 1, "<desc>"),
    ],
)
def test_form(text: str, rule: str, line: int, said: str, tmp_path: Path) -> None:
    found = findings(tmp_path, text)
    assert [(r, n) for r, n, _ in found] == [(rule, line)], found
    assert said in found[0][2]


def test_a_misspelt_colour_suggests_the_nearest(tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    part = '<rect fill="var(--fig-memori, #d6ecec)"/>'
    path.write_text(f"{HEAD}{NAMES}{part}</svg>", encoding="utf-8")
    assert [f.suggestion for f in check_svg(path, "x.svg")] == ["--fig-memory"]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs").rglob("figures/*.svg")), ids=lambda path: path.stem
)
def test_letters_of_our_figures_are_9_pixels_on_a_phone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    (width,) = re.findall(r'<svg[^>]* viewBox="0 0 ([\d.]+) ', text)
    sizes = re.findall(r'font-size="([\d.]+)', text)
    assert min(map(float, sizes)) * min(358 / float(width), 1) >= 8.95


@pytest.mark.browser
def test_a_browser_draws_in_the_palette_and_whole_on_a_phone(browser: Browser, docs: Path) -> None:
    wide = FIGURE.replace("0 0 300 100", "0 0 760 200")
    (docs / "link/topo/figures/two.svg").write_text(wide, encoding="utf-8")
    css = "".join(
        (STYLES / name).read_text(encoding="utf-8") for name in ("handbook.css", "data.css")
    )
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.set_content(
        f"<style>{css}</style><body data-md-color-scheme=slate>"
        f'<div class="md-typeset">{drawn(picture(), docs)}</div></body>'
    )
    size = page.evaluate(
        "() => { const s = document.querySelector('.figure__scroll');"
        " return [s.scrollWidth - s.clientWidth, document.documentElement.scrollWidth,"
        " getComputedStyle(document.querySelector('svg rect')).fill] }"
    )
    page.close()
    assert size[0] <= 0, "a part of the drawing lies outside the phone"
    assert size[1] <= 390, "the drawing widens the page"
    assert size[2] != "rgb(255, 255, 255)", "the drawing ignores the dark palette"
