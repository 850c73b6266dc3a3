"""Train a small next-character model, so that quantisation has a real matrix to work on.

Run:  python docs/infer/code/tiny_lm.py --train TEXT...   (writes tiny_lm.npz beside this file)

Twelve characters, each embedded in 16 numbers, make an input of 192; a matrix of 192 x 384, SiLU,
RMSNorm with a gain, a matrix of 384 x 384 (the one that quantize.py works on), SiLU, a matrix of
384 x 96. NumPy only. The committed weights were trained on the English notes of this handbook; the
file also holds text that training did not see, one part to calibrate with and one to judge by.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FILE = Path(__file__).with_name("tiny_lm.npz")
CONTEXT, WIDTH, HIDDEN, SYMBOLS = 12, 16, 384, 96
NAMES = ("embedding", "first", "gain", "middle", "last")


def normed(x: Array) -> Array:
    """Return each row divided by its root mean square."""
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6)


def silu(x: Array) -> Array:
    """Return x times its sigmoid."""
    return x / (1 + np.exp(-x))


def windows(codes: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return every run of CONTEXT characters, and the character after it."""
    seen = np.lib.stride_tricks.sliding_window_view(codes, CONTEXT + 1)
    return seen[:, :CONTEXT], seen[:, CONTEXT]


@dataclass
class Model:
    """Weights, and the text that training did not see."""

    embedding: Array
    first: Array
    gain: Array
    middle: Array
    last: Array
    calibration: NDArray[np.uint8]
    held_out: NDArray[np.uint8]

    def inputs(self, codes: NDArray[np.uint8]) -> Array:
        """Return what multiplies the middle matrix, a row for each character to guess."""
        flat = self.embedding[windows(codes)[0]].reshape(-1, CONTEXT * WIDTH)
        return normed(silu(flat @ self.first)) * self.gain

    def loss(self, product: Array, codes: NDArray[np.uint8]) -> float:
        """Return nats per character, given the product with the middle matrix."""
        scores = silu(product) @ self.last
        scores -= scores.max(axis=1, keepdims=True)
        right = scores[np.arange(len(scores)), windows(codes)[1]]
        return float((np.log(np.exp(scores).sum(axis=1)) - right).mean())


def load(path: Path = FILE) -> Model:
    """Read the committed weights."""
    held = np.load(path)
    weights = {name: held[name].astype(np.float64) for name in NAMES}
    return Model(**weights, calibration=held["calibration"], held_out=held["held_out"])


def encoded(text: str) -> NDArray[np.uint8]:
    """Return codes 0..94 for printable ASCII and 95 for all else."""
    codes = np.frombuffer(text.encode("ascii", "replace"), np.uint8).astype(np.int64) - 32
    return np.where((codes >= 0) & (codes < SYMBOLS - 1), codes, SYMBOLS - 1).astype(np.uint8)


def activated(x: Array) -> tuple[Array, Array]:
    """Return SiLU and its slope."""
    gate = 1 / (1 + np.exp(-x))
    return x * gate, gate * (1 + x * (1 - gate))


def gradients(w: dict[str, Array], x: NDArray[np.uint8], y: NDArray[np.uint8]) -> dict[str, Array]:
    """Return the gradient of the mean loss for one batch."""
    flat = w["embedding"][x].reshape(len(x), -1)
    raw, raw_slope = activated(flat @ w["first"])
    size = np.sqrt((raw * raw).mean(axis=1, keepdims=True) + 1e-6)
    unit = raw / size
    given = unit * w["gain"]
    hidden, hidden_slope = activated(given @ w["middle"])
    scores = hidden @ w["last"]
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(x)), y] -= 1
    p /= len(x)
    product_d = (p @ w["last"].T) * hidden_slope
    given_d = product_d @ w["middle"].T
    unit_d = given_d * w["gain"]
    raw_d = (unit_d - unit * (unit_d * unit).mean(axis=1, keepdims=True)) / size * raw_slope
    embedding = np.zeros_like(w["embedding"])
    np.add.at(embedding, x, (raw_d @ w["first"].T).reshape(*x.shape, WIDTH))
    return {
        "embedding": embedding,
        "first": flat.T @ raw_d,
        "gain": (given_d * unit).sum(axis=0),
        "middle": given.T @ product_d,
        "last": hidden.T @ p,
    }


def train(codes: NDArray[np.uint8], steps: int) -> dict[str, Array]:
    """Return weights after Adam, with a rate that falls to nothing."""
    rng = np.random.default_rng(1)
    size = CONTEXT * WIDTH
    w: dict[str, Array] = {
        "embedding": rng.normal(size=(SYMBOLS, WIDTH)),
        "first": rng.normal(size=(size, HIDDEN)) / size**0.5,
        "gain": np.ones(HIDDEN),
        "middle": rng.normal(size=(HIDDEN, HIDDEN)) / HIDDEN**0.5,
        "last": rng.normal(size=(HIDDEN, SYMBOLS)) / HIDDEN**0.5,
    }
    w = {name: value.astype(np.float32) for name, value in w.items()}
    mean = {name: np.zeros_like(value) for name, value in w.items()}
    square = {name: np.zeros_like(value) for name, value in w.items()}
    x, y = windows(codes)
    for step in range(1, steps + 1):
        chosen = rng.integers(0, len(x), 512)
        rate = 1.5e-3 * 0.5 * (1 + np.cos(np.pi * step / steps))
        for name, slope in gradients(w, x[chosen], y[chosen]).items():
            mean[name] += 0.1 * (slope - mean[name])
            square[name] += 0.01 * (slope * slope - square[name])
            corrected = mean[name] / (1 - 0.9**step)
            w[name] -= rate * corrected / (np.sqrt(square[name] / (1 - 0.99**step)) + 1e-8)
    return w


def main() -> None:
    """Train and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", nargs="+", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--output", type=Path, default=FILE)
    said = parser.parse_args()
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(said.train))
    codes = encoded(text)
    held = 4096 + CONTEXT
    weights = train(codes[: -2 * held], said.steps)
    half = {name: value.astype(np.float16) for name, value in weights.items()}
    rest = {"calibration": codes[-2 * held : -held], "held_out": codes[-held:]}
    np.savez_compressed(said.output, **half, **rest)
    model = load(said.output)
    for name in rest:
        codes = getattr(model, name)
        print(f"{name}: {model.loss(model.inputs(codes) @ model.middle, codes):.3f} nats")


if __name__ == "__main__":
    main()
