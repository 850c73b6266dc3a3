"""Units of figures: which ones are known, and arithmetic and conversion between them.

The vocabulary is small and ours: `b` is a bit and `B` a byte, `T` behind a prefix is a transfer
(`GT/s`), prefixes of 1024 are told from those of 1000. Arithmetic is pint's, which is slow to
import and therefore imported when the first conversion is asked for; whether a unit is known is
told without it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hooks.findings import nearest

if TYPE_CHECKING:
    import pint

Amount = Any
"""A pint quantity; its own types change from one version of pint to the next."""

NO_UNIT = "none"
"""Written where a number has no unit."""

_DECIMAL = {
    "n": -9,
    "µ": -6,
    "u": -6,
    "m": -3,
    "k": 3,
    "K": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50}
_UNITS = {
    # A transfer moves one bit of one lane or pin, also where a symbol carries several.
    "b": ("[information]", "dbk"),
    "bit": ("1 * b", "d"),
    "B": ("8 * b", "dbk"),
    "T": ("1 * b", "k"),
    "FLOP": ("[operation]", "k"),
    "FLOPS": ("FLOP / s", "k"),
    "OP": ("1 * FLOP", "k"),
    "OPS": ("FLOP / s", "k"),
    "s": ("[time]", "d"),
    "min": ("60 * s", ""),
    "h": ("3600 * s", ""),
    "d": ("86400 * s", ""),
    "Hz": ("1 / s", "d"),
    "m": ("[length]", "d"),
    "W": ("[power]", "d"),
    "J": ("W * s", "d"),
    "Wh": ("3600 * W * s", "d"),
    "V": ("[voltage]", "d"),
    "A": ("W / V", "d"),
    "°C": ("[temperature]", ""),
    "USD": ("[money]", ""),
    "%": ("0.01", ""),
    # Things that are counted: told apart, so that messages are never taken for tokens.
    "msg": ("[message]", "d"),
    "packet": ("[packet]", "d"),
    "request": ("[request]", "d"),
    "token": ("[token]", "d"),
    "sample": ("[sample]", "d"),
    "cycle": ("[cycle]", ""),
    "instruction": ("[instruction]", ""),
    "transaction": ("[transaction]", ""),
    "param": ("[parameter]", "d"),
    "element": ("[element]", "d"),
    "thread": ("[thread]", ""),
    "warp": ("[warp]", ""),
    "block": ("[block]", ""),
    "GPU": ("[accelerator]", ""),
    "register": ("[register]", ""),
}
"""Symbol -> definition, and which prefixes it takes: d decimal, b binary, k large ones only."""

_SUPERSCRIPTS = {"²": "2", "³": "3"}
_SEPARATOR = re.compile(r"\s*[/·*]\s*|\s+")
_PREFIX_ALONE = frozenset("kMGT")


class UnitError(ValueError):
    """A unit is not known, or two do not measure the same thing."""


@lru_cache(maxsize=1)
def symbols() -> frozenset[str]:
    """Return every symbol with each prefix that it takes."""
    found = set(_UNITS)
    for name, (_, kinds) in _UNITS.items():
        if "d" in kinds:
            found |= {prefix + name for prefix in _DECIMAL}
        if "k" in kinds:
            found |= {prefix + name for prefix, power in _DECIMAL.items() if power > 0}
        if "b" in kinds:
            found |= {prefix + name for prefix in _BINARY}
    return frozenset(found)


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

    registry: pint.UnitRegistry[Any] = pint.UnitRegistry(None, cache_folder=None)
    names = {name: f"u{number}" for number, name in enumerate(_UNITS)}
    # Names of our own making: pint would read `T`, `min` and `b` as prefix, minute and barn.
    for name, (definition, _) in _UNITS.items():
        text = " ".join(names.get(word, word) for word in definition.split(" "))
        registry.define(f"{names[name]} = {text}")
    return registry


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
    names = list(_UNITS)
    if bare in _UNITS:
        return registry.Quantity(1.0, f"u{names.index(bare)}") ** power
    for prefix, factor in (
        *((prefix, 2.0**exponent) for prefix, exponent in _BINARY.items()),
        *((prefix, 10.0**exponent) for prefix, exponent in _DECIMAL.items()),
    ):
        rest = bare[len(prefix) :]
        if bare.startswith(prefix) and rest in _UNITS:
            return (factor * registry.Quantity(1.0, f"u{names.index(rest)}")) ** power
    return registry.Quantity(10.0 ** _DECIMAL[bare])  # a prefix alone, as in 'M msg/s'


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
    over = [(str(name)[1:-1], float(power)) for name, power in amount.dimensionality.items()]
    above = [_power(name, power) for name, power in sorted(over) if power > 0]
    below = [_power(name, -power) for name, power in sorted(over) if power < 0]
    text = " x ".join(above) or ("1" if below else "a bare number")
    return " / ".join([text, *below])


def _power(name: str, power: float) -> str:
    return name if power == 1 else f"{name}^{power:g}"
