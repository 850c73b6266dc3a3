"""Heading ids must be GitHub's, on the rendered page and in GitHub's view alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.markdown import mark, read, render
from hooks.markdown.heading_ids import Slugger, github_slug

# Ids as github.com renders them; see the rule quoted in hooks.markdown.heading_ids.py.
CASES = [
    ("NVLink 发展", "nvlink-发展"),
    ("A - B", "a---b"),
    ("GDS（GPUDirect Storage）", "gdsgpudirect-storage"),
    ("什么是 RDMA？", "什么是-rdma"),
    ("ibv_post_send & WR", "ibv_post_send--wr"),
    ("1.CUDA中的异构并行计算", "1cuda中的异构并行计算"),
    ("C++ / C#", "c--c"),
    ("步骤①与 x²", "步骤与-x"),
    ("½ of Ⅳ", "-of-ⅳ"),
    ("Warning ⚠️", "warning-\ufe0f"),
    ("Cafe\u0301", "cafe\u0301"),
    ("Ⓐ circled", "ⓐ-circled"),
    ("100 %", "100-"),
    ("一级　全角空格", "一级全角空格"),
    ("Straße ÄÖ", "straße-äö"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_slug(text: str, expected: str) -> None:
    assert github_slug(text) == expected


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a", "a", "a"], ["a", "a-1", "a-2"]),
        (["a", "a-1", "a"], ["a", "a-1", "a-2"]),
        (["a-1", "a", "a"], ["a-1", "a", "a-2"]),
        (["？", "！"], ["", "-1"]),
    ],
)
def test_repeats_are_counted_as_on_github(texts: list[str], expected: list[str]) -> None:
    slugger = Slugger()
    assert [slugger(text) for text in texts] == expected


@pytest.mark.parametrize(
    "source",
    [
        "# `code` & <b>bold</b> *em* [link](a.md) &amp; x\n",
        "## 数据（单位：GB/s）\n\n## 数据（单位：GB/s）\n",
        "Setext 标题\n===\n\n## ~~删~~ x\n",
        "## 脚注[^1] 在标题\n\n[^1]: x\n",
        "## A \\* B \\_ c\n",
        "## `a_b` 与 `__global__`\n",
    ],
)
def test_the_page_and_github_agree(source: str) -> None:
    marked = mark(source)
    found = read(marked, render(marked.text, Path()))
    assert {heading.id for heading in found.headings} == found.github_ids
