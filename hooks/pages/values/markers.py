"""The grammar of sentence values: a number in prose, followed by a comment that says its source.

`989.4 TFLOPS<!-- fact accelerators/h100-sxm/bf16 -->` is plain text on GitHub. This module reads
the comment and the number before it, and compares the number with the truth as it was rounded;
`values` looks the truth up.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import unquote

from hooks.data import Text, units
from hooks.findings import nearest
from hooks.pages.frame import words_of

KINDS = ("fact", "measured", "calc", "message")
_OPTIONS = ("round", "terms")
_EXAMPLES = {
    "fact": "fact FAMILY/ROW/COLUMN",
    "measured": "measured TOPIC/measured/NAME.json#RESULT?axis=value",
    "calc": "calc NAME key=value … -> OUTPUT [UNIT]",
    "message": "message PRODUCT/ID",
}
_FACT = re.compile(r"(?P<family>[\w-]+)/(?P<row>[\w.-]+)/(?P<column>[\w-]+)\Z")
_MEASURED = re.compile(r"(?P<file>[^#?\s]+\.json)#(?P<result>[^?\s]+?)(?:\?(?P<query>\S*))?\Z")
_CALC = re.compile(
    r"(?P<name>[\w-]+)(?P<inputs>(?:\s+[\w.-]+=\S+)*)\s*->\s*(?P<output>[\w.-]+)"
    r"(?:\s+(?P<unit>(?!(?:round|terms)=)\S+))?\Z"
)
_MESSAGE = re.compile(r"(?P<product>[\w-]+)/(?P<id>[\w-]+)\Z")
_PATTERNS = {"fact": _FACT, "measured": _MEASURED, "calc": _CALC, "message": _MESSAGE}
_OPTION = re.compile(r"\s+(?P<key>[a-z]+)=(?P<value>\w+)\Z")

# What may stand between the number and the comment: the end of emphasis or of a tag.
_CLOSE = r"(?:[*_~]|</[a-z]+>)*\Z"
_CLOSED = re.compile(_CLOSE)
_QUOTED = re.compile(rf"(?:`|<code>)(?P<said>(?:(?!`|</?code>).)+)`?{_CLOSE}")
_UNIT = "[A-Za-z\u00b5\u03bc\u00b0%][A-Za-z0-9\u00b5\u03bc\u00b0%\u00b2\u00b3/\u00b7]{0,24}"
_NUMBER = (
    r"(?<![0-9A-Za-z_.,])(?P<sign>[-\u2212+]?)"
    r"(?P<whole>\d{1,3}(?:,\d{3})+|\d+)(?P<fraction>\.\d+)?"
    r"(?P<gap>(?:[ \u00a0\u202f]|&nbsp;|&#160;)?)"
)
_ROUNDING = 1 + 1e-9

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SENTENCE_END = re.compile(r"(?<=[。！？；])|(?<=[.!?;])(?=\s)")


class MarkerError(ValueError):
    """A marker is wrong, or its number is; `rule` names the finding, `hint` the repair."""

    def __init__(
        self, message: str, *, rule: str = "value-marker", target: str = "", hint: str = ""
    ) -> None:
        super().__init__(message)
        self.rule, self.target, self.hint = rule, target, hint


@dataclass(frozen=True, slots=True)
class Marker:
    """What a comment asks for."""

    kind: str
    key: str
    """All of it, without the options: what both languages must share."""
    parts: dict[str, str] = field(default_factory=dict)
    inputs: dict[str, str] = field(default_factory=dict)
    digits: int | None = None
    """Significant digits to which the number is rounded; None when as printed."""
    skips_terms: bool = False
    """`terms=above`: direction and density are said before, not in the sentence."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What a marker names: what its number must be, and how to show it in one language."""

    value: float | Text | tuple[str, str]
    unit: str = ""
    direction: str | None = None
    density: str | None = None
    title: str = ""
    """Source, date and confidence in one line."""
    href: str = ""
    """An address, or a path below the folder of the site; empty when there is nothing to open."""
    grade: str = ""
    """`a` or `b` for facts, `measured`, `calc`, `message`: how the link is marked."""
    source: str = ""
    """The key of the source, for facts."""
    stale: bool = False


def is_marker(comment: str) -> bool:
    """Tell whether a comment means to be a marker, rightly written or not."""
    word = comment.split(maxsplit=1)[0] if comment.strip() else ""
    if word in KINDS:
        return True
    return bool(nearest(word, KINDS, cutoff=0.75)) and bool(re.search(r"[/#]|->", comment))


def parse(comment: str) -> Marker:
    """Read a comment's text; MarkerError where it is no marker."""
    kind, _, rest = comment.strip().partition(" ")
    if kind not in KINDS:
        hint = nearest(kind, KINDS)
        raise MarkerError(f"there is no marker '{kind}'", target=kind, hint=hint)
    rest = rest.strip()
    options: dict[str, str] = {}
    while (option := _OPTION.search(rest)) and (kind != "calc" or option["key"] in _OPTIONS):
        options[option["key"]] = option["value"]
        rest = rest[: option.start()].strip()
    for key in options:
        if key not in _OPTIONS:
            message = f"there is no option '{key}' of a marker, only round=DIGITS and terms=above"
            raise MarkerError(message, target=key, hint=nearest(key, _OPTIONS))
    digits = options.get("round")
    if digits is not None and not (digits.isdigit() and 1 <= int(digits) <= 9):
        raise MarkerError("'round' takes the number of significant digits, 1 to 9", target=digits)
    if options.get("terms", "above") != "above":
        raise MarkerError("'terms' takes 'above' only", target=options["terms"], hint="above")
    match = _PATTERNS[kind].match(rest)
    if match is None:
        raise MarkerError(f"the marker must read '<!-- {_EXAMPLES[kind]} -->'", target=comment)
    parts = {key: value for key, value in match.groupdict().items() if value}
    inputs: dict[str, str] = {}
    if kind == "measured":
        for pair in filter(None, parts.pop("query", "").split("&")):
            key, sign, value = pair.partition("=")
            if not sign:
                raise MarkerError(f"'{pair}' must read axis=value", target=pair)
            inputs[key] = unquote(value)  # as in addresses: %20 for a space
    elif kind == "calc":
        inputs = dict(pair.split("=", 1) for pair in parts.pop("inputs", "").split())
    key = f"{kind} {' '.join(rest.split())}"
    return Marker(kind, key, parts, inputs, int(digits) if digits else None, "terms" in options)


def compare(before: str, truth: Truth, marker: Marker, language: str) -> tuple[int, int]:
    """Return where the number before a comment stands; MarkerError where there is none, it is
    another one, or its unit is missing or wrong.
    """
    if isinstance(truth.value, tuple):
        return _quoted(before, *truth.value)
    if isinstance(truth.value, Text):
        text = truth.value.in_language(language)
        bare = _CLOSED.sub("", before, count=1)
        if not text or not bare.endswith(text):
            message = f"the text before the marker must be '{text}'"
            raise MarkerError(message, rule="value-differs", target=before[-20:], hint=text)
        return len(bare) - len(text), len(bare)
    unit = "" if truth.unit == units.NO_UNIT else truth.unit
    exact = _with_unit(_short(truth.value), unit)
    # The unit of the truth may be oddly written; others are letters and slashes.
    own = f"{re.escape(unit)}|" if unit else ""
    pattern = re.compile(f"{_NUMBER}(?P<unit>{own}{_UNIT}|){_CLOSE}")
    printed = pattern.search(before, max(len(before) - 200, 0))
    if printed is None:
        message = f"a number must stand right before the marker, such as '{exact}'"
        raise MarkerError(message, target=before[-20:].strip(), hint=exact)
    end = printed.end("unit") if printed["unit"] else printed.start("gap")
    shown = before[printed.start() : end]
    if unit and not printed["unit"]:
        hint = _with_unit(shown, unit)
        message = f"'{shown}' lacks its unit between number and marker"
        raise MarkerError(message, rule="value-unit", target=shown, hint=hint)
    try:
        expected = units.convert(truth.value, unit, printed["unit"])
    except units.UnitError as error:
        message = f"'{shown}' is not in {unit or 'a bare number'}: {error}"
        raise MarkerError(message, rule="value-unit", target=shown, hint=exact) from error
    number = float(printed["whole"].replace(",", "") + (printed["fraction"] or ""))
    number *= -1 if printed["sign"] in ("-", "\u2212") else 1
    decimals = max(len(printed["fraction"] or "") - 1, 0)
    if marker.digits is not None:
        expected = float(f"{expected:.{marker.digits - 1}e}")
        is_right = math.isclose(number, expected, rel_tol=1e-9, abs_tol=1e-12)
    else:
        is_right = abs(number - expected) <= 0.5 * 10.0**-decimals * _ROUNDING
    if not is_right:
        # As many decimals as are written, or more where they would falsify it.
        while decimals < 6 and abs(round(expected, decimals) - expected) > 0.005 * abs(expected):
            decimals += 1
        right = f"{expected:{',' if ',' in printed['whole'] else ''}.{decimals}f}"
        hint = _with_unit(right, printed["unit"], " " if re.search(r"\s", shown) else "")
        message = f"'{shown}' is not what the data say: {exact}"
        raise MarkerError(message, rule="value-differs", target=shown, hint=hint)
    return printed.start(), end


def _quoted(before: str, lines: str, fixed: str) -> tuple[int, int]:
    """Return where code quotes a line, not only a place that varies; `…` is what is left out."""
    found = _QUOTED.search(before, max(len(before) - 400, 0))
    said = unescape(found["said"]).replace(r"\|", "|") if found else before[-20:]
    pattern = rf"(?:\b|(?!\w)){'.*'.join(map(re.escape, said.split('…')))}(?:\b|(?<!\w))"
    if not (found and re.search(pattern, lines) and {*re.findall(r"\w+", said)} & {*fixed.split()}):
        hint = lines.partition("\n")[0]
        message = f"the code before the marker must be a part of '{hint}'"
        raise MarkerError(message, rule="value-differs", target=said, hint=hint)
    return found.start(), found.end()


def _short(value: float) -> str:
    written = str(value)
    return written if len(written) <= 12 else f"{value:.6g}"


def _with_unit(number: str, unit: str, gap: str = " ") -> str:
    return f"{number}{gap}{unit}" if unit else number


def missing_terms(sentence: str, truth: Truth, language: str) -> list[str]:
    """Return the words for direction and density that a sentence should hold and does not."""
    says, bare = words_of("says", language), sentence.lower()
    every = [says[one].split(" | ") for one in (truth.direction, truth.density) if one in says]
    return [words[0] for words in every if not any(word in bare for word in words)]


def context(lines: list[str], line: int, column: int) -> str:
    """Return what a reader takes in with a number: its sentence, or its row and the table's head.

    `line` and `column` are those of the marker, from 1; comments are left out.
    """
    first = last = line - 1
    while first > 0 and lines[first - 1].strip(" >"):
        first -= 1
    while last + 1 < len(lines) and lines[last + 1].strip(" >"):
        last += 1
    own = lines[line - 1]
    if own.lstrip(" >").startswith("|"):
        return _COMMENT.sub("", "\n".join([*lines[first : first + 2], own]))
    before = "\n".join([*lines[first : line - 1], own[: column - 1]])
    after = "\n".join([own[column - 1 :], *lines[line : last + 1]])
    said = [_SENTENCE_END.split(_COMMENT.sub(" ", text)) for text in (before, after)]
    return said[0][-1] + said[1][0]
