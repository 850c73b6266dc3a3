"""Interview questions: folded on their page, listed on one page, and as data to practise with."""

from __future__ import annotations

import csv
import io
import posixpath
import re
import sys
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import urljoin

from hooks.links import resolve
from hooks.notes import Card, Catalogue, Note, questions
from hooks.pages.frame import fill, row_of, words_of
from hooks.pages.view import Item, Said, View, areas_of, versions
from hooks.pages.view import escape as markdown_escape
from hooks.search import index

SCRIPT = "questions.js"
"""What the page of practice loads: the questions of its language, beside it."""
DECK = "interview.txt"
"""The same as cards for Anki, beside it too."""
_HEADING = re.compile(r"(?=<h2\b)")
_MARKER = re.compile(r"<!-- question [^>]*-->\s*")
_LABEL = re.compile(r"<p><strong>(?P<label>[^<]+)</strong></p>\s*")
_FOOT = re.compile(r'<div class="footnote"|<details class="facts__sources value-sources"')
_ID = re.compile(r'(<[^>]*?) id="[^"]*"')
_LOCAL = re.compile(r'(?<=href=")#')
_LINK = re.compile(r'<a\b[^>]*?href="(?P<href>[^"]*)"[^>]*>(?P<text>.*?)</a>', re.DOTALL)
_LEFT = re.compile(
    r"<!--.*?-->|<sup\b[^>]*>\s*<a\b[^>]*footnote-ref[^>]*>.*?</a>\s*</sup>", re.DOTALL
)


def fold(html: str, note: Note, twin: Note | None) -> tuple[str, list[Card]]:
    """Fold the answers of a rendered page of questions; return it and its questions as cards."""
    asked = questions.read_questions(note)
    source = note if note.language == "zh" or twin is None else twin
    others = questions.read_questions(source)
    keys = [one.heading.id for one in (*others, *asked[len(others) :])]
    foot = _FOOT.search(html)
    end = foot.start() if foot else len(html)
    chunks = _HEADING.split(html[:end])
    labels, words = questions.LABELS[note.language], words_of("questions", note.language)
    name = posixpath.basename(note.id)
    cards, shown = [], [chunks[0]]
    waiting = iter(zip(asked, keys, strict=False))
    for chunk in chunks[1:]:
        if not _MARKER.search(chunk):
            shown.append(chunk)
            continue
        question, key = next(waiting)
        head, *rest = _LABEL.split(chunk)
        said = dict(zip(rest[::2], rest[1::2], strict=True))
        parts = [said.get(label, "") for label in labels]
        parts[-1] = parts[-1].replace("<p>", f"<p><strong>{labels[-1]}</strong>{words['colon']}", 1)
        answer = fill("question.html", words=words, labels=labels, parts=parts)
        facts = f'<p class="question__facts">{facts_of(question, note.language)}</p>\n'
        shown.append(_MARKER.sub(facts, head) + answer)
        cards.append(
            Card(
                key=f"{note.id}#{key}",
                subject=note.title.split(words["colon"], 1)[-1],
                page=f"{name}.html",
                anchor=question.heading.id,
                question=question.heading.text,
                level=question.level,
                asks=question.asks,
                answer=answer,
            )
        )
    if cards:
        shown[0] += (
            f'<p class="question__practice"><a href="index.html?subject={name}#practice">'
            f"{words['try']}</a></p>\n"
        )
    return "".join(shown) + html[end:], cards


def facts_of(question: Card | questions.Question, language: str) -> str:
    """Return what kind of question it is, in words."""
    if not (question.level and question.asks):
        return ""
    asks = row_of("questions", "asks", language)[questions.ASKS.index(question.asks)]
    return f"{row_of('questions', 'levels', language)[question.level - 1]} · {asks}"


def data(cards: Sequence[Card], language: str) -> str:
    """Return the script that holds the questions: no page could fetch them from a folder."""
    rows = [
        {
            "key": card.key,
            "subject": card.page.removesuffix(".html"),
            "level": card.level,
            "asks": card.asks,
            "facts": facts_of(card, language),
            "href": f"{card.page}#{card.anchor}",
            "question": card.question,
            # Apart from its page: without ids, and its own links complete.
            "html": _LOCAL.sub(f"{card.page}#", _ID.sub(r"\1", card.answer)),
        }
        for card in cards
    ]
    subjects = {card.page.removesuffix(".html"): card.subject for card in cards}
    levels = dict(enumerate(row_of("questions", "levels", language), start=1))
    asks = dict(zip(questions.ASKS, row_of("questions", "asks", language), strict=True))
    found = {"subjects": subjects, "levels": levels, "asks": asks, "questions": rows}
    return index.script("window.handbookQuestions = ", found)


def deck(cards: Sequence[Card], language: str, base: str) -> str:
    """Return the questions as text that Anki imports: a lasting id, front, back and tags.

    `base` is the address of the folder of their pages; while it is unknown, links are only text.
    """
    out = io.StringIO("#separator:tab\n#html:true\n#guid column:1\n#tags column:4\n")
    out.seek(0, io.SEEK_END)
    rows = csv.writer(out, delimiter="\t", lineterminator="\n")
    for card in cards:

        def link(match: re.Match[str], page: str = card.page) -> str:
            href = urljoin(base and base + page, match["href"])
            return f'<a href="{href}">{match["text"]}</a>' if "://" in href else match["text"]

        answer = card.answer.replace("<details ", "<details open ", 1)
        back = _LINK.sub(link, _LEFT.sub("", answer))
        tags = f"{card.page.removesuffix('.html')} level{card.level} {card.asks}"
        rows.writerow((f"{language}/{card.key}", escape(card.question), back, tags))
    return out.getvalue()


def listing(view: View) -> str:
    """Return the place of practice, which a script fills; every subject with its questions, as
    Markdown; and the way to the cards.
    """
    words, subjects = view.words("questions"), []
    for note in _pages(view):
        asked = questions.read_questions(note)
        counts = [sum(one.level == level for one in asked) for level in questions.LEVELS]
        described = markdown_escape(note.meta.description if note.meta else "")
        head = f"**{view.link(note)}**<br>{described}"
        lines = [
            f"- {view.link(note, one.heading.id, one.heading.text)}"
            f" · {facts_of(one, view.language)}"
            for one in asked
        ]
        subjects.append((head, words["counts"].format(len(asked), *counts), lines))
    return fill("questions.html", words=words, script=SCRIPT, deck=DECK, subjects=subjects).rstrip(
        "\n"
    )


def items(notes: Catalogue) -> list[Item]:
    """Return the interview questions; their topics are those of the notes that they lead to."""
    found = []
    for note in _pages(View(notes, "zh")):
        every = versions(notes, note.id).items()
        asked = {language: questions.read_questions(one) for language, one in every}
        ours = asked[note.language]
        for number, (one, after) in enumerate(zip(ours, [*ours[1:], None], strict=True)):
            said = {
                language: Said(those[number].heading.text, "", those[number].heading.id)
                for language, those in asked.items()
                if number < len(those)
            }
            lines = range(one.heading.line, after.heading.line if after else sys.maxsize)
            topics = dict.fromkeys(
                area
                for link in note.source.links
                if link.line in lines and ".md" in link.target
                for area in areas_of(resolve(link.target, note.path).path or "")
            )
            key = f"{note.id}#{one.heading.id}"
            found.append(Item("question", key, note.id, said, tuple(topics)))
    return found


def _pages(view: View) -> list[Note]:
    return [one for one in view.shown() if one.meta and one.meta.kind == questions.KIND]


def files(asked: Mapping[str, list[Any]], site_url: str) -> dict[str, str]:
    """Return the questions of each folder, for practice and as cards, by paths in the site."""
    made: dict[str, str] = {}
    for folder, cards in asked.items():
        language = "en" if folder.startswith("en/") else "zh"
        made[f"{folder}/{SCRIPT}"] = data(cards, language)
        made[f"{folder}/{DECK}"] = deck(cards, language, f"{site_url}{folder}/" if site_url else "")
    return made
