"""Cards of shared pages: lines that fit, nothing cut without a sign, pictures of the right size."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.drawings import cards

CARD = cards.Card(
    "手册 <H>", "互联 / 拓扑", "NVLink 的 900 GB/s 是单向还是双向？" * 4, "说明。" * 200
)


@pytest.mark.parametrize(
    ("text", "width", "most", "lines"),
    [
        ("短", 4, 2, ["短"]),
        ("一二三四五六", 3, 2, ["一二三", "四五六"]),
        ("一二三，四", 3, 2, ["一二三，", "四"]),
        ("one two three", 4, 3, ["one two", "three"]),
        ("一二三四五六七", 3, 2, ["一二三", "四五六…"]),
        ("", 3, 2, [""]),
    ],
)
def test_text_is_cut_into_lines(text: str, width: float, most: int, lines: list[str]) -> None:
    assert cards.wrap(text, width, most) == lines


def test_card_is_a_picture_of_the_size_said_and_is_kept(tmp_path: Path) -> None:
    first = cards.draw(CARD, tmp_path)
    assert first[:8] == b"\x89PNG\r\n\x1a\n"
    assert [int.from_bytes(first[at : at + 4], "big") for at in (16, 20)] == [1200, 630]
    kept = list(tmp_path.iterdir())
    assert [one.read_bytes() for one in kept] == [first]
    kept[0].write_bytes(b"kept")
    assert cards.draw(CARD, tmp_path) == b"kept"
    assert "&lt;H&gt;" in cards.svg(CARD)
