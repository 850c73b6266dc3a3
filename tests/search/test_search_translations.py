"""Words of the other language: what they meet, and where they are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hooks.search import translations
from hooks.search.engine import Engine, open_engine
from hooks.search.index import make_index
from hooks.search.markdown import read_note

WORDS = translations.translations()


def _flat(form: str) -> str:
    return re.sub(r"[\s_-]+", "", form)


def test_an_english_form_stands_in_one_line() -> None:
    count = Counter(form for one in WORDS for form in {_flat(form) for form in one.english})
    assert [form for form, times in count.items() if times > 1] == []


def test_forms_are_such_as_the_engine_reads() -> None:
    english = [
        form
        for one in WORDS
        for form in one.english
        if not re.fullmatch(r"[a-z0-9]+(?: [a-z0-9]+){0,4}", form)
    ]
    chinese = [
        form
        for one in WORDS
        for form in one.chinese
        if not re.search(r"[㐀-鿿]{2}", form) or len(set(one.chinese)) < len(one.chinese)
    ]
    assert (english, chinese) == ([], [])


@pytest.mark.parametrize(
    "line", ["install", "install =", "install=安装", " = 安装", "install, = 安装"]
)
def test_a_line_without_a_side_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="is not of the form"):
        translations.read_line(line)


@pytest.mark.parametrize(
    ("text", "query", "row"),
    [
        ("先安装。", "install", "install|installation|set up|setup=安装"),
        ("We are installing it.", "安装", "install=安装"),
        ("Back up the data.", "备份", "back up=备份 备用"),
        ("从备份恢复", "recover", "recover|recovery=恢复"),
        ("无关", "安装", None),
    ],
    ids=["Chinese", "inflected", "two words for one", "only what stands there", "neither"],
)
def test_lines_that_no_text_answers_are_left_out(text: str, query: str, row: str | None) -> None:
    table = translations.table([text])
    found = [line for line in table if query in re.split(r"[|= ]", line)]
    assert found == ([row] if row else [])


_CHINESE = {
    "ops/backup.md": "# 数据保护\n\n## 灾难恢复\n\n用备份恢复数据。\n\n## 权限\n\n谁可以读。\n",
    "ops/oom.md": "# 常见问题\n\n## 内存不足怎么办\n\n减小批量。\n\n## 安装驱动\n\n先装驱动。\n",
    "ml/save.md": "# 训练\n\n## 保存检查点\n\n每一千步保存。\n\n## 学习率\n\n先大后小。\n",
    "algo/list.md": "# 链表\n\n## 合并两个有序链表\n\n比较表头。\n\n## 反转\n\n改指针。\n",
    "web/error.md": "# 网关\n\n## Error handling\n\n返回什么。\n\n## 限流\n\n`limiter` 的用法。\n",
    "web/upgrade.md": "# 版本\n\n## Rolling upgrades\n\n一台一台来。\n",
}


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    notes = [read_note(path, text.encode()) for path, text in _CHINESE.items()]
    with open_engine(make_index(notes)) as made:
        yield made


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("disaster recovery", "灾难恢复"),
        ("out of memory", "内存不足怎么办"),
        ("save a checkpoint", "保存检查点"),
        ("saving checkpoints", "保存检查点"),
        ("merge two sorted lists", "合并两个有序链表"),
        ("install driver", "安装驱动"),
        ("learning rate", "学习率"),
        ("permissions", "权限"),
        ("错误处理", "error-handling"),
        ("滚动升级", "rolling-upgrades"),
    ],
)
def test_a_section_is_found_by_words_of_the_other_language(
    engine: Engine, query: str, first: str
) -> None:
    hits = engine.search(query)
    assert hits[0].location.rpartition("#")[2] == first
    assert not hits[0].weak


def test_the_own_word_comes_before_its_translation() -> None:
    notes = [
        read_note("a.md", "# 甲\n\n## 部署\n\n怎样部署。\n".encode()),
        read_note("b.md", "# 乙\n\n## deploy\n\n`deploy` 命令。\n".encode()),
    ]
    with open_engine(make_index(notes)) as both:
        assert [hit.location for hit in both.search("deploy")] == ["b.html#deploy", "a.html#部署"]
        assert [hit.location for hit in both.search("部署")] == ["a.html#部署", "b.html#deploy"]


@pytest.mark.parametrize(
    "query",
    ["driving test", "insurance recovery", "weight loss diet", "guitar", "红烧肉", "护照错误"],
)
def test_a_translated_word_alone_answers_nothing(engine: Engine, query: str) -> None:
    assert engine.search(query) == []


def test_a_slip_is_still_repaired(engine: Engine) -> None:
    hits = engine.search("lmiiter")
    assert (hits[0].location, hits[0].weak) == ("web/error.html#限流", True)


_TERMS = {
    "a.md": "# 运维\n\n## 告警\n\n何时发出。\n\n## 日志\n\n记下来。\n",
    "b.md": "# 网关\n\n## 转发\n\n负载均衡把请求分开。\n\n## 数据\n\n"
    "先 load 数据，再 balancing 类别。\n",
    "c.md": "# 压缩\n\n## 量化\n\n用 8 位。\n\n## 剪枝\n\n去掉一些。\n",
}


@pytest.mark.parametrize(
    ("query", "first", "weak"),
    [
        ("报警", "告警", False),
        ("load balancing", "转发", False),
        ("quantizaton", "量化", True),
        ("pruninng", "剪枝", True),
    ],
    ids=["another word of one language", "a term before its words", "a slip", "doubled"],
)
def test_what_words_mean(query: str, first: str, *, weak: bool) -> None:
    notes = [read_note(path, text.encode()) for path, text in _TERMS.items()]
    with open_engine(make_index(notes)) as made:
        hit = made.search(query)[0]
    assert (hit.title, hit.weak) == (first, weak)


@contextmanager
def _of(*texts: str) -> Iterator[Engine]:
    """Yield an engine over notes in Chinese with these texts."""
    notes = [read_note(f"{n}.md", text.encode()) for n, text in enumerate(texts)]
    with open_engine(make_index(notes)) as made:
        yield made


def test_words_for_the_same_do_not_stand_in_for_the_other_language() -> None:
    """Notes say it in other Chinese words in one place and in English in another."""
    texts = (
        "# 甲\n\n## 内存碎片\n\n怎样整理。\n",
        "# 乙\n\n## Memory fragmentation\n\nHow it comes about.\n",
        "# 丙\n\n## 日志\n\n记下来。\n",
    )
    with _of(*texts) as made:
        titles = {hit.title for hit in made.search("显存碎片")}
    assert titles == {"内存碎片", "Memory fragmentation"}


def test_a_repaired_word_is_met_by_its_translation_too() -> None:
    texts = (
        "# 甲\n\n## 模型微调\n\n怎样微调。\n",
        "# 乙\n\n## 日志\n\n`finetune.log` 文件，finetune。\n",
    )
    with _of(*texts) as made:
        hits = made.search("finetue")
    assert {hit.title for hit in hits} == {"模型微调", "日志"}
    assert all(hit.weak for hit in hits)


def test_words_of_a_term_are_translated_one_by_one_too() -> None:
    texts = (
        "# 甲\n\n## 转发\n\n负载均衡把请求分开。\n",
        "# 乙\n\n## 分配\n\n各卡的负载要保持均衡。\n",
        "# 丙\n\n## 日志\n\n记下来。\n",
    )
    with _of(*texts) as made:
        assert [hit.title for hit in made.search("load balancing")] == ["转发", "分配"]


def test_an_english_word_is_no_rarer_than_what_it_means() -> None:
    """In Chinese notes English words are rare, which says nothing about what they ask for."""
    others = [f"# 引擎 {n}\n\n## 第 {n} 种引擎\n\n选择这种引擎。\n" for n in range(12)]
    texts = [
        "# 甲\n\n## 选择引擎\n\n看需求。\n",
        "# 乙\n\n## 目录\n\n参数 `choose`，`engine`。\n",
        *others,
    ]
    with _of(*texts) as made:
        assert made.search("choose engine")[0].title == "选择引擎"


def test_lines_take_a_share_of_the_texts_short_and_named_ones_first() -> None:
    forms = "，".join(form for one in WORDS for form in one.chinese)
    rows = translations.table([forms])
    size = sum(len(row.encode()) + 3 for row in rows)
    most = max(translations.LEAST, translations.SHARE * len(forms.encode()))
    assert most - 300 < size <= most
    kept = _english(rows)
    left_out = [one for one in WORDS if "|".join(one.english) not in kept]
    shortest = min(left_out, key=lambda one: len(" ".join((*one.english, *one.chinese))))
    named = translations.tables([forms], WORDS, titles=[shortest.chinese[0]])[0]
    assert "|".join(shortest.english) in _english(named)


def _english(rows: list[str]) -> set[str]:
    return {row.partition("=")[0] for row in rows}


@pytest.mark.parametrize(
    ("text", "is_kept"),
    [("安装 CUDA 工具包。", True), ("安装CUDA工具包。", True), ("安装工具。", False)],
)
def test_a_mixed_form_stands_where_all_of_it_does(text: str, *, is_kept: bool) -> None:
    source = [translations.read_line("cuda setup = 安装CUDA工具")]
    assert bool(translations.tables([text], source)[0]) == is_kept


def test_twins_need_no_translations() -> None:
    twins = [
        read_note("a.md", "# 安装\n\n先安装。\n".encode()),
        read_note("a.en.md", b"# Install\n\nInstall it.\n"),
    ]
    alone = read_note("b.md", "# 备份\n\n做备份。\n".encode())
    assert make_index(twins).tables["translations"] == ["", ""]
    chinese = make_index([*twins, alone]).tables["translations"][1]
    assert chinese.split("\n") == ["备份 备用"]
