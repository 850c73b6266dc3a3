"""Quantise one trained matrix by RTN, GPTQ, AWQ and SmoothQuant, and say what each costs.

Run:  python docs/infer/code/quantize.py             (weights only: bits, error, loss)
      python docs/infer/code/quantize.py --outliers  (the same function with large channels)

The matrix is the middle one of tiny_lm.py: 384 inputs, 384 outputs, after a norm. Scales are in
16 bits; the error is that of the product on text seen neither in training nor in calibration,
relative in the Frobenius norm; the loss is that of the whole model, whose other matrices stay.
AWQ is the search of scales alone, without its authors' search of clipping.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from tiny_lm import Array, Model, load

SCALE_BITS = 16
Method = Callable[[Array, Array, int, int], Array]


def scale_of(group: Array, bits: int) -> Array:
    """Return one scale per column of a group of rows: symmetric, the largest value fits."""
    largest = np.abs(group).max(axis=0) / (2 ** (bits - 1) - 1)
    return np.maximum(largest, 1e-12).astype(np.float16).astype(np.float64) + 1e-12


def rounded(values: Array, scale: Array, bits: int) -> Array:
    """Return the nearest values that the integers of so many bits can name."""
    top = 2 ** (bits - 1) - 1
    return np.clip(np.rint(values / scale), -top - 1, top) * scale


# --8<-- [start:rtn]
def rtn(weight: Array, _: Array, bits: int, group: int) -> Array:
    """Round each group of rows to the nearest, whatever the inputs are."""
    parts = [weight[at : at + group] for at in range(0, len(weight), group)]
    return np.concatenate([rounded(part, scale_of(part, bits), bits) for part in parts])


# --8<-- [end:rtn]


# --8<-- [start:gptq]
def gptq(weight: Array, inputs: Array, bits: int, group: int) -> Array:
    """Round row after row; later rows take up the error, as the inputs' correlation allows."""
    left = weight.copy()
    hessian = inputs.T @ inputs
    hessian += 0.01 * hessian.diagonal().mean() * np.eye(len(weight))
    upper = np.linalg.cholesky(np.linalg.inv(hessian)).T
    scale = np.zeros(weight.shape[1])
    for row in range(len(weight)):
        if row % group == 0:
            scale = scale_of(left[row : row + group], bits)
        chosen = rounded(left[row], scale, bits)
        error = (left[row] - chosen) / upper[row, row]
        left[row + 1 :] -= np.outer(upper[row, row + 1 :], error)
        left[row] = chosen
    return left


# --8<-- [end:gptq]


# --8<-- [start:awq]
def awq(weight: Array, inputs: Array, bits: int, group: int) -> Array:
    """Enlarge rows that meet large inputs, round, shrink: of 20 strengths the best."""
    size = np.abs(inputs).mean(axis=0)
    goal = inputs @ weight
    best, least = weight, np.inf
    for ratio in np.arange(20) / 20:
        s = size**ratio
        s /= np.sqrt(s.max() * s.min())
        tried = rtn(weight * s[:, None], inputs, bits, group) / s[:, None]
        error = float(((inputs @ tried - goal) ** 2).sum())
        if error < least:
            best, least = tried, error
    return best


# --8<-- [end:awq]


def both(weight: Array, inputs: Array, bits: int, group: int) -> Array:
    """Round weights and, with one scale for all of a batch, inputs; return the product."""
    scale = np.abs(inputs).max() / (2 ** (bits - 1) - 1)
    return rounded(inputs, scale, bits) @ rtn(weight, inputs, bits, group)


# --8<-- [start:smooth]
def smoothing(weight: Array, inputs: Array, strength: float = 0.5) -> Array:
    """Return by what each input is divided and each row multiplied."""
    return np.abs(inputs).max(axis=0) ** strength / np.abs(weight).max(axis=1) ** (1 - strength)


# --8<-- [end:smooth]


def per_weight(bits: int, group: int) -> float:
    """Return bits per weight with the scales."""
    return bits + SCALE_BITS / group


def relative(product: Array, exact: Array) -> float:
    """Return the error of a product, relative."""
    return float(np.linalg.norm(product - exact) / np.linalg.norm(exact))


METHODS: dict[str, Method] = {"RTN": rtn, "AWQ": awq, "GPTQ": gptq}
CASES = ((8, 384), (4, 384), (4, 128), (4, 32), (3, 128), (3, 32), (2, 32))


def weights_only(model: Model) -> list[str]:
    """Return the table of weight-only methods."""
    seen, judged = model.inputs(model.calibration), model.inputs(model.held_out)
    exact = judged @ model.middle
    lines = [f"16 bits: loss {model.loss(exact, model.held_out):.3f} nats per character"]
    lines.append(f"{'bits':>4} {'group':>5} {'per weight':>10}" + "".join(
        f"{name:>8} {'loss':>6}" for name in METHODS))  # fmt: skip
    for bits, group in CASES:
        cells = ""
        for method in METHODS.values():
            product = judged @ method(model.middle, seen, bits, group)
            cells += f"{relative(product, exact):8.1%} {model.loss(product, model.held_out):6.3f}"
        lines.append(f"{bits:4} {group:5} {per_weight(bits, group):10.3f}{cells}")
    return lines


def with_outliers(model: Model, channels: int, factor: float) -> tuple[Array, Array, Array]:
    """Return weight, calibration and held-out inputs of the same function with large channels.

    An input times the factor and its row over it change no product: a norm's gain can grow so.
    """
    enlarge = np.ones(len(model.middle))
    enlarge[np.linspace(0, len(enlarge) - 1, channels).astype(int)] = factor
    inputs = [model.inputs(codes) * enlarge for codes in (model.calibration, model.held_out)]
    return model.middle / enlarge[:, None], inputs[0], inputs[1]


def outliers(model: Model) -> list[str]:
    """Return the table of what large channels do, with and without a remedy."""
    lines = [f"{'channels':>8} {'largest':>7}  W4 g128: RTN   loss    AWQ   loss   GPTQ   loss"
             "  W8A8: plain   loss  smoothed   loss"]  # fmt: skip
    for channels, factor in ((0, 1.0), (4, 10.0), (4, 30.0), (4, 100.0)):
        weight, seen, judged = with_outliers(model, channels, factor)
        exact = judged @ weight
        s = smoothing(weight, seen)
        products = [judged @ method(weight, seen, 4, 128) for method in METHODS.values()]
        products.append(both(weight, judged, 8, len(weight)))
        products.append(both(weight * s[:, None], judged / s, 8, len(weight)))
        cells = [
            f"{relative(one, exact):{width}.1%} {model.loss(one, model.held_out):6.3f}"
            for one, width in zip(products, (12, 6, 6, 12, 9), strict=True)
        ]
        name = f"{channels} x {factor:.0f}" if channels else "none"
        lines.append(f"{name:>8} {np.abs(judged).max():7.0f}  {' '.join(cells)}")
    return lines


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--outliers", action="store_true")
    table = outliers if parser.parse_args().outliers else weights_only
    print("\n".join(table(load())))


if __name__ == "__main__":
    main()
