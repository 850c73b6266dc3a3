"""What a `calc` fence becomes: a place for the form, and all that needs no script.

The fence holds a calculator's name. On the pages of the calculators everything is open; in a note
the formula, assumptions and worked example are folded below the form. With inputs and outputs
behind the name it is a tile (`calc_tile`).
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hooks.calc import CalcError, Engine, registry
from hooks.links import page_address
from hooks.notes import LANGUAGES
from hooks.pages import calc_tile
from hooks.pages.html import render, way
from hooks.pages.items import Item, Said, areas_of
from hooks.pages.words import say, words_of

TOPIC = "calc"
"""The folder of the calculators' own pages."""
_PLACE = re.compile(r'class="(?:calc-tile )?calc" data-calc="([a-z0-9-]+)"')


def render_block(
    source: str,
    *,
    calculators: Engine,
    language: str,
    page_dir: str = "",
    titles: dict[str, str] | None = None,
    users: Sequence[str] = (),
) -> str:
    """Return the HTML for a `calc` fence: a calculator's name, or a tile of it.

    Links start at `page_dir`, the page's folder in the site, and lead to the notes that have
    `titles`; a calculator's own page names its `users`, the ids of the notes that show it.

    Raises:
        CalcError: There is no such calculator, or its worked example does not compute.
    """
    titles = titles or {}
    if ":" in source:
        return calc_tile.render(
            source, calculators=calculators, language=language, page_dir=page_dir, titles=titles
        )
    name = source.strip()
    record, own = calculators.record(name), f"{TOPIC}/{name}"
    is_own_page = page_dir == posixpath.dirname(page_address(own, language))
    using = [one for one in users if is_own_page and not one.startswith(f"{TOPIC}/")]

    def links(notes: Iterable[str]) -> list[tuple[str, str]]:
        known = [one for one in notes if one in titles]
        return [(way(page_address(one, language), page_dir), titles[one]) for one in known]

    return render(
        "calculator.html",
        words=words_of("calculator", language),
        calculator=name,
        is_own_page=is_own_page,
        title=say(record["title"], language),
        own=next((address for address, _ in links([own])), ""),
        formulas=[html.escape(tex, quote=False) for tex in record["formula"]],
        assumptions=[say(text, language) for text in record["assumptions"]],
        says=say(record["example"]["says"], language),
        sources=[
            (one["url"], say(one["title"], language), one.get("read")) for one in record["sources"]
        ],
        explained=links([record["note"]]),
        users=links(using),
        **_example(calculators, record, language),
    )


def items(calculators: Engine, shown: Mapping[str, Sequence[str]]) -> list[Item]:
    """Return the calculators that notes show, each at its own page or at the first of these.

    `shown` are the ids of the notes that show a calculator, by its name.
    """

    def said(record: dict[str, Any], language: str) -> Said:
        title = say(record["title"], language)
        kind = words_of("calculator", language)["calculator"]
        whole = f"{title}{kind}" if language == "zh" else f"{title} {kind.lower()}"
        summary = f"{whole}\n{say(record['about'], language)}"
        return Said(title, summary, f"calc-{record['id']}", names=(whole,))

    found = []
    for name, notes in shown.items():
        if name in calculators.records:  # else the fence's own check says so
            record, own = calculators.record(name), f"{TOPIC}/{name}"
            both = {language: said(record, language) for language in LANGUAGES}
            found.append(
                Item(
                    "calculator",
                    name,
                    own if own in notes else notes[0],
                    both,
                    areas_of(record["note"]),
                )
            )
    return found


def scripts_of(content: str) -> list[str]:
    """Return the addresses below the site's root of the scripts that a page's content needs."""
    names = sorted(set(_PLACE.findall(content)))
    return [f"{registry.ADDRESS}/{script}" for script in registry.needed_by(names)]


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

    return {
        "inputs": [
            (say(one["label"], language), text(one["key"]))
            for one in record["inputs"]
            if plays(one)
        ],
        "outputs": [(row["label"], row["text"]) for row in shown["rows"]],
        "drawing": shown["drawing"],
    }
