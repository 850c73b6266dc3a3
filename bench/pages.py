"""What docs/about/ shows of the records: `python -m bench pages [--check]`.

The tables stand between markers in the notes, `<!-- search-quality -->` …
`<!-- /search-quality -->`, so that a build reads notes only, and GitHub shows the figures too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench import record

FILES = {"search": "docs/about/search", "speed": "docs/about/checking"}
"""Part of the benchmark -> the note that shows its record."""
SUFFIXES = {"zh": ".md", "en": ".en.md"}
_CLASSES = {
    "all": ("全部", "all"),
    "zh": ("中文词", "Chinese words"),
    "question": ("提问", "questions"),
    "en": ("英文词", "English words"),
    "mixed": ("中英混合", "both mixed"),
    "api": ("标识符", "identifiers"),
    "partial": ("没打完的词", "parts of words"),
    "typo": ("错字", "slips"),
    "cross": ("跨语言", "other language"),
    "variant": ("异写", "other spellings"),
    "known": ("已知条目", "known items"),
}
_STEPS = {
    "build_cold": ("第一次构建", "first build"),
    "build_same": ("再次构建，无改动", "build, nothing changed"),
    "build_changed": ("再次构建，改动一篇", "build, one note changed"),
    "preview": ("预览：启动到第一页", "preview, from start to first page"),
    "save": ("预览：保存到页面更新", "preview, from a save to the new page"),
    "check_cold": ("第一次检查", "first check"),
    "check_same": ("再次检查，无改动", "check, nothing changed"),
    "check_changed": ("再次检查，改动一篇", "check, one note changed"),
}
_WORDS = {
    "search": (
        "| 查询 | 条数 | MRR@10 | 第一条就对 | 前五有对的 | 前五有对的页 |",
        "| Queries | Number | MRR@10 | First is right | Right in five | Right page in five |",
    ),
    "speed": (
        "| 步骤 | 时间 | 处理器时间 | 与第一次构建之比 |",
        "| Step | Time | Processor time | As against the first build |",
    ),
    "none": (
        "没有答案的查询中，{share:.0%} 仍给出了结果。",
        "{share:.0%} of the queries that should find nothing found something.",
    ),
    "pages": (
        "共 {pages} 个文件；预览只计钟表时间。",
        "{pages} files; previews by the clock only.",
    ),
    "at": (
        "记录于 {date}，命令 `{command}`；{processor}，{cores} 核，Python {python}。",
        "Recorded on {date} by `{command}`; {processor}, {cores} cores, Python {python}.",
    ),
    "missing": ("尚无记录。", "No record yet."),
}


class PageError(ValueError):
    """A note lacks the markers of its part."""


def render(part: str, language: str, root: Path = record.ROOT) -> str:
    """Return the table of a part and what is said below it."""
    found = record.read(part, root)
    which = list(SUFFIXES).index(language)
    if found is None:
        return _WORDS["missing"][which]
    rows, more = (_search if part == "search" else _speed)(found, which)
    head = _WORDS[part][which]
    rule = "| --- |" + " ---: |" * (head.count("|") - 2)
    about = {**found, **found["machine"], "python": found["versions"]["Python"]}
    table = "\n".join([head, rule, *(f"| {' | '.join(row)} |" for row in rows)])
    return f"{table}\n\n{more} {_WORDS['at'][which].format(**about)}"


def _search(found: dict[str, Any], which: int) -> tuple[Sequence[Sequence[str]], str]:
    scores = {"all": found["judged"]["all"], **found["judged"]["classes"]}
    rows = []
    for name, one in {**scores, "known": found["known"]["all"]}.items():
        shares = (one[f"{field}"] for field in ("success_1", "success_5", "page_success_5"))
        cells = [str(one["queries"]), f"{one['mrr']:.3f}", *(f"{share:.0%}" for share in shares)]
        rows.append([_CLASSES[name][which], *cells])
    return rows, _WORDS["none"][which].format(share=found["judged"]["none"]["with_hits"])


def _speed(found: dict[str, Any], which: int) -> tuple[Sequence[Sequence[str]], str]:
    rows = []
    for name, row in found["rows"].items():
        cpu = f"{row['cpu_s']:.1f} s" if "cpu_s" in row else "—"
        rows.append([_STEPS[name][which], f"{row['wall_s']:.1f} s", cpu, f"{row['ratio']:.2f}"])
    return rows, _WORDS["pages"][which].format(pages=found["pages"])


def filled(text: str, part: str, language: str, root: Path = record.ROOT) -> str:
    """Return a note with its table written anew. Raises PageError."""
    first, last = f"<!-- {part}-record -->", f"<!-- /{part}-record -->"
    found = re.search(f"^{first}$.*?^{last}$", text, re.DOTALL | re.MULTILINE)
    if found is None or text.count(first) != 1:
        raise PageError(f"'{first}' … '{last}' must stand once, each in a line of its own")
    whole = f"{first}\n\n{render(part, language, root)}\n\n{last}"
    return text[: found.start()] + whole + text[found.end() :]


def stale(root: Path = record.ROOT, *, write: bool = False) -> Iterator[str]:
    """Yield the notes whose tables are not as the records say; write them anew if asked to."""
    for part, stem in FILES.items():
        for language, suffix in SUFFIXES.items():
            path = root / (stem + suffix)
            before = path.read_text(encoding="utf-8")
            after = filled(before, part, language, root)
            if after != before:
                if write:
                    path.write_text(after, encoding="utf-8")
                yield f"{stem}{suffix}"


def main(options: list[str]) -> int:
    """Write the tables; with `--check` only compare. Return the exit status."""
    is_check = "--check" in options
    found = list(stale(write=not is_check))
    for name in found:
        print(f"{name}: {'stale; run python -m bench pages' if is_check else 'written'}")
    return int(bool(found) and is_check)
