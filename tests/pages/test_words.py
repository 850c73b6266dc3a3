"""The words of the frame of pages: each in both languages, with the same places to fill."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hooks.pages import frame as words
from tests.samples import read_yaml

FILE = Path(words.__file__).with_name("words.yml")
SECTIONS = read_yaml(FILE)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_word_says_the_same_in_both_languages(section: str) -> None:
    zh, en = words.words_of(section, "zh"), words.words_of(section, "en")
    assert list(zh) == list(en)
    for key, said in zh.items():
        for form in en[key].split(" | ") if section == "counts" else [en[key]]:
            assert re.findall(r"\{\}", said) == re.findall(r"\{\}", form), key
            assert said and form, key
