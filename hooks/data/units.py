"""Units of figures: which ones are known, and conversion between them, by pint.

The vocabulary is small and ours, in `units.txt`: `b` is a bit and `B` a byte, `T` behind a prefix
is a transfer (`GT/s`), prefixes of 1024 are told from those of 1000.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from tokenize import TokenError
from typing import TYPE_CHECKING, Any

from hooks.findings import nearest

if TYPE_CHECKING:
    import pint

Amount = Any
"""A pint quantity; its own types change from one version of pint to the next."""

NO_UNIT = "none"
"""Written where a number has no unit."""
FILE = Path(__file__).with_name("units.txt")
"""Definitions, as pint reads them."""


class UnitError(ValueError):
    """A unit is not known, or two do not measure the same thing."""


@lru_cache(maxsize=1)
def registry() -> pint.UnitRegistry[Any]:
    """Return pint's reader of units and expressions; slow to import, so loaded when asked for."""
    import pint

    return pint.UnitRegistry(FILE, cache_folder=None)


@lru_cache(maxsize=512)
def unknown_part(unit: str) -> str:
    """Return the first part of a unit that is not known; empty when all are.

    `none` and an empty text are no unit, and fine.
    """
    import pint

    if unit in ("", NO_UNIT):
        return ""
    try:
        names = re.findall(r"[^\W\d]+", str(registry().parse_units(unit)))
    except pint.UndefinedUnitError as error:
        return str(next(iter(error.unit_names)))
    except (ValueError, TokenError, AssertionError, pint.DefinitionSyntaxError):
        return unit
    # Pint takes plurals, which readers should not see beside the singular.
    written = re.findall(r"[^\W\d]+", unit)
    return next((one for one in written if one[-1] == "s" and one[:-1] in names), "")


def suggestion(unit: str) -> str:
    """Return the unit with its unknown part replaced by the nearest known symbol, or ''."""
    part = unknown_part(unit)
    lines = FILE.read_text(encoding="utf-8").splitlines()
    names = [line.split(" = ")[0] for line in lines if " = " in line and line[0] != "#"]
    prefixes = ["", *(name[:-1] for name in names if name[-1] == "-")]
    symbols = {prefix + name for prefix in prefixes for name in names if name[-1] != "-"}
    if re.fullmatch(r"[kMGT][bB]ps", part):
        return unit.replace(part, f"{part[:2]}/s", 1)
    # One wrong capital is the commonest slip; of MB and Mb the first keeps the unit's letter.
    by_case = sorted(one for one in symbols if one.lower() == part.lower())
    hint = by_case[0] if by_case else nearest(part, sorted(symbols))
    return unit.replace(part, hint, 1) if part and hint else ""


def is_data_rate(unit: str) -> bool:
    """Tell whether a unit is bits, bytes or transfers a second, which have a direction."""
    is_known = "/" in unit and not unknown_part(unit)
    return is_known and bool(quantity(1, unit).check("[information] / [time]"))


def quantity(value: float, unit: str | None) -> Amount:
    """Return a number with its unit, for arithmetic; UnitError if that is not known."""
    if part := unknown_part(shown(unit)):
        raise UnitError(f"unit '{part}' is not known")
    return registry().Quantity(value, shown(unit))


def in_unit(amount: Amount, unit: str | None) -> float:
    """Return how many of a unit an amount is; UnitError if it measures something else."""
    import pint

    try:
        return float((amount / quantity(1.0, unit)).to("").magnitude)
    except pint.DimensionalityError as error:
        raise UnitError(f"it is not measured in {unit or 'a bare number'}") from error


def convert(value: float, unit: str | None, into: str | None) -> float:
    """Return a figure in another unit: `convert(1800, "GB/s", "TB/s")` is 1.8, or UnitError."""
    return value if unit == into else in_unit(quantity(value, unit), into)


def shown(unit: str | None) -> str:
    """Return a unit as it is printed: nothing where a number has none."""
    return "" if unit in (None, NO_UNIT) else str(unit)


def describe(amount: Amount) -> str:
    """Return the dimensions of an amount in words, for messages: `information / time`."""
    text = re.sub(r"[][]", "", f"{amount.dimensionality:D}").replace(" ** ", "^").replace("*", "x")
    return "a bare number" if text == "dimensionless" else text
