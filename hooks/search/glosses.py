"""Terms that the notes themselves explain: what a collection calls things in the other language.

Technical prose says a term in both languages where it first needs it: `张量并行（Tensor
Parallelism，TP）`, `Mixture of Experts（MoE，混合专家）`, a heading `分布式训练 Distributed
training`, a glossary. Such pairs are taken for the collection's own translations, and an
abbreviation beside the words whose initials it holds for another way to say them.

Chinese has no blanks, so where the term before a bracket begins is a question of evidence: a
sign before it, a particle, how freely other characters stand before it in the whole collection,
several explanations of one term, and what is known of its English words. What stays
unsure is left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from hooks.search.documents import CODE_CLOSE, CODE_OPEN, NOTE
from hooks.search.translations import Translation, translations

_HAN: Final = "㐀-鿿"
_WORD: Final = r"[A-Za-z]+(?:['’-][A-Za-z]+)*"
_PHRASE: Final = rf"{_WORD}(?: {_WORD}){{0,5}}"
_RUN: Final = re.compile(rf"[{_HAN}]+")
_LATIN: Final = re.compile(_PHRASE)
_TERM: Final = re.compile(rf"[{_HAN}]{{2,10}}")
_ABBREVIATION: Final = re.compile(r"[A-Z][A-Za-z]{0,6}[A-Z]s?|[A-Z]{2,7}s?")
_BRACKET: Final = re.compile(r"[(（]([^()（）\n]{2,80})[)）]")
_BEFORE_HAN: Final = re.compile(rf"(\A|.)([{_HAN}]{{2,24}})[”’\"'*]{{0,2}} ?\Z", re.DOTALL)
_BEFORE_LATIN: Final = re.compile(rf"(\A|.)({_PHRASE})[”’\"'*]{{0,2}} ?\Z", re.DOTALL)
_CODE: Final = re.compile(f"{CODE_OPEN}[^{CODE_CLOSE}\n]*{CODE_CLOSE}?|\\$[^$\n]*\\$")
_LABEL: Final = re.compile(
    r"(?:英文名?|英语|中文名?|全称|简称|缩写|简写|又称|也称|也叫|亦称|或称|记作|记为|译作|译为|即|或)[:：为是]?\s*"
)
_APART: Final = re.compile(r"\s*[,，、;；]\s*|\s+[/|]\s+|\s*[:：]\s*")
_NUMBERED: Final = re.compile(
    r"\A(?:第?[\d.]+[章节、.)）]*|第?[一二三四五六七八九十]+[章节、.)）]+|[(（][\d一二三四五六七八九十]+[)）])\s*"
)
_HEADING: Final = (
    re.compile(rf"(?P<han>[{_HAN}]{{2,10}})\s*[:：|/-]?\s*(?P<latin>{_PHRASE})\Z"),
    re.compile(rf"(?P<latin>{_PHRASE})\s*[:：|/-]?\s*(?P<han>[{_HAN}]{{2,10}})\Z"),
)
_ENTRY: Final = (
    re.compile(rf"(?P<han>[{_HAN}]{{2,12}})\s*[,，:：\t–—-]+\s*(?P<latin>{_PHRASE})(?:\t|\Z)"),
    re.compile(rf"(?P<latin>{_PHRASE})\s*[,，:：\t–—-]+\s*(?P<han>[{_HAN}]{{2,12}})(?:\t|\Z)"),
)
_BILINGUAL: Final = re.compile(r"英文|英语|中文|术语|译|english|chinese|term", re.IGNORECASE)
_ENTRIES: Final = 5
"""Lines of one form in a row that make a glossary; fewer may be anything."""

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
_SMALL: Final = frozenset("a an the of to in on for from with and or by at as".split())
_UNITS: Final = frozenset(
    "MB GB TB PB KB MS GHZ MHZ QPS TFLOPS FLOPS USD RMB CNY OK ID AM PM".split()
)
_NOUN: Final = re.compile(
    r"(?:ing|tion|sion|ism|ment|ness|ity|ance|ence|ization|isation|ed|ive|ical)s?\Z"
)

_CLEAR, _PARTICLE, _FREE, _KNOWN = 2.0, 1.2, 1.5, 1.5
_LEAST, _LEAST_AGREED = 1.6, 0.9
"""What a term's beginning must rest on: said in one section, and in several."""


@dataclass(slots=True)
class _Said:
    """One place where a term is explained."""

    run: str
    """The Chinese characters before the bracket, or all within it."""
    is_clear: bool
    """Whether a sign stands before the run, so that it may be the term."""
    section: int
    is_whole: bool = False
    """Whether both ends are certain."""


@dataclass(slots=True)
class Glosses:
    """What was found."""

    translations: list[Translation] = field(default_factory=list)
    """The English terms (flat, lower case) and what they are called in Chinese."""
    abbreviations: list[tuple[str, str]] = field(default_factory=list)
    """Words in full, and their abbreviation."""


def _base(phrase: str) -> str:
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


def _content(phrase: str) -> list[str]:
    return [word for word in _base(phrase).split() if word not in _SMALL]


def has_initials(phrase: str, short: str) -> bool:
    """Return whether an abbreviation is made of a phrase's initials, in order."""
    letters = short.removesuffix("s").lower() if short[-1] == "s" else short.lower()
    words = re.split(r"[ -]+", phrase.lower())
    every = "".join(word[0] for word in words)
    large = "".join(word[0] for word in words if word not in _SMALL)
    return len(letters) > 1 and letters in (every, large)


class _Collection:
    """What all texts say together, counted once."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.lower: set[str] = set()
        for text in texts:
            self.lower.update(re.findall(r"(?<![A-Za-z])[a-z]{3,}(?![A-Za-z])", text))
        self.english: dict[str, set[str]] = defaultdict(set)
        self.chinese: set[str] = set()
        for one in translations():
            self.chinese.update(one.chinese)
            for form in one.english:
                self.english[_base(form)].update(one.chinese)
                self.lower.update(form.split())

    def is_plain(self, phrase: str) -> bool:
        """Return whether a phrase is made of ordinary words: no product, no person."""
        words = [word for word in re.split(r"[ -]+", phrase) if word.lower() not in _SMALL]
        if not words or words[0].lower() in _REMARKS or len("".join(words)) < 3:
            return False
        if phrase.split()[0].lower() in _SMALL:
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
            for run in _RUN.findall(text):
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


def _parts(inside: str) -> tuple[list[str], list[str], list[str]] | None:
    """Return a bracket's phrases, abbreviations and Chinese terms; None when it is a remark."""
    phrases, short, chinese = [], [], []
    for part in _APART.split(inside.strip()):
        text = _LABEL.sub("", part, count=1) if _LABEL.match(part) else part
        text = text.strip(" “”\"'*")
        if not text:
            continue
        if _ABBREVIATION.fullmatch(text):
            short.append(text)
        elif _LATIN.fullmatch(text):
            phrases.append(text)
        elif _TERM.fullmatch(text):
            chinese.append(text)
        else:
            return None
    if max(len(phrases), len(short), len(chinese)) > 1:
        return None
    return phrases, short, chinese


class _Miner:
    def __init__(self, texts: Sequence[tuple[str, str]]) -> None:
        plain = [_CODE.sub(CODE_OPEN, title + "\n" + text) for title, text in texts]
        self.collection = _Collection(plain)
        self.said: dict[str, list[_Said]] = defaultdict(list)
        """Base form of an English phrase -> where it is explained."""
        self.forms: dict[str, Counter[str]] = defaultdict(Counter)
        self.short: Counter[tuple[str, str]] = Counter()
        self.abbreviated: set[str] = set()
        """Keys that are abbreviations: how many words they stand for is not known."""
        for number, ((title, _), text) in enumerate(zip(texts, plain, strict=True)):
            self.heading(title, number)
            self.brackets(text, number)
            self.glossary(text.split("\n"), number)

    def say(self, english: str, said: _Said) -> None:
        if english.isupper() or _ABBREVIATION.fullmatch(english):
            if english.upper().rstrip("S") in _UNITS:
                return
            key = english.removesuffix("s").lower() if english[-1] == "s" else english.lower()
        elif self.collection.is_plain(english):
            key = _base(english)
        else:
            return
        self.forms[key][english] += 1
        self.said[key].append(said)

    def heading(self, title: str, section: int) -> None:
        text = _NUMBERED.sub("", title.strip())
        for form in _HEADING:
            found = form.fullmatch(text)
            if found and len(_content(found["latin"])) > 1:
                self.say(found["latin"], _Said(found["han"], True, section, True))

    def brackets(self, text: str, section: int) -> None:
        for bracket in _BRACKET.finditer(text):
            parts = _parts(bracket[1])
            if parts is None:
                continue
            phrases, short, chinese = parts
            before = text[max(0, bracket.start() - 60) : bracket.start()].rpartition("\n")[2]
            if run := _BEFORE_HAN.search(before):
                # A name or a digit before the run may belong to the term.
                is_clear = not re.match(rf"[A-Za-z0-9{CODE_OPEN}{_HAN}_+#-]", run[1])
                for english in (*phrases, *short):
                    self.say(english, _Said(run[2], is_clear, section))
            elif phrase := _BEFORE_LATIN.search(before):
                if re.match(r"[A-Za-z0-9_+#./-]", phrase[1]):
                    continue
                name = phrase[2]
                (short if _ABBREVIATION.fullmatch(name) else phrases).insert(0, name)
                for term in chinese:
                    for english in (*phrases[:1], *short):
                        if english != name or not re.search(r"[的了是在不见请如]", term):
                            self.say(english, _Said(term, True, section, True))
            for words in phrases[:1]:
                for one in short:
                    if has_initials(words, one) and " " in words.replace("-", " "):
                        self.short[
                            _base(words), one.removesuffix("s") if one[-1] == "s" else one
                        ] += 1

    def glossary(self, lines: Sequence[str], section: int) -> None:
        for form in _ENTRY:
            held: list[re.Match[str]] = []
            is_table = False
            for line in [*lines, ""]:
                found = form.match(line.removeprefix(NOTE))
                if found and (is_table or "\t" not in line):
                    held.append(found)
                    continue
                if len(held) >= _ENTRIES or is_table:
                    for one in held:
                        self.say(one["latin"], _Said(one["han"], True, section, True))
                held = []
                # The head of a table whose columns are languages.
                cells = line.split("\t")
                is_table = (
                    len(cells) > 1 and sum(bool(_BILINGUAL.search(cell)) for cell in cells) > 1
                )

    # ---- Where terms begin -----------------------------------------------------------

    def terms(self, key: str, said: list[_Said], times: Callable[[str], int]) -> list[str]:
        """Return the Chinese terms that an English phrase is explained by, the surest first."""
        found: list[str] = []
        left = said
        while left and len(found) < 3:
            worth: dict[str, list[tuple[float, int]]] = defaultdict(list)
            for one in left:
                for term, value in self.candidates(key, one, times):
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

    def candidates(
        self, key: str, said: _Said, times: Callable[[str], int]
    ) -> Iterable[tuple[str, float]]:
        run = said.run.removesuffix("的")
        words = _content(key)
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
                often = times(term)
                if often > 1:
                    free = 1 - times(before + term) / often
                    value += _FREE * free * min(1.0, (often - 1) / 3) - (0.8 if free < 0.3 else 0)
            value += self.known(words, term)
            yield term, value

    def known(self, words: Sequence[str], term: str) -> float:
        """Return how much the data file says for a term, or against it: it means something else."""
        english = self.collection.english
        if term in self.collection.chinese:
            return 0.8 if term in english.get(" ".join(words), ()) else -_KNOWN
        if any(term.startswith(form) for form in english.get(words[0], ())) if words else False:
            return _KNOWN
        if (
            words
            and len(words) > 1
            and any(term.endswith(form) for form in english.get(words[-1], ()))
        ):
            return _KNOWN / 3
        return 0

    def result(self) -> Glosses:
        self.abbreviated = {
            key
            for key, forms in self.forms.items()
            if all(_ABBREVIATION.fullmatch(form) for form in forms)
        }
        times = self.collection.count(
            {one.run.removesuffix("的")[-2:] for said in self.said.values() for one in said}
        )
        rows = {key: self.terms(key, said, times) for key, said in self.said.items()}
        # A Chinese word beside which many names stand is what they are, not what they are called.
        many = Counter(term for terms in rows.values() for term in terms)
        result = Glosses()
        for key, terms in sorted(rows.items()):
            known = self.collection.english.get(key, set())
            own = tuple(term for term in terms if many[term] <= 3 and term not in known)
            if own:
                result.translations.append(Translation((key,), own))
        seen: dict[str, str] = {}
        for (words, short), _ in sorted(self.short.items(), key=lambda item: -item[1]):
            if seen.setdefault(short, words) == words:
                result.abbreviations.append((words, short))
        return result


def mine(texts: Iterable[tuple[str, str]]) -> Glosses:
    """Return the terms that texts explain.

    Args:
        texts: Title and text of each section, as `documents` makes them.
    """
    return _Miner(list(texts)).result()
