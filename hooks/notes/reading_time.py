"""How long it takes to read a note: its open text, with code and tables counted less."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.notes import budgets

if TYPE_CHECKING:
    from hooks.notes.note import Note

A_MINUTE = {"zh": 400, "en": 220}
"""What is read in a minute: Chinese characters, English words."""
TABLE_SHARE = 0.5
"""Of a table about half is read: the row that was looked for, and its neighbours."""
CODE_LINES_A_MINUTE = 40
"""Lines of listings that stand open; they are looked through, not read word by word."""


def minutes(note: Note) -> int:
    """Return how many minutes a note takes up to its references; folded text is not counted."""
    text = budgets.text_before_references(note)
    whole = budgets.length(text, note.language)
    prose = budgets.length(budgets.without_tables(text), note.language)
    words = prose + (whole - prose) * TABLE_SHARE
    lines = budgets.listing_lines(note)
    return max(1, round(words / A_MINUTE[note.language] + lines / CODE_LINES_A_MINUTE))
