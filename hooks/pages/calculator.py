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
from hooks.pages import calc_tile
from hooks.pages.html import render
from hooks.pages.items import Item, Said, area_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hooks.calc import Engine

RULE = "calc-block"
"""The finding about a fence that names no calculator."""
TOPIC = "calc"
"""The folder of the calculators' own pages."""
_WORDS = {
    "colon": {"zh": "：", "en": ": "},
    "calculator": {"zh": "计算器", "en": "Calculator"},
    "noscript": {
        "zh": "表单要有脚本才能用；公式、假设与算例在下面。",
        "en": "The form needs a script. Formulas, assumptions and a worked example are below.",
    },
    "formula": {"zh": "公式", "en": "Formula"},
    "assumptions": {"zh": "假设", "en": "Assumptions"},
    "example": {"zh": "算例", "en": "Worked example"},
    "sources": {"zh": "出处", "en": "Sources"},
    "more": {"zh": "公式、假设与算例", "en": "Formula, assumptions and a worked example"},
    "note": {"zh": "讲解：", "en": "Explained in: "},
    "users": {"zh": "用到它的笔记：", "en": "Notes that show it: "},
    "read": {"zh": "，{} 阅读", "en": ", read {}"},
}
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
    prefix = "" if language == "zh" else f"{language}/"
    is_own_page = page_dir == f"{prefix}{TOPIC}"
    shown = _example(calculators, record, language)

    def link(note: str) -> str:
        return posixpath.relpath(f"{prefix}{note}.html", page_dir or ".")

    def links(notes: Iterable[str]) -> list[tuple[str, str]]:
        return [(link(one), (titles or {})[one]) for one in notes if one in (titles or {})]

    own = f"{TOPIC}/{name}"
    using = [one for one in users if is_own_page and not one.startswith(f"{TOPIC}/")]
    return render(
        "calculator.html",
        words={key: value[language] for key, value in _WORDS.items()},
        calculator=name,
        is_own_page=is_own_page,
        title=_say(record["title"], language),
        own=link(own) if own in (titles or {}) else "",
        formulas=[html.escape(tex, quote=False) for tex in record["formula"]],
        assumptions=[_say(text, language) for text in record["assumptions"]],
        says=_say(record["example"]["says"], language),
        sources=[
            (one["url"], _say(one["title"], language), one.get("read")) for one in record["sources"]
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
            title, kind = _say(record["title"], language), _WORDS["calculator"][language]
            whole = f"{title}{kind}" if language == "zh" else f"{title} {kind.lower()}"
            summary = f"{whole}\n{_say(record['about'], language)}"
            said[language] = Said(title, summary, f"calc-{name}", names=(whole,))
        topics = (area_of(record["note"]),) if record["note"] else ()
        found.append(Item("calculator", name, own if own in notes else notes[0], said, topics))
    return found


def scripts_of(content: str) -> list[str]:
    """Return the addresses below the site's root of the scripts that a page's content needs."""
    names = sorted(set(_PLACE.findall(content)))
    return [f"{registry.ADDRESS}/{script}" for script in registry.needed_by(names)]


def _say(text: Any, language: str) -> str:
    return str(text[language]) if isinstance(text, dict) else str(text)


def _example(calculators: Engine, record: dict[str, Any], language: str) -> dict[str, Any]:
    """Return the inputs, outputs and drawing of the worked example."""
    name, given = record["id"], record["example"]["inputs"]
    shown = calculators.show(name, given, language)
    if shown["errors"]:
        problems = "; ".join(f"{error['key']}: {error['text']}" for error in shown["errors"])
        raise CalcError(f"the worked example of '{name}' does not compute: {problems}")
    inputs = [
        (
            _say(entry["label"], language),
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
