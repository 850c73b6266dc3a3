"""Pages cut into sections: the records that an index is built from.

A section's text is plain, one block (paragraph, list item, table row, line of code) a line.
Code stands between `CODE_OPEN` and `CODE_CLOSE`, cells of a table row are divided by tabs, and
the text of a footnote, which counts less, is a line that begins with `NOTE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hooks.search.pages import (
    Page,
)

if TYPE_CHECKING:
    pass


# ---- Built pages -----------------------------------------------------------------------


# ---- Pairs and trails ------------------------------------------------------------------


def pair_sections(pages: Sequence[Page]) -> dict[tuple[str, str], list[int]]:
    """Number the sections of all pages; sections that say the same in two languages share one.

    Returns for (key, language) the number of each section in order. Twins pair by order as
    long as the levels of their headings agree (notes.twins reports where they do not);
    what has a key pairs by it.
    """
    numbers: dict[tuple[str, str], list[int]] = {}
    first: dict[str, Page] = {}
    count = 0
    for page in pages:
        known = first.setdefault(page.key, page)
        twin = numbers.get((known.key, known.language), []) if known is not page else []
        theirs = dict(zip(map(id, known.sections), twin, strict=False))
        headings = [section for section in known.sections if not section.key]
        named = {section.key: section for section in known.sections if section.key}
        own = []
        paired = bool(twin)
        order = 0
        for section in page.sections:
            other = named.get(section.key) if section.key else None
            if not section.key:
                same = order < len(headings) and headings[order].level == section.level
                paired = paired and same
                other = headings[order] if paired else None
                order += 1
            if twin and other is not None:
                own.append(theirs[id(other)])
            else:
                own.append(count)
                count += 1
        numbers[page.key, page.language] = own
    return numbers
