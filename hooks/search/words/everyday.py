"""How people ask: words that say little, and words that ask for the same, in any collection.

`everyday.yml` beside this module holds them. Terms of the trade are in `docs/data/terms`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict

FILE: Final = Path(__file__).with_name("everyday.yml")

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
    return Everyday.model_validate(yaml.safe_load(FILE.read_text(encoding="utf-8")))


def table() -> dict[str, object]:
    """Return the words as the core reads them."""
    words = everyday()
    return {"light": " ".join(words.light), "same": [" ".join(group) for group in words.same]}
