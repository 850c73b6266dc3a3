"""Practice for interviews as readers meet it: from a folder, by finger and keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hooks.notes.note import Catalogue
from hooks.notes.questions import Card
from hooks.pages import questions
from hooks.pages.view import View
from tests.browser import waiting
from tests.browser.conftest import PHONE, Open, page_of

pytestmark = pytest.mark.browser

BARRED = "Object.defineProperty(window, 'localStorage', {get: function () { throw new Error(); }});"


def cards(language: str) -> list[Card]:
    def card(number: int, subject: str) -> Card:
        words = f"{subject} {number}"
        read = f'<div class="question__read"><p><a href="b.html">read {words}</a></p></div>'
        return Card(
            key=f"i/{subject}#{number}",
            subject=subject.upper(),
            page=f"{subject}.html",
            anchor=f"q{number}",
            question=f"question {words}",
            level=number,
            asks="estimate" if number == 1 else "decide",
            answer=f'<details class="question__answer"><summary>s</summary>short {words}</details>'
            f'<details class="question__answer"><summary>l</summary>long {words}'
            f"<table><tr><td>t</td></tr></table></details>{read}",
        )

    return [card(number, subject) for subject in ("cuda", "rdma") for number in (1, 2, 3)]


@pytest.fixture
def open_page(from_file: Open, tmp_path: Path) -> Open:
    """Open a page with the place of the questions, and six of them."""

    def open_it(language: str = "en", query: str = "", **options: Any) -> Page:
        script = tmp_path / questions.SCRIPT
        script.write_text(questions.data(cards(language), language), encoding="utf-8")
        place = questions.listing(View(Catalogue(), language))
        body = f'<h2>p</h2>{place}<script src="{questions.SCRIPT}"></script>'
        styles = ("handbook.css", "interview.css")
        page = page_of(body, language, styles=styles, scripts=("practice.js",))
        (tmp_path / "index.html").write_text(page, encoding="utf-8")
        return from_file((tmp_path / "index.html").as_uri() + query, **options)

    return open_it


def choose(page: Page, number: int, value: str) -> None:
    page.locator("select").nth(number).select_option(value)


def test_a_question_shows_its_answer_when_asked(open_page: Open) -> None:
    page = open_page(viewport=PHONE, has_touch=True)
    expect(page.locator(".practice__answer details[open]")).to_have_count(0)
    expect(page.get_by_text("read ")).to_be_hidden()
    page.get_by_role("button", name="Show thirty seconds").tap()
    expect(page.get_by_text("short ")).to_be_visible()
    page.get_by_role("button", name="Show three minutes").tap()
    expect(page.get_by_text("long ")).to_be_visible()
    expect(page.get_by_text("read ")).to_be_visible()
    expect(page.locator(".md-typeset__scrollwrap > .md-typeset__table > table")).to_have_count(1)
    waiting.fits(page)
    waiting.at_least(page.locator(".practice__bar button"), height=30)


def test_filters_by_subject_level_and_kind(open_page: Open) -> None:
    page = open_page()
    status = page.get_by_role("status").first
    expect(status).to_contain_text("Question 1 of 6")
    choose(page, 0, "cuda")
    expect(status).to_contain_text("of 3")
    choose(page, 2, "decide")
    expect(status).to_contain_text("of 2")
    choose(page, 1, "1")
    expect(status).to_contain_text("No question")
    expect(page.locator(".practice__card")).to_be_hidden()


def test_every_question_comes_once_in_a_round(open_page: Open) -> None:
    page = open_page()
    question, status = page.locator(".practice__question"), page.get_by_role("status").first
    seen = set()
    for number in range(1, 7):
        expect(status).to_contain_text(f"Question {number} of 6")
        expect(question).not_to_be_empty()
        seen.add(question.inner_text())
        page.keyboard.press("Tab")
        question.focus()
        page.keyboard.press("ArrowRight")
    assert len(seen) == 6


def test_what_is_known_is_kept_and_what_is_not_comes_again(open_page: Open) -> None:
    page = open_page()
    choose(page, 3, "open")
    expect(page.locator(".practice__question")).not_to_be_empty()
    first = page.locator(".practice__question").inner_text()
    page.locator(".practice__question").focus()
    page.keyboard.press("4")
    expect(page.locator(".practice__question")).not_to_have_text(first)
    again = page.locator(".practice__question").inner_text()
    page.keyboard.press("3")
    kept = "Object.values(JSON.parse(localStorage['handbook-interview'] || '{}')).sort()"
    waiting.equal(page, lambda: page.evaluate(kept), ["again", "known"])
    page.reload()
    choose(page, 3, "again")
    expect(page.locator(".practice__question")).to_have_text(again)
    choose(page, 3, "open")
    expect(page.get_by_role("status").first).to_contain_text("of 5; known 1, again 1")
    reset = page.get_by_role("button", name="Clear progress")
    reset.click()
    reset.click()
    expect(page.get_by_role("status").first).to_contain_text("of 6; known 0, again 0")


def test_keys_open_answers(open_page: Open) -> None:
    page = open_page(query="?subject=rdma")
    expect(page.locator("select").first).to_have_value("rdma")
    expect(page.locator(".practice__question")).to_be_focused()
    page.keyboard.press("1")
    expect(page.get_by_text("short ")).to_be_visible()
    page.keyboard.press("2")
    expect(page.get_by_text("long ")).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator("details[open]")).to_have_count(1)


def test_without_storage_it_works_and_says_so(open_page: Open) -> None:
    page = open_page(init=BARRED)
    expect(page.get_by_text("The browser keeps nothing")).to_be_visible()
    page.get_by_role("button", name="Known", exact=True).click()
    expect(page.get_by_role("status").first).to_contain_text("known 1")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_nothing_is_out_of_reach(open_page: Open, language: str) -> None:
    page = open_page(language)
    assert waiting.audit(page).response["violations"] == []


def test_without_script_the_place_says_where_the_questions_are(open_page: Open) -> None:
    page = open_page(java_script_enabled=False)
    expect(page.get_by_text("without it the list below")).to_be_visible()
