"""The stepped figures of the collectives are what their program draws."""

from __future__ import annotations

import pytest

from tools.figures import protocols as figures_protocols


@pytest.mark.parametrize("name", figures_protocols.FIGURES)
def test_committed_figure_is_drawn(name: str) -> None:
    committed = (figures_protocols.FOLDER / name).read_text(encoding="utf-8")
    assert committed == figures_protocols.FIGURES[name](), "run: python -m tools.figures.protocols"
