"""How long a note may be, its takeaway and its text, and how long it is read.

A reader has the answer in ten seconds, the reason in two minutes, the whole in ten. What is
folded (`<details>`), fenced or behind the references is not counted: it is there for those who
ask for it. English is counted in words; Chinese in characters, a word of other letters as one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

from hooks.findings import Finding
from hooks.markdown import place_in, split
from hooks.notes.note import Note


class Budget(NamedTuple):
    """The most words (English) or characters (Chinese) of a takeaway, and of a page by its kind."""

    takeaway: int
    note: int
    reference: int
    questions: int


BUDGETS = {"en": Budget(66, 2040, 1580, 2800), "zh": Budget(110, 2600, 2000, 3920)}
"""By language: Chinese has about 1.3 characters for an English word.

Of a page of questions (`faq*`) a reader reads one row, so it may hold more."""
TAKEAWAY_NUMBERS = 3
LIMITED = frozenset({"note", "tutorial", "paper", "reference"})
"""Kinds of pages that have budgets."""
TAKEAWAYS = ("takeaway", "一句话结论")
A_MINUTE = {"zh": 400, "en": 220}
"""What is read in a minute: Chinese characters, English words."""
TABLE_SHARE = 0.5
"""Of a table about half is read: the row that was looked for, and its neighbours."""
CODE_LINES_A_MINUTE = 40
"""Lines of listings that stand open; they are looked through, not read word by word."""
_DRAWN = frozenset({"mermaid", "facts", "measured", "chart", "calc", "math"})

_CHARACTERS_A_WORD = 1.4
_FENCE = re.compile(r"^(?P<mark> *(?:`{3,}|~{3,}))[^\n]*\n.*?^(?P=mark)[`~]* *$", re.M | re.S)
_FOLDED = re.compile(r"<details\b.*?</details>", re.S)
_COMMENT = re.compile(r"<!--.*?-->", re.S)
_TAG = re.compile(r"</?[a-zA-Z][^>]*>")
_IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)")
_TARGET = re.compile(r"\]\([^)]*\)")
_FOOTNOTE = re.compile(r"\[\^[^\]]+\]:?")
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_MATHS = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$", re.S)
_TABLE = re.compile(r"^\s*\|.*$", re.M)
_HAN = re.compile(r"[㐀-䶿一-鿿豈-﫿]")
_WORD = re.compile(r"[^\W_][\w'’.,/%+×·°-]*")
# A number that a reader must weigh: no year, and no part of a name (H100, PCIe 5.0, 第 4 代).
_NUMBER = re.compile(
    r"(?<![\w.\-/])(?<!第 )(?<!第)"
    r"[~≈<>≤≥±−-]?(?!(?:19|20)\d\d(?![\d.,]*\d))\d+(?:,\d{3})*(?:\.\d+)?(?![\w.]*\d|[A-Za-z]?[_-]\w)"
)
_NAMED = re.compile(
    r"(?:\b(?:[A-Z][\w+-]*[A-Z0-9][\w+-]*|Gen|Hopper|Blackwell|Llama|[Ff]igure|[Tt]able|[Qq]uestion"
    r"|[Cc]apability|[Ss]tage|[Gg]eneration|version)|图|表|计算能力|阶段|版本|第)\s*\Z"
)


def check_note(note: Note) -> Iterator[Finding]:
    """Yield what is over budget in one note."""
    meta = note.meta
    if meta is None or meta.kind not in LIMITED or note.is_index or note.topic == "about":
        return
    budget, is_chinese = BUDGETS[note.language], note.language == "zh"
    unit, share = ("characters", _CHARACTERS_A_WORD) if is_chinese else ("words", 1.0)

    def said(line: int, rule: str, message: str, target: object) -> Finding:
        return Finding(note.file, line, 1, rule, message, str(target))

    for heading, text in note.sections():
        if not is_takeaway(heading.text):
            continue
        count, most = length(text, note.language), budget.takeaway
        if count > most:
            message = f"the takeaway has {count} {unit}, more than {most}: keep one thing to "
            yield said(heading.line, "takeaway-length", f"{message}remember", count)
        if len(found := numbers(text)) > TAKEAWAY_NUMBERS:
            names = ", ".join(found)
            message = f"the takeaway has {len(found)} numbers ({names}), more than "
            message += f"{TAKEAWAY_NUMBERS}: move them to the table"
            yield said(heading.line, "takeaway-length", message, names)
    body = _before_references(note)
    most = budget.questions if "/faq" in note.id else budget.note
    most = budget.reference if meta.kind == "reference" else most
    if meta.length is not None:
        most = max(most, round(meta.length.words * share))
    count = length(body, note.language)
    if count > most:
        message = f"the note has {count} {unit} before the references, more than {most}: cut, fold "
        message += "a log, or split; 'length' in the front matter may ask for more, with a reason"
        yield said(1, "note-length", message, count)


def is_takeaway(title: str) -> bool:
    """Return whether a section of this title is the takeaway of its note."""
    return title.lower() in TAKEAWAYS


def minutes(note: Note) -> int:
    """Return how many minutes a note takes up to its references; folded text is not counted."""
    text = _before_references(note)
    prose = length(_TABLE.sub("", text), note.language)
    words = prose + (length(text, note.language) - prose) * TABLE_SHARE
    folds = [match.span() for match in _FOLDED.finditer(note.text)]
    hidden = [[place_in(note.text, offset)[0] for offset in span] for span in folds]
    listing = sum(  # an include counts as one line
        len(fence.text.splitlines())
        for fence in note.source.fences
        if fence.info.split(" ")[0] not in _DRAWN
        and not any(start <= fence.line <= end for start, end in hidden)
    )
    return max(1, round(words / A_MINUTE[note.language] + listing / CODE_LINES_A_MINUTE))


def _before_references(note: Note) -> str:
    if not note.source.headings:
        return split(note.text).body
    return "\n".join(text for _, text in note.sections())


@functools.lru_cache(maxsize=4)
def plain(text: str) -> str:
    """Return what of a text is read in the open: no fences, folds, comments, marks, addresses."""
    text = _COMMENT.sub(" ", _FOLDED.sub("\n", _FENCE.sub("\n", text)))
    text = _FOOTNOTE.sub("", _TARGET.sub("] ", _IMAGE.sub(" ", text)))
    return _TAG.sub(" ", text)


def length(text: str, language: str) -> int:
    """Return the words of an English text; the characters and foreign words of a Chinese one."""
    shown = plain(text)
    if language == "en":
        return len(_WORD.findall(shown))
    return len(_HAN.findall(shown)) + len(_WORD.findall(_HAN.sub(" ", shown)))


def numbers(text: str) -> list[str]:
    """Return the numbers of a text that are no part of a name."""
    shown = _MATHS.sub(" ", _CODE.sub(" ", plain(text)))
    return [
        match.group()
        for match in _NUMBER.finditer(shown)
        if not _NAMED.search(shown, max(0, match.start() - 30), match.start())
    ]
