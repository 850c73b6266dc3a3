"""A calculator as a tile: a few of its inputs and outputs, with an answer before any script runs.

The fence says which: `training-memory: model, dp -> total, weights`. The tile's form is made by
the calculator's own scripts, which the page loads when the tile comes into view.
"""

from __future__ import annotations

from collections.abc import Mapping

from hooks.calc import CalcError, Engine
from hooks.findings import nearest
from hooks.links import page_address
from hooks.pages import html
from hooks.pages.words import say, words_of


def render(
    source: str,
    *,
    calculators: Engine,
    language: str,
    page_dir: str = "",
    titles: Mapping[str, str],
) -> str:
    """Return a tile's HTML: the start's inputs and their answer, and the way to all of it.

    `source` is the text of the fence; `titles` and `page_dir` are as for a whole calculator.

    Raises:
        CalcError: There is no such calculator, input or output, or the start's does not compute.
    """
    name, _, rest = (part.strip() for part in source.partition(":"))
    inputs, outputs = (
        [key for part in keys.split(",") if (key := part.strip())]
        for keys in rest.partition("->")[::2]
    )
    record = calculators.record(name)
    shown = calculators.show(name, {}, language)
    if shown["errors"]:
        raise CalcError(f"the start of '{name}' does not compute; a tile needs an answer")
    entries = {entry["key"]: entry for entry in record["inputs"]}
    rows = {row["key"]: row for row in shown["rows"]}
    for what, keys, known in (("input", inputs, entries), ("output", outputs, rows)):
        if not keys:
            raise CalcError(f"a tile of '{name}' must name an {what}: 'name: a, b -> c'")
        for key in keys:
            if key not in known:
                offer = nearest(key, known)
                hint = f"; did you mean '{offer}'?" if offer else ""
                raise CalcError(f"'{name}' shows no {what} '{key}' at its start{hint}")
    fields = [
        {
            "label": say(entries[key]["label"], language),
            "unit": say(entries[key].get("unit") or "", language),
            "text": calculators.input_text(name, key, shown["inputs"][key], language),
            "kind": entries[key].get("kind") or "number",
        }
        for key in inputs
    ]
    note = record["note"] if record["note"] in titles else ""
    return html.render(
        "calc_tile.html",
        calculator=name,
        title=say(record["title"], language),
        words=words_of("tile", language),
        is_english=language == "en",
        keys={"inputs": inputs, "outputs": outputs},
        inputs=fields,
        outputs=[rows[key] for key in outputs],
        full=html.way(page_address(f"calc/{name}", language), page_dir),
        note=html.way(page_address(note, language), page_dir) if note else "",
        note_title=titles.get(note, ""),
    )
