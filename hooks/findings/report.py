"""Say what was found: to people with the place underlined, to GitHub, as JSON."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from hooks.findings.finding import Finding
from hooks.findings.formats import as_github, as_json

FORMATS = ("text", "github", "json")
_WIDTH = 100
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_RED, _YELLOW, _BOLD, _CYAN, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[1m", "\x1b[36m", "\x1b[0m"


def visible(text: str) -> str:
    """Return text in which nothing can hide or steer a terminal: unseen characters by name."""
    shown = _UNSEEN.sub(lambda match: f"\\u{ord(match.group(0)):04x}", text.replace("\t", " "))
    return shown.encode("utf-8", "backslashreplace").decode("utf-8")


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes; Chinese characters take two."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    marks = sum(unicodedata.category(char) in ("Mn", "Me") for char in text)
    return len(text) + wide - marks


def as_text(findings: Sequence[Finding], root: Path | None = None, *, colour: bool = False) -> str:
    """Return findings grouped by file, each with its line and the place underlined.

    Args:
        findings: What was found.
        root: Where the files lie, to show the lines; None shows none.
        colour: Whether to use a terminal's colours.
    """
    parts = []
    for file, group in groupby(sorted(findings), key=lambda finding: finding.file):
        lines = _lines(root, file) if root is not None else []
        parts.append("\n".join(_one(finding, lines, colour) for finding in group))
    return "\n\n".join(parts)


def _lines(root: Path, file: str) -> list[str]:
    try:
        path = root / file
        if path.suffix == ".html" or not path.is_file():
            return []
        text = path.read_bytes().decode("utf-8", errors="replace")
    except (OSError, ValueError):
        return []
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _one(finding: Finding, lines: Sequence[str], colour: bool) -> str:
    text = visible(finding.text)
    if colour:
        paint = _RED if finding.severity == "error" else _YELLOW
        place, mark = visible(finding.place), f"{finding.severity}[{finding.rule}]"
        text = text.replace(f"{place}: {mark}", f"{_BOLD}{place}{_PLAIN}: {paint}{mark}{_PLAIN}", 1)
    if not 0 < finding.line <= len(lines):
        return text
    line = lines[finding.line - 1]
    start = max(finding.column - 1, 0)
    length = _marked(line, start, finding.target)
    first = max(0, start - _WIDTH // 2) if len(line) > _WIDTH else 0
    shown = visible(line[first : first + _WIDTH])
    before = visible(line[first:start])
    length = min(length, max(first + _WIDTH - start, 1))
    number = str(finding.line)
    under = "^" * max(_width(visible(line[start : start + length])), 1)
    if colour:
        under = f"{_CYAN}{under}{_PLAIN}"
    gutter = " " * len(number)
    return f"{text}\n  {number} | {shown}\n  {gutter} | {' ' * _width(before)}{under}"


def _marked(line: str, start: int, target: str) -> int:
    """Return how many characters from `start` to underline."""
    if target and line.startswith(target, start):
        return len(target)
    if target and "\n" not in target and target in line[start:]:
        return line.index(target, start) + len(target) - start
    word = re.match(r"\S+", line[start:])
    return word.end() if word else 1


def _clean(text: str) -> str:
    """Return text that can be written as UTF-8, whatever the names of files hold."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def render(
    style: str, findings: Sequence[Finding], root: Path | None = None, *, colour: bool = False
) -> str:
    """Return findings in a format of `FORMATS`."""
    if style == "text":
        return as_text(findings, root, colour=colour)
    return _clean(as_json(findings) if style == "json" else as_github(findings))
