"""Diagrams drawn ahead: kept by what they are drawn from, put into pages as SVG.

`make diagrams` draws in a browser (tools/diagrams.py, draw_diagram.js) and commits one file for
each text. A build needs no browser then, and readers load no mermaid: a page's diagram is replaced
by its drawing where there is one. Elsewhere its source stays, which mermaid draws when it is read;
so only there a text can be wrong, and mermaid's parser is asked, in V8 (parse_diagram.js).
"""

from __future__ import annotations

import hashlib
import html as html_lib
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from hooks.drawings import figures, svg
from hooks.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER = "assets/diagrams"
"""Of the drawings, below the folder of the notes."""
LIBRARY = "assets/vendor/mermaid/mermaid.min.js"
SCRIPT = Path(__file__).with_name("draw_diagram.js")

_PARSER = Path(__file__).with_name("parse_diagram.js")
_SHORT = 160
"""Characters of a name that a screen reader says before it comes to the text."""
_DIAGRAM = re.compile(
    rf'<pre class="mermaid"><code>(?P<source>.*?)</code></pre>{figures.CAPTION}', re.DOTALL
)
_TAG = re.compile(r"<[^>]*>")
_SENTENCE_END = re.compile(r"(?<=。)|(?<=\.)\s")
_KINDS = {
    "flowchart": ("流程图", "Flowchart"),
    "graph": ("流程图", "Flowchart"),
    "sequenceDiagram": ("时序图", "Sequence diagram"),
    "stateDiagram-v2": ("状态图", "State diagram"),
    "gantt": ("时间线", "Timeline"),
}


@dataclass(frozen=True, slots=True)
class Diagram:
    """A mermaid fence of a note."""

    file: str
    """Path from the repository root, with forward slashes."""
    line: int
    """Line of the first line of the text in the file, 1-based."""
    text: str


@dataclass(frozen=True)
class Drawings:
    """The drawings of a folder of notes."""

    docs: Path

    @property
    def folder(self) -> Path:
        """Where they lie."""
        return self.docs / FOLDER

    @cached_property
    def _seed(self) -> bytes:
        """What every drawing depends on: mermaid itself, its settings, and how it is run."""
        return hashlib.sha256((self.docs / LIBRARY).read_bytes() + SCRIPT.read_bytes()).digest()

    def path(self, source: str) -> Path:
        """Return the file of the drawing of a text, whether it is there or not."""
        key = hashlib.sha256(self._seed + source.strip().encode()).hexdigest()[:16]
        return self.folder / f"{key}.svg"

    def unused(self, sources: Iterable[str]) -> list[Path]:
        """Return the drawings that no text is drawn as, such as those of earlier texts."""
        return sorted(set(self.folder.glob("*.svg")) - {self.path(source) for source in sources})

    def check(self, diagrams: Iterable[Diagram]) -> list[Finding]:
        """Tell which diagrams have no drawing yet, and which of them mermaid cannot draw."""
        missing = [one for one in diagrams if not self.path(one.text).is_file()]
        messages = refusals([one.text for one in missing], self.docs / LIBRARY)
        return [_finding(one, messages.get(one.text, "")) for one in missing]

    def put_in(self, html: str, language: str) -> str:
        """Replace the diagrams of a rendered page by their drawings, with their captions."""
        count = 0

        def replace(match: re.Match[str]) -> str:
            nonlocal count
            source = html_lib.unescape(match["source"]).strip()
            try:
                root = svg.parse(self.path(source).read_bytes())
            except (OSError, svg.SvgError):
                return match[0]
            count += 1
            name = _name(source, root, match["caption"] or "", language)
            drawing = figures.inline_drawing(root, name, language, f"diagram{count}-")
            return figures.framed("figure figure--diagram", drawing, match)

        return _DIAGRAM.sub(replace, html) if 'class="mermaid"' in html else html


def refusals(texts: list[str], library: Path) -> dict[str, str]:
    """Return what mermaid says, in its own words, of the texts that it cannot draw."""
    if not texts:
        return {}
    # An answer of V8 cannot be waited for where an event loop runs, as beside a browser in tests.
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(_ask, texts, library).result()


def _ask(texts: list[str], library: Path) -> dict[str, str]:
    # V8 takes a second to start: only for a text that was changed and not yet drawn.
    from py_mini_racer import JSPromise, MiniRacer

    found = {}
    with MiniRacer() as engine:
        for script in (_PARSER, library):
            engine.eval(script.read_text(encoding="utf-8"))
        for text in texts:
            promise = engine.eval(f"parseDiagram({json.dumps(text)})")
            assert isinstance(promise, JSPromise)
            found[text] = str(promise.get()).strip()
    return {text: message for text, message in found.items() if message}


def _finding(diagram: Diagram, message: str) -> Finding:
    """Return what is said of a diagram without a drawing, or of one that cannot have any."""
    if message:
        said = f"mermaid says: {' '.join(message.split())[:200]}"
        return Finding(diagram.file, diagram.line, 0, "diagram-syntax", said)
    said = "no drawing yet, so readers load mermaid for it; run make diagrams"
    return Finding(diagram.file, diagram.line, 0, "diagram-not-drawn", said)


def _name(source: str, root: svg.Element, caption: str, language: str) -> str:
    """Return what a diagram is called: what the caption says first, else its kind and words."""
    said = _SENTENCE_END.split(html_lib.unescape(_TAG.sub("", caption)), maxsplit=1)[0]
    if said:
        return said.strip()
    words = [one.text for one in root.walk() if one.name == "text"]
    first = next((line.split()[0] for line in source.splitlines() if line.strip()), "")
    kind = _KINDS.get(first, ("图", "Diagram"))[language == "en"]
    return f"{kind}{'：' if language == 'zh' else ': '}{', '.join(words)}"[:_SHORT]
