"""Find diagrams that mermaid cannot parse, with mermaid's own parser and no browser.

`hooks.drawings.mermaid` runs the vendored library in V8; this module turns its errors into
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
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hooks.drawings import mermaid
from hooks.findings import Finding, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable

RULE = "diagram-syntax"
MAX_TEXT = 50_000
"""Characters; mermaid draws an error picture for longer texts (its `maxTextSize`)."""

_KEYWORDS = (
    "architecture-beta block block-beta classDiagram erDiagram flowchart gantt gitGraph graph"
    " journey kanban mindmap packet packet-beta pie quadrantChart radar-beta requirementDiagram"
    " sankey sankey-beta sequenceDiagram stateDiagram-v2 timeline treemap-beta xychart xychart-beta"
).split()
_CACHE_NAME = "diagrams.json"
_CACHE_LIMIT = 2000
_PLACE = re.compile(r"error on line (?P<line>\d+)")
_NAMED = re.compile(r"\"([^\"]+)\"|\[([^\]]+)\]|'([^']+)'|Invalid date: ?(\S+)")
_YAML_PLACE = re.compile(r" \((?P<line>\d+):\d+\)")


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


class _Verdict(NamedTuple):
    """What mermaid said of one text; an empty message means that it parsed."""

    message: str = ""
    line: int = 1
    """1-based, in the text."""
    column: int = 0
    """1-based; 0 when mermaid does not tell."""
    target: str = ""
    suggestion: str = ""
    rule: str = RULE


def _recall(path: Path | None) -> dict[str, _Verdict]:
    """Return the verdicts of a file, by key; what is not one is as if it had never been written."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))["verdicts"] if path else {}
        rows = {key: _Verdict(*row) for key, row in kept.items() if type(row) is list}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    form = [type(one) for one in _Verdict()]
    return {key: row for key, row in rows.items() if [type(one) for one in row] == form}


def _keep(path: Path, verdicts: dict[str, _Verdict]) -> None:
    """Replace the file in one step; a folder that cannot be written costs only time."""
    newest = dict(list(verdicts.items())[-_CACHE_LIMIT:])
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=_CACHE_NAME)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump({"verdicts": newest}, stream, ensure_ascii=False, indent=0)
        Path(name).replace(path)


def check_diagrams(
    diagrams: Iterable[Diagram], library: Path, cache_dir: Path | None, *, timeout_s: float = 30.0
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
    path = cache_dir / _CACHE_NAME if cache_dir else None
    kept = _recall(path)
    missing = [text for text, key in keys.items() if key not in kept]
    fresh = _judge(missing, library, timeout_s) if missing else {}
    # A timeout says more of the machine than of the diagram.
    lasting = {keys[text]: one for text, one in fresh.items() if one.rule == RULE}
    if path and lasting:
        _keep(path, kept | lasting)
    verdicts = {text: fresh[text] if text in fresh else kept[key] for text, key in keys.items()}
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
    """Turn mermaid's error into its own words, at the line of the text that it counts."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    starts: list[int] = failure["starts"]
    message = str(failure["message"]).strip()
    first = next((number for number in starts if number), 1)
    if failure["problems"]:
        problem = failure["problems"][0]
        line = _line_of(int(problem["line"]) or len(lines) + 1, starts, lines)
        said = _first_line(problem["message"])
        return _Verdict(f"mermaid cannot parse this: {said}", line, int(problem["column"]))
    if told := _PLACE.search(message):
        line = _line_of(int(told["line"]), starts, lines)
        token = str(failure["token"]).strip()
        column = lines[line - 1].find(token, int(failure["after"])) + 1 if token else 0
        if "got '" not in message:
            return _Verdict("mermaid cannot read this line", line, 0, lines[line - 1].strip())
        what = f"'{token}'" if token else message.rpartition("got ")[2]
        said = f"mermaid did not expect {what} here"
        rather = [str(one).strip("'") for one in failure["expected"]]
        said += f", rather {' or '.join(rather)}" if len(rather) <= 3 else ""
        return _Verdict(said, line, column, token)
    said = _first_line(message)
    if message.startswith("No diagram type detected"):
        word = next(iter(lines[first - 1].split()), "")
        unknown = f"mermaid knows no diagram type '{word}'" if word else "the diagram is empty"
        return _Verdict(unknown, first, 0, word, nearest(word, _KEYWORDS, 0.6))
    if (place := _YAML_PLACE.search(message)) and lines[0].strip() == "---":
        end = next((n for n, part in enumerate(lines[1:], 1) if part.strip() == "---"), 1)
        return _Verdict(f"mermaid refuses this: {said}", max(1, min(int(place["line"]) + 1, end)))
    # What a message quotes tells its line, where only one holds it.
    names = [
        failure["token"],
        *(next(filter(None, one.groups())) for one in _NAMED.finditer(message)),
    ]
    holding = ([n for n, part in enumerate(lines, 1) if name in part] for name in names if name)
    line = next((found[0] for found in holding if len(found) == 1), first)
    return _Verdict(f"mermaid refuses this: {said}", line)


def _line_of(line: int, starts: list[int], lines: list[str]) -> int:
    """Return the line of the text for a line as mermaid counts it, never past the last one."""
    last = max((n for n, part in enumerate(lines, 1) if part.strip()), default=1)
    found = starts[line - 1] if 0 < line <= len(starts) else last
    return min(found or last, last)
