"""Near duplicates and packing: what the note on training data concludes from its program."""

from __future__ import annotations

import math

import pytest

from tools.figures.files import load_program

data = load_program("train/code/data_prep.py")


@pytest.mark.parametrize(("similarity", "chance"), [(0.7, 56), (0.75, 77), (0.8, 92), (0.85, 98.8)])
def test_chances_are_those_of_the_paper(similarity: float, chance: float) -> None:
    """FineWeb, appendix E.1, in percent."""
    assert 100 * data.chance(similarity) == pytest.approx(chance, abs=0.5)


def test_one_changed_word_spoils_five_runs() -> None:
    text = [f"w{at}" for at in range(100)]
    other = [*text[:50], "x", *text[51:]]
    one, two = data.shingles(text), data.shingles(other)
    assert (len(one), len(one & two)) == (96, 91)


@pytest.mark.parametrize("length", [512, 2048, 8192])
def test_best_fit_holds_every_piece_and_overfills_nothing(length: int) -> None:
    pieces = [part for one in data.documents(500) for part in data.parts(one, length)]
    full = data.best_fit(pieces, length)
    assert sum(full) == sum(pieces)
    assert max(full) <= length
    assert len(full) >= math.ceil(sum(pieces) / length)


def test_a_piece_goes_where_it_leaves_least_room() -> None:
    assert sorted(data.best_fit([6, 5, 4, 3], 10)) == [8, 10]
