"""Equations between the columns of a family: `link_count * link_rate = gpu_uni`.

A family names them under `checks:`; each is evaluated, with units, for every row that has all
the cells it speaks of. Pint reads them: numbers, column names, `+ - * / **` and brackets; nothing
is ever executed. `number(x)` is x as printed in its column, without its unit: a count of pins,
say, from a column in bits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from tokenize import TokenError
from typing import TYPE_CHECKING

from hooks.data import units
from hooks.findings import Finding, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from hooks.data.facts import Check, Family, Row
    from hooks.data.units import Amount
    from hooks.findings import Document

RULE = "facts-check"
Cells = dict[str, tuple[float, str | None]]
"""Value and unit of each column that an equation names."""

_RELATION = re.compile(r"(?P<left>[^<>=]+?)\s*(?P<sign><=|>=|=)\s*(?P<right>[^<>=]+)\Z")
_NAME = re.compile(r"\bnumber\((?P<bare>\w+)\)|\b(?P<name>[A-Za-z_]\w*)\b")
_EXACT = 1e-9
"""Relative: sums of decimals are not exact in binary."""


class CheckError(ValueError):
    """An equation is not one; `name` is the word at fault, `hint` the nearest known one."""

    def __init__(self, message: str, name: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.name = name
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Equation:
    """Two expressions and how they compare."""

    left: str
    sign: str
    right: str

    @property
    def names(self) -> list[str]:
        """The columns it speaks of, in order, each once."""
        found = _NAME.finditer(f"{self.left} {self.right}")
        return list(dict.fromkeys(match["bare"] or match["name"] for match in found))


def parse(text: str, columns: Mapping[str, object]) -> Equation:
    """Read such as `a * b = c`; CheckError if it is none, or names a column that does not exist."""
    match = _RELATION.match(text.strip())
    if match is None:
        raise CheckError("must read 'expression = expression' (or <=, >=)")
    equation = Equation(*match.groups())
    for name in equation.names:
        if name not in columns:
            raise CheckError(f"there is no column '{name}'", name, nearest(name, columns))
    return equation


def find(document: Document, family: Family, name: str, check: Check) -> Iterator[Finding]:
    """Yield the rows that contradict an equation of their family, and why it is none."""
    say, at = partial(document.finding, RULE), ("checks", name)
    for row_name in check.exempt:
        if row_name not in family.rows:
            message = f"check '{name}' excepts the row '{row_name}', which does not exist"
            hint = nearest(row_name, family.rows)
            yield say((*at, "except", row_name), message, row_name, hint)
    try:
        equation = parse(check.holds, family.columns)
    except CheckError as error:
        message = f"check '{name}': {error}"
        yield say((*at, "holds"), message, error.name or check.holds, error.hint)
        return
    rows = {key: _cells(row, equation, family) for key, row in family.rows.items()}
    if not any(rows.values()):
        message = f"check '{name}' applies to no row: none has all of {', '.join(equation.names)}"
        yield say(at, message, name, severity="warning")
    for row_name, cells in rows.items():
        if not cells:
            continue
        try:
            problem = _problem(equation, cells, check.share)
        except (units.UnitError, CheckError, ZeroDivisionError) as error:
            yield say((*at, "holds"), f"check '{name}', row '{row_name}': {error}", check.holds)
            return  # the units are the same in every row
        if problem is not None and row_name not in check.exempt:
            said, column, repair = problem
            message = f"row '{row_name}' fails check '{name}': {said}"
            value = str(family.rows[row_name].cells[column].value)
            yield say(("rows", row_name, "cells", column, "value"), message, value, repair)


def _cells(row: Row, equation: Equation, family: Family) -> Cells:
    """Return value and unit of each column named; none when the row lacks one, or has a text."""
    found: Cells = {}
    for name in equation.names:
        cell = row.cells.get(name)
        if cell is None or not isinstance(cell.value, int | float):
            return {}
        found[name] = (float(cell.value), family.columns[name].unit)
    return found


def _amount(side: str, cells: Cells) -> Amount:
    """Return what it comes to; CheckError if it is no expression, UnitError if units do not add."""
    import pint

    values = {name: units.quantity(*cell) for name, cell in cells.items()}
    for name, (value, _) in cells.items():
        values[f"number_of_{name}"] = units.quantity(value, None)
    text = re.sub(r"\bnumber\((\w+)\)", r"number_of_\1", side)
    try:
        return units.quantity(1, None) * units.registry().parse_expression(text, **values)
    except pint.DimensionalityError as error:
        message = "it adds what has different units; number(column) drops a unit"
        raise units.UnitError(message) from error
    except (AssertionError, TokenError, TypeError, pint.PintError) as error:
        raise CheckError(f"'{side}' is no expression") from error


def _problem(equation: Equation, cells: Cells, allowed: float) -> tuple[str, str, str] | None:
    """Return message, column at fault and its repair; None when the equation holds.

    UnitError where the sides cannot be compared.
    """
    left, right = (_amount(side, cells) for side in (equation.left, equation.right))
    if left.dimensionality != right.dimensionality:
        raise units.UnitError(
            f"the left side is {units.describe(left)}, the right side {units.describe(right)}; "
            "number(column) drops a unit, as of a count of pins"
        )
    ours, theirs = (float(one.to_base_units().magnitude) for one in (left, right))
    larger = max(abs(ours), abs(theirs))
    margin = larger * max(allowed, _EXACT)
    apart = {"=": abs(ours - theirs), "<=": ours - theirs, ">=": theirs - ours}
    if apart[equation.sign] <= margin:
        return None
    # The side that is a single column is the sum, the other one its parts.
    column, repair = equation.names[-1], ""
    for side, other in ((equation.left, right), (equation.right, left)):
        if side in cells:
            column, repair = side, f"{units.in_unit(other, cells[side][1]):.6g}"
    unit = cells[column][1]
    said = (_said(equation.left, left, unit), _said(equation.right, right, unit))
    message = (
        f"{', but '.join(said)} ({abs(ours - theirs) / larger:.2%} apart, {allowed:.2%} allowed); "
        "correct a cell, or except the row and say why"
    )
    return message, column, repair


def _said(side: str, amount: Amount, unit: str | None) -> str:
    """Return a side and what it comes to."""
    try:
        return f"{side} is {units.in_unit(amount, unit):.6g} {units.shown(unit)}".rstrip()
    except units.UnitError:
        return f"{side} is {amount.to_base_units().magnitude:.6g} ({units.describe(amount)})"
