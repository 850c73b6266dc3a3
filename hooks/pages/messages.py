"""What programs print, for readers: a page for each product, and the data that recognise a line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt
from markupsafe import Markup
from py_mini_racer import MiniRacer

from hooks.data import Text
from hooks.data import messages as data
from hooks.findings import nearest
from hooks.notes import LANGUAGES
from hooks.pages.frame import fill_line, words_of
from hooks.pages.view import View
from hooks.search import index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hooks.data import FactBase
    from hooks.findings import Finding
    from hooks.notes import Catalogue

TOPIC = "messages"
"""The folder of the pages: a note for each file of data, and the one that reads logs."""
SCRIPT = "assets/messages.{language}.js"
TOLD = "assets/messages.{language}/{product}.js"
MATCH = Path(__file__).resolve().parents[2] / "docs/assets/javascripts/messages/match.js"
_INLINE = MarkdownIt("commonmark", {"html": False})
_LINE = re.compile(r"/blob/(?P<tag>[^/]+)/(?P<file>[^#]+)#L(?P<line>\d+)")


def check(messages: data.Messages, notes: Catalogue) -> Iterator[Finding]:
    """Tell which messages lead nowhere, and which are not found by their own text."""
    found, taken = _found_by_text(messages), set[str]()
    for name, (product, document) in messages.items():
        if f"{TOPIC}/{name}" not in notes.ids():
            told = f"'{name}' has no page: write docs/{TOPIC}/{name}.md"
            yield document.finding(data.RULE, ("product",), told, "")
        for at, one in enumerate(product.messages):
            place = ("messages", at)
            mistaken = [
                f"'{line}' is taken for '{other}': make the words that never vary differ"
                for line, other in next(found)
            ]
            for told in [f"id '{one.id}' stands twice"] if one.id in taken else mistaken:
                yield document.finding(data.RULE, (*place, "id"), told, one.id, of_value=True)
            taken.add(one.id)
            note_id, _, heading = one.note.partition("#")
            note = notes.in_language(note_id, "zh")
            known = notes.ids() if note is None else {each.id for each in note.source.headings}
            wanted = note_id if note is None else heading
            if wanted and wanted not in known:
                told = f"message '{one.id}' leads to '{one.note}', and there is no '{wanted}'"
                hint = nearest(wanted, known)
                yield document.finding(data.RULE, (*place, "note"), told, wanted, hint)


def _found_by_text(messages: data.Messages) -> Iterator[list[tuple[str, str]]]:
    """Yield for each message its lines that the page's script takes for another, and which."""
    with MiniRacer() as racer:
        racer.eval(MATCH.read_text(encoding="utf-8"))
        racer.eval(f"var products = {json.dumps(_products(messages, 'en'))};")
        yield from json.loads(str(racer.eval("JSON.stringify(handbookLog.mistaken(products))")))


def _products(messages: data.Messages, language: str) -> list[dict[str, Any]]:
    return [
        {
            "title": product.product.in_language(language),
            "page": f"{TOPIC}/{name}.html#",
            "rows": [
                {"id": one.id, "role": one.role, "texts": [one.text, *one.also]}
                for one in product.messages
            ],
        }
        for name, (product, _) in messages.items()
    ]


def render(view: View, messages: data.Messages, path: str) -> str:
    """Return the messages of the product whose page it is; nothing where its data are bad."""
    found = messages.get(path.partition(".")[0].rpartition("/")[2])
    shown = [_shown(one, view.notes, view.language) for one in (found[0].messages if found else ())]
    return fill_line("messages.html", words=words_of("messages", view.language), messages=shown)


def _shown(one: data.Message, notes: Catalogue, language: str) -> dict[str, Any]:
    def said(text: Text) -> str:
        return Markup(_INLINE.renderInline(text.in_language(language)))

    note_id, mark, heading = one.note.partition("#")
    note, place = notes.in_language(note_id, language), _LINE.search(one.printed)
    return {
        "id": one.id,
        "lines": [data.example(text) for text in (one.text, *one.also)],
        "means": said(one.means),
        "causes": [said(cause) for cause in one.causes],
        "apart": said(one.apart) if one.apart else "",
        "first": said(one.first),
        "note": f"{note_id}.html{mark}{heading}",
        "title": note.title if note else "",
        "printed": f"{place['file']}:{place['line']} ({place['tag']})" if place else one.printed,
        "sources": [one.printed, *one.sources],
        "versions": said(one.versions),
    }


def scripts(messages: data.Messages, notes: Catalogue, facts: FactBase) -> dict[str, str]:
    """Return scripts by path: what recognises lines, and what is said of a product's messages."""
    family = facts.families.get("nccl-env")
    known = sorted(row.title.en for row in family.rows.values()) if family else []
    made = {}
    for language in LANGUAGES:
        for name, (product, _) in messages.items():
            told = {}
            for one in product.messages:
                shown = _shown(one, notes, language)
                told[one.id] = {key: shown[key] for key in ("means", "causes", "first", "note")}
            path = TOLD.format(language=language, product=name)
            made[path] = index.script(f"handbookMessages.told[{json.dumps(name)}] = ", told)
        table = {"products": _products(messages, language), "variables": known, "told": {}}
        made[SCRIPT.format(language=language)] = index.script("var handbookMessages = ", table)
    return made
