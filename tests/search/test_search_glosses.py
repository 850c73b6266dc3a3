"""Terms that notes explain: which pairs are found, which are not, and what they are good for."""

from __future__ import annotations

import pytest

from hooks.search import glosses
from hooks.search.documents import CODE_CLOSE, CODE_OPEN
from hooks.search.engine import open_engine
from hooks.search.index import make_index
from hooks.search.markdown import read_note


def _found(*texts: str, title: str = "甲") -> dict[str, tuple[str, ...]]:
    mined = glosses.mine((title, text) for text in texts)
    return {one.english[0]: one.chinese for one in mined.translations}


@pytest.mark.parametrize(
    ("texts", "english", "chinese"),
    [
        (["激活分片（Activation Sharding，AS）把激活切开。"], "activation sharding", "激活分片"),
        (["先看，季节迁徙(seasonal migration)。"], "seasonal migration", "季节迁徙"),
        (["这被称为奖励滞后（reward lagging）。", "奖励滞后"], "reward lagging", "奖励滞后"),
        (["上文，拟合残差（fitted residuals）。"], "fitted residual", "拟合残差"),
        (["用 mixture of depths（MoD，深度混合）。"], "mixture of depth", "深度混合"),
        (["编竹排序（英语：Weaving sorting）"], "weaving sorting", "编竹排序"),
        (
            ["常用的近端优化（proximal updating）", "改用近端优化（proximal updating）"],
            "proximal updating",
            "近端优化",
        ),
    ],
    ids=["with abbreviation", "ascii", "verb before", "plural", "inside", "label", "two runs"],
)
def test_a_term_is_found(texts: list[str], english: str, chinese: str) -> None:
    assert _found(*texts).get(english) == (chinese,)


@pytest.mark.parametrize(
    "title",
    [
        "3.1 涡轮叶片 Turbine blades",
        "涡轮叶片：Turbine blades",
        "Turbine blades 涡轮叶片",
    ],
)
def test_a_heading_in_two_languages_explains(title: str) -> None:
    lower = "we call them turbine blades"
    assert _found(lower, title=title) == {"turbine blade": ("涡轮叶片",)}


def test_a_glossary_explains_and_a_few_lines_do_not() -> None:
    lines = ["dropout mask：暂退掩码", "early exiting：提前退出", "beam width：束宽度"]
    more = ["weight knotting：绳结绑法", "label shift：标签偏移"]
    assert _found("\n".join(lines)) == {}
    assert _found("\n".join(lines + more))["weight knotting"] == ("绳结绑法",)


def test_columns_of_languages_explain_and_other_columns_do_not() -> None:
    rows = "\n吝啬译法\tmiserly decoding\n束宽度\tbeam width"
    assert _found("中文\t英文" + rows)["miserly decoding"] == ("吝啬译法",)
    assert _found("名称\t取值" + rows) == {}


def test_a_longer_run_is_cut_where_the_collection_says() -> None:
    texts = ["后来人们广泛研究提示夹带（prompt smuggling）。"]
    texts += [f"{start}提示夹带很常见。" for start in ("防范", "检测", "评估", "绕过")]
    assert _found(*texts) == {"prompt smuggling": ("提示夹带",)}
    assert _found(texts[0]) == {}


@pytest.mark.parametrize(
    "text",
    [
        "李飞飞（Fei-Fei Li）提出。",
        "作者（Geoffrey Hinton）提出。",
        "升级框架（PyTorch）。",
        "数据集（ImageNet）很大。",
        "新版本（v2.0）。",
        "带宽（GB）与时间（ms）。",
        "混合专家（如 Switch Transformer）。",
        "词向量（Mikolov et al., 2013）。",
        "三个维度（batch、sequence、hidden）。",
        "学习率（optional）。",
        f"返回张量（{CODE_OPEN}reshape(x){CODE_CLOSE}）。",
        "时间复杂度为（log n）。",
        "Flash Attention（见下文）。",
        "公司（OpenAI）和公司（IBM）。",
        "使用 Docker",
    ],
)
def test_what_is_no_translation_is_left_out(text: str) -> None:
    assert _found(text, title=text if "使用" in text else "甲") == {}


@pytest.mark.parametrize(
    ("phrase", "short", "is_so"),
    [
        ("Reinforcement Learning from Human Feedback", "RLHF", True),
        ("mixture of experts", "MoE", True),
        ("large language models", "LLMs", True),
        ("key-value", "KV", True),
        ("tensor parallelism", "PP", False),
        ("attention", "A", False),
    ],
)
def test_an_abbreviation_is_made_of_initials(phrase: str, short: str, is_so: bool) -> None:
    assert glosses.has_initials(phrase, short) is is_so


_NOTES = {
    "a.md": "# 甲\n\n## 训练\n\n先要避免：**奖励黑客**（reward hacking）。\n",
    "b.md": "# 乙\n\n## 怎样缓解奖励黑客\n\n换奖励模型。\n\n## 别的\n\n无关。\n",
    "c.md": "# 丙\n\n## 反馈\n\n用 Reinforcement Learning from Human Feedback (RLHF)。\n",
    "d.md": "# 丁\n\n## RLHF 的坑\n\n标注很贵。\n",
}


def test_a_note_is_found_by_a_term_that_another_note_explains() -> None:
    notes = [read_note(path, text.encode()) for path, text in _NOTES.items()]
    with open_engine(make_index(notes)) as engine:
        found = [hit.location for hit in engine.search("reward hacking", "en")]
        assert "b.html#怎样缓解奖励黑客" in found
        found = [
            hit.location for hit in engine.search("reinforcement learning from human feedback")
        ]
        assert "d.html#rlhf-的坑" in found


def test_notes_in_both_languages_carry_no_glosses() -> None:
    notes = [
        read_note("a.md", "# 甲\n\n奖励黑客（reward hacking）。\n".encode()),
        read_note("a.en.md", b"# A\n\nReward hacking (RH).\n"),
    ]
    assert make_index(notes).tables["glosses"] == ["", ""]
