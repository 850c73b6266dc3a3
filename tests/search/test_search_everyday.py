"""The words of every day that search knows in any collection."""

from __future__ import annotations

import pytest

from hooks.search.engine import core_source, open_engine
from hooks.search.index import make_index
from hooks.search.words import everyday
from tests import search_notes

WORDS = everyday.everyday()


def test_a_group_joins_words_and_one_of_them_can_be_looked_for() -> None:
    bad = [
        group
        for group in WORDS.same
        if len(group) != len(set(group)) or len(group) < 2 or all(len(form) == 1 for form in group)
    ]
    assert bad == []


def test_no_group_is_given_twice() -> None:
    groups = [frozenset(group) for group in WORDS.same]
    assert len(groups) == len(set(groups))


def test_light_words_are_given_once() -> None:
    assert sorted(set(WORDS.light)) == sorted(WORDS.light)


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [("用户要先注册。", "怎么登记用户", True), ("用户要先付款。", "怎么登记用户", False)],
)
def test_a_group_is_used_where_its_words_stand(text: str, query: str, found: bool) -> None:
    note = search_notes.page("a.md", f"# 甲\n\n{text}\n")
    other = search_notes.page("b.md", "# 乙\n\n无关的内容。\n")
    with open_engine(make_index([note, other])) as engine:
        hits = engine.search(query)
    assert bool(hits and "注册" in " ".join(hits[0].terms)) == found


def test_core_needs_no_words() -> None:
    index = make_index([search_notes.page("a.md", "# 甲\n\n带宽\n")])
    del index.tables["everyday"]
    assert core_source()
    with open_engine(index) as engine:
        assert [hit.location for hit in engine.search("带宽怎么样")] == ["a.html"]
