"""Where emphasis begins and ends on the site, by the renderer's own pairing of `*`, `_` and `^`.

Loaded only where it matters: for a heading with such marks, and for an attribute list behind one.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

_LONGEST = 4000
# Text longer than this is not paired: nobody writes such a run, and hostile ones cost time.


Region = tuple[int, int, int, int]


@cache
def _processors() -> tuple[tuple[Any, list[Region]], ...]:
    """Return the renderer's two processors, each with the list in which it leaves its pairs."""
    from markdown.inlinepatterns import DelimiterProcessor
    from pymdownx import delimiterprocessor  # type: ignore[import-untyped]

    markdown: Any = SimpleNamespace()
    stars: Any = DelimiterProcessor("*", "strong,em", markdown)
    stars.add("_", "strong,em", smart=True)
    caret = delimiterprocessor.Delimiter("^", "ins,sup", punct=False, no_space=True)
    carets: Any = delimiterprocessor.DelimiterProcessor(caret, markdown)
    return _noting(stars), _noting(carets)


def _noting(processor: Any) -> tuple[Any, list[Region]]:
    pairs: list[Region] = []
    add = processor.add_region

    def noted(delimiter: Any, a: int, b: int, c: int, d: int, size: int) -> None:
        pairs.append((a, b, c, d))
        add(delimiter, a, b, c, d, size)

    processor.add_region = noted
    return processor, pairs


def regions(text: str) -> list[Region]:
    """Return start, start of the content, end of the content and end of each emphasis.

    Args:
        text: Inline text in which all that binds closer (code, links) is blotted out.
    """
    found: list[Region] = []
    if len(text) > _LONGEST:
        return found
    for processor, pairs in _processors():
        position = 0
        while match := processor.compiled_re.search(text, position):
            node, _, end = processor.handleMatch(match, text)
            if node is not None:
                end = max(pair[3] for pair in pairs)
                found += pairs
            pairs.clear()
            processor.reset()
            position = max(end or 0, match.end())
    return found
