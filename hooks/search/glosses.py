"""Terms that the notes themselves explain: what a collection calls things in the other language.

Technical prose says a term in both languages where it first needs it: `张量并行（Tensor
Parallelism，TP）`, `Mixture of Experts（MoE，混合专家）`, a heading `分布式训练 Distributed
training`, a glossary. Such pairs are taken for the collection's own translations, and an
abbreviation beside the words whose initials it holds for another way to say them.

Where the term before a bracket begins is `gloss_terms`' question; what stays unsure is left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from hooks.search.documents import CODE_CLOSE, CODE_OPEN, NOTE
from hooks.search.gloss_terms import SMALL, Collection, Said, Terms, base, content
from hooks.search.translations import HAN, Translation

_WORD: Final = r"[A-Za-z]+(?:['’-][A-Za-z]+)*"
_PHRASE: Final = rf"{_WORD}(?: {_WORD}){{0,5}}"
_LATIN: Final = re.compile(_PHRASE)
_TERM: Final = re.compile(rf"[{HAN}]{{2,10}}")
_ABBREVIATION: Final = re.compile(r"[A-Z][A-Za-z]{0,6}[A-Z]s?|[A-Z]{2,7}s?")
_BRACKET: Final = re.compile(r"[(（]([^()（）\n]{2,80})[)）]")
_BEFORE_HAN: Final = re.compile(rf"(\A|.)([{HAN}]{{2,24}})[”’\"'*]{{0,2}} ?\Z", re.DOTALL)
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
    re.compile(rf"(?P<han>[{HAN}]{{2,10}})\s*[:：|/-]?\s*(?P<latin>{_PHRASE})\Z"),
    re.compile(rf"(?P<latin>{_PHRASE})\s*[:：|/-]?\s*(?P<han>[{HAN}]{{2,10}})\Z"),
)
_ENTRY: Final = (
    re.compile(rf"(?P<han>[{HAN}]{{2,12}})\s*[,，:：\t–—-]+\s*(?P<latin>{_PHRASE})(?:\t|\Z)"),
    re.compile(rf"(?P<latin>{_PHRASE})\s*[,，:：\t–—-]+\s*(?P<han>[{HAN}]{{2,12}})(?:\t|\Z)"),
)
_BILINGUAL: Final = re.compile(r"英文|英语|中文|术语|译|english|chinese|term", re.IGNORECASE)
_ENTRIES: Final = 5
"""Lines of one form in a row that make a glossary; fewer may be anything."""

_UNITS: Final = frozenset(
    "MB GB TB PB KB MS GHZ MHZ QPS TFLOPS FLOPS USD RMB CNY OK ID AM PM".split()
)


@dataclass(slots=True)
class Glosses:
    """What was found."""

    translations: list[Translation] = field(default_factory=list)
    """The English terms (flat, lower case) and what they are called in Chinese."""
    abbreviations: list[tuple[str, str]] = field(default_factory=list)
    """Words in full, and their abbreviation."""


def has_initials(phrase: str, short: str) -> bool:
    """Return whether an abbreviation is made of a phrase's initials, in order."""
    letters = short.removesuffix("s").lower() if short[-1] == "s" else short.lower()
    words = re.split(r"[ -]+", phrase.lower())
    every = "".join(word[0] for word in words)
    large = "".join(word[0] for word in words if word not in SMALL)
    return len(letters) > 1 and letters in (every, large)


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
        self.collection = Collection(plain)
        self.said: dict[str, list[Said]] = defaultdict(list)
        """Base form of an English phrase -> where it is explained."""
        self.forms: dict[str, Counter[str]] = defaultdict(Counter)
        self.short: Counter[tuple[str, str]] = Counter()
        self.abbreviated: set[str] = set()
        """Keys that are abbreviations: how many words they stand for is not known."""
        for number, ((title, _), text) in enumerate(zip(texts, plain, strict=True)):
            self.heading(title, number)
            self.brackets(text, number)
            self.glossary(text.split("\n"), number)

    def say(self, english: str, said: Said) -> None:
        if english.isupper() or _ABBREVIATION.fullmatch(english):
            if english.upper().rstrip("S") in _UNITS:
                return
            key = english.removesuffix("s").lower() if english[-1] == "s" else english.lower()
        elif self.collection.is_plain(english):
            key = base(english)
        else:
            return
        self.forms[key][english] += 1
        self.said[key].append(said)

    def heading(self, title: str, section: int) -> None:
        text = _NUMBERED.sub("", title.strip())
        for form in _HEADING:
            found = form.fullmatch(text)
            if found and len(content(found["latin"])) > 1:
                self.say(found["latin"], Said(found["han"], True, section, True))

    def brackets(self, text: str, section: int) -> None:
        for bracket in _BRACKET.finditer(text):
            parts = _parts(bracket[1])
            if parts is None:
                continue
            phrases, short, chinese = parts
            before = text[max(0, bracket.start() - 60) : bracket.start()].rpartition("\n")[2]
            if run := _BEFORE_HAN.search(before):
                # A name or a digit before the run may belong to the term.
                is_clear = not re.match(rf"[A-Za-z0-9{CODE_OPEN}{HAN}_+#-]", run[1])
                for english in (*phrases, *short):
                    self.say(english, Said(run[2], is_clear, section))
            elif phrase := _BEFORE_LATIN.search(before):
                if re.match(r"[A-Za-z0-9_+#./-]", phrase[1]):
                    continue
                name = phrase[2]
                (short if _ABBREVIATION.fullmatch(name) else phrases).insert(0, name)
                for term in chinese:
                    for english in (*phrases[:1], *short):
                        if english != name or not re.search(r"[的了是在不见请如]", term):
                            self.say(english, Said(term, True, section, True))
            for words in phrases[:1]:
                for one in short:
                    if has_initials(words, one) and " " in words.replace("-", " "):
                        self.short[
                            base(words), one.removesuffix("s") if one[-1] == "s" else one
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
                        self.say(one["latin"], Said(one["han"], True, section, True))
                held = []
                # The head of a table whose columns are languages.
                cells = line.split("\t")
                is_table = (
                    len(cells) > 1 and sum(bool(_BILINGUAL.search(cell)) for cell in cells) > 1
                )

    def result(self) -> Glosses:
        self.abbreviated = {
            key
            for key, forms in self.forms.items()
            if all(_ABBREVIATION.fullmatch(form) for form in forms)
        }
        times = self.collection.count(
            {one.run.removesuffix("的")[-2:] for said in self.said.values() for one in said}
        )
        finder = Terms(self.collection, times, self.abbreviated)
        rows = {key: finder.of(key, said) for key, said in self.said.items()}
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
