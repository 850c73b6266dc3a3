"""Calculators as their readers meet them: from a file, by keyboard, on a phone, without script."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from hooks.calc import engine, registry
from tests.conftest import ROOT, Project, serve
from tests.samples import note

pytestmark = pytest.mark.browser

NAMES = list(registry.script_of())
PHONE = {"width": 390, "height": 844}
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small handbook: the calculators' pages, and a note that embeds some."""
    project = Project(tmp_path_factory.mktemp("calc"))
    (project.root / "docs" / "data").symlink_to(ROOT / "docs" / "data")
    shutil.copytree(ROOT / "docs" / "calc", project.root / "docs" / "calc")
    fence = "## 甲\n\n```calc\npipeline\n```\n\n## 乙\n" + "\n```calc\nunits\n```\n" * 2
    english = fence.replace("甲", "One").replace("乙", "Two")
    project.write("docs/topic/one.md", note(fence, "第一篇"))
    project.write("docs/topic/one.en.md", note(english, "Note one"))
    with (project.root / "mkdocs.yml").open("a", encoding="utf-8") as file:
        file.write("  - Calc:\n      - calc/index.md\n")
        file.writelines(f"      - calc/{name}.md\n" for name in NAMES)
    run = project.build()
    assert run.returncode == 0, run.stdout + run.stderr
    return project.site


@pytest.fixture
def open_page(browser: Browser, site: Path) -> Iterator[Open]:
    """Open a page from the folder; whatever it complains about fails the test."""
    contexts = []
    complaints: list[str] = []

    def open_it(address: str, **options: Any) -> Page:
        context = browser.new_context(offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console",
            lambda message: complaints.append(message.text) if message.type == "error" else None,
        )
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(("file:", "data:", "blob:"))
                else complaints.append(request.url)
            ),
        )
        page.goto(f"{site.as_uri()}/{address}")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


def answer(page: Page, which: int = 0) -> str:
    """The headline of a result."""
    return page.locator(".calc__output--first dd").nth(which).inner_text()


def test_page_says_what_the_command_line_says(open_page: Open) -> None:
    entries = {"model": "deepseek-v3", "gpus": 16, "weight_bytes": "1"}
    page = open_page("en/calc/kv-cache.html")
    page.get_by_label("Model", exact=True).select_option("deepseek-v3")
    page.get_by_label("GPUs (tensor parallel)").fill("16")
    page.get_by_label("Bytes per weight").select_option("1")
    shown = engine.default().show("kv-cache", entries, "en")
    rows = page.locator(".calc__result .calc__output")
    said = {row.locator("dt").inner_text(): row.locator("dd").inner_text() for row in rows.all()}
    assert said == {row["label"]: row["text"] for row in shown["rows"]}
    # What plays no part with a latent cache is not asked for.
    assert page.get_by_label("KV heads").is_hidden()
    assert page.get_by_label("Size of the KV latent").input_value() == "512"


def test_a_preset_names_its_sources_and_gives_way_to_the_reader(open_page: Open) -> None:
    page = open_page("en/calc/roofline.html")
    bandwidth = page.get_by_role("textbox", name="Memory bandwidth")
    source = page.locator(".calc__source:visible a").first
    assert (source.get_attribute("href") or "").startswith("https://")
    page.get_by_label("Accelerator").select_option("h200-sxm")
    assert bandwidth.input_value() == "4800"
    bandwidth.fill("2400")
    assert "412.3 FLOP/B" in page.locator(".calc__result").inner_text()
    # Another row takes over; an emptied field takes its value back.
    page.get_by_label("Accelerator").select_option("b200-sxm")
    assert bandwidth.input_value() == "7700"
    bandwidth.fill("")
    bandwidth.blur()
    assert bandwidth.input_value() == "7700"


def test_bad_entry_is_explained_and_the_last_result_stands(open_page: Open) -> None:
    page = open_page("calc/pipeline.html")
    field = page.get_by_label("段数 p")
    before = answer(page)
    for nonsense in ("-4", "0", "4.5", "许多", "1e9"):
        field.fill(nonsense)
        assert answer(page) == before
        assert field.get_attribute("aria-invalid") == "true"
        described = (field.get_attribute("aria-describedby") or "").split()[-1]
        error = page.locator(f"#{described}")
        assert error.is_visible()
        assert error.inner_text() == "请填 1 到 256 之间的整数。"
        assert "仍是上一次的结果" in page.locator(".calc__notice").inner_text()
    field.fill("8")
    assert answer(page) != before
    assert field.get_attribute("aria-invalid") is None
    assert page.locator(".calc__notice").is_hidden()


def test_a_result_is_shared_by_its_address(open_page: Open) -> None:
    page = open_page("en/calc/pipeline.html?h=word#worked")
    page.get_by_label("Stages p").fill("8")
    page.get_by_label("Schedule").select_option("zb-h1")
    address = page.evaluate("location.href")
    assert "pipeline.stages=8&pipeline.schedule=zb-h1" in address
    assert address.endswith("#worked")
    shared = open_page(address.partition("/site/")[2])
    assert answer(shared) == answer(page) == "29.17 %"
    assert shared.get_by_label("Stages p").input_value() == "8"
    # What is as it was at first leaves the address clean.
    page.get_by_role("button", name="Start over").click()
    assert page.evaluate("location.search") == "?h=word"
    assert page.get_by_label("Stages p").input_value() == "4"


def test_the_link_is_copied_or_shown(open_page: Open) -> None:
    page = open_page("en/calc/units.html")
    page.get_by_label("Value", exact=True).fill("900")
    page.get_by_role("button", name="Copy link").click()
    status = page.locator(".calc__spoken")
    status.filter(has_text="opi").wait_for()
    box = page.get_by_label("link", exact=True)
    assert "Link copied." in status.inner_text() or "units.value=900" in box.input_value()


@pytest.mark.parametrize("value", ["-3", "%E0%A4%A", "<img src=x>", "1e400"])
def test_an_address_with_nonsense_still_answers(open_page: Open, value: str) -> None:
    page = open_page(f"en/calc/pipeline.html?pipeline.stages={value}&pipeline.micro=16&x=1")
    assert page.locator("#calc-pipeline-stages-error").is_visible()
    assert answer(page) == "18.75 %"  # four stages, as at first; the sound entry counts
    assert page.locator(".calc img").count() == 0


def test_language_switch_takes_the_entries_along(open_page: Open) -> None:
    page = open_page("calc/pipeline.html?pipeline.stages=8")
    page.locator(".md-header .md-select button").hover()
    page.locator('.md-select__link[hreflang="en"]').click()
    page.wait_for_url("**/en/calc/pipeline.html?pipeline.stages=8*")
    assert page.get_by_label("Stages p").input_value() == "8"


def test_by_keyboard_alone(open_page: Open) -> None:
    page = open_page("en/calc/pipeline.html")
    page.get_by_label("Schedule").focus()
    page.keyboard.press("ArrowDown")  # from 1F1B to interleaved: its chunks appear in the order
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "calc-pipeline-stages"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "calc-pipeline-chunks"
    page.keyboard.press("Control+a")
    page.keyboard.type("3")
    assert answer(page) == "12.5 %"
    page.keyboard.press("Enter")
    page.locator(".calc__spoken").filter(has_text="12.5 %").wait_for()
    passed = []
    for _ in range(5):  # three more fields, the timeline where it scrolls, and the buttons
        page.keyboard.press("Tab")
        passed.append(page.evaluate("document.activeElement.textContent"))
    assert "Copy link" in passed


def test_the_schedule_is_drawn_with_words_for_those_who_cannot_see_it(open_page: Open) -> None:
    page = open_page("en/calc/pipeline.html")
    drawing = page.locator(".calc__result svg")
    assert drawing.get_attribute("role") == "img"
    assert "4 stages, 8 micro-batches" in (drawing.get_attribute("aria-label") or "")
    pieces = drawing.locator("title")
    assert pieces.count() == 4 * 8 * 2
    page.get_by_label("Schedule").select_option("zb-h2")
    assert pieces.count() == 4 * 8 * 3
    page.get_by_label("Micro-batches m").fill("5000")
    assert drawing.count() == 0
    assert "Too many pieces" in page.locator(".calc__remark").inner_text()


def test_in_a_note_each_form_is_its_own(open_page: Open) -> None:
    page = open_page("topic/one.html?units-2.value=900")
    values = page.get_by_label("数值")
    assert [box.input_value() for box in values.all()] == ["400", "900"]
    values.first.fill("800")
    address = page.evaluate("location.search")
    assert "units.value=800" in address and "units-2.value=900" in address
    assert page.locator("details.calc__more").first.locator(".katex").count() > 0
    ids = page.locator("[id]").evaluate_all("all => all.map(one => one.id)")
    assert len(ids) == len(set(ids))
    title = page.locator(".calc__title a").first
    assert title.get_attribute("href") == "../calc/pipeline.html"


@pytest.mark.parametrize("name", NAMES)
def test_fits_a_phone(open_page: Open, name: str) -> None:
    page = open_page(f"calc/{name}.html", viewport=PHONE)
    width = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert width[0] <= width[1]
    boxes = page.locator(".calc__input:visible, .calc__button").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(box => [box.width, box.height])"
    )
    assert min(width for width, _ in boxes) >= 70
    assert min(height for _, height in boxes) >= 36
    # The answer can be seen while the first field is being written in.
    bar = page.locator(".calc__bar")
    assert answer(page) in bar.inner_text()
    box = bar.bounding_box()
    assert box is not None and box["y"] + box["height"] <= PHONE["height"]


@pytest.mark.parametrize("language", ["", "en/"])
def test_without_script_the_page_still_teaches(open_page: Open, language: str) -> None:
    page = open_page(f"{language}calc/training-memory.html", java_script_enabled=False)
    text = page.locator("article").inner_text()
    assert "python -m hooks calc training-memory" in text
    assert "1.406 GB" in text
    assert "M_{\\text{states}}" in text
    assert page.locator(".calc__app input, .calc__app button").count() == 0
    assert page.locator(".calc__example svg").is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["calc/training-memory", "en/calc/collective", "en/calc/roofline", "topic/one"]
)
def test_accessible(browser: Browser, site: Path, name: str, scheme: str) -> None:
    # Served: the checker reads style sheets in a way that files do not allow.
    with serve(site) as address:
        context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{address}{name}.html")
        page.locator("input.calc__input:visible").first.fill("-1")
        page.locator(".calc__error:visible").first.wait_for()
        page.wait_for_timeout(400)  # boxes that scroll are made reachable a moment later
        found = Axe().run(page, {"include": [["article"]]}).response["violations"]
        context.close()
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
