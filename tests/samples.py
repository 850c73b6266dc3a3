"""Small trees of notes for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from hooks.findings.finding import Finding
from hooks.links import Settings, check_links, safety, text
from hooks.notes import catalogue
from hooks.notes.note import Catalogue, Note
from tools.figures import draw

HEAD = "---\ntitle: {title}\ndescription: d\nkind: note\nverified: 2026-01-02\n---\n\n# {title}\n\n"
FIRST_LINE = HEAD.count("\n") + 1
"""The line of a note's file on which the body of `note()` begins."""


def note(body: str, title: str = "T") -> str:
    """Return the text of a valid note with this body."""
    return HEAD.format(title=title) + body


def lay(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files by their paths below a folder; return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def read_yaml(path: Path) -> Any:
    """Return what a file of ours holds; the reader in C takes a tenth of the time."""
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)


def tree(tmp_path: Path, files: dict[str, str | bytes]) -> tuple[Catalogue, list[Finding]]:
    """Write files below `docs/` and read them back as a catalogue with its findings."""
    return catalogue.load(lay(tmp_path / "docs", files), tmp_path)


def found_in(
    notes: Catalogue,
    settings: Settings | None = None,
    generated: Callable[[Note], frozenset[str]] = lambda _: frozenset(),
) -> list[Finding]:
    """Return what is wrong with the texts and links of notes."""
    found = check_links(notes, settings or Settings(), generated)
    for one in notes.notes.values():
        found += [*text.check(one), *safety.check_note(one)]
    return sorted(set(found))


def said(findings: list[Finding]) -> list[tuple[str, int, str, str]]:
    """Return (rule, line, target, suggestion) of each finding."""
    return [(one.rule, one.line, one.target, one.suggestion) for one in sorted(findings)]


def _browsed(title: str, kind: str, fields: str, *parts: tuple[str, str]) -> str:
    head = HEAD.replace("kind: note", f"kind: {kind}\n{fields}").format(title=title)
    marker = "<!-- notes -->\n" if kind == "map" else ""
    return head + marker + "".join(f"## {heading}\n\n{text}\n\n" for heading, text in parts)


def stepped(kind: str) -> str:
    """Return a drawing with three boxes from left to right, wider than a phone, shown in steps."""
    stage = draw.step if kind == "step" else draw.frame
    parts = [
        stage(n, (f"第 {n} 句", f"Sentence {n}"), draw.gpu(n * 230 - 200, 20, 200, 60, f"box {n}"))
        for n in (1, 2, 3)
    ]
    return draw.figure(760, 100, "T", "D", draw.text(40, 14, ("底", "base")), *parts)


_BOXES = "![three boxes](figures/x.svg)\n\n"
_UNITS = "```calc\nunits\n```\n\n" * 2
_PIPELINE = "```calc\npipeline\n```"
MOVED = "topic/old: topic/one\nelsewhere/deep/old: topic/one\n"
"""What took the place of pages that are gone."""
BROWSED = {
    "topic/index": _browsed("主题", "map", "tags: [NVLink]"),
    "topic/index.en": _browsed("Topic", "map", "tags: [NVLink]"),
    "topic/one": _browsed(
        "第一篇",
        "note",
        "tags: [NVLink, 胖树, 标记0, 标记1, 标记2, 标记3, 标记4]",
        ("显存带宽", "零拷贝的带宽"),
        ("链路带宽", "带宽与零拷贝"),
    ),
    "topic/one.en": _browsed(
        "Note one",
        "note",
        "tags: [NVLink, fat tree]",
        ("Memory bandwidth", "zero-copy"),
        ("Links", "bandwidth"),
    ),
    "topic/two": _browsed(
        "第二篇",
        "tutorial",
        "tags: [NVLink, GPUDirect RDMA, 标记5, 标记6, 标记7, 标记8]",
        ("拥塞控制", "带宽不够时（congestion）\n\n### 退让\n\n窗口缩小一半"),
        ("填充", "长文。\n\n" * 60),
    ),
    "topic/two.en": _browsed(
        "Note two",
        "tutorial",
        "tags: [NVLink]",
        ("Congestion", "bandwidth\n\n### Back off\n\nthe window shrinks by half"),
        ("Filler", "Text.\n\n" * 60),
    ),
    "topic/three": _browsed(
        "第三篇", "note", "tags: [p, q]", ("甲", _BOXES + _PIPELINE), ("乙", _UNITS)
    ),
    "topic/three.en": _browsed(
        "Note three", "note", "tags: [p, q]", ("A", _BOXES + _PIPELINE), ("B", _UNITS)
    ),
}
"""Further notes of the small handbook that browser tests visit, of several kinds.

More tags than the search box shows at first, a former address, calculators twice on a page, and a
figure in steps.
"""
