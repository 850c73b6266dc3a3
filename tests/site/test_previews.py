"""What previews of links say: a page's takeaway, a section's first sentence."""

from __future__ import annotations

import json

import pytest

from hooks.search import sections
from hooks.search.sections import Page, Section
from hooks.site import previews

CODE = f"{sections.CODE_OPEN}x{sections.CODE_CLOSE}"
SENTENCES = {
    "First. Second.": "First.",
    "甲是乙。丙。": "甲是乙。",
    "At 3.5 GHz, e.g. with NVLink 4.0 on, it runs! Then not.": (
        "At 3.5 GHz, e.g. with NVLink 4.0 on, it runs!"
    ),
    "No end": "No end",
}


@pytest.mark.parametrize("text", SENTENCES)
def test_the_first_sentence(text: str) -> None:
    assert previews.sentence(text) == SENTENCES[text]


@pytest.mark.parametrize(
    "text", ["word " * 100, "字" * 300, "a" * 300, f"{'字' * 190} ab cd efghi jkl"]
)
def test_what_is_long_is_cut(text: str) -> None:
    made = previews.cut(text, 200)
    assert 150 <= len(made) <= 200 and made.endswith("…") and text.startswith(made[:-1])
    assert previews.cut(made, 200) == made


def test_a_page_and_its_sections() -> None:
    page = Page("t/one.html", "t/one", "zh", "甲", description="说明")
    page.sections = [
        Section("", 1, "甲"),
        Section("结论", 2, "一句话结论", f"用 {CODE} 看。\n再看。"),
        Section("表", 2, "表", "a\tb\n1\t2"),
        Section("码", 2, "码", f"{CODE}\n{sections.NOTE}注。\n{CODE} 是丙。丁。"),
        Section("空", 2, "空"),
    ]
    assert previews.preview(page) == ["甲", "用 x 看。 再看。", {"码": "x 是丙。"}]
    page.sections = page.sections[:1]
    assert previews.preview(page) == ["甲", "说明"]


def test_a_file_a_language_which_pages_load_as_a_script() -> None:
    made = previews.files(
        [
            Page("t/one.html", "t/one", "zh", "</script>", description="甲"),
            Page("en/t/one.html", "t/one", "en", "One", description="A"),
        ]
    )
    assert set(made) == {"previews/zh.js", "previews/en.js"}
    start, end = "window.__previews=", ";\n"
    text = made["previews/zh.js"]
    assert text.startswith(start) and text.endswith(end) and "</script>" not in text
    assert json.loads(text[len(start) : -len(end)]) == {"t/one.html": ["</script>", "甲"]}
    assert '"t/one.html":["One","A"]' in made["previews/en.js"]
