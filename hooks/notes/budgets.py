"""How long a note may be, its takeaway and its text, how full of numbers, and how long it is read.

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
    """The most that one language may spend."""

    takeaway: int
    """Words (English) or characters (Chinese) of the takeaway."""
    note: int
    """The same, of a whole note."""
    reference: int
    """The same, of a page of reference."""


BUDGETS = {"en": Budget(66, 1980, 1540), "zh": Budget(110, 2600, 2000)}
"""By language. A Chinese text of the same content has about 1.3 characters and
foreign words for an English word; a takeaway may be a little fuller."""
TAKEAWAY_NUMBERS = 3
DENSITY = 6.0
"""Numbers in 100 words of prose (Chinese: in 140 characters)."""
LIMITED = frozenset({"note", "tutorial", "paper", "reference"})
"""Kinds of pages that have budgets."""
ABOUT = "about"
"""Pages on the handbook itself, most of which is generated: no notes."""
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
_HEADING = re.compile(r"^#{1,6} .*$", re.M)
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
    """Yield what is over budget in one note: errors for takeaway and length, else warnings."""
    meta = note.meta
    if meta is None or meta.kind not in LIMITED or note.is_index or note.topic == ABOUT:
        return
    budget = BUDGETS[note.language]
    unit = "words" if note.language == "en" else "characters"
    for heading, text in note.sections():
        if is_takeaway(heading.text):
            yield from _check_takeaway(note, heading.line, text, budget.takeaway, unit)
    body = _before_references(note)
    most = budget.reference if meta.kind == "reference" else budget.note
    if meta.length is not None:
        share = 1.0 if note.language == "en" else _CHARACTERS_A_WORD
        most = max(most, round(meta.length.words * share))
    count = length(body, note.language)
    if count > most:
        message = (
            f"the note has {count} {unit} before the references, more than {most}: cut, fold a"
            " log, or split; 'length' in the front matter may ask for more, with a reason"
        )
        yield Finding(note.file, 1, 1, "note-length", message, target=str(count))
    yield from _check_prose(note, body)


def _check_takeaway(note: Note, line: int, text: str, most: int, unit: str) -> Iterator[Finding]:
    count = length(text, note.language)
    if count > most:
        message = f"the takeaway has {count} {unit}, more than {most}: keep one thing to remember"
        yield Finding(note.file, line, 1, "takeaway-length", message, target=str(count))
    found = numbers(text)
    if len(found) > TAKEAWAY_NUMBERS:
        message = (
            f"the takeaway has {len(found)} numbers ({', '.join(found)}), more than"
            f" {TAKEAWAY_NUMBERS}: move them to the table"
        )
        yield Finding(note.file, line, 1, "takeaway-length", message, target=", ".join(found))


def _check_prose(note: Note, body: str) -> Iterator[Finding]:
    prose = _HEADING.sub("", _TABLE.sub("", plain(body)))
    words = length(prose, note.language)
    if note.language == "zh":
        words = round(words / _CHARACTERS_A_WORD)
    found = numbers(prose)
    if words >= 100 and len(found) * 100 > DENSITY * words:
        share = len(found) * 100 / words
        message = (
            f"the prose has {share:.1f} numbers in 100 words, more than {DENSITY:g}:"
            " put them into a table"
        )
        yield Finding(note.file, 1, 1, "number-density", message, target=f"{share:.1f}")


def is_takeaway(title: str) -> bool:
    """Return whether a section of this title is the takeaway of its note."""
    return title.lower() in TAKEAWAYS


def minutes(note: Note) -> int:
    """Return how many minutes a note takes up to its references; folded text is not counted."""
    text = _before_references(note)
    whole = length(text, note.language)
    prose = length(_TABLE.sub("", text), note.language)
    words = prose + (whole - prose) * TABLE_SHARE
    return max(
        1, round(words / A_MINUTE[note.language] + _listing_lines(note) / CODE_LINES_A_MINUTE)
    )


def _listing_lines(note: Note) -> int:
    """Return how many lines the listings have that stand open in a note, includes as one line."""
    hidden = [
        (place_in(note.text, match.start())[0], place_in(note.text, match.end())[0])
        for match in _FOLDED.finditer(note.text)
    ]
    return sum(
        len(fence.text.splitlines())
        for fence in note.source.fences
        if fence.info.split(" ")[0] not in _DRAWN
        and not any(start <= fence.line <= end for start, end in hidden)
    )


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
