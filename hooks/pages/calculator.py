"""What a `calc` fence becomes: a place for the form, and all that needs no script.

The fence holds a calculator's name. On the pages of the calculators everything is open; in a note
the formula, assumptions and worked example are folded below the form.

With inputs and outputs behind the name, `training-memory: model, dp -> total, weights`, it is a
tile, with an answer before any script runs. Its form is made by the calculator's own scripts, which
the page loads when the tile comes into view.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import Any

from hooks.calc import CalcError, Engine, engine, registry
from hooks.findings import nearest
from hooks.links import page_address
from hooks.notes import LANGUAGES, Catalogue
from hooks.pages.blocks import kind_of
from hooks.pages.frame import Stock, fill_line, say, way, words_of
from hooks.pages.view import Item, Said, View, areas_of

TOPIC = "calc"
"""The folder of the calculators' own pages."""
_PLACE = re.compile(r'class="(?:calc-tile )?calc" data-calc="([a-z0-9-]+)"')


def render(source: str, stock: Stock, language: str, page_dir: str = "") -> str:
    """Return the HTML for a `calc` fence: a calculator's name, or a tile of it; CalcError where
    there is no such calculator, input or output, or its example does not compute.

    Links start at `page_dir`, the page's folder in the site. A calculator's own page names the
    notes that show it.
    """
    calculators, view = engine.default(stock.base), View(stock.notes, language)

    def links(ids: Iterable[str]) -> list[tuple[str, str]]:
        known = [(one, note) for one in ids if (note := view.note(one)) is not None]
        return [(way(page_address(one, language), page_dir), note.title) for one, note in known]

    name, is_tile, rest = (part.strip() for part in source.partition(":"))
    record, own = calculators.record(name), f"{TOPIC}/{name}"
    noted = links([record["note"]])
    said = {"name": name, "record": record, "language": language, "noted": noted}
    if is_tile:
        full = way(page_address(own, language), page_dir)
        words = words_of("tile", language)
        tile = _tile(calculators, name, rest, language)
        return fill_line("calc_tile.html", **said, **tile, words=words, full=full)
    is_own_page = page_dir == posixpath.dirname(page_address(own, language))
    users = shown_in(stock.notes).get(name, []) if is_own_page else []
    return fill_line(
        "calculator.html",
        **said,
        **_example(calculators, record, language),
        words=words_of("calculator", language),
        is_own_page=is_own_page,
        own=links([own]),
        formulas=[html.escape(tex, quote=False) for tex in record["formula"]],
        users=links(one for one in users if not one.startswith(f"{TOPIC}/")),
    )


def shown_in(notes: Catalogue) -> dict[str, list[str]]:
    """Return the ids of the notes that show a calculator, by the text of the fence."""
    found: dict[str, dict[str, None]] = {}
    for note in notes.notes.values():
        for fence in note.source.fences:
            if kind_of(fence) == "calc":
                found.setdefault(fence.text.strip(), {})[note.id] = None
    return {text: list(ids) for text, ids in found.items()}


def items(calculators: Engine, notes: Catalogue) -> list[Item]:
    """Return the calculators that notes show, each at its own page or at the first of these."""

    def said(record: dict[str, Any], language: str) -> Said:
        title = say(record["title"], language)
        kind = words_of("calculator", language)["calculator"]
        whole = f"{title}{kind}" if language == "zh" else f"{title} {kind.lower()}"
        summary = f"{whole}\n{say(record['about'], language)}"
        return Said(title, summary, f"calc-{record['id']}")

    found = []
    for name, ids in shown_in(notes).items():
        if name in calculators.records:  # else the fence's own check says so
            record, own = calculators.record(name), f"{TOPIC}/{name}"
            place = own if own in ids else ids[0]
            both = {language: said(record, language) for language in LANGUAGES}
            found.append(Item("calculator", name, place, both, areas_of(record["note"])))
    return found


def scripts_of(content: str) -> list[str]:
    """Return the addresses below the site's root of the scripts that a page's content needs."""
    names = sorted(set(_PLACE.findall(content)))
    return [f"{registry.ADDRESS}/{script}" for script in registry.needed_by(names)]


def _tile(calculators: Engine, name: str, asked: str, language: str) -> dict[str, Any]:
    """Return what a tile shows: the start's inputs and their answer."""
    shown = calculators.show(name, {}, language)
    if shown["errors"]:
        raise CalcError(f"the start of '{name}' does not compute; a tile needs an answer")
    entries = {entry["key"]: entry for entry in calculators.record(name)["inputs"]}
    rows = {row["key"]: row for row in shown["rows"]}

    def chosen(what: str, keys: str, known: Mapping[str, Any]) -> list[str]:
        wanted = [key for part in keys.split(",") if (key := part.strip())]
        if not wanted:
            raise CalcError(f"a tile of '{name}' must name an {what}: 'name: a, b -> c'")
        for key in wanted:
            if key not in known:
                offer = nearest(key, known)
                hint = f"; did you mean '{offer}'?" if offer else ""
                raise CalcError(f"'{name}' shows no {what} '{key}' at its start{hint}")
        return wanted

    before, _, after = asked.partition("->")
    inputs, outputs = chosen("input", before, entries), chosen("output", after, rows)

    def text(key: str) -> str:
        return calculators.input_text(name, key, shown["inputs"][key], language)

    return {
        "keys": {"inputs": inputs, "outputs": outputs},
        "inputs": [(entries[key], text(key)) for key in inputs],
        "outputs": [rows[key] for key in outputs],
    }


def _example(calculators: Engine, record: dict[str, Any], language: str) -> dict[str, Any]:
    """Return the inputs, outputs and drawing of the worked example."""
    name = record["id"]
    shown = calculators.show(name, record["example"]["inputs"], language)
    if shown["errors"]:
        problems = "; ".join(f"{error['key']}: {error['text']}" for error in shown["errors"])
        raise CalcError(f"the worked example of '{name}' does not compute: {problems}")
    values = shown["inputs"]

    def plays(entry: dict[str, Any]) -> bool:
        value, when = values.get(entry["key"]), entry.get("when", {})
        is_empty = value in (None, "") or (entry.get("optional") and value == 0)
        return not is_empty and all(values.get(key) in allowed for key, allowed in when.items())

    def text(key: str) -> str:
        return calculators.input_text(name, key, values[key], language)

    inputs = [(one["label"], text(one["key"])) for one in record["inputs"] if plays(one)]
    outputs = [(row["label"], row["text"]) for row in shown["rows"]]
    return {"inputs": inputs, "outputs": outputs, "drawing": shown["drawing"]}
