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
from hooks.pages.items import Item, Said, area_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hooks.calc import Engine

RULE = "calc-block"
"""The finding about a fence that names no calculator."""
TOPIC = "calc"
"""The folder of the calculators' own pages."""
_WORDS = {
    "calculator": {"zh": "计算器", "en": "Calculator"},
    "noscript": {
        "zh": "表单要有脚本才能用；命令行用的是同一套公式：",
        "en": "The form needs a script; the command line uses the same formulas: ",
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
    text = {key: value[language] for key, value in _WORDS.items()}
    prefix = "" if language == "zh" else f"{language}/"
    is_own_page = page_dir == f"{prefix}{TOPIC}"
    title = _say(record["title"], language)
    link = posixpath.relpath(f"{prefix}{TOPIC}/{name}.html", page_dir or ".")
    head = ' role="heading" aria-level="2"' if is_own_page else ""

    def part(key: str, body: str) -> str:
        return f'<p class="calc__head"{head}>{text[key]}</p>{body}' if body else ""

    about = (
        part("formula", _formula(record))
        + part("assumptions", _items(record["assumptions"], language))
        + part("example", _example(calculators, record, language))
        + part("sources", _sources(record, language, text))
        + _note_link(record, text, prefix, page_dir, titles or {})
        + (_users(users, text, prefix, page_dir, titles or {}) if is_own_page else "")
    )
    colon = "：" if language == "zh" else ": "
    own_title = "" if is_own_page else _own_title(title, link, text, colon, name, titles or {})
    if not is_own_page:
        about = f'<details class="calc__more"><summary>{text["more"]}</summary>{about}</details>'
    return (
        f'<div class="calc" data-calc="{name}" role="group" aria-label="{text["calculator"]}{colon}'
        f'{html.escape(title)}">{own_title}<div class="calc__app" data-search-exclude>'
        f'<p class="calc__noscript">{text["noscript"]}<code>python -m hooks calc {name}</code></p>'
        f"</div>{about}</div>"
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


def _own_title(
    title: str, link: str, text: dict[str, str], colon: str, name: str, titles: dict[str, str]
) -> str:
    shown = html.escape(title)
    if f"{TOPIC}/{name}" in titles:
        shown = f'<a href="{html.escape(link)}">{shown}</a>'
    return f'<p class="calc__title">{text["calculator"]}{colon}{shown}</p>'


def _formula(record: dict[str, Any]) -> str:
    return "".join(
        f'<div class="arithmatex">\\[{html.escape(tex, quote=False)}\\]</div>'
        for tex in record["formula"]
    )


def _items(texts: list[Any], language: str) -> str:
    items = "".join(f"<li>{html.escape(_say(text, language))}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def _example(calculators: Engine, record: dict[str, Any], language: str) -> str:
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
    says = html.escape(_say(record["example"]["says"], language))
    picture = shown["drawing"]
    if picture:
        picture = f'<div class="figure__scroll calc__drawing">{picture}</div>'
    return (
        f'<div class="calc__example"><p>{says}</p>{_list(inputs, "calc__given")}'
        f"{_list(outputs, 'calc__results')}{picture}</div>"
    )


def _plays(entry: dict[str, Any], values: dict[str, Any]) -> bool:
    return all(values.get(key) in allowed for key, allowed in entry.get("when", {}).items())


def _list(pairs: list[tuple[str, str]], name: str) -> str:
    rows = "".join(
        f"<div><dt>{html.escape(label)}</dt><dd>{html.escape(value)}</dd></div>"
        for label, value in pairs
    )
    return f'<dl class="{name}">{rows}</dl>'


def _sources(record: dict[str, Any], language: str, text: dict[str, str]) -> str:
    items = "".join(
        f'<li><a href="{html.escape(source["url"])}">'
        f"{html.escape(_say(source['title'], language))}</a>"
        f"{text['read'].format(source['read']) if source.get('read') else ''}</li>"
        for source in record["sources"]
    )
    return f"<ul>{items}</ul>" if items else ""


def _users(
    users: Sequence[str], text: dict[str, str], prefix: str, page_dir: str, titles: dict[str, str]
) -> str:
    links = [
        f'<a href="{html.escape(posixpath.relpath(f"{prefix}{note}.html", page_dir or "."))}">'
        f"{html.escape(titles[note])}</a>"
        for note in users
        if note in titles and not note.startswith(f"{TOPIC}/")
    ]
    said = " · ".join(links)
    return f'<p class="calc__note" data-search-exclude>{text["users"]}{said}</p>' if said else ""


def _note_link(
    record: dict[str, Any], text: dict[str, str], prefix: str, page_dir: str, titles: dict[str, str]
) -> str:
    note = record["note"]
    if note not in titles:
        return ""
    address = posixpath.relpath(f"{prefix}{note}.html", page_dir or ".")
    return (
        f'<p class="calc__note">{text["note"]}'
        f'<a href="{html.escape(address)}">{html.escape(titles[note])}</a></p>'
    )
