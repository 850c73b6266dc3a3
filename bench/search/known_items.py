"""Queries made from the notes' own text, each of which a few known sections answer.

A check that tuning on judged queries spoiled nothing. A query is only made when at most `MOST`
sections hold what it was taken from; all of them are right. The same notes, seed and numbers give
the same queries.
"""

from __future__ import annotations

import random
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from bench.search.queries import Query
from bench.search.sections import Section

KINDS = ("title", "identifier", "prefix", "swap", "phrase", "pair")
"""A whole heading, an identifier, the first part of one, one with two letters swapped, some
characters copied from a Chinese sentence, a Latin word with a Chinese phrase from one section."""

MOST = 3
_FOOTNOTE_MARK = re.compile(r"\[\^[^\]\s]+\]")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1[^\n]*$", re.MULTILINE | re.DOTALL)
_ADDRESS = re.compile(r"<?https?://[^\s<>()]+>?|\]\([^)\s]*\)|<[^>\n]{1,200}>|\$[^$\n]{1,300}\$")
_IDENTIFIER = re.compile(r"(?<![A-Za-z0-9_./-])[A-Za-z][A-Za-z0-9_]{6,39}(?![A-Za-z0-9_./-])")
_IS_CODE = re.compile(r"_|[a-z][A-Z]|[A-Z]{2,}[a-z]|\d")
_HAN = "\u3400-\u9fff"
_HAN_RUN = re.compile(rf"[{_HAN}]{{4,}}")
_WORD = re.compile(r"(?<![A-Za-z0-9_./-])[A-Za-z][A-Za-z-]{3,19}(?![A-Za-z0-9_./-])")

_Made = tuple[str, set[str]] | None
_Maker = Callable[["_Corpus", random.Random, Section], _Made]


class _Corpus:
    """The plain text of sections, and which of them hold a word."""

    def __init__(self, sections: Iterable[Section]) -> None:
        self.sections = list(sections)
        self.prose: dict[str, str] = {}
        self.text: dict[str, str] = {}
        self.titles: dict[str, set[str]] = defaultdict(set)
        for section in self.sections:
            text = _FOOTNOTE_MARK.sub(" ", section.text)  # a reader sees a number instead
            prose = _ADDRESS.sub(" ", _FENCE.sub("\n", text)).replace("`", " ")
            self.prose[section.key] = prose.replace("*", "")
            # Programs and addresses count when a section is asked whether it holds something.
            self.text[section.key] = f"{section.title}\n{text}".casefold()
            self.titles[section.title.casefold().strip()].add(section.key)

    def holding(self, *parts: str) -> set[str]:
        """Return the sections in which all parts occur."""
        wanted = [part.casefold() for part in parts]
        return {key for key, text in self.text.items() if all(part in text for part in wanted)}

    def identifier(self, chance: random.Random, section: Section, least: int = 0) -> str:
        """Return one identifier of a section's prose, or nothing."""
        found = set(_IDENTIFIER.findall(self.prose[section.key]))
        words = sorted(word for word in found if _IS_CODE.search(word) and len(word) >= least)
        return chance.choice(words) if words else ""


def _title(corpus: _Corpus, chance: random.Random, section: Section) -> _Made:
    title = section.title.strip()
    return (title, corpus.titles[title.casefold()]) if 4 <= len(title) <= 40 else None


def _identifier(corpus: _Corpus, chance: random.Random, section: Section) -> _Made:
    word = corpus.identifier(chance, section)
    return (word, corpus.holding(word)) if word else None


def _prefix(corpus: _Corpus, chance: random.Random, section: Section) -> _Made:
    word = corpus.identifier(chance, section, least=8)
    start = word[: max(5, len(word) * 6 // 10)].rstrip("_")
    return (start, corpus.holding(start)) if word else None


def _swap(corpus: _Corpus, chance: random.Random, section: Section) -> _Made:
    word = corpus.identifier(chance, section)
    places = [
        i
        for i in range(1, len(word) - 1)
        if word[i : i + 2].isalpha() and word[i].lower() != word[i + 1].lower()
    ]
    if not places:
        return None
    i = chance.choice(places)
    slip = word[:i] + word[i + 1] + word[i] + word[i + 2 :]
    return None if corpus.holding(slip) else (slip, corpus.holding(word))


def _phrase(corpus: _Corpus, chance: random.Random, section: Section) -> _Made:
    runs = [run for run in _HAN_RUN.findall(corpus.prose[section.key]) if len(run) >= 6]
    if not runs:
        return None
    phrase = _piece(chance, chance.choice(runs), 4, 8)
    return phrase, corpus.holding(phrase)


def _pair(corpus: _Corpus, chance: random.Random, section: Section) -> _Made:
    prose = corpus.prose[section.key]
    words = sorted(set(_WORD.findall(prose)))
    runs = _HAN_RUN.findall(prose)
    if not words or not runs:
        return None
    word, run = chance.choice(words), chance.choice(runs)
    phrase = _piece(chance, run, 2, 4)
    return f"{word} {phrase}", corpus.holding(word, phrase)


def _piece(chance: random.Random, run: str, least: int, most: int) -> str:
    length = chance.randint(least, min(most, len(run)))
    start = chance.randint(0, len(run) - length)
    return run[start : start + length]


_MAKERS: dict[str, _Maker] = dict(
    zip(KINDS, (_title, _identifier, _prefix, _swap, _phrase, _pair), strict=True)
)


def make(sections: Iterable[Section], *, each: int = 60, seed: int = 1) -> list[Query]:
    """Return up to `each` queries of every kind, fewer where the notes have too little to ask for.

    Identifiers shorter than seven letters, headings that more than `MOST` sections share, and
    phrases that more than `MOST` sections hold make no query.
    """
    corpus = _Corpus(sections)
    queries = []
    for kind, maker in _MAKERS.items():
        # A generator of its own a kind: a change to one leaves the others' queries alone.
        chance = random.Random(f"{seed}:{kind}")
        made = _of_kind(corpus, chance, maker, each)
        for number, (text, right) in enumerate(made, 1):
            language = "zh" if _HAN_RUN.search(text) or not text.isascii() else "en"
            queries.append(
                Query(
                    id=f"{kind}-{number}",
                    kind=kind,
                    language="zh" if kind == "pair" or language == "zh" else "en",
                    text=text,
                    right=dict.fromkeys(sorted(right), 3),
                )
            )
    return queries


def _of_kind(
    corpus: _Corpus, chance: random.Random, maker: _Maker, each: int
) -> Sequence[tuple[str, set[str]]]:
    found: list[tuple[str, set[str]]] = []
    seen: set[str] = set()
    order = list(corpus.sections)
    for _ in range(5):  # a section may give nothing the first time
        chance.shuffle(order)
        for section in order:
            if len(found) >= each:
                return found
            made = maker(corpus, chance, section)
            if made is None or not 0 < len(made[1]) <= MOST:
                continue
            text = unicodedata.normalize("NFC", made[0])
            if text.casefold() not in seen:
                seen.add(text.casefold())
                found.append((text, made[1]))
    return found
