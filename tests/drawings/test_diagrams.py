"""Diagrams: drawn ahead, put into pages with their captions; what mermaid refuses, in its words."""

from __future__ import annotations

import re
import shutil
import sys
from html import escape
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from selectolax.lexbor import LexborHTMLParser

from hooks.drawings import svg
from hooks.drawings.diagrams import LIBRARY, Diagram, Drawings, refusals
from hooks.handbook import diagrams_of
from tests import ours
from tests.conftest import ROOT
from tests.samples import read_yaml
from tools import diagrams as tool

DOCS = ROOT / "docs"
TEXTS = read_yaml(Path(__file__).with_name("diagrams.yml"))
GOOD, BAD = TEXTS["good"], TEXTS["bad"]
SOURCE = 'flowchart LR\n  A["a < b"] --> B\n'
DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 80 40">'
    '<defs><marker id="m0"><path d="M0 0"/></marker></defs>'
    '<path d="M0 0" marker-end="url(#m0)"/><text>a &lt; b</text><text>B</text></svg>'
)


@pytest.fixture(scope="module")
def refused() -> dict[str, str]:
    """What mermaid says of all good and bad texts; one engine for all."""
    return refusals([*GOOD.values(), *(text for text, _ in BAD)], DOCS / LIBRARY)


def test_mermaid_refuses_what_it_cannot_draw_and_nothing_else(refused: dict[str, str]) -> None:
    assert list(refused) == [text for text, _ in BAD]
    assert [part for text, part in BAD if part not in refused[text]] == []


def test_a_refusal_stands_at_its_diagram_in_the_words_of_mermaid(drawings: Drawings) -> None:
    bad = Diagram("a.md", 7, "flowchart LR\n A --> [\n")
    (finding,) = drawings.check([Diagram("b.md", 2, SOURCE), bad])
    assert finding.text.startswith(
        "a.md:7: error[diagram-syntax] mermaid says: Parse error on line 2: flowchart LR A --> ["
    )
    assert len(finding.message) < 250


def test_where_every_diagram_is_drawn_no_engine_starts(
    drawings: Drawings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "py_mini_racer", None)
    assert drawings.check([Diagram("a.md", 1, SOURCE)]) == []


@pytest.mark.browser
def test_a_browser_judges_the_same(browser: Browser, refused: dict[str, str]) -> None:
    page = browser.new_page()
    page.set_content("<p>x</p>")
    page.add_script_tag(path=str(DOCS / LIBRARY))
    judge = "t => mermaid.parse(t).then(() => true, () => false)"
    # Dates are read when a gantt chart is drawn; parsing alone accepts them.
    texts = [*GOOD.values(), *(text for text, part in BAD if part != "Invalid date")]
    verdicts = {text: page.evaluate(judge, text) for text in texts}
    page.close()
    assert verdicts == {text: text not in refused for text in texts}


@pytest.fixture(scope="module")
def written() -> list[Diagram]:
    return diagrams_of(ours.notes())


@pytest.fixture
def drawings(tmp_path: Path) -> Drawings:
    """One drawing, of SOURCE."""
    library = tmp_path / LIBRARY
    library.parent.mkdir(parents=True)
    shutil.copyfile(DOCS / LIBRARY, library)
    made = Drawings(tmp_path)
    made.folder.mkdir(parents=True)
    made.path(SOURCE).write_text(DRAWING, encoding="utf-8")
    return made


def fence(source: str) -> str:
    return f'<pre class="mermaid"><code>{escape(source, quote=False)}\n</code></pre>'


def test_every_diagram_has_its_drawing_and_every_drawing_a_diagram(written: list[Diagram]) -> None:
    drawings = Drawings(DOCS)
    assert written
    assert [
        f"{one.file}:{one.line}" for one in written if not drawings.path(one.text).exists()
    ] == []
    assert drawings.unused(one.text for one in written) == []


def test_drawings_follow_the_page_and_hold_text_only(written: list[Diagram]) -> None:
    for path in {Drawings(DOCS).path(one.text) for one in written}:
        root = svg.parse(path.read_bytes())
        names = {one.name for one in root.walk()}
        assert "text" in names, path
        assert names <= {
            *("svg", "g", "defs", "marker", "text", "tspan", "path", "rect", "circle", "ellipse"),
            *("polygon", "polyline", "line"),
        }, path
        colours = {
            one.attributes[name]
            for one in root.walk()
            for name in ("fill", "stroke")
            if name in one.attributes
        }
        assert all(one == "none" or one.startswith("var(--fig-") for one in colours), path


def test_a_drawing_fits_a_phone(written: list[Diagram]) -> None:
    """Text of 16 pixels is 9 on a phone, which has 358 for 636. Let a wide one run downwards."""
    for one in written:
        box = svg.parse(Drawings(DOCS).path(one.text).read_bytes()).attributes["viewBox"]
        assert float(box.split()[2]) <= 636, f"{one.file}:{one.line}"


def test_a_drawing_takes_its_place_with_the_caption(drawings: Drawings) -> None:
    html = f"<p>x</p>{fence(SOURCE)}\n<p>图 1：从 A 到 <code>B</code>。另一句。</p>"
    page = LexborHTMLParser(drawings.put_in(html, "zh"))
    assert page.css_first("pre") is None
    drawing = page.css_first('figure.figure--diagram svg[role="img"]')
    assert drawing is not None
    assert drawing.attributes["aria-label"] == "图 1：从 A 到 B。"
    caption = page.css_first("figure > figcaption")
    assert caption is not None and caption.text() == "图 1：从 A 到 B。另一句。"


@pytest.mark.parametrize(
    ("language", "name"), [("zh", "流程图：a < b, B"), ("en", "Flowchart: a < b, B")]
)
def test_without_a_caption_its_words_are_its_name(
    drawings: Drawings, language: str, name: str
) -> None:
    drawing = LexborHTMLParser(drawings.put_in(fence(SOURCE), language)).css_first("svg")
    assert drawing is not None and drawing.attributes["aria-label"] == name


def test_ids_are_unique_where_a_diagram_stands_twice(drawings: Drawings) -> None:
    html = drawings.put_in(fence(SOURCE) + fence(SOURCE), "en")
    ids = re.findall(r'id="([^"]+)"', html)
    assert len(ids) == len(set(ids)) == 2
    assert all(f"url(#{one})" in html for one in ids)


def test_a_diagram_that_is_not_drawn_stays_and_is_reported(drawings: Drawings) -> None:
    other = SOURCE + "  B --> C\n"
    assert drawings.put_in(fence(other), "en") == fence(other)
    (finding,) = drawings.check([Diagram("a.md", 7, other), Diagram("b.md", 2, SOURCE)])
    assert (finding.file, finding.line, finding.severity) == ("a.md", 7, "warning")
    assert "make diagrams" in finding.message
    assert drawings.unused([other]) == [drawings.path(SOURCE)]


@pytest.mark.parametrize(
    "step", [pytest.param(24, marks=pytest.mark.slow), pytest.param(1, marks=pytest.mark.release)]
)
@pytest.mark.browser
def test_drawings_say_what_mermaid_draws_now(
    browser: Browser, written: list[Diagram], step: int
) -> None:
    drawings = Drawings(DOCS)
    with tool.pen(browser, DOCS) as draw:
        for one in written[::step]:
            now = svg.parse(draw(one.text).encode())
            kept = svg.parse(drawings.path(one.text).read_bytes())
            # Lines break elsewhere with other fonts; the words are the same.
            assert "".join(now.text.split()) == "".join(kept.text.split()), one.file
