"""Pair the headings of a note with those of its twin in the other language.

Twins have the same headings in the same order and on the same levels. So each page can answer to
the other's ids too, a link keeps working across languages, and the language switch keeps place.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections.abc import Iterator

from hooks.findings import Finding
from hooks.markdown import Heading
from hooks.notes.note import LANGUAGE_NAMES, Catalogue, Note

FIXED = {
    "一句话结论": "Takeaway",
    "要引用的数字": "The numbers you will quote",
    "看到什么，做什么": "If you see … do …",
    "为什么需要它": "Why it exists",
    "实测": "Measured",
    "动手": "Hands on",
    "常见误区": "Common misconceptions",
    "自测": "Check yourself",
    "参考资料": "References",
}
"""The headings that every note calls the same."""
Pairs = list[tuple[Heading | None, Heading | None]]
_FIGURE = re.compile(  # what is passed over comes first
    r"<!--.*?-->|\]\([^)]*\)|`[^`]*`|\[\^[^]]*\]|(?<![A-Za-z0-9_.])"
    r"(\d{1,3}(?:[, \u202f\u00a0]\d{3})+(?!\d|\.\d)|\d+(?:\.\d+)?)(?![A-Za-z_]*\d)"
)
_DIGIT = re.compile(r"\d")
_LATIN = re.compile(r"[a-z0-9][a-z0-9.+-]+")


def check_pairs(catalogue: Catalogue) -> list[Finding]:
    """Report the first heading at which twins differ, else the numbers; of drafts, nothing."""
    findings: list[Finding] = []
    for note in catalogue.notes.values():
        twin = catalogue.twin(note, "en") if note.language == "zh" else None
        if twin is not None and not (note.is_draft or twin.is_draft):
            findings += [*itertools.islice(_differences(note, twin), 1)] or [*_numbers(note, twin)]
    return findings


def _differences(note: Note, twin: Note) -> Iterator[Finding]:
    """Yield the headings that have no counterpart, or one of another level."""
    before, pairs = "", align(note, twin)
    for at, (mine, other) in enumerate(pairs):
        if mine and other and mine.level == other.level:
            before = f", where it would follow '{mine.text}' (line {mine.line})"
            continue
        ours = f"'{mine.text}' at {note.file}:{mine.line}" if mine else f"{note.file}{before}"
        place = next((two for _, two in pairs[at:] if two), None)
        message = f"heading '{other.text}' has no counterpart in {ours}" if other else ""
        if mine and other:
            message = (
                f"heading '{other.text}' has level {other.level}, its twin {ours} {mine.level}"
            )
        elif mine:
            where = f"before '{place.text}'" if place else "at the end"
            message = f"{where}, no heading pairs with {ours}; translate it"
        line = place.line if place else len(twin.text.splitlines())
        yield Finding(twin.file, line, 1, "twin-headings", message, place.text if place else "")


def _numbers(note: Note, twin: Note) -> Iterator[Finding]:
    """Yield what looks like one number, written otherwise in a section of the twin."""
    for (_, ours), (below, theirs) in zip(note.sections(6), twin.sections(6), strict=False):
        mine, others = _figures(ours), _figures(theirs)
        alone = {_DIGIT.sub("0", one): one for one in mine if mine[one] not in others.values()}
        for one, bare in others.items():
            like = alone.get(_DIGIT.sub("0", one))
            if like and len(one) > 1 and bare not in mine.values() and note.topic != "about":
                match = re.search(rf"(?<!\d){re.escape(one)}(?!\d)", theirs)
                line = below.line + 1 + theirs.count("\n", 0, match.start() if match else 0)
                message = f"'{one}' stands where {note.file} has '{like}'; correct one"
                yield Finding(twin.file, line, 1, "twin-numbers", message, one)


def _figures(text: str) -> dict[str, str]:
    """Return the numbers of a text with their digits alone, in which 1.5 万 is 15,000."""
    found = {re.sub(r"[^\d.]", "", one) for one in _FIGURE.findall(text)}
    return {one: one.replace(".", "").strip("0") for one in found}


def align(note: Note, twin: Note) -> Pairs:
    """Pair the headings of two notes; one that was added or left out stands alone.

    Headings of equal levels are pairs in their order. Else those are that have most in common:
    the level, a name from the fixed list, Latin words and digits, the footnotes of the section.
    """
    ours, theirs = note.source.headings, twin.source.headings
    if [one.level for one in ours] == [one.level for one in theirs]:
        return list(zip(ours, theirs, strict=True))
    mine, others = _features(note), _features(twin)

    @functools.cache
    def best(i: int, j: int) -> tuple[float, Pairs]:
        """Return how well what follows from two headings on can be paired, and its pairs."""
        if i == len(ours) or j == len(theirs):
            return 0.0, [(one, None) for one in ours[i:]] + [(None, one) for one in theirs[j:]]
        likeness = _likeness(ours[i], theirs[j], mine[i], others[j])
        choices = (
            (likeness, (ours[i], theirs[j]), best(i + 1, j + 1)),
            (0.0, (ours[i], None), best(i + 1, j)),
            (0.0, (None, theirs[j]), best(i, j + 1)),
        )
        return max(
            ((more + score, [pair, *pairs]) for more, pair, (score, pairs) in choices),
            key=lambda choice: choice[0],
        )

    return best(0, 0)[1]


def _likeness(mine: Heading, other: Heading, ours: set[str], theirs: set[str]) -> float:
    fixed = FIXED.get(mine.text)
    if fixed or other.text in FIXED.values():
        return 4.0 if fixed == other.text else -4.0
    shared = len(ours & theirs) / max(len(ours | theirs), 1)
    return (1.0 if mine.level == other.level else 0.25) + 3 * shared


def _features(note: Note) -> list[set[str]]:
    """Return what is the same in both languages, of each heading and its section."""
    headings = note.source.headings
    found = [set(_LATIN.findall(heading.text.casefold())) for heading in headings]
    for use in note.source.footnote_uses:
        at = bisect.bisect_right([heading.line for heading in headings], use.line) - 1
        if at >= 0:
            found[at].add(f"[^{use.name}]")
    return found


def twin_ids(note: Note, twin: Note) -> dict[str, str]:
    """Map each heading id of a note to its twin's id, where they differ and none is taken.

    An id that the note uses for a heading of its own is never given to another heading.
    """
    own = {heading.id for heading in note.source.headings}
    aliases: dict[str, str] = {}
    for mine, other in align(note, twin):
        if mine and other and other.id not in {*own, *aliases.values()}:
            aliases[mine.id] = other.id
    return aliases


def missing(notes: Catalogue) -> list[Finding]:
    """Tell which notes exist in one language only; readers of the other see a notice."""
    findings = []
    for note in notes.notes.values():
        if notes.twin(note) is None:
            other = LANGUAGE_NAMES["en" if note.language == "zh" else "zh"]
            message = f"no {other} twin yet; its readers see this page with a notice"
            findings.append(Finding(note.file, 0, 0, "untranslated", message))
    return findings
