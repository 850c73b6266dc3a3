"""Equations between the columns of a family: `link_count * link_rate = gpu_uni`.

A family names them under `checks:`; each is evaluated, with units, for every row that has all
the cells it speaks of. The grammar is a small part of Python's: numbers, column names, `+ - * /`,
`**` with a whole number, brackets, and the functions below; nothing is ever executed.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hooks.data import units
from hooks.data.facts import CheckError, tolerance
from hooks.findings import Finding, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hooks.data.facts import Check, Family, Row
    from hooks.data.units import Amount
    from hooks.findings import Document

RULE = "facts-check"
FUNCTIONS = ("sum", "min", "max", "ceil", "floor", "number")
"""`number(x)` is x as printed in its column, without its unit: a count of pins, say, from a
column in bits. `ceil` and `floor` round to whole multiples of the unit; the others are usual."""

_RELATION = re.compile(r"(?P<left>[^<>=]+?)\s*(?P<sign><=|>=|=)\s*(?P<right>[^<>=]+)\Z")
_NAME = re.compile(r"\bnumber\((?P<bare>\w+)\)|\b(?P<name>[A-Za-z_]\w*)\b")
_EXACT = 1e-9
"""Relative: sums of decimals are not exact in binary."""
_LARGEST_POWER = 9
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


@dataclass(frozen=True, slots=True)
class Equation:
    """A parsed equation."""

    left: ast.expr
    sign: str
    right: ast.expr
    left_text: str
    right_text: str

    @property
    def names(self) -> list[str]:
        """The columns it speaks of, in order, each once."""
        found = [*_names(self.left), *_names(self.right)]
        return list(dict.fromkeys(found))


def parse(text: str, columns: Mapping[str, object]) -> Equation:
    """Read an equation such as `link_count * link_rate = gpu_uni`.

    Raises:
        CheckError: It is none, or names a column or function that does not exist.
    """
    match = _RELATION.match(text.strip())
    if match is None:
        raise CheckError("must read 'expression = expression' (or <=, >=)")
    sides = []
    for part in (match["left"], match["right"]):
        try:
            body = ast.parse(part.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise CheckError(f"'{part.strip()}' is no expression") from error
        _refuse(body, columns)
        sides.append(body)
    left, right = sides
    return Equation(left, match["sign"], right, match["left"].strip(), match["right"].strip())


def _refuse(node: ast.expr, columns: Mapping[str, object]) -> None:
    """Raise for anything that is not part of the grammar."""
    match node:
        case ast.Constant(value=value) if not isinstance(value, bool) and isinstance(
            value, int | float
        ):
            return
        case ast.Name(id=name):
            if name not in columns:
                raise CheckError(f"there is no column '{name}'", name, nearest(name, columns))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _refuse(operand, columns)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            _refuse(left, columns)
            power = right.value if isinstance(right, ast.Constant) else None
            if not isinstance(power, int) or not 0 <= power <= _LARGEST_POWER:
                raise CheckError("'**' takes a whole number from 0 to 9")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            _refuse(left, columns)
            _refuse(right, columns)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in FUNCTIONS:
                known = ", ".join(FUNCTIONS)
                message = f"there is no function '{name}', only {known}"
                raise CheckError(message, name, nearest(name, FUNCTIONS))
            if not arguments or (name in ("ceil", "floor", "number") and len(arguments) != 1):
                raise CheckError(f"'{name}' has the wrong number of arguments", name)
            if name == "number" and not isinstance(arguments[0], ast.Name):
                raise CheckError("'number' takes the name of a column", name)
            for argument in arguments:
                _refuse(argument, columns)
        case _:
            raise CheckError(f"'{ast.unparse(node)}' is not allowed in a check")


def _names(node: ast.expr) -> list[str]:
    called = {
        id(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)
    }  # functions are no columns
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name) and id(one) not in called]


def _value(node: ast.expr, cells: Mapping[str, tuple[float, str | None]]) -> Amount:
    match node:
        case ast.Constant(value=int() | float() as number):
            return units.quantity(number, None)
        case ast.Name(id=name):
            return units.quantity(*cells[name])
        case ast.UnaryOp(operand=operand):
            return -_value(operand, cells)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int() as power)):
            return _value(left, cells) ** power
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, cells), _value(right, cells))
        case ast.Call(func=ast.Name(id="number"), args=[ast.Name(id=name)]):
            return units.quantity(cells[name][0], None)
        case ast.Call(func=ast.Name(id="sum"), args=arguments):
            amounts = [_value(one, cells) for one in arguments]
            total = amounts[0]
            for amount in amounts[1:]:
                total = total + amount
            return total
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in ("min", "max"):
            pick = min if name == "min" else max
            return pick(_value(one, cells) for one in arguments)
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            amount = _value(argument, cells)
            whole = math.ceil if name == "ceil" else math.floor
            return whole(amount.magnitude) * (amount / amount.magnitude) if amount else amount
    raise CheckError(f"'{ast.unparse(node)}' is not allowed in a check")  # pragma: no cover


def _written(node: ast.expr, cells: Mapping[str, tuple[float, str | None]]) -> str:
    """Return an expression with the figures, units included, in place of the names."""

    def figure(match: re.Match[str]) -> str:
        value, unit = cells.get(match["bare"] or match["name"], (None, None))
        if value is None:
            return match[0]
        is_bare = match["bare"] or unit in (None, "", units.NO_UNIT)
        return f"{value:g}" if is_bare else f"{value:g} {unit}"

    text = _NAME.sub(figure, ast.unparse(node))
    return text.replace("**", "^").replace("*", "x")


def check_family(document: Document, family: Family) -> list[Finding]:
    """Return the rows that contradict an equation of their family, and equations that are none."""
    findings: list[Finding] = []
    for name, check in family.checks.items():
        findings += _check_one(document, family, name, check)
    return findings


def _check_one(document: Document, family: Family, name: str, check: Check) -> list[Finding]:
    findings: list[Finding] = []

    def say(
        path: tuple[str, ...], message: str, target: str = "", hint: str = "", severity: str = ""
    ) -> None:
        findings.append(document.finding(RULE, path, message, target, hint, severity=severity))

    at = ("checks", name)
    try:
        equation = parse(check.holds, family.columns)
        allowed = tolerance(check.tolerance)
    except CheckError as error:
        is_tolerance = str(error).startswith("tolerance")
        field = "tolerance" if is_tolerance else "holds"
        say((*at, field), f"check '{name}': {error}", error.name or check.holds, error.hint)
        return findings
    for row_name in check.exempt:
        if row_name not in family.rows:
            message = f"check '{name}' excepts the row '{row_name}', which does not exist"
            say((*at, "except", row_name), message, row_name, nearest(row_name, family.rows))
    seen = 0
    for row_name, row in family.rows.items():
        cells = _cells(row, equation, family)
        if cells is None:
            continue
        seen += 1
        try:
            problem = _problem(equation, cells, allowed)
        except (units.UnitError, ZeroDivisionError, OverflowError) as error:
            say((*at, "holds"), f"check '{name}', row '{row_name}': {error}", check.holds)
            return findings  # the units are the same in every row
        if row_name in check.exempt:
            if problem is None:
                message = f"row '{row_name}' is excepted from check '{name}' but passes it"
                say((*at, "except", row_name), message, row_name, severity="warning")
            continue
        if problem is not None:
            message, column, repair = problem
            said = f"row '{row_name}' fails check '{name}': {message}"
            cell = row.cells[column]
            path = ("rows", row_name, "cells", column, "value")
            say(path, said, str(cell.value), repair)
    if not seen:
        message = f"check '{name}' applies to no row: none has all of {', '.join(equation.names)}"
        say(at, message, name, severity="warning")
    return findings


def _cells(
    row: Row, equation: Equation, family: Family
) -> dict[str, tuple[float, str | None]] | None:
    """Return value and unit of each column named; None when the row lacks one, or has a text."""
    found: dict[str, tuple[float, str | None]] = {}
    for name in equation.names:
        cell = row.cells.get(name)
        if cell is None or not isinstance(cell.value, int | float):
            return None
        found[name] = (cell.value, family.columns[name].unit)
    return found


def _problem(
    equation: Equation, cells: Mapping[str, tuple[float, str | None]], allowed: float
) -> tuple[str, str, str] | None:
    """Return message, column at fault and its repair; None when the equation holds.

    Raises:
        UnitError: The sides cannot be compared.
    """
    import pint

    try:
        left, right = _value(equation.left, cells), _value(equation.right, cells)
    except pint.DimensionalityError as error:
        message = "it adds or compares what has different units; number(column) drops a unit"
        raise units.UnitError(message) from error
    if left.dimensionality != right.dimensionality:
        raise units.UnitError(
            f"the left side is {units.describe(left)}, the right side {units.describe(right)}; "
            "number(column) drops a unit, as of a count of pins"
        )
    ours = float(left.to_base_units().magnitude)
    theirs = float(right.to_base_units().magnitude)
    margin = max(abs(ours), abs(theirs)) * max(allowed, _EXACT)
    holds = {
        "=": abs(ours - theirs) <= margin,
        "<=": ours <= theirs + margin,
        ">=": ours >= theirs - margin,
    }[equation.sign]
    if holds:
        return None
    # The side that is a single column is the sum, the other one its parts.
    column, other = equation.names[-1], left
    repair = ""
    for side, opposite in ((equation.right, left), (equation.left, right)):
        if isinstance(side, ast.Name):
            column, other = side.id, opposite
            repair = f"{units.in_unit(other, cells[column][1]):.6g}"
            break
    unit = cells[column][1]
    sides = []
    for text, node, amount in (
        (equation.left_text, equation.left, left),
        (equation.right_text, equation.right, right),
    ):
        written = _written(node, cells)
        total = _shown(amount, unit)
        is_one = isinstance(node, ast.Name) or text == written
        sides.append(f"{text} is {total}" if is_one else f"{text} = {written} = {total}")
    apart = abs(ours - theirs) / max(abs(ours), abs(theirs))
    message = (
        f"{sides[0]}, but {sides[1]} ({apart:.2%} apart, {allowed:.2%} allowed); correct a cell, "
        "or except the row and say why"
    )
    return message, column, repair


def _shown(amount: Amount, unit: str | None) -> str:
    """Return an amount in a unit, or in whatever it is where that does not measure it."""
    try:
        number = f"{units.in_unit(amount, unit):.6g}"
    except units.UnitError:
        return f"{amount.to_base_units().magnitude:.6g} ({units.describe(amount)})"
    return number if unit in (None, "", units.NO_UNIT) else f"{number} {unit}"
