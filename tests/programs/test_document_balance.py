"""Packed documents: zigzag of the pack is uneven, zigzag of each document is even."""

from __future__ import annotations

import numpy as np

from tools.figures.files import load_program

program = load_program("train/code/document_balance.py")


def test_pairs_are_those_of_the_mask() -> None:
    sizes = np.array([32, 16, 48])
    owner = np.repeat(np.arange(3), sizes)
    mask = np.tril(owner[:, None] == owner[None, :])
    for places in (program.contiguous(96, 4), program.zigzag(96, 4)):
        assert program.work(places, sizes).tolist() == [int(mask[at].sum()) for at in places]


def test_only_documents_cut_one_by_one_are_even() -> None:
    sizes = np.array([16, 64, 160, 16])
    places = program.each(sizes, 4)
    assert sorted(np.concatenate(places).tolist()) == list(range(256))
    assert program.most(places, sizes) == 1
    assert program.most(program.zigzag(256, 4), sizes) > 1.1
    assert program.most(program.zigzag(256, 4), np.array([256])) == 1
