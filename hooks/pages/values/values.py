"""Sentence values: look up what a marker names, in the data, a measurement or a formula.

The number is plain text in the note, so that GitHub shows it. `markers` has the grammar, `check`
compares numbers with what is looked up here, `links` makes them links on the site.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from hooks.calc import engine
from hooks.data import BlockError, Text, measured, terms, wording
from hooks.findings import nearest
from hooks.links import page_address
from hooks.pages import sources as bibliography
from hooks.pages.frame import Stock, words_of
from hooks.pages.values.markers import Marker, MarkerError, Truth, parse

_SHOW = {"value": False, "ratio": True}
"""What a marker may show of a measurement: its value, or its ratio to a specification."""
_UNITS = ("", "Ki", "Mi", "Gi", "Ti")
_SIZE = re.compile(rf"(?P<number>\d+)(?P<unit>{'|'.join(_UNITS)})B\Z")


@dataclass(slots=True)
class Resolver:
    """Looks markers up; remembers what it has found, for one build."""

    stock: Stock
    _records: dict[str, tuple[measured.Record, bool]] = field(default_factory=dict)
    _found: dict[tuple[str, str], Truth] = field(default_factory=dict)

    def resolve(self, marker: Marker, language: str) -> Truth:
        """Return what a marker names; MarkerError where that does not exist."""
        key = (marker.key, language)
        if key not in self._found:
            self._found[key] = getattr(self, f"_{marker.kind}")(marker, language)
        return self._found[key]

    def _fact(self, marker: Marker, language: str) -> Truth:
        parts = marker.parts
        family = _known(parts["family"], self.stock.base.families, "family of facts")
        row = _known(parts["row"], family.rows, f"row of '{parts['family']}'")
        column = _known(parts["column"], family.columns, f"column of '{parts['family']}'")
        cell = row.cells.get(parts["column"])
        if cell is None:
            hint = nearest(parts["column"], row.cells)
            message = f"row '{parts['row']}' of '{parts['family']}' has no '{parts['column']}'"
            raise MarkerError(message, target=parts["column"], hint=hint)
        source = self.stock.base.sources.get(cell.source)
        what = [row.title.in_language(language), column.title.in_language(language)]
        what += terms(language, direction=column.direction, density=column.density, per=column.per)
        title, href = " · ".join(what), ""
        if source is not None:
            cited, href = bibliography.cited(cell, source, language), source.url
            title += words_of("values", language)["semicolon"] + cited
        told = (column.unit or "", column.direction, column.density)
        return Truth(cell.value, *told, title, href, cell.confidence.lower(), cell.source)

    def _record(self, file: str) -> tuple[measured.Record, bool]:
        """Return a record, and whether its program has changed since."""
        if file not in self._records:
            try:
                record = self.stock.record(file)
            except BlockError as error:
                raise MarkerError(str(error), target=file) from error
            self._records[file] = (record, bool(measured.stale_programs(record, self.stock.root)))
        return self._records[file]

    def _measured(self, marker: Marker, language: str) -> Truth:
        file, name, query = marker.parts["file"], marker.parts["result"], dict(marker.inputs)
        record, is_stale = self._record(file)
        is_ratio = _known(query.pop("show", "value"), _SHOW, "value 'show'")
        words = words_of("values", language)
        said: measured.Summary | measured.Result
        if name.startswith("summary/"):
            said = line = _summary(record, name)
            value = line.value if not is_ratio else line.ratio_to and line.ratio_to.ratio
        else:
            results = {result.id: result for result in record.results}
            said = result = _known(name, results, f"result in '{file}'")
            value = None if is_ratio else _point(result, query).get("value")
        if isinstance(value, bool) or not isinstance(value, int | float):
            what = "ratio" if is_ratio else "number"
            raise MarkerError(f"there is no {what} at '{name}'", target=name)
        told = ("", None) if is_ratio else (said.unit, said.direction)
        about = [
            said.title.in_language(language),
            wording.statistic(said.statistic, language) if said.statistic else "",
            record.machine.gpu or "",
            words["day"].format(record.date.isoformat()),
        ]
        title = f"{words['measured']}{words['colon']}{words['semicolon'].join(filter(None, about))}"
        title += words["stale"] if is_stale else ""
        return Truth(value, *told, None, title, file, "measured", stale=is_stale)

    def _calc(self, marker: Marker, language: str) -> Truth:
        name, output = marker.parts["name"], marker.parts["output"]
        inputs = {key: self._input(value, language) for key, value in marker.inputs.items()}
        try:
            found = engine.run(name, inputs)
            own_unit = _output_unit(name, output)
        except (KeyError, ValueError, RuntimeError) as error:
            said = "; ".join(str(error.args[0] if error.args else error).split("\n"))
            raise MarkerError(f"calculator '{name}': {said}", target=name) from error
        value = _known(output, found, f"output of '{name}'")
        if isinstance(value, dict):
            value = Text.model_validate(value)
        elif isinstance(value, bool) or not isinstance(value, int | float):
            raise MarkerError(f"output '{output}' of '{name}' is no number", target=output)
        unit = marker.parts.get("unit", "")
        if own_unit and unit and unit != own_unit:
            message = f"output '{output}' of '{name}' is in {own_unit}, not in {unit}"
            raise MarkerError(message, rule="value-unit", target=unit, hint=own_unit)
        words = words_of("values", language)
        # As the author wrote them; facts by their value, which is what the form takes.
        given = {
            key: f"{inputs[key]}" if text.startswith("@") else text
            for key, text in marker.inputs.items()
        }
        said = ", ".join(f"{key} = {text}" for key, text in given.items())
        title = f"{words['computed']}{words['colon']}{name}({said}) → {output}"
        query = urlencode({f"{name}.{key}": text for key, text in given.items()})
        page = self.stock.notes.in_language(f"calc/{name}", language)
        href = f"{page_address(page.id, language)}?{query}" if page is not None else ""
        return Truth(value, own_unit or unit, title=title, href=href, grade="calc")

    def _message(self, marker: Marker, language: str) -> Truth:
        product, name = marker.parts["product"], marker.parts["id"]
        found, _ = _known(product, self.stock.messages, "product of messages")
        one = _known(name, {each.id: each for each in found.messages}, f"message of '{product}'")
        at, title = page_address(f"messages/{product}", language), one.means.in_language(language)
        return Truth(one.lines, title=title, href=f"{at}#{name}", grade="message")

    def _input(self, text: str, language: str) -> float | str:
        """Return an input: a number, `@family/row/column` for a fact, or a word."""
        if text.startswith("@"):
            value = self._fact(parse(f"fact {text[1:]}"), language).value
            if not isinstance(value, int | float):
                raise MarkerError(f"'{text}' is no number", target=text)
            return value
        try:
            return float(text)
        except ValueError:
            return text


def _output_unit(name: str, output: str) -> str:
    """Return the unit that a calculator gives an output in, where it says so."""
    outputs = engine.default().record(name).get("outputs", ())
    return next((str(one.get("unit") or "") for one in outputs if one.get("key") == output), "")


def _known(name: str, known: Mapping[str, Any], what: str) -> Any:
    if name in known:
        return known[name]
    hint = nearest(name, known)
    end = "" if hint else f"; there are: {', '.join(known)}"
    raise MarkerError(f"there is no {what} '{name}'{end}", target=name, hint=hint)


def _summary(record: measured.Record, name: str) -> measured.Summary:
    """Return the line `summary/N`, counted from 1."""
    number = name.removeprefix("summary/")
    if not number.isdigit() or not 1 <= int(number) <= len(record.summary):
        message = f"'{name}' must be summary/1 to summary/{len(record.summary)}"
        raise MarkerError(message, target=name)
    return record.summary[int(number) - 1]


def _point(result: measured.Result, query: Mapping[str, str]) -> dict[str, Any]:
    """Return the one point that has the wanted places on the axes."""
    axes = [axis.name for axis in result.axes]
    points = result.points
    for axis, wanted in query.items():
        _known(axis, dict.fromkeys(axes), f"axis of '{result.id}'")
        places = {_place(point.get(axis)): None for point in points}
        value = _place(wanted)
        _known(value, places, f"'{axis}' of '{result.id}'")
        points = [point for point in points if _place(point.get(axis)) == value]
    if len(points) != 1:
        open_axes = [axis for axis in axes if axis not in query]
        message = f"'{result.id}' has {len(points)} such points; say {', '.join(open_axes)} too"
        raise MarkerError(message, target=result.id)
    return points[0]


def _place(value: object) -> str:
    """Return a place on an axis as text: `4MiB` and 4194304 are one."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    if match := _SIZE.match(text):
        return str(int(match["number"]) << (10 * _UNITS.index(match["unit"])))
    return text
