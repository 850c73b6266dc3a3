"""Words of the trade in both languages, for notes that exist in one language only.

`translations.yml` beside this module holds them, a line `English, English phrase = 中文 中文`.
They say what `docs/terms.yml` is too particular for, and are used wherever a section has no
version in the other language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import yaml

FILE: Final = Path(__file__).with_name("translations.yml")

HAN: Final = "㐀-鿿"
"""Chinese characters of the basic plane, as a range of a pattern."""
RUN: Final = re.compile(rf"[{HAN}]+")
_WORD: Final = re.compile(r"[a-z]+")


@dataclass(frozen=True, slots=True)
class Translation:
    """English words or phrases in their base form, and what they are called in Chinese."""

    english: tuple[str, ...]
    chinese: tuple[str, ...]


def read_line(line: str) -> Translation:
    """Return one line of the data file. Raises ValueError when a side is missing."""
    english, sign, chinese = line.partition(" = ")
    found = Translation(tuple(form.strip() for form in english.split(",")), tuple(chinese.split()))
    if not sign or not found.chinese or not all(found.english):
        raise ValueError(f"'{line}' is not of the form 'word, two words = 词 词'")
    return found


@cache
def translations() -> tuple[Translation, ...]:
    """Return what the data file holds, in its order."""
    return tuple(read_line(line) for line in yaml.safe_load(FILE.read_text(encoding="utf-8")))


def _held(texts: Iterable[str], forms: Iterable[str]) -> tuple[set[str], set[str]]:
    """Return the Chinese words that texts hold, and how English words begin."""
    runs: set[str] = set()
    words: set[str] = set()
    for text in texts:
        runs.update(RUN.findall(text))
        words.update(_WORD.findall(text.lower()))
    pairs = {run[at : at + 2] for run in runs for at in range(len(run) - 1)}
    everything = "\n".join(runs)
    # Few words pass the first question, and those are soon found.
    held = {
        form
        for form in forms
        if all(pair in pairs for pair in _pairs(form))
        and all(run in everything for run in RUN.findall(form))
    }
    return held, {word[:size] for word in words for size in range(2, len(word) + 1)}


def _pairs(form: str) -> Iterable[str]:
    """Return the pairs of Chinese characters of a word."""
    return (run[at : at + 2] for run in RUN.findall(form) for at in range(len(run) - 1))


def _stem(word: str) -> str:
    """Return what all inflected forms of an English word begin with."""
    return re.sub(r"(?<=..)[ey]\Z", "", word)


def tables(texts: Iterable[str], *sources: Sequence[Translation]) -> list[list[str]]:
    """Return the lines of each source as the core reads them ("word|two words=词 词").

    A line stays when texts hold a word of one of its sides; of that side alone, words that they do
    not hold are left out, because they could only be looked for in vain, but for Chinese words that
    mean the same as one that texts hold.

    Args:
        texts: The texts that are to be found by words of the other language, in any order.
        sources: What is called what.
    """
    forms = {part for source in sources for one in source for part in one.chinese}
    held, begun = _held(texts, forms)
    return [[row for one in source if (row := _row(one, held, begun))] for source in sources]


def _row(one: Translation, held: set[str], begun: set[str]) -> str:
    chinese = [form for form in one.chinese if form in held]
    english = [form for form in one.english if all(_stem(word) in begun for word in form.split())]
    if not chinese and not english:
        return ""
    # A side is looked for in texts, and read in queries when the other side is looked for.
    left = one.english if chinese else english
    right = one.chinese if english else [form for form in one.chinese if _means(form, one, chinese)]
    return f"{'|'.join(left)}={' '.join(right)}"


def _means(form: str, one: Translation, chinese: Sequence[str]) -> bool:
    """Return whether a Chinese word stands in texts, or means the same as one that does.

    An English word has senses; what a phrase is called, and words that share a character, are one.
    `relate` in core/4_translations.js reads the lines by the same rule.
    """
    if not chinese or form in chinese:
        return form in chinese
    return " " in one.english[0] or any(set(form) & set(other) for other in chinese)


def table(texts: Iterable[str]) -> list[str]:
    """Return the lines of the data file that help to find texts; see `tables`."""
    return tables(texts, translations())[0]
