"""The time line of streams is drawn from its record."""

from __future__ import annotations

import pytest

from tools.figures import cuda as figures_cuda


@pytest.mark.parametrize("name", figures_cuda.FIGURES)
def test_committed_figure_is_what_the_record_gives(name: str) -> None:
    committed = (figures_cuda.FOLDER / name).read_text(encoding="utf-8")
    assert committed == figures_cuda.FIGURES[name](), "run: python -m tools.figures.cuda"


def test_four_streams_overlap_and_one_does_not() -> None:
    def side_by_side(streams: int) -> bool:
        spans = figures_cuda.spans(streams)
        assert len(spans) == 24
        return any(
            one[0] != other[0] and one[2] < other[3] - 0.01 and other[2] < one[3] - 0.01
            for one in spans
            for other in spans
        )

    assert side_by_side(4) and not side_by_side(1)
