"""Units of figures: which ones are known, and arithmetic and conversion between them.

The vocabulary is small and ours, in `units.txt`: `b` is a bit and `B` a byte, `T` behind a prefix
is a transfer (`GT/s`), prefixes of 1024 are told from those of 1000. Arithmetic is pint's, which
is slow to import and therefore imported when the first conversion is asked for; whether a unit is
known is told without it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
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
_NAMES = {"%": "percent", "°C": "degree_C"}
"""How the file names what pint takes for no name."""
_WITHOUT_PREFIX = frozenset(
    ("min h d °C USD % cycle instruction transaction thread warp block GPU register").split()
)
_BINARY = frozenset("bB")
"""Units that take the prefixes of 1024."""
_LARGE = frozenset(("T", "FLOP", "FLOPS", "OP", "OPS"))
"""Units that come in no small part, so that MT is never written mT."""
_SMALL = frozenset("nµum")
_SUPERSCRIPTS = {"²": "2", "³": "3"}
_SEPARATOR = re.compile(r"\s*[/·*]\s*|\s+")
_PREFIX_ALONE = frozenset("kMGT")


class UnitError(ValueError):
    """A unit is not known, or two do not measure the same thing."""


@lru_cache(maxsize=1)
def symbols() -> frozenset[str]:
    """Return every symbol with each prefix that it takes."""
    shown = {name: symbol for symbol, name in _NAMES.items()}
    lines = FILE.read_text(encoding="utf-8").splitlines()
    names = [line.split(" = ")[0] for line in lines if " = " in line and line[0] != "#"]
    prefixes = [name[:-1] for name in names if name[-1] == "-"]
    units = {shown.get(name, name) for name in names if name[-1] != "-"}
    with_prefix = {
        prefix + unit
        for unit in units - _WITHOUT_PREFIX
        for prefix in prefixes
        if (prefix[1:] != "i" or unit in _BINARY) and (prefix not in _SMALL or unit not in _LARGE)
    }
    return frozenset(units | with_prefix)


def unknown_part(unit: str) -> str:
    """Return the first part of a unit that is not known; empty when all are.

    `none` and an empty text are no unit, and fine. Parts are divided by `/`, `·`, `*` or a
    blank; a prefix may stand alone, as in `M msg/s`.
    """
    if unit in ("", NO_UNIT):
        return ""
    parts = _SEPARATOR.split(unit)
    for position, part in enumerate(parts):
        if part == "1" and position == 0:
            continue  # 1/s
        bare = part[:-1] if part[-1:] in _SUPERSCRIPTS else part
        is_prefix = bare in _PREFIX_ALONE and position + 1 < len(parts)
        if bare not in symbols() and not is_prefix:
            return part or unit
    return ""


def suggestion(unit: str) -> str:
    """Return the unit with its unknown part replaced by the nearest known symbol, or ''."""
    part = unknown_part(unit)
    if re.fullmatch(r"[kMGT][bB]ps", part):
        return unit.replace(part, f"{part[:2]}/s", 1)
    by_case = [one for one in symbols() if one.lower() == part.lower()]
    # One wrong capital is the commonest slip; of MB and Mb the first keeps the unit's letter.
    hint = sorted(by_case)[0] if by_case else nearest(part, sorted(symbols()))
    return unit.replace(part, hint, 1) if part and hint else ""


def is_data_rate(unit: str) -> bool:
    """Tell whether a unit is bits, bytes or transfers a second, which have a direction."""
    head, slash, tail = unit.partition("/")
    base = re.sub(r"\A(?:[nµmkKMGTPE]|[KMGTP]i)?(?=(?:b|bit|B|T)\Z)", "", head.strip())
    return bool(slash) and tail.strip() == "s" and base in ("b", "bit", "B", "T")


@lru_cache(maxsize=1)
def _registry() -> pint.UnitRegistry[Any]:
    import pint

    return pint.UnitRegistry(FILE, cache_folder=None)


@lru_cache(maxsize=512)
def _unit(unit: str) -> Amount:
    registry = _registry()
    result = registry.Quantity(1.0)
    if unit in ("", NO_UNIT):
        return result
    if part := unknown_part(unit):
        raise UnitError(f"unit '{part}' is not known")
    sign, position = 1, 0
    for separator in (*_SEPARATOR.finditer(unit), None):
        end = separator.start() if separator else len(unit)
        result = result * _atom(unit[position:end]) ** sign
        if separator:
            sign = -1 if "/" in separator[0] else sign if separator[0].isspace() else 1
            position = separator.end()
    return result


def _atom(part: str) -> Amount:
    registry = _registry()
    power = int(_SUPERSCRIPTS.get(part[-1:], "1"))
    bare = part[:-1] if part[-1:] in _SUPERSCRIPTS else part
    if bare == "1":
        return registry.Quantity(1.0)
    if bare not in symbols():  # a prefix alone, as in 'M msg/s'
        return registry.Quantity(1.0, f"{bare}s / s").to("")
    return registry.Quantity(1.0, registry.UnitsContainer({_NAMES.get(bare, bare): power}))


def quantity(value: float, unit: str | None) -> Amount:
    """Return a number with its unit, for arithmetic.

    Raises:
        UnitError: The unit is not known.
    """
    return value * _unit(unit or "")


def in_unit(amount: Amount, unit: str | None) -> float:
    """Return how many of a unit an amount is.

    Raises:
        UnitError: The unit is not known, or measures something else.
    """
    import pint

    try:
        return float((amount / _unit(unit or "")).to("").magnitude)
    except pint.DimensionalityError as error:
        raise UnitError(f"it is not measured in {unit or 'a bare number'}") from error


def convert(value: float, unit: str | None, into: str | None) -> float:
    """Return a figure in another unit: `convert(1800, "GB/s", "TB/s")` is 1.8.

    Raises:
        UnitError: A unit is not known, or the two do not measure the same thing.
    """
    if unit == into:
        return value
    return in_unit(quantity(value, unit), into)


def describe(amount: Amount) -> str:
    """Return the dimensions of an amount in words, for messages: `information / time`."""
    text = re.sub(r"[][]", "", f"{amount.dimensionality:D}").replace(" ** ", "^").replace("*", "x")
    return "a bare number" if text == "dimensionless" else text
