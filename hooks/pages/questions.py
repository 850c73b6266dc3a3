"""Interview questions: folded on their page, listed on one page, and as data to practise with."""

from __future__ import annotations

import csv
import io
import json
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from hooks.links import resolve
from hooks.notes import Card, questions
from hooks.pages import contents
from hooks.pages.items import Item, Said, area_of

if TYPE_CHECKING:
    from hooks.notes import Catalogue, Note

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
WORDS = {
    "zh": {
        "levels": ("一级：筛选", "二级：上岗", "三级：设计"),
        "asks": ("讲清楚", "估算", "排障", "取舍"),
        "long": "三分钟、追问与常见错答",
        "colon": "：",
        "counts": "{} 题（一级 {}，二级 {}，三级 {}）",
        "deck": "下载卡片（文本文件，可导入 Anki）",
        "try": "练习这一科",
        "wait": "练习在这里进行，需要浏览器的脚本；没有脚本时，题目都在下面的目录里。",
    },
    "en": {
        "levels": ("Level 1: screening", "Level 2: on the job", "Level 3: design"),
        "asks": ("explain", "estimate", "diagnose", "decide"),
        "long": "Three minutes, follow-ups, the wrong answer",
        "colon": ": ",
        "counts": "{} questions (level 1: {}, level 2: {}, level 3: {})",
        "deck": "Download the cards (a text file for Anki)",
        "try": "Practise this subject",
        "wait": "Practice happens here, by a script; without it the list below has every question.",
    },
}


def fold(html: str, note: Note, twin: Note | None) -> tuple[str, list[Card]]:
    """Fold the answers of a rendered page of questions; return it and its questions as cards."""
    asked = questions.read_questions(note)
    source = note if note.language == "zh" or twin is None else twin
    keys = [one.heading.id for one in questions.read_questions(source)]
    keys += [one.heading.id for one in asked[len(keys) :]]
    foot = _FOOT.search(html)
    end = foot.start() if foot else len(html)
    chunks = _HEADING.split(html[:end])
    cards, shown = [], [chunks[0]]
    waiting = iter(zip(asked, keys, strict=False))
    for chunk in chunks[1:]:
        if not _MARKER.search(chunk):
            shown.append(chunk)
            continue
        question, key = next(waiting)
        head, *rest = _LABEL.split(chunk)
        parts = dict(zip(rest[::2], rest[1::2], strict=True))
        short, long, read = _parts(parts, note.language)
        facts = f'<p class="question__facts">{facts_of(question, note.language)}</p>\n'
        shown.append(_MARKER.sub(facts, head) + short + long + read)
        cards.append(
            Card(
                key=f"{note.id}#{key}",
                subject=note.title.split(str(WORDS[note.language]["colon"]), 1)[-1],
                page=posixpath.basename(note.id) + ".html",
                anchor=question.heading.id,
                question=question.heading.text,
                level=question.level,
                asks=question.asks,
                short=short,
                long=long,
                read=read,
            )
        )
    if cards:
        words = WORDS[note.language]
        name = posixpath.basename(note.id)
        shown[0] += (
            f'<p class="question__practice"><a href="index.html?subject={name}#practice">'
            f"{words['try']}</a></p>\n"
        )
    return "".join(shown) + html[end:], cards


def _parts(parts: dict[str, str], language: str) -> tuple[str, str, str]:
    short, long, follow, wrong, read = questions.LABELS[language]
    words = WORDS[language]
    folded = parts.get(long, "")
    for label in (follow, wrong):
        folded += f'<p class="question__label">{label}</p>\n{parts.get(label, "")}'
    body = parts.get(read, "").replace("<p>", f"<p><strong>{read}</strong>{words['colon']}", 1)
    return (
        _details("short", short, parts.get(short, "")),
        _details("long", str(words["long"]), folded),
        f'<div class="question__read">{body}</div>\n',
    )


def _details(name: str, summary: str, body: str) -> str:
    # The labels are on every page: a search must not find them.
    return (
        f'<details class="question__answer question__answer--{name}">'
        f"<summary data-search-exclude>{escape(summary)}</summary>\n{body}</details>\n"
    )


def facts_of(question: Card | questions.Question, language: str) -> str:
    """Return what kind of question it is, in words."""
    words = WORDS[language]
    if not (question.level and question.asks):
        return ""
    asks = words["asks"][questions.ASKS.index(question.asks)]
    return f"{words['levels'][question.level - 1]} · {asks}"


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
            "html": apart(card.short + card.long + card.read, card.page),
        }
        for card in cards
    ]
    subjects = {card.page.removesuffix(".html"): card.subject for card in cards}
    levels = {str(n): WORDS[language]["levels"][n - 1] for n in questions.LEVELS}
    asks = dict(zip(questions.ASKS, WORDS[language]["asks"], strict=True))
    found = {"subjects": subjects, "levels": levels, "asks": asks, "questions": rows}
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    return f"window.handbookQuestions = {text};\n".replace("\u2028", "\\u2028")


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

        short = card.short.replace("<details ", "<details open ", 1)
        back = _LINK.sub(link, _LEFT.sub("", short + card.long + card.read))
        tags = f"{card.page.removesuffix('.html')} level{card.level} {card.asks}"
        rows.writerow((f"{language}/{card.key}", escape(card.question), back, tags))
    return out.getvalue()


def apart(html: str, page: str) -> str:
    """Return a part of a page for another one beside it: without ids, its own links complete."""
    return _LOCAL.sub(f"{page}#", _ID.sub(r"\1", html))


def practice(language: str) -> str:
    """Return the place where questions are practised; a script fills it."""
    return (
        f'<div class="practice" id="practice" data-practice="{SCRIPT}">'
        f"<p>{WORDS[language]['wait']}</p></div>"
    )


def listing(notes: Catalogue, language: str, *, prefix: str = "") -> str:
    """Return every subject with its questions, as Markdown, and the way to the cards."""
    blocks = [practice(language)]
    words = WORDS[language]
    pages = list(_pages(notes, language))
    if pages:
        link = f'<a class="question__deck" href="{DECK}" download>{words["deck"]}</a>'
        blocks.append(f"<p>{link}</p>")
    for note in pages:
        asked = questions.read_questions(note)
        counts = [sum(one.level == level for one in asked) for level in questions.LEVELS]
        count = str(words["counts"]).format(len(asked), *counts)
        described = contents.escape(note.meta.description if note.meta else "")
        head = f"**{contents.link(note, prefix)}**<br>{described}"
        lines = [
            f"- {contents.link(note, prefix, one.heading.id, one.heading.text)}"
            f" · {facts_of(one, language)}"
            for one in asked
        ]
        fold_open = f'<details markdown="1">\n<summary>{count}</summary>'
        blocks.append(f"{head}\n\n{fold_open}\n\n" + "\n".join(lines) + "\n\n</details>")
    return "\n\n".join(blocks)


def items(notes: Catalogue) -> list[Item]:
    """Return the interview questions; their topics are those of the notes that they lead to."""
    found = []
    for note in _pages(notes, "zh"):
        twin = notes.twin(note, "en")
        asked = questions.read_questions(note)
        others = questions.read_questions(twin) if twin else []
        for number, one in enumerate(asked):
            said = {note.language: Said(one.heading.text, "", one.heading.id)}
            if twin is not None and number < len(others):
                heading = others[number].heading
                said[twin.language] = Said(heading.text, "", heading.id)
            end = asked[number + 1].heading.line if number + 1 < len(asked) else None
            topics = _topics(note, one.heading.line, end)
            found.append(Item("question", f"{note.id}#{one.heading.id}", note.id, said, topics))
    return found


def _topics(note: Note, line: int, end: int | None) -> tuple[str, ...]:
    """Return the areas of the notes that lines of a page link to."""
    areas = (
        area_of(resolve(link.target, note.path).path or "")
        for link in note.source.links
        if line <= link.line and (end is None or link.line < end) and ".md" in link.target
    )
    return tuple(dict.fromkeys(filter(None, areas)))


def _pages(notes: Catalogue, language: str) -> Iterable[Note]:
    for note_id in notes.ids():
        note = notes.in_language(note_id, language)
        if note is not None and note.meta is not None and note.meta.kind == questions.KIND:
            yield note


def files(asked: Mapping[str, list[Any]], site_url: str) -> dict[str, str]:
    """Return the questions of each folder, for practice and as cards, by paths in the site."""
    made: dict[str, str] = {}
    for folder, cards in asked.items():
        language = "en" if folder.startswith("en/") else "zh"
        made[f"{folder}/{SCRIPT}"] = data(cards, language)
        made[f"{folder}/{DECK}"] = deck(cards, language, f"{site_url}{folder}/" if site_url else "")
    return made
