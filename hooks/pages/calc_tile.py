"""A calculator as a tile: a few of its inputs and outputs, with an answer before any script runs.

The fence says which: `training-memory: model, dp -> total, weights`. The tile's form is made by
the calculator's own scripts, which the page loads when the tile comes into view.
"""

from __future__ import annotations

from dataclasses import dataclass

from hooks.calc import CalcError, Engine
from hooks.findings import nearest
from hooks.links import page_address
from hooks.pages import html
from hooks.pages.words import say, words_of


@dataclass(frozen=True, slots=True)
class Choice:
    """What a tile shows of a calculator, by keys."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


def read(source: str) -> Choice | None:
    """Return what a fence asks for; None where it names a calculator and nothing else."""
    name, colon, rest = source.strip().partition(":")
    if not colon:
        return None
    inputs, _, outputs = rest.partition("->")
    return Choice(name.strip(), _keys(inputs), _keys(outputs))


def _keys(text: str) -> tuple[str, ...]:
    return tuple(key for part in text.split(",") if (key := part.strip()))


def render(
    choice: Choice,
    *,
    calculators: Engine,
    language: str,
    page_dir: str = "",
    titles: dict[str, str] | None = None,
) -> str:
    """Return a tile's HTML: the start's inputs and their answer, and the way to all of it.

    `titles` and `page_dir` are as for a whole calculator.

    Raises:
        CalcError: There is no such calculator, input or output, or the start's does not compute.
    """
    record = calculators.record(choice.name)
    shown = calculators.show(choice.name, {}, language)
    if shown["errors"]:
        raise CalcError(f"the start of '{choice.name}' does not compute; a tile needs an answer")
    entries = {entry["key"]: entry for entry in record["inputs"]}
    rows = {row["key"]: row for row in shown["rows"]}
    for what, keys, known in (("input", choice.inputs, entries), ("output", choice.outputs, rows)):
        if not keys:
            raise CalcError(f"a tile of '{choice.name}' must name an {what}: 'name: a, b -> c'")
        for key in keys:
            if key not in known:
                offer = nearest(key, known)
                hint = f"; did you mean '{offer}'?" if offer else ""
                raise CalcError(f"'{choice.name}' shows no {what} '{key}' at its start{hint}")
    inputs = [
        {
            "label": say(entries[key]["label"], language),
            "unit": say(entries[key].get("unit") or "", language),
            "text": calculators.input_text(choice.name, key, shown["inputs"][key], language),
            "kind": entries[key].get("kind") or "number",
        }
        for key in choice.inputs
    ]
    note = record["note"] if record["note"] in (titles or {}) else ""
    return html.render(
        "calc_tile.html",
        choice=choice,
        title=say(record["title"], language),
        words=words_of("tile", language),
        is_english=language == "en",
        inputs=inputs,
        outputs=[rows[key] for key in choice.outputs],
        full=html.way(page_address(f"calc/{choice.name}", language), page_dir),
        note=html.way(page_address(note, language), page_dir) if note else "",
        note_title=(titles or {}).get(note, ""),
    )
