"""Interview questions in the site: folded, listed, as data for practice."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from hooks.notes.note import Catalogue
from hooks.notes.questions import Card
from hooks.pages import questions
from hooks.pages.view import View
from tests.notes.test_questions import CHINESE, QUESTION
from tests.samples import note, tree

HTML = """<h1 id="t">T</h1>
<p>Before</p>
<h2 id="how-much">How much</h2>
<!-- question level=2 asks=estimate -->
<p><strong>Thirty seconds</strong></p>
<p>Half<sup id="fnref:x"><a class="footnote-ref" href="#fn:x">1</a></sup> of it.</p>
<p><strong>Three minutes</strong></p>
<p>Because of <a href="../b.html">B</a>.</p>
<p><strong>Follow-ups</strong></p>
<ul><li>And then?</li></ul>
<p><strong>The common wrong answer</strong></p>
<p>All.</p>
<p><strong>Read</strong></p>
<p><a href="b.html">B</a></p>
<h2 id="references">References</h2>
<div class="footnote"><ol><li id="fn:x">X</li></ol></div>"""


@pytest.fixture
def notes(tmp_path: Path) -> Catalogue:
    texts = {"i/q.md": note(CHINESE, "题"), "i/q.en.md": note(QUESTION, "Q")}
    files = {name: text.replace("kind: note", "kind: questions") for name, text in texts.items()}
    return tree(tmp_path, {**files, "b.md": note("x", "B")})[0]


def folded(notes: Catalogue) -> tuple[str, Card]:
    html, (card,) = questions.fold(HTML, notes.notes["i/q.en.md"], notes.notes["i/q.md"])
    return html, card


def test_answers_are_folded_and_nothing_is_lost(notes: Catalogue) -> None:
    html, _ = folded(notes)
    assert html.count("<details") == html.count("</details>") == 2
    assert "question level" not in html and "Level 2: on the job · estimate" in html
    assert "<p><strong>Read</strong>: <a" in html
    for text in ("Half<sup", "Because", "And then?", "All.", 'id="references"', 'id="fn:x"'):
        assert html.count(text) == 1
    assert html.index("</details>") < html.index('id="references"')


def test_a_card_is_the_same_question_in_both_languages(notes: Catalogue) -> None:
    _, card = folded(notes)
    assert (card.key, card.page, card.anchor) == ("i/q#how-much", "q.html", "how-much")
    assert (card.question, card.level, card.asks) == ("How much", 2, "estimate")
    assert all(text in card.answer for text in ("Half", "All.", "b.html"))


def test_the_script_holds_questions_that_stand_apart_from_their_page(notes: Catalogue) -> None:
    text = questions.data([folded(notes)[1]], "en")
    assert text.startswith("window.handbookQuestions = (") and text.endswith(");\n")
    found = json.loads(text.split(" = ", 1)[1][1:-3])
    (row,) = found["questions"]
    assert row["href"] == "q.html#how-much" and found["subjects"] == {"q": "Q"}
    assert 'href="q.html#fn:x"' in row["html"] and ' id="' not in row["html"]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_list_has_every_question(notes: Catalogue, language: str) -> None:
    filled = questions.listing(View(notes, language, ".."))
    name = {"zh": "q.md", "en": "q.en.md"}[language]
    assert f"[How much](../i/{name}#how-much)" in filled
    assert 'data-practice="questions.js"' in filled and 'href="interview.txt"' in filled


@pytest.mark.parametrize(
    ("base", "link"),
    [("", "Because of B."), ("https://h.example/i/", '<a href="https://h.example/b.html">B</a>')],
)
def test_cards_for_anki_can_be_read_away_from_the_site(
    notes: Catalogue, base: str, link: str
) -> None:
    text = questions.deck([folded(notes)[1]], "en", base)
    lines = [one for one in text.split("\n") if one.startswith("#")]
    assert lines == ["#separator:tab", "#html:true", "#guid column:1", "#tags column:4"]
    (row,) = csv.reader(text.split("\n", 4)[4].splitlines(keepends=True), delimiter="\t")
    assert row[:2] == ["en/i/q#how-much", "How much"] and row[3] == "q level2 estimate"
    assert link in row[2] and "footnote-ref" not in row[2] and "<details open " in row[2]
