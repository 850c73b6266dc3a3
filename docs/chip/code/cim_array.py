"""A matrix-vector product inside a memory array, bit by bit, with an ADC of n bits per column.

In: 8-bit inputs (unsigned) and 8-bit weights (two's complement), one bit to a cell. In each step
one bit of every input drives its row and each column delivers how many of its cells answered; an
ADC turns that count into a code, and digital logic shifts and adds the codes. Out: the conversions
that one output costs, and the error of the result beside the exact product. An adder tree in place
of the ADC (digital compute in memory) is the case without rounding.
"""

from __future__ import annotations

import numpy as np

BITS = 8
DEPTH = 1024  # length of a dot product
OUTPUTS = 64


def bit(values: np.ndarray, place: int) -> np.ndarray:
    """Return that bit of each value; two's complement for negative ones."""
    return (values >> place) & 1


def adc(counts: np.ndarray, bits: int | None, top: float) -> np.ndarray:
    """Return what a converter of so many bits, from 0 to `top`, reports; None converts exactly."""
    if bits is None:
        return counts
    step = max(top / (2**bits - 1), 1)
    return np.round(np.clip(counts, 0, top) / step) * step


# --8<-- [start:product]
def product(
    inputs: np.ndarray,
    weights: np.ndarray,
    rows: int,
    bits: int | None = None,
    clip: float = 1,
    spread: float = 0,
) -> np.ndarray:
    """Multiply as the array does: per block of rows, per bit of the input, per bit of the weight.

    `clip` is the top of the converter's range as a share of the rows; `spread` the standard
    deviation of what a cell that is on delivers.
    """
    noise = np.random.default_rng(2)
    total = np.zeros(weights.shape[1])
    for first in range(0, len(inputs), rows):
        block = slice(first, first + rows)
        for w in range(BITS):
            cells = bit(weights[block], w) * noise.normal(1, spread, weights[block].shape)
            sign = -1 if w == BITS - 1 else 1  # the highest bit of two's complement counts down
            for i in range(BITS):
                counts = bit(inputs[block], i) @ cells
                total += sign * 2 ** (w + i) * adc(counts, bits, clip * rows)
    return total


# --8<-- [end:product]


def conversions(depth: int, rows: int) -> int:
    """Return how often an ADC works for one output."""
    return -(-depth // rows) * BITS * BITS


def exact_bits(rows: int) -> int:
    """Return the bits that keep every count from 0 to `rows`."""
    return rows.bit_length()


def data() -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and weights as a layer has them: many small, few large."""
    random = np.random.default_rng(1)
    inputs = np.minimum(np.abs(random.normal(0, 40, DEPTH)), 255).astype(int)
    weights = np.clip(np.round(random.normal(0, 30, (DEPTH, OUTPUTS))), -128, 127).astype(int)
    return inputs, weights


def error(result: np.ndarray, truth: np.ndarray) -> float:
    """Return the root mean square error as a share of the result's own."""
    return float(np.sqrt(np.mean((result - truth) ** 2) / np.mean(truth**2)))


def main() -> None:
    inputs, weights = data()
    truth = (inputs @ weights).astype(float)
    print(f"dot products of {DEPTH}, 8 by 8 bits; error of the result in percent")
    print(
        f"{'rows at once':>12} {'conversions':>12}   ADC bits: 3      4      5      6      7      8"
    )
    for rows in (32, 128, 256):
        errors = [100 * error(product(inputs, weights, rows, n), truth) for n in range(3, 9)]
        print(
            f"{rows:12} {conversions(DEPTH, rows):12}        "
            + " ".join(f"{e:6.1f}" for e in errors)
        )
    narrow = [100 * error(product(inputs, weights, 128, n, clip=0.5), truth) for n in range(3, 9)]
    print(
        f"{'128, half':>12} {conversions(DEPTH, 128):12}        "
        + " ".join(f"{e:6.1f}" for e in narrow)
    )
    print(
        f"bits that lose nothing: {', '.join(f'{exact_bits(r)} for {r}' for r in (32, 128, 256))}"
    )
    for spread in (0.01, 0.05, 0.1):
        loose = 100 * error(product(inputs, weights, 128, spread=spread), truth)
        print(f"128 rows, ideal ADC, cells that vary by {100 * spread:.0f}%: {loose:.1f}")
    print("adder tree instead of ADC:", error(product(inputs, weights, 128), truth))


if __name__ == "__main__":
    main()
