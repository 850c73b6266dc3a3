"""The interview questions as a deck for Anki: one a language, the same bytes for the same text."""

from __future__ import annotations

import importlib.util
import io
import re
import tempfile
import zipfile
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import urljoin

from hooks.notes import Card

_MODEL = 1607392319
_DECKS = {"zh": 2059400110, "en": 2059400111}
"""Ids of Anki's own kind: they must stay, or a new edition would be another deck."""
_NAMES = {"zh": "AI Infra & HPC 手册 · 面试", "en": "AI Infra & HPC Handbook · Interview"}
_DAY = 1577836800.0
"""The date of every file in the deck, 2020-01-01: equal questions give equal bytes."""
_LINK = re.compile(r'<a\b[^>]*?href="(?P<href>[^"]*)"[^>]*>(?P<text>.*?)</a>', re.DOTALL)
_MARK = re.compile(r"<sup\b[^>]*>\s*<a\b[^>]*footnote-ref[^>]*>.*?</a>\s*</sup>", re.DOTALL)
_LEFT = re.compile(r"<!--.*?-->|<p class=\"question__label\">", re.DOTALL)
_FIELDS = ("Key", "Question", "Facts", "Short", "Long", "Read")
_FRONT = "<h2>{{Question}}</h2><p class='facts'>{{Facts}}</p>"
_BACK = "{{FrontSide}}<hr id=answer>{{Short}}{{Long}}{{Read}}"
_CSS = """
.card { font: 18px/1.6 system-ui, sans-serif; max-width: 42em; margin: 0 auto; text-align: start; }
h2 { font-size: 1.2em; } .facts { opacity: .7; font-size: .85em; } summary { font-weight: bold; }
table { border-collapse: collapse; } td, th { border: 1px solid #8888; padding: .2em .5em; }
.label { font-weight: bold; }
"""


def is_available() -> bool:
    """Tell whether the library that writes decks is there; without it a site has none."""
    return importlib.util.find_spec("genanki") is not None


def deck(cards: Sequence[Card], language: str, base: str, facts: Sequence[str]) -> bytes:
    """Return an Anki package of these cards.

    Args:
        cards: The questions as rendered.
        language: Their language.
        base: The address of the folder of their pages; empty where none is known, and links are
            only text.
        facts: What kind of question each card is, in words.
    """
    import genanki  # type: ignore[import-not-found, import-untyped, unused-ignore]

    model = genanki.Model(
        _MODEL,
        "AI Infra & HPC Handbook",
        fields=[{"name": name} for name in _FIELDS],
        templates=[{"name": "Question", "qfmt": _FRONT, "afmt": _BACK}],
        css=_CSS,
    )
    made = genanki.Deck(_DECKS[language], _NAMES[language])
    for card, fact in zip(cards, facts, strict=True):
        texts = [
            _for_anki(one, card.page, base)
            for one in (card.short.replace("<details ", "<details open ", 1), card.long, card.read)
        ]
        question = escape(card.question)
        made.add_note(
            genanki.Note(
                model=model,
                guid=genanki.guid_for(language, card.key),
                fields=[card.key, question, fact, *texts],
                tags=[card.page.removesuffix(".html"), f"level{card.level}", card.asks],
            )
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "deck.apkg"
        genanki.Package(made).write_to_file(str(file), timestamp=_DAY)
        return _same_bytes(file)


def _for_anki(html: str, page: str, base: str) -> str:
    """Return HTML that reads well outside the site: links are complete or only text."""

    def link(match: re.Match[str]) -> str:
        href = match["href"]
        if not href.startswith(("http://", "https://")):
            if not base:
                return match["text"]
            href = urljoin(base, f"{page}{href}" if href.startswith("#") else href)
        return f'<a href="{href}">{match["text"]}</a>'

    text = _LINK.sub(link, _MARK.sub("", html))
    return _LEFT.sub(lambda m: "" if m.group().startswith("<!") else '<p class="label">', text)


def _same_bytes(file: Path) -> bytes:
    """Pack the files of a package anew, without the time of packing."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist()):
            new.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), old.read(name))
    return out.getvalue()
