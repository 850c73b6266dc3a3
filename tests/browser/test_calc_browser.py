"""Calculators as their readers meet them: from a file, by keyboard, on a phone, without script."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from hooks.calc import engine
from tests import ours
from tests.browser import waiting
from tests.browser.conftest import PHONE, Open, Window
from tests.conftest import serve

pytestmark = pytest.mark.browser

FORMS = ("training-memory", "roofline", "pipeline", "units")
"""A calculator of each kind: drawn as bars, as a chart, as a timeline, and not at all."""
ARTICLE = {"include": [["article"]]}


@pytest.fixture
def open_page(from_file: Open, site: Path, small_site: Path) -> Open:
    """Open a page of the handbook, or the note with several calculators, which is a small one."""

    def open_it(address: str, **options: Any) -> Page:
        root = small_site if address.startswith("topic/") else site
        return from_file(f"{root.as_uri()}/{address}", **options)

    return open_it


def answer(page: Page) -> Locator:
    """The headline of a result."""
    return page.locator(".calc__output--first dd").first


def test_page_says_what_the_command_line_says(open_page: Open) -> None:
    entries = {"model": "deepseek-v3", "gpus": 16, "weight_bytes": "1"}
    page = open_page("en/calc/kv-cache.html")
    page.get_by_label("Model", exact=True).select_option("deepseek-v3")
    page.get_by_label("GPUs (tensor parallel)").fill("16")
    page.get_by_label("Bytes per weight").select_option("1")
    shown = engine.default(ours.facts()).show("kv-cache", entries, "en")
    rows = page.locator(".calc__result .calc__output")
    expect(rows.locator("dt")).to_have_text([row["label"] for row in shown["rows"]])
    expect(rows.locator("dd")).to_have_text([row["text"] for row in shown["rows"]])
    # What plays no part with a latent cache is not asked for.
    expect(page.get_by_label("KV heads")).to_be_hidden()
    expect(page.get_by_label("Size of the KV latent")).to_have_value("512")


def test_a_preset_names_its_sources_and_gives_way_to_the_reader(open_page: Open) -> None:
    page = open_page("en/calc/roofline.html")
    bandwidth = page.get_by_role("textbox", name="Memory bandwidth")
    source = page.locator(".calc__source:visible a").first
    expect(source).to_have_attribute("href", re.compile("^https://"))
    page.get_by_label("Accelerator").select_option("h200-sxm")
    expect(bandwidth).to_have_value("4800")
    bandwidth.fill("2400")
    expect(page.locator(".calc__result")).to_contain_text("412.3 FLOP/B")
    # Another row takes over; an emptied field takes its value back.
    page.get_by_label("Accelerator").select_option("b200-sxm")
    expect(bandwidth).to_have_value("7700")
    bandwidth.fill("")
    error = page.locator("#calc-roofline-bandwidth-error")
    expect(error).to_contain_text("This is empty.")
    expect(page.locator(".calc__notice")).to_be_visible()
    bandwidth.blur()
    expect(bandwidth).to_have_value("7700")
    expect(error).to_be_hidden()
    expect(page.locator(".calc__notice")).to_be_hidden()


def test_bad_entry_is_explained_and_the_last_result_stands(open_page: Open) -> None:
    page = open_page("calc/pipeline.html")
    field = page.get_by_label("段数 p")
    expect(answer(page)).not_to_be_empty()
    before = answer(page).inner_text()
    for nonsense in ("-4", "0", "4.5", "许多", "1e9"):
        field.fill(nonsense)
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(field).to_have_attribute("aria-describedby", re.compile(r"\bcalc-[\w-]+-error$"))
        described = (field.get_attribute("aria-describedby") or "").split()[-1]
        expect(page.locator(f"#{described}")).to_be_visible()
        expect(page.locator(f"#{described}")).to_have_text("请填 1 到 256 之间的整数。")
        expect(page.locator(".calc__notice")).to_contain_text("仍是上一次的结果")
        expect(answer(page)).to_have_text(before)
    field.fill("8")
    expect(answer(page)).not_to_have_text(before)
    expect(field).not_to_have_attribute("aria-invalid", "true")
    expect(page.locator(".calc__notice")).to_be_hidden()
    # The language switch takes the entries along.
    page.wait_for_url("**/calc/pipeline.html?pipeline.stages=8*")
    page.locator(".md-header .md-select button").hover()
    page.locator('.md-select__link[hreflang="en"]').click()
    page.wait_for_url("**/en/calc/pipeline.html?pipeline.stages=8*")
    expect(page.get_by_label("Stages p")).to_have_value("8")


def test_a_result_is_shared_by_its_address(open_page: Open) -> None:
    page = open_page("en/calc/pipeline.html?h=word#worked")
    page.get_by_label("Stages p").fill("8")
    page.get_by_label("Schedule").select_option("zb-h1")
    page.wait_for_url(re.compile(r"pipeline\.stages=8&pipeline\.schedule=zb-h1.*#worked$"))
    expect(answer(page)).to_have_text("29.17 %")
    shared = open_page("en/calc/" + page.url.partition("/en/calc/")[2])
    expect(answer(page)).to_have_text("29.17 %")
    expect(answer(shared)).to_have_text("29.17 %")
    expect(shared.get_by_label("Stages p")).to_have_value("8")
    # What is as it was at first leaves the address clean.
    page.get_by_role("button", name="Start over").click()
    page.wait_for_function("location.search === '?h=word'")
    expect(page.get_by_label("Stages p")).to_have_value("4")


def test_the_link_is_copied_or_shown(open_page: Open) -> None:
    page = open_page("en/calc/units.html")
    page.get_by_label("Value", exact=True).fill("900")
    page.get_by_role("button", name="Copy link").click()
    status = page.locator(".calc__spoken")
    expect(status).to_contain_text("opi")
    box = page.get_by_label("link", exact=True)
    waiting.until(
        page,
        lambda: status.inner_text() + box.input_value(),
        lambda seen: "Link copied." in seen or "units.value=900" in seen,
    )


@pytest.mark.parametrize("value", ["%E0%A4%A", "<img src=x>"])
def test_an_address_with_nonsense_still_answers(open_page: Open, value: str) -> None:
    page = open_page(f"en/calc/pipeline.html?pipeline.stages={value}&pipeline.micro=16&x=1")
    expect(page.locator("#calc-pipeline-stages-error")).to_be_visible()
    expect(answer(page)).to_have_text("18.75 %")  # four stages, as at first; the sound entry counts
    expect(page.locator(".calc img")).to_have_count(0)


def test_the_schedule_is_drawn_with_words_for_those_who_cannot_see_it(open_page: Open) -> None:
    page = open_page("en/calc/pipeline.html")
    drawing = page.locator(".calc__result svg")
    expect(drawing).to_have_attribute("role", "img")
    expect(drawing).to_have_attribute("aria-label", re.compile("4 stages, 8 micro-batches"))
    pieces = drawing.locator("title")
    expect(pieces).to_have_count(4 * 8 * 2)
    page.get_by_label("Schedule").select_option("zb-h2")
    expect(pieces).to_have_count(4 * 8 * 3)
    page.get_by_label("Micro-batches m").fill("5000")
    expect(drawing).to_have_count(0)
    expect(page.locator(".calc__remark")).to_contain_text("Too many pieces")


def test_in_a_note_each_form_is_its_own(open_page: Open) -> None:
    page = open_page("topic/three.html?units-2.value=900")
    values = page.get_by_label("数值")
    expect(values).to_have_count(2)
    expect(values.nth(0)).to_have_value("400")
    expect(values.nth(1)).to_have_value("900")
    values.first.fill("800")
    page.wait_for_url(lambda url: "units.value=800" in url and "units-2.value=900" in url)
    expect(page.locator("details.calc__more").first.locator(".katex").first).to_be_attached()
    twice = """() => [...document.querySelectorAll("[id]")].map(one => one.id)
      .filter((id, at, all) => all.indexOf(id) !== at)"""
    waiting.equal(page, lambda: page.evaluate(twice), [])


@pytest.mark.parametrize("name", FORMS)
def test_fits_a_phone(open_page: Open, name: str) -> None:
    page = open_page(f"calc/{name}.html", viewport=PHONE)
    expect(answer(page)).not_to_be_empty()
    waiting.drawn(page)
    waiting.fits(page)
    waiting.at_least(page.locator(".calc__input:visible, .calc__button"), width=70, height=36)
    # The answer can be seen while the first field is being written in.
    bar = page.locator(".calc__bar")
    expect(bar).to_contain_text(answer(page).inner_text())
    waiting.box(bar, lambda seen: seen["y"] + seen["height"] <= PHONE["height"])


def test_without_script_the_page_still_teaches(open_page: Open) -> None:
    page = open_page("en/calc/training-memory.html", java_script_enabled=False)
    article = page.locator("article")
    expect(article).to_contain_text("The form needs a script")
    expect(article).to_contain_text("1.406 GB")
    expect(article).to_contain_text("M_states")
    expect(page.locator(".calc__app input, .calc__app button")).to_have_count(0)
    expect(page.locator(".calc__example svg")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "scheme"),
    [pytest.param("en/calc/roofline", "light", marks=pytest.mark.slow), ("topic/three", "dark")],
)
def test_accessible(window: Window, site: Path, small_site: Path, name: str, scheme: str) -> None:
    # Served: the checker reads style sheets in a way that files do not allow.
    with serve(small_site if name.startswith("topic/") else site) as address:
        page = window(address, color_scheme=scheme).new_page()
        page.goto(f"{address}{name}.html")
        page.locator("input.calc__input:visible").first.fill("-1")
        page.locator(".calc__error:visible").first.wait_for()
        assert waiting.audit(page, ARTICLE).response["violations"] == []


AIDS = [  # page, colours, label of a field, what is entered, the answer, words of the drawing
    (
        *("en/calc/cuda-threads", "dark", "This thread: threadIdx.x", "15"),
        *("none: x = 47 ≥ 40, the guard stops it", "lane 31 of warp 1"),
    ),
    ("calc/coalescing", "light", "相邻通道相隔", "32", "32", "32 个扇区"),
    ("en/calc/bank-conflicts", "light", "XOR swizzle", "", "1", "1 phase, 1 turn in all"),
    ("calc/stream-timeline", "dark", "主机内存", "pageable", "28 ms", "4 个流，28 ms"),
]


@pytest.mark.parametrize(
    "aid", [AIDS[0], *(pytest.param(one, marks=pytest.mark.release) for one in AIDS[1:])]
)
def test_aids_of_the_cuda_volume(window: Window, site: Path, aid: tuple[str, ...]) -> None:
    """Over http, on a narrow phone: driven by keyboard, drawn, accessible, within the screen."""
    name, scheme, label, entry, answered, drawn = aid
    with serve(site) as address:
        narrow = {"width": 360, "height": 740}
        page = window(address, color_scheme=scheme, viewport=narrow, has_touch=True).new_page()
        page.goto(f"{address}{name}.html")
        field = page.get_by_label(label)
        expect(answer(page)).not_to_be_empty()
        if field.evaluate("one => one.localName") == "select":
            field.select_option(entry)
        else:
            field.focus()
            page.keyboard.press("Control+a" if entry else "Space")
            page.keyboard.type(entry)
        expect(answer(page)).to_have_text(answered)
        drawing = page.locator(".calc__result svg")
        expect(drawing).to_have_attribute("aria-label", re.compile(drawn))
        waiting.drawn(page)
        waiting.fits(page)
        assert waiting.audit(page, ARTICLE).response["violations"] == []
