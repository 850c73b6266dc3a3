"""Trees of notes for the benchmark: any number of them, the same on every machine.

A note has eight sections in the proportions of this handbook's own notes: paragraphs of Chinese
with Latin words, links to other notes and their headings, a table, a program, a list, a footnote,
a callout. Every link is good, so that no tool stops at an error or spends time on saying one.
"""

from __future__ import annotations

import random
from pathlib import Path

SECTIONS = 8
_HAN = (
    "互联带宽延迟拓扑集合通信显存计算节点交换芯片训练推理并行调度吞吐拥塞链路协议缓存一致性"
    "内核编译张量流水分片梯度同步异步队列网卡路由电源散热机柜光模块误码重传校验驱动监控"
)
_LATIN = "NVLink PCIe RDMA GPU NCCL MPI HBM NIC RoCE TCP SHARP AllReduce CUDA kernel QP".split()
CONFIG = """\
site_name: Benchmark
strict: true
use_directory_urls: false
theme: {{name: material, language: zh, font: false}}
validation:
  nav: {{omitted_files: warn, not_found: warn, absolute_links: warn}}
  links: {{not_found: warn, absolute_links: warn, unrecognized_links: warn, anchors: warn}}
plugins: [search{plugins}]
markdown_extensions:
  - abbr
  - attr_list
  - def_list
  - footnotes
  - md_in_html
  - tables
  - toc:
      permalink: true
      slugify: !!python/object/apply:pymdownx.slugs.slugify {{kwds: {{case: lower}}}}
  - pymdownx.arithmatex: {{generic: true}}
  - pymdownx.details
  - pymdownx.highlight
  - pymdownx.quotes: {{callouts: true}}
  - pymdownx.superfences
  - pymdownx.tabbed: {{alternate_style: true}}
"""


def _words(chance: random.Random, count: int) -> str:
    parts = []
    for _ in range(count):
        if chance.random() < 0.15:
            parts.append(f" {chance.choice(_LATIN)} ")
        else:
            start = chance.randrange(len(_HAN) - 4)
            parts.append(_HAN[start : start + chance.randrange(2, 5)])
    return "".join(parts).strip()


def _heading(number: int, section: int) -> str:
    """Return the heading of a section: every note's headings are known without reading it."""
    return f"{_LATIN[(number + section) % len(_LATIN)]} 第 {section} 节"


def _anchor(number: int, section: int) -> str:
    return _heading(number, section).lower().replace(" ", "-")


def path(number: int) -> str:
    """Return the path of a note below the docs folder."""
    return f"topic-{number // 50:03}/note-{number:05}.md" if number else "index.md"


def _link(chance: random.Random, number: int, total: int) -> str:
    other = chance.randrange(total)
    up = "" if number == 0 else "../"
    fragment = (
        f"#{_anchor(other, chance.randrange(1, SECTIONS + 1))}" if chance.random() < 0.6 else ""
    )
    if other == number:
        fragment = f"#{_anchor(other, 1)}"
        return f"[{_words(chance, 2)}]({fragment})"
    return f"[{_words(chance, 2)}]({up}{path(other)}{fragment})"


def note(number: int, total: int) -> str:
    """Return the text of one note of a tree of `total`."""
    chance = random.Random(number)
    title = f"笔记 {number}"
    parts = [
        f"---\ntitle: {title}\ndescription: {_words(chance, 8)}\n"
        f"tags: [{chance.choice(_LATIN)}]\n---",
        f"# {title}",
        _words(chance, 40) + "。",
    ]
    for section in range(1, SECTIONS + 1):
        parts.append(f"## {_heading(number, section)}")
        parts += [
            f"{_words(chance, 30)}，见{_link(chance, number, total)}，**{_words(chance, 3)}** 与 "
            f"`{chance.choice(_LATIN)}_{section}`。{_words(chance, 25)}。"
            for _ in range(2)
        ]
        kind = section % 4
        if kind == 0:
            rows = "\n".join(
                f"| {_words(chance, 2)} | {chance.randrange(1, 900)} GB/s "
                f"| {_link(chance, number, total)} |"
                for _ in range(5)
            )
            parts.append(f"| 项目 | 数值 | 出处 |\n|---|---|---|\n{rows}")
        elif kind == 1:
            code = "\n".join(f"    value_{n} = measure({n})  # [x](gone.md)" for n in range(8))
            parts.append(f"```python\ndef main():\n{code}\n```")
        elif kind == 2:
            parts.append(
                "\n".join(f"- {_words(chance, 10)}{_link(chance, number, total)}" for _ in range(4))
            )
        else:
            parts.append(f"> [!NOTE]\n> {_words(chance, 15)}[^{section}]。")
            parts.append(
                f"[^{section}]: {_words(chance, 8)}，<https://example.com/{number}/{section}>。"
            )
    return "\n\n".join(parts) + "\n"


def write(root: Path, total: int, plugins: str = "") -> Path:
    """Write a tree of `total` notes with its configuration; return the docs folder.

    Args:
        root: The folder to make.
        total: How many notes.
        plugins: What is added to the configuration's list of plugins, such as `, htmlproofer`.
    """
    docs = root / "docs"
    for number in range(total):
        file = docs / path(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(note(number, total), encoding="utf-8")
    (root / "mkdocs.yml").write_text(CONFIG.format(plugins=plugins), encoding="utf-8")
    return docs
