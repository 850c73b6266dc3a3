"""Where a Chinese term begins that stands before the bracket that explains it.

Chinese has no blanks. What speaks for a beginning: a sign or a particle before it, how freely other
characters stand before it in the whole collection, several explanations of one term, and what is
known of its English words.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from typing import Final

from hooks.search.translations import RUN, translations

_PARTICLES: Final = frozenset(
    "的是即为与和或及在对用了把被叫做称成以由从将种个类之到指而有中于向让使像说"
)
_BAD_START: Final = frozenset(
    "的是即为与和或及对用了把被叫做称之而有也就都不这那其该此每各种个些并且则它他们者所如若较将过"
)
_BAD_BEGINNINGS: Final = (
    "使用",
    "通过",
    "进行",
    "我们",
    "所谓",
    "一种",
    "一个",
    "以及",
    "采用",
    "利用",
    "什么",
    "因为",
    "由于",
    "如果",
    "例如",
    "这种",
    "其中",
)
_REMARKS: Final = frozenset(
    "optional default deprecated recommended new beta alpha required todo note see example yes no"
    " true false none null left right top bottom official draft in and or all more less".split()
)
SMALL: Final = frozenset("a an the of to in on for from with and or by at as".split())
_NOUN: Final = re.compile(
    r"(?:ing|tion|sion|ism|ment|ness|ity|ance|ence|ization|isation|ed|ive|ical)s?\Z"
)

_CLEAR, _PARTICLE, _FREE, _KNOWN = 2.0, 1.2, 1.5, 1.5
_LEAST, _LEAST_AGREED = 1.6, 0.9
"""What a term's beginning must rest on: said in one section, and in several."""


@dataclass(slots=True)
class Said:
    """One place where a term is explained."""

    run: str
    """The Chinese characters before the bracket, or all within it."""
    is_clear: bool
    """Whether a sign stands before the run, so that it may be the term."""
    section: int
    is_whole: bool = False
    """Whether both ends are certain."""


def base(phrase: str) -> str:
    """Return what spellings and numbers of a phrase share."""
    words = re.split(r"[ -]+", re.sub("['’]", "", phrase).lower())
    if len(words[-1]) > 4:
        words[-1] = re.sub(r"(?<=[^aeiou])ies\Z", "y", words[-1])
        words[-1] = re.sub(r"(?<=[^sui])s\Z", "", words[-1])
    return " ".join(words)


def _least_size(key: str, words: int) -> int:
    """Return how many characters say so many English words at least."""
    if " " not in key and words > 1:  # an abbreviation
        return len(key) + 1
    return words + (words > 2) if words > 1 else 2


def content(phrase: str) -> list[str]:
    """Return the words of a phrase that say something, in their base form."""
    return [word for word in base(phrase).split() if word not in SMALL]


class Collection:
    """What all texts say together, counted once."""

    def __init__(self, texts: Sequence[str]) -> None:
        """Read the texts, and what the data file knows."""
        self.texts = texts
        self.lower: set[str] = set()
        for text in texts:
            self.lower.update(re.findall(r"(?<![A-Za-z])[a-z]{3,}(?![A-Za-z])", text))
        self.english: dict[str, set[str]] = defaultdict(set)
        self.chinese: set[str] = set()
        for one in translations():
            self.chinese.update(one.chinese)
            for form in one.english:
                self.english[base(form)].update(one.chinese)
                self.lower.update(form.split())

    def is_plain(self, phrase: str) -> bool:
        """Return whether a phrase is made of ordinary words: no product, no person."""
        words = [word for word in re.split(r"[ -]+", phrase) if word.lower() not in SMALL]
        if not words or words[0].lower() in _REMARKS or len("".join(words)) < 3:
            return False
        if phrase.split()[0].lower() in SMALL:
            return False
        if all(word.islower() for word in words):
            return True
        if any(
            re.search(r"[a-z][A-Z]", word) or (word.isupper() and len(word) > 1) for word in words
        ):
            return False
        return all(
            word.islower() or word.lower() in self.lower or _NOUN.search(word.lower())
            for word in words
        )

    def count(self, endings: set[str]) -> Callable[[str], int]:
        """Return a function that says how often a run of two or more characters stands anywhere.

        It knows runs of thirteen characters at most that end as `endings` (pairs) do.
        """
        lefts: dict[str, Counter[str]] = {pair: Counter() for pair in endings}
        for text in self.texts:
            for run in RUN.findall(text):
                for at in range(len(run) - 1):
                    pair = run[at : at + 2]
                    if pair in lefts:
                        lefts[pair][run[max(0, at - 11) : at + 2]] += 1
        known: dict[str, int] = {}

        def times(run: str) -> int:
            if run not in known:
                found = lefts[run[-2:]].items()
                known[run] = sum(count for left, count in found if left.endswith(run))
            return known[run]

        return times


class Terms:
    """Decides which of the characters before a bracket are the term that it explains."""

    def __init__(
        self, collection: Collection, times: Callable[[str], int], abbreviated: Set[str]
    ) -> None:
        """Know the texts, how often runs stand in them, and which keys are abbreviations."""
        self.collection = collection
        self.times = times
        self.abbreviated = abbreviated

    def of(self, key: str, said: Sequence[Said]) -> list[str]:
        """Return the Chinese terms that an English phrase is explained by, the surest first."""
        found: list[str] = []
        left = list(said)
        while left and len(found) < 3:
            worth: dict[str, list[tuple[float, int]]] = defaultdict(list)
            for one in left:
                for term, value in self.candidates(key, one):
                    worth[term].append((value, one.section))
            if not worth:
                break
            best = max(
                worth, key=lambda term: (sum(max(0.0, v) for v, _ in worth[term]), len(term))
            )
            mean = sum(value for value, _ in worth[best]) / len(worth[best])
            sections = len({section for _, section in worth[best]})
            least = _LEAST if sections == 1 else _LEAST_AGREED
            if key in self.abbreviated:
                least = _LEAST + 2 if sections == 1 else _LEAST
            if mean >= least:
                found.append(best)
            left = [one for one in left if not one.run.rstrip("的").endswith(best)]
        return found

    def candidates(self, key: str, said: Said) -> Iterable[tuple[str, float]]:
        """Yield what the term may be, and how much speaks for it."""
        run = said.run.removesuffix("的")
        words = content(key)
        count = len(words) if key not in self.abbreviated else max(2, len(key) - 1)
        for size in range(2, min(len(run), 12) + 1):
            term = run[-size:]
            if (
                term[0] in _BAD_START
                or (term[0] == "在" and term[1] != "线")
                or term.startswith(_BAD_BEGINNINGS)
                or term[-1] in "的了是"
            ):
                continue
            if not _least_size(key, count) <= size <= 2 * count + 2:
                continue
            is_all = size == len(run)
            if said.is_whole and not is_all:
                continue
            value = -0.3 * abs(size - 2 * count)
            if is_all and said.is_clear:
                value += _CLEAR
            elif not is_all:
                before = run[-size - 1]
                value += _PARTICLE if before in _PARTICLES else 0
                often = self.times(term)
                if often > 1:
                    free = 1 - self.times(before + term) / often
                    value += _FREE * free * min(1.0, (often - 1) / 3) - (0.8 if free < 0.3 else 0)
            value += self.known(words, term)
            yield term, value

    def known(self, words: Sequence[str], term: str) -> float:
        """Return how much the data file says for a term, or against it: it means something else."""
        english = self.collection.english
        if term in self.collection.chinese:
            return 0.8 if term in english.get(" ".join(words), ()) else -_KNOWN
        if words and any(term.startswith(form) for form in english.get(words[0], ())):
            return _KNOWN
        if len(words) > 1 and any(term.endswith(form) for form in english.get(words[-1], ())):
            return _KNOWN / 3
        return 0
