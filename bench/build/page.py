"""What the site shows of the record of builds, as Markdown: ratios first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_KINDS = ("cold", "same", "changed", "zensical")
_WORDS: dict[str, dict[str, str]] = {
    "zh": {
        "none": "尚无记录。",
        "says": "构建同样的笔记，处理器时间与只用 MkDocs、Material 和双语插件相比（1 为相同）：",
        "pages": "页数",
        "cold": "本手册，缓存为空",
        "same": "无改动",
        "changed": "改动一篇",
        "zensical": "Zensical",
        "plain": "只用 Material",
        "memory": "内存峰值（最大的一个进程）",
        "clock": "{cpu_s:.1f} s（钟表上 {wall_s:.1f} s）",
        "save": "保存到浏览器显示",
        "save_most": "其中最慢",
        "first_warm": "启动到第一页，缓存已有",
        "first_cold": "启动到第一页，缓存为空",
        "no_zensical": "Zensical 没有安装，未比较。",
        "exponent": "从 500 页起，时间随页数的几次方增长：本手册 {cold}，只用 Material {plain}。",
        "at": "记录于 {date}，命令 `{command}`；{processor}，{cores} 核，"
        "同机负载 {load}，Python {python}。",
    },
    "en": {
        "none": "No record yet.",
        "says": "Building the same notes, processor time as against MkDocs with Material and the "
        "plug-in for two languages alone (1 is the same):",
        "pages": "Pages",
        "cold": "This handbook, no caches",
        "same": "Nothing changed",
        "changed": "One note changed",
        "zensical": "Zensical",
        "plain": "Material alone",
        "memory": "Peak memory (the largest process)",
        "clock": "{cpu_s:.1f} s ({wall_s:.1f} s on the clock)",
        "save": "From a save to the browser",
        "save_most": "The slowest of them",
        "first_warm": "From start to first page, caches filled",
        "first_cold": "From start to first page, caches empty",
        "no_zensical": "Zensical was not installed and is not compared.",
        "exponent": "From 500 pages on the time grows with this power of the pages: this handbook "
        "{cold}, Material alone {plain}.",
        "at": "Recorded on {date} by `{command}`; {processor}, {cores} "
        "cores, load of the machine {load}, Python {python}.",
    },
}


def render(part: str, language: str, results: Path) -> str:
    """Return what a record says: `speed` of builds, or the times of a `save`."""
    file = results / {"speed": "build.json", "save": "save.json"}[part]
    try:
        record: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return _WORDS[language]["none"]
    return (_speed if part == "speed" else _save)(record, language)


def _save(record: dict[str, Any], language: str) -> str:
    words = _WORDS[language]
    names = ("pages", "save", "save_most", "first_warm", "first_cold")
    lines = [[words[name] for name in names], ["---:"] * len(names)]
    for row in record["rows"]:
        firsts = [words["clock"].format(**row[name]) for name in names[3:]]
        lines.append(
            [str(row["pages"]), f"{row['save_s']:.2f} s", f"{row['save_most_s']:.2f} s", *firsts]
        )
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f"{table}\n\n{_at(record, words)}"


def _at(record: dict[str, Any], words: dict[str, str]) -> str:
    loads = sorted({row["load"] for row in record["rows"]})
    return words["at"].format(
        date=record["date"],
        command=" ".join(["python -m bench", record["part"], *record["options"]]),
        processor=record["machine"]["processor"],
        cores=record["machine"]["cores"],
        load="–".join(f"{one:g}" for one in dict.fromkeys((loads[0], loads[-1]))),
        python=record["versions"]["Python"],
    )


def _speed(record: dict[str, Any], language: str) -> str:
    """Return the ratios of a record and the times behind them."""
    words = _WORDS[language]
    kinds = [kind for kind in _KINDS if kind in record["rows"][0]]
    head = [words[name] for name in ("pages", *kinds, "plain", "memory")]
    lines = [head, ["---:"] * len(head)]
    for row in record["rows"]:
        names = [f"{kind}_{row['pages']}" for kind in kinds]
        ratios = [f"{record['ratios'][name]:.2f}" for name in names]
        plain = words["clock"].format(**row["plain"])
        memory = f"{row['cold']['peak_mb']:.0f} MB"
        lines.append([str(row["pages"]), *ratios, plain, memory])
    parts = [words["says"], "\n".join(f"| {' | '.join(line)} |" for line in lines)]
    if record["exponents"]:
        parts.append(words["exponent"].format(**record["exponents"]))
    if not record["zensical"]:
        parts.append(words["no_zensical"])
    return "\n\n".join([*parts, _at(record, words)])
