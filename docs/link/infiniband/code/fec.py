"""What Reed-Solomon FEC leaves of a bit error rate: lost codewords, and how long until the next.

Units: errors per bit, seconds, Gb/s. Computed, not measured.

A codeword is lost when more of its 10-bit symbols are wrong than the code corrects. The bits here
err independently of each other; errors that come in bursts, as after an equaliser that feeds back
its decisions, fall into fewer symbols or overwhelm one codeword, so a real link differs. KR4 is
RS(528,514), KP4 is RS(544,514); the number of codewords is that of the rate with its overhead.

Usage
    python docs/link/infiniband/code/fec.py            # the table of the note
    python docs/link/infiniband/code/fec.py --bins     # errors per codeword, as a switch counts
"""

from __future__ import annotations

import argparse
import math

SYMBOL = 10
"""Bits of a symbol."""
CODES = {"KR4": (528, 7), "KP4": (544, 15)}
"""Symbols of a codeword, and how many of them can be wrong."""
DATA = 514
RATE = 400
"""Gb/s of data."""
LINE = 257 / 256
"""Bits before the code per bit of data: 256B/257B."""


# --8<-- [start:loss]
def symbol_error(ber: float) -> float:
    """Return the probability that a symbol has a wrong bit."""
    return -math.expm1(SYMBOL * math.log1p(-ber))


def exactly(wrong: int, ber: float, code: str) -> float:
    """Return the probability of a codeword with so many wrong symbols."""
    symbols, _ = CODES[code]
    p = symbol_error(ber)
    return math.comb(symbols, wrong) * p**wrong * (1 - p) ** (symbols - wrong)


def lost(ber: float, code: str) -> float:
    """Return the probability that a codeword cannot be corrected."""
    symbols, corrects = CODES[code]
    return math.fsum(exactly(n, ber, code) for n in range(corrects + 1, symbols + 1))


# --8<-- [end:loss]


def codewords(rate: float = RATE) -> float:
    """Return codewords a second at `rate` Gb/s of data."""
    return rate * 1e9 * LINE / (DATA * SYMBOL)


def span(seconds: float) -> str:
    """Return a time in a unit that fits."""
    if seconds > 1000 * 365.25 * 86400:
        return "> 1000 years"
    for unit, size in (("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("s", 1)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1000:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} us"


def limit(code: str, seconds: float) -> float:
    """Return the error rate at which a codeword is lost every so many seconds."""
    low, high = 1e-9, 1e-1
    for _ in range(100):
        middle = math.sqrt(low * high)
        low, high = (
            (low, middle) if lost(middle, code) * codewords() * seconds > 1 else (middle, high)
        )
    return low


def show_table() -> None:
    """Print the time between lost codewords by error rate and code."""
    print(f"computed, independent errors; time between lost codewords at {RATE} Gb/s")
    print(f"{'BER before FEC':>14}{'no FEC: an error':>18}{'KR4':>15}{'KP4':>15}")
    for ber in (1e-12, 1e-8, 1e-6, 1e-5, 1e-4, 2.4e-4, 5e-4, 1e-3):
        cells = [span(1 / max(lost(ber, code) * codewords(), 1e-300)) for code in CODES]
        none = span(1 / (ber * RATE * 1e9))
        print(f"{ber:>14.2g}{none:>18}{cells[0]:>15}{cells[1]:>15}")
    for code in CODES:
        print(
            f"{code}: one lost in an hour at {limit(code, 3600):.2g}, "
            f"in a year at {limit(code, 365.25 * 86400):.2g}"
        )


def show_bins() -> None:
    """Print how many codewords an hour have so many wrong symbols, KP4."""
    rates = (1e-6, 1e-5, 1e-4, 2.4e-4)
    print(f"computed, KP4, {RATE} Gb/s; codewords an hour with so many wrong symbols")
    print(f"{'wrong':>5}" + "".join(f"{rate:>10.2g}" for rate in rates))
    for wrong in (0, 1, 2, 4, 7, 10, 15, 16):
        cells = [exactly(wrong, rate, "KP4") * codewords() * 3600 for rate in rates]
        print(f"{wrong:>5}" + "".join(f"{cell:>10.1e}" for cell in cells))


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--bins", action="store_true")
    if parser.parse_args().bins:
        show_bins()
    else:
        show_table()


if __name__ == "__main__":
    main()
