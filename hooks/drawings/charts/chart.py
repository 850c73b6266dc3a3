"""A chart as plain data: its points, scales, series and reference lines, and the words on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hooks.data import BlockError, Text, pick, wording


@dataclass(frozen=True, slots=True)
class Point:
    """One figure of a chart."""

    x: float | str
    x_label: str
    y: float
    series: str = ""
    low: float | None = None
    high: float | None = None
    written: str = ""
    """The figure as its data write it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A value to compare with, drawn across the chart."""

    value: float
    label: str
    direction: str | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """All that is drawn, in one language."""

    mark: str
    title: str
    description: str
    x_title: str
    y_title: str
    unit: str
    points: list[Point]
    lines: list[Line] = field(default_factory=list)
    log: tuple[str, ...] = ()
    """The axes with logarithmic scales."""
    x_is_bytes: bool = False
    includes_zero: bool = True
    sources: list[str] = field(default_factory=list)
    """Keys of the sources of facts."""
    record: str = ""
    """The measured record, below the folder of notes."""
    name: str = ""
    """Of the family or record, for the file to download."""
    direction: str | None = None

    @property
    def series(self) -> list[str]:
        """The names of the series, in order; empty where there is but one."""
        found = list(dict.fromkeys(point.series for point in self.points))
        return found if len(found) > 1 else []

    @property
    def x_is_number(self) -> bool:
        """Whether places on the horizontal axis are numbers."""
        return all(not isinstance(point.x, str) for point in self.points)


def asked(options: dict[str, Any], title: Text, language: str) -> dict[str, Any]:
    """Return the fields of a chart that a fence says whatever it shows."""
    log = options.get("log", [])
    axes = [str(axis) for axis in (log if isinstance(log, list) else [log])]
    return {
        "mark": options["mark"],
        "title": words(options, "title", title, language),
        "description": words(options, "description", title, language),
        "log": tuple(pick(axes, {"x": None, "y": None}, "axis for 'log'")),
        "includes_zero": options.get("zero", True) is not False,
    }


def words(options: dict[str, Any], key: str, default: Text, language: str) -> str:
    """Return a text of the fence in a language, or the default; errors name the key."""
    try:
        return wording.caption(options.get(key), default, language)
    except BlockError as error:
        raise BlockError(str(error).replace("caption", key)) from error


def with_terms(title: str, details: list[str], language: str) -> str:
    """Return `title (unit, direction)`, or the details alone where there is no title."""
    inside = (", " if language == "en" else "，").join(filter(None, details))
    if not inside or not title:
        return title or inside
    return f"{title} ({inside})" if language == "en" else f"{title} （{inside}）"
