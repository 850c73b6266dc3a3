"""Which of many words stand in texts, found in one pass over them (Aho-Corasick)."""

from __future__ import annotations

from collections.abc import Iterable

import ahocorasick


def held(texts: Iterable[str], forms: Iterable[str]) -> set[str]:
    """Return the forms that occur in any of the texts, inside of words too; case counts."""
    automaton = ahocorasick.Automaton()
    for form in forms:
        if form:
            automaton.add_word(form, form)
    found: set[str] = set()
    if len(automaton):
        automaton.make_automaton()
        for text in texts:
            found.update(form for _, form in automaton.iter(text))
    return found
