"""Words of the trade in both languages, for notes that exist in one language only.

`translations.yml` beside this module holds them, a line `English, English phrase = 中文 中文`.
They say what `docs/terms.yml` is too particular for, and are used wherever a section has no
version in the other language.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import yaml

from hooks.search.held import held

FILE: Final = Path(__file__).with_name("translations.yml")

HAN: Final = "㐀-鿿"
"""Chinese characters of the basic plane, as a range of a pattern."""
RUN: Final = re.compile(rf"[{HAN}]+")
_BORDER: Final = re.compile(rf"(?<=[{HAN}]) +(?=[a-z0-9])|(?<=[a-z0-9]) +(?=[{HAN}])")
_APART: Final = re.compile(r"[^a-z0-9]+")
SHARE: Final = 0.27
"""Bytes of lines for each byte of the texts, at most."""
LEAST: Final = 60_000
"""Bytes of lines that even a few notes may have."""
NAMED: Final = 10
"""Bytes by which a line of which a title holds a Chinese word is taken to be shorter."""


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


def _read(file: Path) -> list[str]:
    # The loader that libyaml has is ten times as fast, where PyYAML was built with it.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    lines: list[str] = yaml.load(file.read_text(encoding="utf-8"), Loader=loader)
    return lines


@cache
def translations() -> tuple[Translation, ...]:
    """Return what the data file holds, in its order."""
    return tuple(read_line(line) for line in _read(FILE))


def _wanted(english: str) -> str:
    """Return what an English form begins with in `_spoken` texts, however it is inflected."""
    return " " + _stem(_APART.sub(" ", english.lower()).strip())


def _spoken(text: str) -> str:
    """Return the words of a text with single blanks between them, and one before the first."""
    return " " + _APART.sub(" ", text.lower())


def _written(text: str) -> str:
    """Return a text in lower case, without blanks between Chinese characters and others."""
    return _BORDER.sub("", text.lower())


def _stem(word: str) -> str:
    """Return what all inflected forms of an English word begin with."""
    return re.sub(r"(?<=..)[ey]\Z", "", word)


def tables(
    texts: Iterable[str], *sources: Sequence[Translation], titles: Iterable[str] = ()
) -> list[list[str]]:
    """Return the lines of each source as the core reads them ("word|two words=词 词").

    A line stays when texts hold a word of one of its sides; of that side alone, words that they do
    not hold are left out, because they could only be looked for in vain, but for Chinese words that
    mean the same as one that texts hold. Of each source there are as many lines as the texts
    deserve (`SHARE`), short ones and those that titles name first.

    Args:
        texts: The texts that are to be found by words of the other language, in any order.
        sources: What is called what.
        titles: What pages and sections are called.
    """
    texts = list(texts)
    lines = [one for source in sources for one in source]
    chinese = {_written(form) for one in lines for form in one.chinese}
    words = {_wanted(form) for one in lines for form in one.english}
    words |= {" " + word[1:].replace(" ", "") for word in words}
    found = held(map(_written, texts), chinese) | held(map(_spoken, texts), words)
    named = held(map(_written, titles), chinese)
    room = max(LEAST, SHARE * sum(len(text.encode()) for text in texts))
    return [_best(source, found, named, room) for source in sources]


def _best(
    source: Sequence[Translation],
    found: Container[str],
    named: Container[str],
    room: float,
) -> list[str]:
    """Return the lines of a source that fit, in the order of the Chinese side.

    Many short lines help more than a few long ones, and than those of frequent or rare words.
    """
    rows = [(row, one) for one in source if (row := _row(one, found))]

    def cost(line: tuple[str, Translation]) -> int:
        is_named = any(_written(form) in named for form in line[1].chinese)
        return len(line[0].encode()) - NAMED * is_named

    kept = []
    for row, _ in sorted(rows, key=cost):
        room -= len(row.encode()) + 3
        if room < 0:
            break
        kept.append(row)
    return sorted(kept, key=lambda row: row.partition("=")[2])


def _is_said(form: str, found: Container[str]) -> bool:
    """Return whether texts hold an English form, in one word or in several."""
    wanted = _wanted(form)
    return wanted in found or " " + wanted[1:].replace(" ", "") in found


def _row(one: Translation, found: Container[str]) -> str:
    chinese = [form for form in one.chinese if _written(form) in found]
    english = [form for form in one.english if _is_said(form, found)]
    if not chinese and not english:
        return ""
    # A side is looked for in texts, and read in queries when the other side is looked for.
    left = one.english if chinese else english
    right = one.chinese if english else [form for form in one.chinese if _means(form, one, chinese)]
    # Where a longer word stands, the shorter one in it does too.
    right = [form for form in right if not any(o != form and o in form for o in right)]
    return f"{'|'.join(left)}={' '.join(right)}"


def _means(form: str, one: Translation, chinese: Sequence[str]) -> bool:
    """Return whether a Chinese word stands in texts, or means the same as one that does.

    An English word has senses; what a phrase is called, and words that share a character, are one.
    `kinOf` in core/4_translations.js reads the lines by the same rule.
    """
    if not chinese or form in chinese:
        return form in chinese
    return " " in one.english[0] or any(set(form) & set(other) for other in chinese)


def packed(rows: Sequence[str]) -> list[str]:
    """Return lines as two texts, one of each language: apart they take an eighth less, gzipped."""
    sides = [row.partition("=") for row in rows]
    return ["\n".join(side[0] for side in sides), "\n".join(side[2] for side in sides)]


def table(texts: Iterable[str]) -> list[str]:
    """Return the lines of the data file that help to find texts; see `tables`."""
    return tables(texts, translations())[0]
