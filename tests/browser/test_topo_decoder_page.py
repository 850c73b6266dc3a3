"""The topology decoder on its page: in the reader's language, kind, and at home on a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import waiting
from tests.browser.conftest import PHONE, Open, page_of
from tests.programs.test_topo_decoder import LANGUAGES, PARTS, SAMPLES, InputError, decode

pytestmark = pytest.mark.browser
BODY = """<div class="topo-decoder" markdown="1"><p>FALLBACK</p></div>
<div class="topo-decoder"></div>"""


@pytest.fixture
def open_page(from_file: Open, tmp_path: Path) -> Callable[[str], Page]:
    """Open a page with two decoders."""

    def open_it(language: str) -> Page:
        path = tmp_path / f"{language}.html"
        scripts = [f"topo-decoder/{part.name}" for part in PARTS]
        path.write_text(page_of(BODY, language, scripts=scripts), encoding="utf-8")
        return from_file(path.as_uri(), viewport=PHONE)

    return open_it


def sample(name: str) -> str:
    return SAMPLES[name].read_text(encoding="utf-8")


def explain(page: Page, text: str) -> Locator:
    """Paste a text into the first decoder, press its button, return its status line."""
    tool = page.locator(".topo-decoder").first
    tool.locator("textarea").fill(text)
    tool.locator("button").first.click()
    return tool.locator("[role=status]")


@pytest.mark.parametrize(
    ("language", "button", "status", "result"),
    [
        ("zh", "解读", ("已解读", "GPU 8 块，网卡 1 张"), ("要跨 NUMA 节点", "警告")),
        ("en", "Explain", ("Done", "GPUs: 8, NICs: 1"), ("cross NUMA nodes", "Warning")),
    ],
)
def test_page_explains_in_its_language(
    language: str,
    button: str,
    status: tuple[str, str],
    result: tuple[str, str],
    open_page: Callable[[str], Page],
) -> None:
    page = open_page(language)
    tool = page.locator(".topo-decoder").first
    shown = tool.locator("[role=region]")
    expect(tool.locator("button").first).to_have_text(button)
    expect(tool).not_to_contain_text("FALLBACK")
    expect(shown).to_be_hidden()
    said = explain(page, sample("pcie-8gpu-cascade"))
    for words in status:
        expect(said).to_contain_text(words)
    for words in result:
        expect(shown).to_contain_text(words)
    expect(shown.locator("table")).to_have_count(2)
    expect(shown.locator("th[scope=row]", has_text="GPU7")).to_have_count(1)


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
    expect(explain(page, sample("dgx-1v"))).to_contain_text("GPU")
    expect(tool.locator("[role=region]")).to_be_visible()


def test_page_shows_pasted_markup_as_text(open_page: Callable[[str], Page]) -> None:
    page = open_page("en")
    evil = '<img src=x onerror="document.title=1">'
    text = sample("dgx-1v").replace("0-19,40-59", evil)
    explain(page, text + f"\nNIC0: {evil.replace(' ', '')}\n")
    xml = sample("made-up-rails").replace("mlx5_0", "&lt;b onclick=1>x")
    explain(page, xml.replace("0000:01:00.0", "a>b"))
    tool = page.locator(".topo-decoder").first
    expect(tool).to_contain_text("a>b")
    expect(tool.locator("img, b, script")).to_have_count(0)
    expect(page).to_have_title("t")


def test_page_example_keyboard_and_phone(open_page: Callable[[str], Page]) -> None:
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
    for name in ("dgx-h100", "made-up-two-sockets", "vm-4x-h200-graphs"):
        expect(explain(page, sample(name))).to_contain_text("Done.")
        waiting.fits(page)
