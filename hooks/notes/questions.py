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
from urllib.parse import unquote

from hooks.findings import Finding, nearest
from hooks.markdown import Heading
from hooks.notes.budgets import REFERENCES, length
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
_MARKER = re.compile(r"^<!-- question(?P<fields>(?: [^\s=]+=\S+)*) -->[ \t]*$")
_ALMOST = re.compile(r"^<!--\s*questions?\b.*-->", re.IGNORECASE)
_LABEL = re.compile(r"^\*\*(?P<label>[^*]+)\*\*[ \t]*$")
_FENCE = re.compile(r"^ *(?:`{3,}|~{3,})")
_NOTE_LINK = re.compile(r"\]\((?!https?://|#)[^)\s]+\.md(?:#[^)]*)?\)")


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an answer: its label as written, and what stands below it."""

    label: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Question:
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
    lines = note.text.split("\n")
    starts = [one for one in note.source.headings if one.level <= 2]
    found = []
    for heading, after in zip(starts, [*starts[1:], None], strict=True):
        if heading.level < 2 or heading.text.lower() in REFERENCES:
            continue
        end = after.line - 1 if after is not None else len(lines)
        found.append(_question(heading, lines[heading.line : end]))
    return found


def _question(heading: Heading, lines: list[str]) -> Question:
    level, asks, marker, at = 0, "", "", 0
    parts: list[Part] = []
    label, first, body = "", 0, [""]
    fence = ""
    for number, line in enumerate(lines, heading.line + 1):
        mark = _FENCE.match(line)
        if mark and (not fence or line.strip().startswith(fence)):
            fence = "" if fence else mark.group().strip()
        elif not fence and _ALMOST.match(line) and not marker:
            marker, at = line.strip(), number
            level, asks = _fields(line)
        elif not fence and (opens := _LABEL.match(line)):
            if label:
                parts.append(Part(label, first, "\n".join(body)))
            label, first, body = opens["label"].strip(), number, []
            continue
        body.append(line)
    if label:
        parts.append(Part(label, first, "\n".join(body)))
    return Question(heading, level, asks, at or heading.line, marker, tuple(parts))


def _fields(line: str) -> tuple[int, str]:
    match = _MARKER.match(line)
    if match is None:
        return 0, ""
    fields = dict(one.split("=", 1) for one in match["fields"].split())
    level = fields.pop("level", "")
    asks = fields.pop("asks", "")
    if fields:
        return 0, ""
    return (int(level) if level in map(str, LEVELS) else 0), (asks if asks in ASKS else "")


def check_questions(catalogue: Catalogue) -> list[Finding]:
    """Report what is missing, misplaced, too long or unlike the twin on pages of questions."""
    findings: list[Finding] = []
    for note in catalogue.notes.values():
        if note.meta is None or note.meta.kind != KIND:
            continue
        asked = read_questions(note)
        for question in asked:
            findings += _check(question, note)
        findings += _stale(note, catalogue)
        twin = catalogue.twin(note, "zh") if note.language == "en" else None
        if twin is not None:
            findings += _unlike(asked, read_questions(twin), note, twin)
    return findings


def _check(question: Question, note: Note) -> Iterator[Finding]:
    if not (question.level and question.asks):
        said = f"'{question.marker}'" if question.marker else "no marker"
        message = (
            f"the question '{question.heading.text}' has {said}; write below the heading"
            f" <!-- question level=1|2|3 asks={'|'.join(ASKS)} -->"
        )
        place = (note.file, question.marker_line, 1)
        yield Finding(*place, RULE, message, target=question.marker)
    yield from _check_order(question, note)
    unit = "words" if note.language == "en" else "characters"
    known = LABELS[note.language]
    for part in question.parts:
        if part.label not in known:
            continue
        at = known.index(part.label)
        count = length(part.text, note.language)
        if not count:
            message = f"the part '{part.label}' is empty"
            yield Finding(note.file, part.line, 1, RULE, message, target=part.label)
        elif at < 2 and count > LIMITS[note.language][at]:
            most = LIMITS[note.language][at]
            message = f"'{part.label}' has {count} {unit}, more than {most}: nobody speaks so fast"
            yield Finding(note.file, part.line, 1, RULE, message, target=str(count))
        if at == len(known) - 1 and not _NOTE_LINK.search(part.text):
            message = f"'{part.label}' links to no note"
            yield Finding(note.file, part.line, 1, RULE, message, target=part.label)


def _check_order(question: Question, note: Note) -> Iterator[Finding]:
    known = LABELS[note.language]
    labels = [part.label for part in question.parts]
    for part in question.parts:
        if part.label not in known:
            message = f"'{part.label}' opens no part of an answer; the parts are {known}"
            hint = nearest(part.label, known)
            yield Finding(note.file, part.line, 1, RULE, message, part.label, hint)
    missing = [label for label in known if label not in labels]
    if missing:
        message = f"the question '{question.heading.text}' lacks '{missing[0]}'"
        yield Finding(note.file, question.heading.line, 1, RULE, message, target=missing[0])
        return
    for part, label in zip(question.parts, known, strict=False):
        if part.label in known and part.label != label:
            message = f"'{part.label}' stands where '{label}' belongs; the order is {known}"
            yield Finding(note.file, part.line, 1, RULE, message, part.label, label)
            return
    if len(labels) > len(known):
        extra = question.parts[len(known)]
        message = f"'{extra.label}' is there twice"
        yield Finding(note.file, extra.line, 1, RULE, message, target=extra.label)


def _stale(note: Note, catalogue: Catalogue) -> Iterator[Finding]:
    """Yield the notes that a page links to and that were verified after it, each once."""
    told: set[str] = set()
    for link in note.source.links:
        path = posixpath.join(posixpath.dirname(note.path), unquote(link.target.partition("#")[0]))
        other = catalogue.notes.get(posixpath.normpath(path))
        if other is None or other.meta is None or note.meta is None or other.path in told:
            continue
        ours, theirs = note.meta.verified, other.meta.verified
        if ours is not None and theirs is not None and theirs > ours:
            told.add(other.path)
            message = f"'{other.path}' was verified on {theirs}, after this page ({ours}): read "
            message += "the answers that rest on it again"
            place = (note.file, link.line, link.column)
            yield Finding(*place, "question-stale", message, link.target)


def _unlike(ours: list[Question], theirs: list[Question], note: Note, twin: Note) -> list[Finding]:
    findings = []
    for mine, other in zip(ours, theirs, strict=False):
        if mine.marker != other.marker:
            message = f"the marker differs from that of {twin.file}:{other.marker_line}"
            place = (note.file, mine.marker_line, 1)
            findings.append(Finding(*place, RULE, message, mine.marker, other.marker))
    return findings
