"""Tables of characters for one index: traditional forms, and how characters sound.

Only what the index can use is listed, so that the tables stay a few kilobytes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

import opencc
import pypinyin

_FIRST, _LAST = 0x3400, 0x9FFF


@lru_cache(maxsize=1)
def _simplified() -> dict[str, str]:
    """Return every traditional character of the basic plane with its simplified form."""
    every = [chr(code) for code in range(_FIRST, _LAST + 1)]
    # One a line: characters side by side could be taken for a word.
    converted = opencc.OpenCC("t2s").convert("\n".join(every)).split("\n")
    return {
        old: new
        for old, new in zip(every, converted, strict=True)
        if old != new and len(new) == 1 and ord(new) <= 0xFFFF
    }


def han_of(texts: Iterable[str]) -> set[str]:
    """Return the Han characters (of the basic plane) that stand in texts."""
    seen: set[str] = set()
    for text in texts:
        seen.update(text)
    return {char for char in seen if _FIRST <= ord(char) <= _LAST}


def simple_pairs(han: set[str]) -> str:
    """Return pairs of a traditional character and its simplified form, one after the other.

    A pair is listed when either of the two stands in the index.
    """
    pairs = _simplified().items()
    return "".join(old + new for old, new in pairs if old in han or new in han)


@lru_cache(maxsize=1)
def _common() -> frozenset[str]:
    """Return the characters of GB 2312, which is what people type."""
    rows = range(0xB0, 0xF8)
    codes = (bytes((row, cell)) for row in rows for cell in range(0xA1, 0xFF))
    return frozenset(code.decode("gb2312", errors="ignore") for code in codes) - {""}


def sounds(han: set[str]) -> list[str]:
    """Return a line for each syllable: its pinyin without tone, a blank, its characters.

    Besides the index's characters it holds those that may be typed in their place.
    """
    by_sound: dict[str, list[str]] = defaultdict(list)
    for char in sorted(han | _common()):
        sound = pypinyin.lazy_pinyin(char, errors="ignore")
        if sound:
            by_sound[sound[0].replace("ü", "v")].append(char)
    return [f"{sound} {''.join(chars)}" for sound, chars in sorted(by_sound.items())]
