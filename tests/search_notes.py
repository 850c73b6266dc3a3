"""Notes that the search tests share: a small bilingual handbook with what search finds hard."""

from __future__ import annotations

from pathlib import Path

from hooks.notes import catalogue
from hooks.search import from_html
from hooks.search.sections import Page
from tests.samples import lay

REST = "description: d\nverified: 2026-01-02\n"
NOTES = {
    "index.md": f"---\ntitle: 手册\nkind: map\n{REST}---\n# 手册\n\n总览。\n",
    "index.en.md": f"---\ntitle: Handbook\nkind: map\n{REST}---\n# Handbook\n\nOverview.\n",
    "chip/memory.md": (
        f"---\ntitle: 存储层次\nkind: note\ntags: [显存, HBM]\n{REST}---\n"
        "# 存储层次\n\n存储：带、宽、显、内。\n\n"
        "## 显存带宽 { #bw }\n\nB200 的显存带宽是 1.8 TB/s，`cudaMemcpyAsync` 达不到。带，宽。\n\n"
        "## 显式同步 { #sync }\n\n显式地存储，带着宽松的语义。`__syncthreads()` 是屏障。\n\n"
        "## 内核启动 { #kernel }\n\n内核的启动开销，存在于每次调用。\n\n"
        "## 统一内存 { #um }\n\n前一段。\n\n统一内存（unified memory）按页迁移。\n"
    ),
    "chip/memory.en.md": (
        f"---\ntitle: Memory hierarchy\nkind: note\ntags: [device memory, HBM]\n{REST}---\n"
        "# Memory hierarchy\n\nLevels.\n\n"
        "## Memory bandwidth { #bw }\n\n1.8 TB/s; `cudaMemcpyAsync` does not reach it.\n\n"
        "## Explicit sync { #sync }\n\nA barrier.\n\n"
        "## Kernel launch { #kernel }\n\nCosts 5 µs. Oversubscription hurts.\n\n"
        "## Unified memory { #um }\n\nUnified memory migrates pages.\n"
    ),
    "link/ethernet.md": (
        f"---\ntitle: 以太网\nkind: paper\ntags: [RDMA, NVLink]\n{REST}---\n# 以太网\n\n网络。\n\n"
        "## 网络的拥塞控制 { #cc }\n\nDCQCN 与 all-reduce，small parallel distributed。\n"
        "`NCCL_IB_HCA` 选择 IB 网卡。\n\n"
        "## 发送的零拷贝 { #zc }\n\n零拷贝；NVLink 带宽 900 GB/s，C++17，`sm_90`，H100 SXM。\n\n"
        "### 收发队列 { #qp }\n\n用 `ibv_post_send` 与 `ibv_post_recv` 投递请求。\n"
    ),
    "link/ethernet.en.md": (
        f"---\ntitle: Ethernet\nkind: paper\ntags: [RDMA, NVLink]\n{REST}---\n"
        "# Ethernet\n\nNetworks.\n\n"
        "## Congestion control { #cc }\n\nDCQCN and AllReduce, small parallel.\n\n"
        "## Zero copy { #zc }\n\nNVLink bandwidth 900 GB/s.\n\n"
        "### Send and receive queues { #qp }\n\nPost with `ibv_post_send`.\n"
    ),
    "infer/tokenizer.en.md": (
        "# The tokenizer\n\nThe tokenizer splits text; `torch.compile` does not.\n"
    ),
    "ccl/ring.md": "# 环算法\n\n只有中文的一页：环形归约。上下文切换与中断。\n",
}

TERMS = """\
title: 甲
terms:
  - id: congestion-control
    zh: [拥塞控制]
    en: [congestion control]
  - id: device-memory
    zh: [显存]
    en: [device memory, VRAM]
    see: [bandwidth]
  - id: bandwidth
    zh: [带宽, 频宽]
    en: [bandwidth]
  - id: ring-reduce
    zh: [环形归约]
    en: [ring reduction]
"""


def write(folder: Path) -> Path:
    """Write the notes and the terms below a folder; returns it."""
    return lay(folder, {**NOTES, "terms/01-all.yml": TERMS})


def page(path: str, text: str) -> Page:
    """Return what search finds of a note."""
    return from_html.read_note(catalogue.read_note(path, text.encode(), Path("docs"))[0])


def pages(folder: Path) -> list[Page]:
    """Return what search finds of the notes below a folder."""
    return [from_html.read_note(note) for note in catalogue.load(folder)[0].notes.values()]
