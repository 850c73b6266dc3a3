"""A general dictionary: what is taken from it, and where it helps."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hooks.search import dictionary
from hooks.search.engine import open_engine
from hooks.search.index import make_index
from hooks.search.markdown import read_note

LINES = """
# CC-CEDICT
氣候 气候 [qi4 hou4] /climate/atmosphere; situation/CL:種|种[zhong3]/
氣候變化 气候变化 [qi4 hou4 bian4 hua4] /climate change/
審查 审查 [shen3 cha2] /to examine; to censor/censorship/
書法 书法 [shu1 fa3] /calligraphy/handwriting/
颱風 台风 [tai2 feng1] /typhoon/
竹子 竹子 [zhu2 zi5] /bamboo/CL:棵[ke1]/
王安石 王安石 [Wang2 An1 shi2] /Wang Anshi (1021-1086), Song dynasty politician/
邊緣 边缘 [bian1 yuan2] /edge/fringe/verge/brink/
安全 安全 [an1 quan2] /safe; secure/safety; security/
全活 全活 [quan2 huo2] /to save life/rescue/
活動 活动 [huo2 dong4] /to move about/activity/
""".strip().splitlines()


@pytest.mark.parametrize(
    ("gloss", "word"),
    [
        ("to examine", "examine"),
        ("a tool (computing)", "tool"),
        ("to make use of", ""),
        ("to protect sb from sth", "protect"),
        ("data-base", "data base"),
        ("variant of 審查|审查", ""),
        ("surname Wang", ""),
        ("CL:種|种[zhong3]", ""),
        ("to go", ""),
        ("thing", ""),
        ("what one says when guests leave", ""),
    ],
)
def test_a_gloss_is_a_word_or_nothing(gloss: str, word: str) -> None:
    assert dictionary.clean(gloss) == word


def test_words_are_those_that_stand_in_the_notes() -> None:
    known = dictionary.parse(LINES)
    rows = {one.english[0]: one.chinese for one in dictionary.held(["安全活动", "边缘"], known)}
    assert rows["activity"] == ("活动",)
    assert rows["edge"] == ("边缘",)
    assert "rescue" not in rows  # 全活 lies across two words
    assert "climate" not in rows


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Install a dictionary of a few lines."""
    file = tmp_path / dictionary.PACKAGE / "data/cedict_1_0_ts_utf-8_mdbg.txt.gz"
    file.parent.mkdir(parents=True)
    file.write_bytes(gzip.compress("\n".join(LINES).encode()))
    monkeypatch.syspath_prepend(str(tmp_path))
    dictionary.entries.cache_clear()
    monkeypatch.setattr(dictionary, "entries", dictionary.entries.__wrapped__)


NOTES = {
    "a.md": "# 甲\n\n## 练书法\n\n谁来看。\n\n## 台风\n\n很大。\n",
    "b.md": "# 乙\n\n## 找竹子\n\n用卷积。\n",
}


def _found(query: str) -> list[str]:
    notes = [read_note(path, text.encode()) for path, text in NOTES.items()]
    with open_engine(make_index(notes)) as engine:
        return [hit.location for hit in engine.search(query, "en")]


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("query", "answers"),
    [
        ("typhoon", ["a.html#台风"]),
        ("calligraphy", ["a.html#练书法"]),
        ("bamboo", ["b.html#找竹子"]),
        ("typhoon season travel guide", []),
        ("sourdough bread", []),
    ],
)
def test_an_english_word_finds_what_a_dictionary_says(query: str, answers: list[str]) -> None:
    assert _found(query) == answers


def test_without_a_dictionary_nothing_is_shipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dictionary, "entries", dict)
    assert _found("calligraphy") == []
    page = read_note("a.md", "# 甲\n\n边缘。\n".encode())
    assert make_index([page]).tables["dictionary"] == ["", ""]


@pytest.mark.usefixtures("installed")
def test_only_notes_in_one_language_carry_it_and_it_names_its_source() -> None:
    page = read_note("a.md", "# 甲\n\n边缘。\n".encode())
    english, chinese = (side.split("\n") for side in make_index([page]).tables["dictionary"])
    assert english[0] == f"# {dictionary.NOTICE}"
    assert ("edge", "边缘") in zip(english, chinese, strict=True)
    twin = read_note("a.en.md", b"# A\n\nEdge.\n")
    assert make_index([page, twin]).tables["dictionary"] == ["", ""]
