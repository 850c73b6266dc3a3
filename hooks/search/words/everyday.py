"""How people ask: words that say little, and words that ask for the same, in any collection.

`everyday.yml` beside this module holds them. Terms of the trade are in `docs/data/terms`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict

from hooks.search.words.held import held

FILE: Final = Path(__file__).with_name("everyday.yml")

SHARE: Final = 0.038
"""Bytes of the table for each byte of the texts that it helps to find, before compression."""
LEAST: Final = 40_000
"""Bytes that the table may have in any case."""

Words = Annotated[list[str], BeforeValidator(lambda line: line.split())]


class Everyday(BaseModel):
    """The data file, its words apart."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    light: Words
    """Words that say little about what is asked for."""
    same: list[Words]
    """Groups of words that ask for about the same."""


@cache
def everyday() -> Everyday:
    """Return what the data file holds."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast where it is there
    return Everyday.model_validate(yaml.load(FILE.read_text(encoding="utf-8"), loader))


def table(titles: Iterable[str], texts: Iterable[str]) -> dict[str, object]:
    """Return the words as the core reads them, for as many bytes as the texts deserve.

    Groups that titles name come first, of these and of others those of which most words stand in
    texts. Groups that no text could answer are left out.

    Args:
        titles: The titles of all pages and sections, in any order.
        texts: All texts, titles among them.
    """
    words = everyday()
    size = 0

    def lowered() -> Iterator[str]:
        nonlocal size
        for text in texts:
            lower = text.lower()
            size += len(lower.encode()) + 1
            yield lower

    forms = {form.lower() for group in words.same for form in group if len(form) > 1}
    named = held(map(str.lower, titles), forms)
    stand = named | held(lowered(), forms)

    def worth(group: Sequence[str]) -> tuple[bool, int]:
        lower = [form.lower() for form in group]
        return not named.isdisjoint(lower), sum(form in stand for form in lower)

    answered = sorted((group for group in words.same if worth(group)[1]), key=worth, reverse=True)
    room = max(LEAST, SHARE * size)
    same: list[str] = []
    for line in map(" ".join, answered):
        room -= len(line.encode()) + 3
        if room < 0:
            break
        same.append(line)
    return {"light": " ".join(words.light), "same": same}
