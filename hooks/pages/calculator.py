"""What a `calc` fence becomes: a place for the form, and all that needs no script.

The fence holds a calculator's name. On the pages of the calculators everything is open; in a note
the formula, assumptions and worked example are folded below the form. With inputs and outputs
behind the name it is a tile (`calc_tile`).
"""

from __future__ import annotations

import html
import posixpath
import re
from typing import TYPE_CHECKING, Any

from hooks.calc import CalcError, registry
from hooks.links import page_address
from hooks.pages import calc_tile
from hooks.pages.html import render, way
from hooks.pages.items import Item, Said, area_of
from hooks.pages.words import say, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hooks.calc import Engine

RULE = "calc-block"
"""The finding about a fence that names no calculator."""
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
    """Return the HTML for a `calc` fence.

    Args:
        source: The text of the fence: a calculator's name, or a tile of it.
        calculators: The engine that computes the worked example.
        language: The language of the page.
        page_dir: Folder of the page in the site; links start there.
        titles: The titles of existing notes, by id; a note that is missing is not linked.
        users: The ids of the notes that show the calculator; its own page names them.

    Raises:
        CalcError: There is no such calculator, or its worked example does not compute.
    """
    choice = calc_tile.read(source)
    if choice is not None:
        return calc_tile.render(
            choice, calculators=calculators, language=language, page_dir=page_dir, titles=titles
        )
    name = source.strip()
    record = calculators.record(name)
    is_own_page = page_dir == posixpath.dirname(page_address(f"{TOPIC}/{name}", language))
    shown = _example(calculators, record, language)

    def links(notes: Iterable[str]) -> list[tuple[str, str]]:
        return [
            (way(page_address(one, language), page_dir), titles[one])
            for one in notes
            if titles and one in titles
        ]

    own = f"{TOPIC}/{name}"
    using = [one for one in users if is_own_page and not one.startswith(f"{TOPIC}/")]
    return render(
        "calculator.html",
        words=words_of("calculator", language),
        calculator=name,
        is_own_page=is_own_page,
        title=say(record["title"], language),
        own=way(page_address(own, language), page_dir) if own in (titles or {}) else "",
        formulas=[html.escape(tex, quote=False) for tex in record["formula"]],
        assumptions=[say(text, language) for text in record["assumptions"]],
        says=say(record["example"]["says"], language),
        sources=[
            (one["url"], say(one["title"], language), one.get("read")) for one in record["sources"]
        ],
        explained=links([record["note"]]),
        users=links(using),
        **shown,
    )


def items(calculators: Engine, shown: Mapping[str, Sequence[str]]) -> list[Item]:
    """Return the calculators that notes show, each at its own page or at the first of these.

    Args:
        calculators: The engine that knows them.
        shown: The ids of the notes that show a calculator, by its name.
    """
    found = []
    for name, notes in shown.items():
        if name not in calculators.records:
            continue  # the fence's own check says so
        record, own = calculators.record(name), f"{TOPIC}/{name}"
        said = {}
        for language in ("zh", "en"):
            title = say(record["title"], language)
            kind = words_of("calculator", language)["calculator"]
            whole = f"{title}{kind}" if language == "zh" else f"{title} {kind.lower()}"
            summary = f"{whole}\n{say(record['about'], language)}"
            said[language] = Said(title, summary, f"calc-{name}", names=(whole,))
        topics = (area_of(record["note"]),) if record["note"] else ()
        found.append(Item("calculator", name, own if own in notes else notes[0], said, topics))
    return found


def scripts_of(content: str) -> list[str]:
    """Return the addresses below the site's root of the scripts that a page's content needs."""
    names = sorted(set(_PLACE.findall(content)))
    return [f"{registry.ADDRESS}/{script}" for script in registry.needed_by(names)]


def _example(calculators: Engine, record: dict[str, Any], language: str) -> dict[str, Any]:
    """Return the inputs, outputs and drawing of the worked example."""
    name, given = record["id"], record["example"]["inputs"]
    shown = calculators.show(name, given, language)
    if shown["errors"]:
        problems = "; ".join(f"{error['key']}: {error['text']}" for error in shown["errors"])
        raise CalcError(f"the worked example of '{name}' does not compute: {problems}")
    inputs = [
        (
            say(entry["label"], language),
            calculators.input_text(name, entry["key"], value, language),
        )
        for entry in record["inputs"]
        if (value := shown["inputs"].get(entry["key"])) not in (None, "")
        and _plays(entry, shown["inputs"])
        and not (entry.get("optional") and value == 0)
    ]
    outputs = [(row["label"], row["text"]) for row in shown["rows"]]
    return {"inputs": inputs, "outputs": outputs, "drawing": shown["drawing"]}


def _plays(entry: dict[str, Any], values: dict[str, Any]) -> bool:
    return all(values.get(key) in allowed for key, allowed in entry.get("when", {}).items())
