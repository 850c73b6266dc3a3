"""Take the text of a note apart: front matter and body."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(
    r"\A---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Split:
    """A source text taken apart."""

    yaml_text: str | None
    """The YAML between the two `---` lines; None when the text has no front matter."""
    body: str
    """The text with the front matter blanked out: line numbers stay those of the file."""


def split(text: str) -> Split:
    """Separate front matter from body, keeping line numbers."""
    match = _FENCE.match(text)
    if match is None:
        return Split(None, text)
    blank = "\n" * match.group(0).count("\n")
    return Split(match.group("yaml"), blank + text[match.end() :])
