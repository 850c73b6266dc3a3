"""Find diagrams that mermaid cannot parse, with mermaid's own parser and no browser.

`hooks.mermaid_engine` runs the vendored library in V8; this module turns its errors into
findings. Verdicts are kept by the hash of library, driver and text, so that a tree without a
changed diagram starts no V8 at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hooks.drawings import mermaid
from hooks.findings import Finding, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

RULE = "diagram-syntax"
MAX_TEXT = 50_000
"""Characters; mermaid draws an error picture for longer texts (its `maxTextSize`)."""

_KEYWORDS = [
    "architecture-beta",
    "block",
    "block-beta",
    "classDiagram",
    "erDiagram",
    "flowchart",
    "gantt",
    "gitGraph",
    "graph",
    "journey",
    "kanban",
    "mindmap",
    "packet",
    "packet-beta",
    "pie",
    "quadrantChart",
    "radar-beta",
    "requirementDiagram",
    "sankey",
    "sankey-beta",
    "sequenceDiagram",
    "stateDiagram-v2",
    "timeline",
    "treemap-beta",
    "xychart",
    "xychart-beta",
]
_CACHE_NAME = "diagrams.json"
_CACHE_LIMIT = 2000
_BRACKETS = {"PS", "PE", "SQS", "SQE", "DIAMOND_START", "DIAMOND_STOP", "TAGEND", "PIPE", "STR"}
_TOKEN_WORDS = {
    "1": "the end of the diagram",
    "EOF": "the end of the diagram",
    "EOF_IN_STRUCT": "the end of the diagram inside '{'",
    "NEWLINE": "the end of the line",
    "NL": "the end of the line",
    "SEMI": "';'",
}
_JISON = re.compile(r"(?:Parse|Lexical) error on line (?P<line>\d+)")
_GOT = re.compile(r"got '(?P<token>[^']*)'\s*\Z")
_YAML_PLACE = re.compile(r" \((?P<line>\d+):(?P<column>\d+)\)")
_NAMED = re.compile(r"\"([^\"]+)\"|\[([^\]]+)\]|'([^']+)'|Invalid date: ?(\S+)")
# What messages quote of the diagram when they tell no line.


@dataclass(frozen=True, slots=True)
class Diagram:
    """A mermaid fence of a note."""

    file: str
    """Path from the repository root, with forward slashes."""
    line: int
    """Line of the first line of the text in the file, 1-based."""
    text: str
    indent: int = 0
    """Columns that were taken off each line of the text, as of a fence in a list."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What mermaid said of one text; an empty message means that it parsed."""

    message: str = ""
    line: int = 1
    """1-based, in the text."""
    column: int = 0
    """1-based; 0 when mermaid does not tell."""
    target: str = ""
    suggestion: str = ""
    rule: str = RULE


@dataclass(slots=True)
class _Cache:
    """Verdicts by key, in one JSON file that may vanish or rot at any time."""

    path: Path | None
    verdicts: dict[str, _Verdict] = field(default_factory=dict)
    changed: bool = False

    def load(self) -> None:
        """Read what can be read; anything else is as if it had never been written."""
        if self.path is None:
            return
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            entries = data["verdicts"]
            assert isinstance(entries, dict)
        except (OSError, ValueError, KeyError, TypeError, AssertionError):
            return
        for key, entry in entries.items():
            verdict = _verdict_of(entry)
            if verdict is not None:
                self.verdicts[key] = verdict

    def save(self) -> None:
        """Replace the file in one step; a folder that cannot be written costs only time."""
        if self.path is None or not self.changed:
            return
        newest = list(self.verdicts.items())[-_CACHE_LIMIT:]
        text = json.dumps(
            {"verdicts": {key: asdict(verdict) for key, verdict in newest}},
            ensure_ascii=False,
            indent=0,
        )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=_CACHE_NAME)
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                stream.write(text)
            Path(name).replace(self.path)
        except OSError:
            return


def _verdict_of(entry: object) -> _Verdict | None:
    """Return a cached verdict, or None unless it has exactly the fields and types of one."""
    if not isinstance(entry, dict) or entry.keys() != asdict(_Verdict()).keys():
        return None
    same = all(type(entry[key]) is type(value) for key, value in asdict(_Verdict()).items())
    return _Verdict(**entry) if same else None


def check_diagrams(
    diagrams: Iterable[Diagram],
    library: Path,
    cache_dir: Path | None,
    *,
    timeout_s: float = 30.0,
) -> list[Finding]:
    """Return a finding for each diagram that mermaid cannot parse.

    Arguments:
        diagrams: The mermaid fences, in any order.
        library: The UMD build of mermaid that pages load.
        cache_dir: Folder for verdicts of earlier runs; None keeps none.
        timeout_s: Seconds that one diagram may take; past them it gets `diagram-timeout`.

    Raises:
        OSError: The library cannot be read.
        RuntimeError: The library does not run, which no diagram is to blame for.
    """
    wanted = list(diagrams)
    if not wanted:
        return []
    seed = hashlib.sha256(library.read_bytes() + mermaid.DRIVER.encode()).digest()
    keys = {d.text: hashlib.sha256(seed + d.text.encode()).hexdigest() for d in wanted}
    cache = _Cache(cache_dir / _CACHE_NAME if cache_dir else None)
    cache.load()
    verdicts = {text: cache.verdicts[key] for text, key in keys.items() if key in cache.verdicts}
    missing = [text for text in keys if text not in verdicts]
    if missing:
        fresh = _judge(missing, library, timeout_s)
        for text, verdict in fresh.items():
            verdicts[text] = verdict
            if verdict.rule == RULE:  # a timeout says more of the machine than of the diagram
                cache.verdicts[keys[text]] = verdict
                cache.changed = True
        cache.save()
    return [_finding(d, verdicts[d.text]) for d in wanted if verdicts[d.text].message]


def _finding(diagram: Diagram, verdict: _Verdict) -> Finding:
    column = verdict.column + diagram.indent if verdict.column else 0
    return Finding(
        diagram.file,
        diagram.line + verdict.line - 1,
        column,
        verdict.rule,
        verdict.message,
        target=verdict.target,
        suggestion=verdict.suggestion,
    )


def _judge(texts: list[str], library: Path, timeout_s: float) -> dict[str, _Verdict]:
    """Let mermaid parse each text; a text that hangs costs a new process, not the run."""
    too_long = f"is longer than the {MAX_TEXT} characters that mermaid draws"
    verdicts = {text: _Verdict(too_long) for text in texts if len(text) > MAX_TEXT}
    todo = [text for text in texts if text not in verdicts]
    while todo:
        answers, hangs = _ask(todo, library, timeout_s)
        for text, answer in zip(todo, answers, strict=False):
            verdicts[text] = _verdict(text, answer) if answer else _Verdict()
        todo = todo[len(answers) :]
        if hangs:
            message = f"mermaid did not finish within {timeout_s:g} s; simplify the diagram"
            verdicts[todo.pop(0)] = _Verdict(message, rule="diagram-timeout")
    return verdicts


def _ask(
    texts: list[str], library: Path, timeout_s: float
) -> tuple[list[dict[str, Any] | None], bool]:
    """Run the engine on texts; return its answers, and whether the next text made it hang."""
    try:
        run = subprocess.run(
            [sys.executable, mermaid.__file__, str(library), str(timeout_s)],
            input=json.dumps(texts),
            capture_output=True,
            encoding="utf-8",
            check=False,
            # The engine watches each text itself; this is for one that does not even start.
            timeout=60 + 2 * timeout_s * len(texts),
        )
    except subprocess.TimeoutExpired as error:
        raise RuntimeError(f"mermaid does not run: no end after {error.timeout:g} s") from error
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if run.returncode == mermaid.HANGS:
        return answers, True
    if run.returncode != 0 or len(answers) != len(texts):
        reason = _first_line(run.stderr) or f"exit status {run.returncode}"
        raise RuntimeError(f"mermaid does not run: {reason}")
    return answers, False


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0][:200]


def _verdict(text: str, failure: dict[str, Any]) -> _Verdict:
    """Turn mermaid's error into a place in the text and a short message."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    starts: list[int] = failure["starts"]
    message = str(failure["message"])
    first = next((number for number in starts if number), 1)
    if failure["problems"]:
        problem = failure["problems"][0]
        line = _line_of(int(problem["line"]) or len(lines) + 1, starts, lines)
        said = _first_line(problem["message"])
        return _Verdict(f"mermaid cannot parse this: {said}", line, int(problem["column"]))
    if jison := _JISON.search(message):
        line = _line_of(int(jison["line"]), starts, lines)
        return _grammar_verdict(message, line, lines[line - 1], failure)
    if message.startswith("No diagram type detected"):
        words = lines[first - 1].split()
        word = words[0] if words else ""
        said = f"mermaid knows no diagram type '{word}'" if word else "the diagram is empty"
        return _Verdict(said, first, 0, word, nearest(word, _KEYWORDS, 0.6))
    if (place := _YAML_PLACE.search(message)) and lines[0].strip() == "---":
        end = next((n for n, part in enumerate(lines[1:], 1) if part.strip() == "---"), 1)
        line = max(1, min(int(place["line"]) + 1, end))
        said = _first_line(message[: place.start()])
        return _Verdict(f"front matter of the diagram is not YAML: {said}", line)
    line = _named([failure["token"], *_names(message)], lines) or first
    return _Verdict(f"mermaid refuses this: {_first_line(message)}", line)


def _line_of(line: int, starts: list[int], lines: list[str]) -> int:
    """Return the line of the text for a line as mermaid counts it, never past the last one."""
    last = max((n for n, part in enumerate(lines, 1) if part.strip()), default=1)
    found = starts[line - 1] if 0 < line <= len(starts) else last
    return min(found or last, last)


def _grammar_verdict(message: str, line: int, row: str, failure: dict[str, Any]) -> _Verdict:
    token = str(failure["token"]).strip()
    name = got["token"] if (got := _GOT.search(message)) else ""
    at = row.find(token, int(failure["after"])) if token else -1
    column = at + 1 if at >= 0 else 0
    if not name:
        said = "mermaid cannot read this line"
        said += "" if row.isascii() else "; put Chinese text into double quotes"
        return _Verdict(said, line, 0, row.strip())
    what = _TOKEN_WORDS.get(name) or (f"'{token}'" if token else f"token {name}")
    expected = [_TOKEN_WORDS.get(e.strip("'"), e.strip("'")) for e in failure["expected"]]
    said = f"mermaid did not expect {what} here"
    if name in ("NON_ESCAPED_TEXT", "ESCAPED_TEXT") and not row.isascii():
        said += "; sankey diagrams take only ASCII text, even in quotes"
    elif 0 < len(expected) <= 3:
        said += f", rather {' or '.join(expected)}"
    if name in _BRACKETS:
        said += '; if it belongs to a label, put that into double quotes: A["GPU (0)"]'
    elif name == "end":
        said += "; 'end' closes a block: write 'End' or \"end\" in a label"
    return _Verdict(said, line, column, token)


def _names(message: str) -> list[str]:
    return [next(filter(None, match.groups())) for match in _NAMED.finditer(message)]


def _named(names: list[str], lines: list[str]) -> int:
    """Return the only line that holds one of the names, 0 when none does."""
    for name in filter(None, names):
        found = [number for number, part in enumerate(lines, 1) if name in part]
        if len(found) == 1:
            return found[0]
    return 0
