"""What stands under a tag beside its notes."""

from __future__ import annotations

import pytest

from hooks.pages.items import Item, Said
from hooks.pages.tagged import MOST, groups


def _item(kind: str, title: str, *names: str, anchor: str = "x") -> Item:
    said = Said(title, anchor=anchor, names=names)
    return Item(kind, title, "glossary/index", {"zh": said, "en": said})


ITEMS = [
    _item("term", "集合通信库", "NCCL"),
    _item("term", "NCCLX", "x of NCCL"),
    _item("resource", "NCCL User Guide"),
    _item("resource", "NCCLX paper"),
    _item("question", "Why does nccl hang?"),
    _item("note", "NCCL"),
    *(_item("figure", f"MoE {number}", anchor="") for number in range(MOST + 2)),
]


@pytest.mark.parametrize(
    ("tag", "language", "shown"),
    [
        pytest.param(
            "NCCL",
            "en",
            [
                ("Term", ["集合通信库"], 0),
                ("Resources", ["NCCL User Guide"], 0),
                ("Interview questions", ["Why does nccl hang?"], 0),
            ],
            id="whole words, in any case; a term only by a name of its own",
        ),
        pytest.param(
            "MoE", "zh", [("图表", [f"MoE {n}" for n in range(MOST)], 2)], id="no more than a line"
        ),
        pytest.param("RoCE", "zh", [], id="nothing"),
    ],
)
def test_what_a_tag_names(tag: str, language: str, shown: list[tuple[str, list[str], int]]) -> None:
    found = groups(ITEMS, tag, language)
    assert [(one.label, [title for title, _ in one.links], one.more) for one in found] == shown


def test_links_lead_to_the_page_in_the_same_language() -> None:
    (first, *_), (second, *_) = groups(ITEMS, "NCCL", "en"), groups(ITEMS, "NCCL", "zh")
    assert first.links[0][1] == "en/glossary/index.html#x"
    assert second.links[0][1] == "glossary/index.html#x"
