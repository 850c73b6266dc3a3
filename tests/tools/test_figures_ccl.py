"""The stepped figures of the collectives are what their program draws."""

from __future__ import annotations

import pytest

from tools.figures import ccl as figures_ccl


@pytest.mark.parametrize("name", figures_ccl.FIGURES)
def test_committed_figure_is_drawn(name: str) -> None:
    committed = (figures_ccl.FOLDER / name).read_text(encoding="utf-8")
    assert committed == figures_ccl.FIGURES[name](), "run: python -m tools.figures.ccl"
