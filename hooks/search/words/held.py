"""Which of many words stand in texts, found in one pass over them (Aho-Corasick)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import partial
from operator import itemgetter
from typing import Any, Final

import ahocorasick

Recall = Callable[[str, Callable[[], Any]], Any]
"""Returns what is known under a key, or what a function makes."""
_LONG: Final = 200
"""Characters; to look for a shorter text takes longer than to read it."""


def held(texts: Iterable[str], forms: Iterable[str], recall: Recall | None = None) -> set[str]:
    """Return the forms that occur in any of the texts, inside of words too; case counts.

    Args:
        texts: The texts.
        forms: What to look for.
        recall: Knows what stood in long texts that were read before.
    """
    automaton = ahocorasick.Automaton()
    wanted = sorted({form for form in forms if form})
    for form in wanted:
        automaton.add_word(form, form)
    found: set[str] = set()
    if not wanted:
        return found
    automaton.make_automaton()
    seed = hashlib.blake2b("\0".join(wanted).encode("utf-8", "surrogatepass"), digest_size=16)

    def read(text: str) -> frozenset[str]:
        return frozenset(map(itemgetter(1), automaton.iter(text)))

    for text in texts:
        if recall is None or len(text) < _LONG:
            found.update(map(itemgetter(1), automaton.iter(text)))
            continue
        mark = seed.copy()
        mark.update(text.encode("utf-8", "surrogatepass"))
        found |= recall(mark.hexdigest(), partial(read, text))
    return found
