"""Fold a convolution, its batch norm and ReLU into one step, count bytes, then use 8 bits.

Run:  python docs/infer/code/edge_fold.py

A block of 64 channels on an image of 56 x 56. Unfused, each step reads its input from memory and
writes its output; fused, only the first input is read and the last output written. The batch
norm's channels differ in size as trained ones do, here by a log-normal factor.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CHANNELS, SIZE, KERNEL = 64, 56, 3


def convolved(x: Array, weight: Array, bias: Array) -> Array:
    """Return a 3 x 3 convolution with padding: x (c, h, w), weight (out, c, 3, 3)."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, (KERNEL, KERNEL), axis=(1, 2))
    product = np.einsum("chwij,ocij->ohw", seen, weight, optimize=True)
    return product + bias[:, None, None]


# --8<-- [start:fold]
def folded(weight: Array, norm: dict[str, Array]) -> tuple[Array, Array]:
    """Return weight and bias of one convolution that is convolution and batch norm."""
    factor = norm["gain"] / np.sqrt(norm["variance"] + 1e-5)
    return weight * factor[:, None, None, None], norm["shift"] - norm["mean"] * factor


# --8<-- [end:fold]


def eight_bits(weight: Array, per_channel: bool) -> Array:
    """Round to 8 bits with one scale, or one for each output channel."""
    axes = (1, 2, 3) if per_channel else None
    scale = np.abs(weight).max(axis=axes, keepdims=True) / 127
    return np.rint(weight / scale) * scale


def relative(got: Array, exact: Array) -> float:
    """Return the error of an output, relative in the Frobenius norm."""
    return float(np.linalg.norm(got - exact) / np.linalg.norm(exact))


def worst(got: Array, exact: Array) -> float:
    """Return the error of the worst output channel."""
    return max(relative(a, b) for a, b in zip(got, exact, strict=True))


def megabytes(steps: int, bytes_per_value: int) -> float:
    """Return what so many steps read and write, in MB, with the weights once."""
    image = CHANNELS * SIZE * SIZE
    weights = CHANNELS * CHANNELS * KERNEL * KERNEL
    return (2 * steps * image + weights) * bytes_per_value / 1e6


def main() -> None:
    """Print bytes and errors."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(CHANNELS, SIZE, SIZE))
    weight = rng.normal(size=(CHANNELS, CHANNELS, KERNEL, KERNEL)) / (CHANNELS * 9) ** 0.5
    norm = {
        "gain": rng.lognormal(sigma=1.0, size=CHANNELS),
        "shift": rng.normal(size=CHANNELS) * 0.1,
        "mean": rng.normal(size=CHANNELS) * 0.1,
        "variance": rng.lognormal(sigma=0.5, size=CHANNELS),
    }
    none = np.zeros(CHANNELS)
    plain = convolved(x, weight, none)
    shaped = {name: value[:, None, None] for name, value in norm.items()}
    normed = (plain - shaped["mean"]) / np.sqrt(shaped["variance"] + 1e-5)
    exact = normed * shaped["gain"] + shaped["shift"]
    one, bias = folded(weight, norm)
    got = convolved(x, one, bias)
    print("step by step, FP32   ", f"{megabytes(3, 4):5.2f} MB read and written")
    same = relative(got, exact) < 1e-14  # the last digits depend on the processor
    print("folded and fused     ", f"{megabytes(1, 4):5.2f} MB, error below 1e-14: {same}")
    print("folded, fused, 8 bits", f"{megabytes(1, 1):5.2f} MB")
    print(f"{'weights in 8 bits':<34} {'error':>6} {'worst channel':>14}")
    for name, per_channel in (("one scale", False), ("a scale per output channel", True)):
        rounded = convolved(x, eight_bits(one, per_channel), bias)
        inner, all_ = rounded - bias[:, None, None], exact - bias[:, None, None]
        print(f"{'  ' + name:<34} {relative(inner, all_):6.1%} {worst(inner, all_):14.1%}")


if __name__ == "__main__":
    main()
