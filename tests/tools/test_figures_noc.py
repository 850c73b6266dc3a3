"""The figures of networks on chip are drawn from the programs of the notes."""

from __future__ import annotations

import pytest

from tools.figures import noc as figures_noc


@pytest.mark.parametrize("name", figures_noc.FIGURES)
def test_committed_figure_is_what_the_program_gives(name: str) -> None:
    committed = (figures_noc.FOLDER / name).read_text(encoding="utf-8")
    assert committed == figures_noc.FIGURES[name](), "run: python -m tools.figures.noc"
