"""The figure of the SMs of an H100 is drawn from its record."""

from __future__ import annotations

import pytest

from tools.figures import anatomy


@pytest.mark.parametrize("name", anatomy.FIGURES)
def test_committed_figure_is_what_the_record_gives(name: str) -> None:
    committed = (anatomy.FOLDER / name).read_text(encoding="utf-8")
    assert committed == anatomy.FIGURES[name](), "run: python -m tools.figures.anatomy"
