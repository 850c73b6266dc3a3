"""Which of many words stand in texts, found in one pass over them (Aho-Corasick)."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter

import ahocorasick


def held(texts: Iterable[str], forms: Iterable[str]) -> set[str]:
    """Return the forms that occur in any of the texts, inside of words too; case counts."""
    automaton = ahocorasick.Automaton()
    wanted = sorted({form for form in forms if form})
    for form in wanted:
        automaton.add_word(form, form)
    found: set[str] = set()
    if not wanted:
        return found
    automaton.make_automaton()
    for text in texts:
        found.update(map(itemgetter(1), automaton.iter(text)))
    return found
