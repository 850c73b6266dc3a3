"""The topology decoder on its page: in the reader's language, kind, and at home on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import waiting
from tests.browser.conftest import Window
from tests.programs.test_topo_decoder import LANGUAGES, PARTS, SAMPLES, InputError, decode

PAGE = """<!doctype html><html lang="{language}"><meta charset="utf-8"><title>t</title>
<h1>t</h1><div class="topo-decoder" markdown="1"><p>FALLBACK</p></div>
<div class="topo-decoder"></div>{scripts}</html>"""


@pytest.fixture
def open_page(window: Window, tmp_path: Path) -> Iterator[Callable[[str], Page]]:
    """Open a page with two decoders from a file, as the offline handbook is read."""

    def open_it(language: str) -> Page:
        path = tmp_path / f"{language}.html"
        scripts = "".join(f'<script src="{part.as_uri()}"></script>' for part in PARTS)
        html = PAGE.format(language=language, scripts=scripts)
        path.write_text(html, encoding="utf-8")
        page = window("file:", viewport={"width": 390, "height": 800}).new_page()
        page.on("pageerror", lambda error: pytest.fail(str(error)))
        page.on("request", lambda request: None if request.url.startswith("file:") else fail(page))
        page.goto(path.as_uri())
        return page

    def fail(page: Page) -> None:
        pytest.fail(f"{page.url} asked for something from elsewhere")

    yield open_it


def explain(page: Page, text: str) -> Locator:
    """Paste a text into the first decoder, press its button, return its status line."""
    tool = page.locator(".topo-decoder").first
    tool.locator("textarea").fill(text)
    tool.locator("button").first.click()
    return tool.locator("[role=status]")


@pytest.mark.browser
@pytest.mark.parametrize(
    ("language", "button", "done", "count", "finding", "warning"),
    [
        ("zh", "解读", "已解读", "GPU 8 块，网卡 1 张", "要跨 NUMA 节点", "警告"),
        ("en", "Explain", "Done", "GPUs: 8, NICs: 1", "cross NUMA nodes", "Warning"),
    ],
)
def test_page_explains_in_its_language(
    language: str,
    button: str,
    done: str,
    count: str,
    finding: str,
    warning: str,
    open_page: Callable[[str], Page],
) -> None:
    page = open_page(language)
    tool = page.locator(".topo-decoder").first
    expect(tool.locator("button").first).to_have_text(button)
    expect(tool).not_to_contain_text("FALLBACK")
    expect(tool.locator("[role=region]")).to_be_hidden()
    status = explain(page, SAMPLES["pcie-8gpu-cascade"].read_text(encoding="utf-8"))
    expect(status).to_contain_text(done)
    expect(status).to_contain_text(count)
    result = tool.locator("[role=region]")
    expect(result).to_contain_text(finding)
    expect(result).to_contain_text(warning)
    expect(result.locator("table")).to_have_count(2)
    expect(result.locator("th[scope=row]", has_text="GPU7")).to_have_count(1)


@pytest.mark.browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_page_answers_garbage_kindly(language: str, open_page: Callable[[str], Page]) -> None:
    page = open_page(language)
    tool = page.locator(".topo-decoder").first
    expect(tool.locator("[role=status]")).to_have_attribute("aria-live", "polite")
    for text in ("", "hello", "<system><cpu></system>", "<img src=x onerror=alert(1)>"):
        with pytest.raises(InputError) as caught:
            decode(text, language)
        expect(explain(page, text)).to_contain_text(str(caught.value))
        expect(tool.locator("[role=region]")).to_be_hidden()
    expect(explain(page, SAMPLES["dgx-1v"].read_text(encoding="utf-8"))).to_contain_text("GPU")
    expect(tool.locator("[role=region]")).to_be_visible()


@pytest.mark.browser
def test_page_shows_pasted_markup_as_text(open_page: Callable[[str], Page]) -> None:
    page = open_page("en")
    evil = '<img src=x onerror="document.title=1">'
    text = SAMPLES["dgx-1v"].read_text(encoding="utf-8").replace("0-19,40-59", evil)
    text += f"\nNIC0: {evil.replace(' ', '')}\n"
    explain(page, text)
    xml = SAMPLES["made-up-rails"].read_text(encoding="utf-8")
    explain(page, xml.replace("mlx5_0", "&lt;b onclick=1>x").replace("0000:01:00.0", "a>b"))
    tool = page.locator(".topo-decoder").first
    expect(tool).to_contain_text("a>b")
    expect(tool.locator("img, b, script")).to_have_count(0)
    expect(page).to_have_title("t")


@pytest.mark.browser
def test_page_example_and_keyboard(open_page: Callable[[str], Page]) -> None:
    page = open_page("en")
    first, second = page.locator(".topo-decoder").all()
    first.locator("button").nth(1).click()
    expect(first.locator("[role=status]")).to_contain_text("GPUs: 4, NICs: 2")
    expect(second.locator("[role=status]")).to_be_empty()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(first.locator("textarea")).to_have_value("")
    expect(first.locator("textarea")).to_be_focused()
    names = [tool.locator("textarea").get_attribute("id") or "" for tool in (first, second)]
    assert len(set(names)) == 2
    for tool, name in zip((first, second), names, strict=True):
        expect(tool.locator("label")).to_have_attribute("for", name)
    waiting.fits(page)


@pytest.mark.browser
@pytest.mark.parametrize("name", ["dgx-h100", "made-up-two-sockets", "vm-4x-h200-graphs"])
def test_page_fits_a_phone(name: str, open_page: Callable[[str], Page]) -> None:
    page = open_page("en")
    expect(explain(page, SAMPLES[name].read_text(encoding="utf-8"))).to_contain_text("Done.")
    waiting.fits(page)
