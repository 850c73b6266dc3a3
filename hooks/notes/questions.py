"""Pages of interview questions: their form, and where it is broken.

Each heading of level 2 is a question. Below it stand a marker, `<!-- question level=2 asks=decide
-->`, and five parts, each opened by its label in bold on a line of its own. GitHub shows all of it
as it stands; the site folds the answers.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import unquote

from hooks.findings import Finding, nearest
from hooks.markdown import Heading, mark, place_in
from hooks.notes.budgets import length
from hooks.notes.note import Catalogue, Note

KIND = "questions"
RULE = "question"
LABELS = {
    "zh": ("三十秒", "三分钟", "追问", "常见错答", "去读"),
    "en": ("Thirty seconds", "Three minutes", "Follow-ups", "The common wrong answer", "Read"),
}
"""By language: what opens the parts of an answer, in their order."""
LIMITS = {"zh": (140, 560), "en": (82, 350)}
"""Characters or words of the two spoken answers."""
LEVELS = range(1, 4)
ASKS = ("explain", "estimate", "diagnose", "decide")
_MARKER = re.compile(r"<!-- question(?P<fields>(?: [^\s=]+=\S+)*) -->")
_ALMOST = re.compile(r"^<!--\s*questions?\b.*-->.*$", re.IGNORECASE | re.MULTILINE)
_LABEL = re.compile(r"^\*\*(?P<label>[^*\n]+)\*\*[ \t]*$", re.MULTILINE)
_NOTE_LINK = re.compile(r"\]\((?!https?://|#)[^)\s]+\.md(?:#[^)]*)?\)")


class Part(NamedTuple):
    """A part of an answer: its label as written, and what stands below it."""

    label: str
    line: int
    text: str


class Question(NamedTuple):
    """A question as written; a level of 0 and empty words stand for what is not there."""

    heading: Heading
    level: int
    asks: str
    marker_line: int
    marker: str
    """The marker as written."""
    parts: tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Card:
    """A question as rendered, for whoever shows it away from its page."""

    key: str
    """The same in both languages: note and heading of the Chinese file."""
    subject: str
    """Title of the page it stands on."""
    page: str
    """File of that page, beside which the links of the texts begin."""
    anchor: str
    question: str
    """Text, without markup."""
    level: int
    asks: str
    answer: str
    """HTML of its parts: the answer of thirty seconds is the first that is folded."""


def read_questions(note: Note) -> list[Question]:
    """Return the questions of a page, whatever is wrong with them."""
    return [_question(heading, text) for heading, text in note.sections() if heading.level == 2]


def _question(heading: Heading, text: str) -> Question:
    prose = mark(text).masked  # fences are blank in it, and all else stands where it does in text
    almost = _ALMOST.search(prose)
    marker = almost.group().strip() if almost else ""
    at = place_in(prose, almost.start())[0] if almost else 0
    labels = list(_LABEL.finditer(prose))
    parts = []
    for one, end in zip(labels, [*(one.start() for one in labels[1:]), len(text)], strict=False):
        line = heading.line + place_in(prose, one.start())[0]
        parts.append(Part(one["label"].strip(), line, text[one.end() : end].strip("\n")))
    match = _MARKER.fullmatch(marker)
    fields = dict(one.split("=", 1) for one in match["fields"].split()) if match else {}
    level, asks = fields.pop("level", ""), fields.pop("asks", "")
    level = level if level in map(str, LEVELS) and not fields else "0"
    asks = asks if asks in ASKS and not fields else ""
    return Question(heading, int(level), asks, heading.line + at, marker, tuple(parts))


def check_questions(catalogue: Catalogue) -> list[Finding]:
    """Report what is missing, misplaced, too long or unlike the twin on pages of questions."""
    findings: list[Finding] = []
    for note in catalogue.notes.values():
        if note.meta is None or note.meta.kind != KIND:
            continue
        asked, twin = read_questions(note), catalogue.twin(note)
        for question in asked:
            findings += _check(question, note)
        findings += _stale(note, catalogue)
        if twin is None or note.language == "zh":
            continue
        for mine, other in zip(asked, read_questions(twin), strict=False):
            if mine.marker != other.marker:
                message = f"the marker differs from that of {twin.file}:{other.marker_line}"
                place = (note.file, mine.marker_line, 1)
                findings.append(Finding(*place, RULE, message, mine.marker, other.marker))
    return findings


def _check(question: Question, note: Note) -> Iterator[Finding]:
    def said(line: int, message: str, target: str, hint: str = "") -> Finding:
        return Finding(note.file, line, 1, RULE, message, target, hint)

    title = question.heading.text
    if not (question.level and question.asks):
        has = f"'{question.marker}'" if question.marker else "no marker"
        message = (
            f"the question '{title}' has {has}; write below the heading"
            f" <!-- question level=1|2|3 asks={'|'.join(ASKS)} -->"
        )
        yield said(question.marker_line, message, question.marker)
    known = LABELS[note.language]
    unit = "words" if note.language == "en" else "characters"
    for label, line, text in question.parts:
        if label not in known:
            message = f"'{label}' opens no part of an answer; the parts are {known}"
            yield said(line, message, label, nearest(label, known))
            continue
        at, count = known.index(label), length(text, note.language)
        if not count:
            yield said(line, f"the part '{label}' is empty", label)
        elif at < 2 and count > LIMITS[note.language][at]:
            most = LIMITS[note.language][at]
            message = f"'{label}' has {count} {unit}, more than {most}: nobody speaks so fast"
            yield said(line, message, str(count))
        if at == len(known) - 1 and not _NOTE_LINK.search(text):
            yield said(line, f"'{label}' links to no note", label)
    labels = [part.label for part in question.parts]
    missing = next((label for label in known if label not in labels), None)
    if missing:
        yield said(question.heading.line, f"the question '{title}' lacks '{missing}'", missing)
        return
    for part, label in zip(question.parts, known, strict=False):
        if part.label in known and part.label != label:
            message = f"'{part.label}' stands where '{label}' belongs; the order is {known}"
            yield said(part.line, message, part.label, label)
            return
    for extra in question.parts[len(known) :][:1]:
        yield said(extra.line, f"'{extra.label}' is there twice", extra.label)


def _stale(note: Note, catalogue: Catalogue) -> Iterator[Finding]:
    """Yield the notes that a page links to and that were verified after it, each once."""
    told: set[str] = set()
    ours = note.meta.verified if note.meta is not None else None
    for link in note.source.links:
        path = posixpath.join(posixpath.dirname(note.path), unquote(link.target.partition("#")[0]))
        other = catalogue.notes.get(posixpath.normpath(path))
        theirs = other.meta.verified if other is not None and other.meta is not None else None
        if other and ours and theirs and theirs > ours and other.path not in told:
            told.add(other.path)
            message = f"'{other.path}' was verified on {theirs}, after this page ({ours}): read "
            message += "the answers that rest on it again"
            place = (note.file, link.line, link.column)
            yield Finding(*place, "question-stale", message, link.target)
