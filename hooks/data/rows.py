"""Choose and order the rows of a family: `where: year >= 2020`, `order: -gpu_bi`."""

from __future__ import annotations

import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hooks.data.options import BlockError, names, pick
from hooks.data.wording import Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from hooks.data.facts import Column, FactBase, Family, Row

_CONDITION = re.compile(r"(?P<column>[\w-]+)\s*(?:(?P<sign><=|>=|!=|=|<|>)\s*(?P<value>.+?))?\s*\Z")
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    **{"=": operator.eq, "<": operator.lt, "<=": operator.le},
    **{"!=": operator.ne, ">": operator.gt, ">=": operator.ge},
}


@dataclass(frozen=True, slots=True)
class Condition:
    """A column compared with a value; without a sign, that the row has the cell."""

    column: str
    sign: str = ""
    value: str = ""

    def holds(self, cell: float | str | Text | None) -> bool:
        """Tell whether a value meets the condition; what is not there meets none."""
        if cell is None or not self.sign:
            return cell is not None
        if isinstance(cell, str | Text):
            words = (cell.zh, cell.en) if isinstance(cell, Text) else (cell,)
            return (self.value in words) == (self.sign == "=")
        return _COMPARE[self.sign](float(cell), float(self.value))


def conditions(given: object) -> list[Condition]:
    """Read the field `where`: one condition, or a list of them, all of which must hold."""
    if given is None:
        return []
    texts = given if isinstance(given, list) else [given]
    found = []
    for text in texts:
        match = _CONDITION.match(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise BlockError(f"'where' holds conditions such as 'year >= 2020', not '{text}'")
        found.append(Condition(match["column"], match["sign"] or "", match["value"] or ""))
    return found


def _filtered(rows: dict[str, Row], family: Family, given: object) -> dict[str, Row]:
    """Return the rows that meet all conditions; BlockError if none does, or words meet numbers."""
    wanted = conditions(given)
    pick([one.column for one in wanted], family.columns, "column")
    for one in wanted:
        try:
            rows = {name: row for name, row in rows.items() if one.holds(_value(row, one.column))}
        except ValueError:
            message = f"'where: {one.column} {one.sign} {one.value}' compares numbers with a word"
            raise BlockError(message) from None
    if not rows:
        raise BlockError("no row meets 'where'")
    return rows


def _ordered(rows: dict[str, Row], family: Family, given: object) -> dict[str, Row]:
    """Return the rows by the columns of the field `order`; rows without the cell come last."""
    if given is None:
        return rows
    keys = [str(one) for one in (given if isinstance(given, list) else [given])]
    pick([key.removeprefix("-") for key in keys], family.columns, "column")
    found = list(rows.items())
    # Sorting is stable: the last key first.
    for key in reversed(keys):
        column = key.removeprefix("-")
        found.sort(key=lambda item: _rank(_value(item[1], column)), reverse=key.startswith("-"))
        found.sort(key=lambda item: _value(item[1], column) is None)
    return dict(found)


def _rank(value: int | float | Text | None) -> tuple[int, float, str]:
    """Return what to sort by: numbers first, then words."""
    if isinstance(value, Text):
        return (1, 0.0, value.en)
    return (0, float(value or 0), "")


def _value(row: Row, column: str) -> int | float | Text | None:
    cell = row.cells.get(column)
    return cell.value if cell else None


@dataclass(frozen=True, slots=True)
class Selection:
    """What a fence shows of a family."""

    name: str
    family: Family
    columns: dict[str, Column]
    rows: dict[str, Row]

    @property
    def sources(self) -> list[str]:
        """The keys of the sources of what is shown, in the order of reading."""
        cells = (row.cells.get(name) for row in self.rows.values() for name in self.columns)
        return list(dict.fromkeys(cell.source for cell in cells if cell is not None))


def select(options: dict[str, Any], base: FactBase) -> Selection:
    """Return what a fence's `table`, `columns`, `rows`, `where` and `order` name, or BlockError."""
    name = options.get("table")
    if not isinstance(name, str):
        raise BlockError("a facts block needs a line 'table: NAME'")
    family = pick([name], base.families, "table")[name]
    columns = pick(names(options, "columns"), family.columns, "column")
    rows = pick(names(options, "rows"), family.rows, "row")
    rows = _filtered(rows, family, options.get("where"))
    return Selection(name, family, columns, _ordered(rows, family, options.get("order")))
