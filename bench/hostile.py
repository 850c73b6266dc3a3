"""Measure that no mark, repeated, makes reading quadratic: `make bench BENCH=hostile`.

Each is read at one length and at four times it. Reading in proportion takes four times as long,
quadratic reading sixteen; the limit lies between, for what takes long enough to matter. Nothing is
measured in the tests, where another program may be busy beside.
"""

from __future__ import annotations

import time

from hooks.markdown.dialects import ANY, COMMONMARK, SITE, Dialect
from hooks.markdown.site import parse
from tests import hostile

LENGTH, FACTOR = 8_000, 4
LIMIT, MATTERS_S = 9.0, 2.0
SHOWN = 5
"""How many of the slowest are shown."""


def _seconds(text: str, dialect: Dialect) -> float:
    """Return the time of the quicker of two readings."""
    times = []
    for _ in range(2):
        start = time.process_time()
        parse(text, dialect)
        times.append(time.process_time() - start)
    return min(times)


def main(options: list[str]) -> int:
    """Print the marks that grow most; return 1 if one grows as only quadratic reading does."""
    grown = []
    for piece in [*hostile.MARKS, *hostile.LINES]:
        for tail in hostile.TAILS:
            for dialect in (SITE, ANY, COMMONMARK):
                short, long = (
                    _seconds(piece * (length // len(piece)) + tail, dialect)
                    for length in (LENGTH, LENGTH * FACTOR)
                )
                grown.append((long / max(short, 0.002), long, piece, tail))
    grown.sort(reverse=True)
    for growth, seconds, piece, tail in grown[:SHOWN]:
        print(f"{growth:5.1f} times as long, {seconds:6.3f} s: {piece!r} … {tail!r}")
    slow = [one for one in grown if one[0] > LIMIT and one[1] > MATTERS_S]
    print(
        f"hostile: {len(slow)} of {len(grown)} texts of {LENGTH * FACTOR:,} characters take more "
        f"than {MATTERS_S:g} s, and {LIMIT:g} times as long as a quarter of them"
    )
    return bool(slow)
