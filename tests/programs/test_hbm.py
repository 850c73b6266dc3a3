"""The model of a pseudo channel of HBM: what a reader of the note would notice if it were wrong."""

from __future__ import annotations

import pytest

from tools.figures.files import load_program

hbm = load_program("chip/code/hbm_channel.py")
RATE, BURSTS = 5.238, 1500


def share(chunk: int, **made: int) -> float:
    channel = hbm.Channel(RATE, **made)
    return float(hbm.share(channel, hbm.scattered(channel, BURSTS, chunk)))


def test_without_refresh_an_ordered_read_fills_the_pins() -> None:
    channel = hbm.Channel(RATE, refresh=False)
    assert hbm.share(channel, hbm.in_order(channel, BURSTS)) == pytest.approx(1, abs=0.02)


def test_refresh_takes_its_share_of_the_time() -> None:
    channel = hbm.Channel(RATE)
    found = hbm.share(channel, hbm.in_order(channel, 4 * BURSTS))
    assert found == pytest.approx(1 - hbm.REFRESH / hbm.EVERY, abs=0.02)


@pytest.mark.parametrize("ranks", [1, 2])
def test_scattered_pieces_are_bound_by_rows_opened(ranks: int) -> None:
    """Four rows in `FOUR` nanoseconds for each group of layers, one row for each piece."""
    bound = ranks * 4 * 32 / hbm.FOUR / (4 * RATE)  # bytes a nanosecond over those of the pins
    awake = 1 - hbm.REFRESH / hbm.EVERY
    assert bound * awake * 0.9 < share(32, ranks=ranks, refresh=True) <= bound
    assert share(64, ranks=ranks) == pytest.approx(2 * share(32, ranks=ranks), rel=0.05)


def test_longer_runs_of_a_kind_lose_less() -> None:
    shares = []
    for batch in (16, 64, 256):
        channel = hbm.Channel(RATE)
        shares.append(hbm.share(channel, hbm.in_order(channel, BURSTS, batch=batch)))
    assert shares == sorted(shares)
