"""Say what was found: to people with the place underlined, to GitHub, as JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from hooks.findings.finding import Finding

FORMATS = ("text", "github", "json")
_FIELDS = ("file", "line", "column", "rule", "severity", "target", "message", "suggestion")
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
    """Return findings grouped by file; those whose file lies below `root` with their line."""
    parts = []
    for file, group in groupby(sorted(findings), key=lambda finding: finding.file):
        lines = _lines(root / file) if root is not None else []
        parts.append("\n".join(_one(finding, lines, colour) for finding in group))
    return "\n\n".join(parts)


def _lines(path: Path) -> list[str]:
    try:
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
    first = max(0, start - _WIDTH // 2) if len(line) > _WIDTH else 0
    end = start + min(_marked(line, start, finding.target), max(first + _WIDTH - start, 1))
    under = "^" * max(_width(visible(line[start:end])), 1)
    if colour:
        under = f"{_CYAN}{under}{_PLAIN}"
    indent = " " * _width(visible(line[first:start]))
    shown, number = visible(line[first : first + _WIDTH]), str(finding.line)
    return f"{text}\n  {number} | {shown}\n  {' ' * len(number)} | {indent}{under}"


def _marked(line: str, start: int, target: str) -> int:
    """Return how many characters from `start` to underline."""
    if target and line.startswith(target, start):
        return len(target)
    if target and "\n" not in target and target in line[start:]:
        return line.index(target, start) + len(target) - start
    word = re.match(r"\S+", line[start:])
    return word.end() if word else 1


def as_json(findings: Sequence[Finding]) -> str:
    """Return a JSON list of objects with the fields of `Finding`, in the order people read them."""
    rows = [{name: getattr(finding, name) for name in _FIELDS} for finding in sorted(findings)]
    return json.dumps(rows, ensure_ascii=False, indent=2)


def as_github(findings: Sequence[Finding]) -> str:
    """Return workflow commands that GitHub shows as annotations beside the line."""
    return "\n".join(_annotation(finding) for finding in sorted(findings))


def _annotation(finding: Finding) -> str:
    """Escape as GitHub documents: `%`, CR and LF everywhere, `:` and `,` in properties."""

    def escape(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    given = {"file": finding.file, "line": finding.line, "col": finding.column}
    properties = ",".join(
        f"{name}={escape(str(value)).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in {**given, "title": finding.rule}.items()
        if value
    )
    return f"::{finding.severity} {properties}::{escape(finding.advice)}"


def render(
    style: str, findings: Sequence[Finding], root: Path | None = None, *, colour: bool = False
) -> str:
    """Return findings in a format of `FORMATS`."""
    if style == "text":
        return as_text(findings, root, colour=colour)
    text = as_json(findings) if style == "json" else as_github(findings)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")  # whatever names of files hold
