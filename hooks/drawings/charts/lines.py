"""The reference lines of a chart: a figure of the facts, a specification, or a bare number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hooks.data import BlockError, Text, pick, terms, units, wording

if TYPE_CHECKING:
    from hooks.data import FactBase, Record

_LINE_FIELDS = ("fact", "spec", "value", "title")


@dataclass(frozen=True, slots=True)
class Line:
    """A value to compare with, drawn across the chart."""

    value: float
    label: str
    direction: str | None = None


def read(
    options: dict[str, Any], base: FactBase, record: Record | None, unit: str, language: str
) -> list[Line]:
    """Return the reference lines that a fence asks for.

    Args:
        options: The fence's options.
        base: The facts.
        record: The measured record that the chart shows, if it shows one.
        unit: The unit of the axis.
        language: Of the page.
    """
    given = options.get("lines", [])
    if not isinstance(given, list):
        raise BlockError("'lines' must be a list such as [{spec: gpu_uni}]")
    found = []
    for item in given:
        if not isinstance(item, dict):
            raise BlockError("a line must be such as {spec: gpu_uni, title: {zh: …, en: …}}")
        pick([str(key) for key in item], dict.fromkeys(_LINE_FIELDS), "field of a line")
        if sum(key in item for key in ("fact", "spec", "value")) != 1:
            raise BlockError("a line needs one of 'fact', 'spec' and 'value'")
        found.append(_line(item, base, record, unit, language))
    return found


def words(options: dict[str, Any], key: str, default: Text, language: str) -> str:
    """Return a text of the fence in a language, or the default; errors name the key."""
    try:
        return wording.caption(options.get(key), default, language)
    except BlockError as error:
        raise BlockError(str(error).replace("caption", key)) from error


def bracketed(parts: list[str], language: str) -> str:
    """Return the parts that are not empty in the brackets of a language."""
    inside = (", " if language == "en" else "，").join(filter(None, parts))
    if not inside:
        return ""
    return f"({inside})" if language == "en" else f"（{inside}）"


def _line(
    item: dict[str, Any], base: FactBase, record: Record | None, unit: str, language: str
) -> Line:
    shown = "" if unit == units.NO_UNIT else unit
    if "value" in item:
        value = item["value"]
        if isinstance(value, bool) or not isinstance(value, int | float) or "title" not in item:
            raise BlockError("a line of a bare 'value' needs a number, and a 'title' for it")
        label = words(item, "title", Text(zh="", en=""), language)
        return Line(float(value), f"{label} {value:g} {shown}".strip())
    if "spec" in item:
        specs = {one.id: one for one in record.specification} if record else {}
        one = pick([str(item["spec"])], specs, "specification")[str(item["spec"])]
        value, own_unit = one.value, one.unit
        direction: str | None = one.direction
        details = terms(language, direction=direction, per=one.per)
        default = one.title or Text(zh="规格", en="specification")
    else:
        parts = str(item["fact"]).split("/")
        if len(parts) != 3:
            raise BlockError("a line's 'fact' must read FAMILY/ROW/COLUMN")
        family = pick([parts[0]], base.families, "table")[parts[0]]
        row = pick([parts[1]], family.rows, "row")[parts[1]]
        column = pick([parts[2]], family.columns, "column")[parts[2]]
        value = pick([parts[2]], row.cells, f"figure of '{parts[1]}'")[parts[2]].value
        if isinstance(value, Text):
            raise BlockError(f"'{item['fact']}' is a text, not a number")
        own_unit, direction, default = column.unit or "", column.direction, row.title
        details = terms(language, direction=direction, density=column.density, per=column.per)
    try:
        converted = units.convert(value, own_unit, unit)
    except units.UnitError as error:
        raise BlockError(f"a line in {own_unit} has no place on an axis in {unit}") from error
    label = words(item, "title", default, language)
    text = " ".join(filter(None, [label, f"{converted:g}", shown, bracketed(details, language)]))
    return Line(converted, text, direction)
