"""Least time of a prefill or decode step of a dense model, and where decode changes sides.

Run:  python docs/infer/code/step_bound.py [--questions]

Weights without the input embedding are read once a step, each sequence's cache once. Rates are
those of the data sheet, so real steps take longer. Pure arithmetic.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """A decoder in BF16 with grouped-query attention."""

    name: str
    read: float  # parameters that a step reads: all but the input embedding
    layers: int
    heads: int
    kv_heads: int
    head: float  # the output matrix's part: of a prompt only the last token needs it
    width: int = 128

    def cache(self) -> int:
        """Bytes of cache per token."""
        return 2 * self.layers * self.kv_heads * self.width * 2


MEMORY, COMPUTE = 3.352e12, 989.4e12  # one H100 SXM: byte/s, dense BF16 FLOP/s
OUTPUT = 128256 * 4096
LLAMA_8B = Model("Llama 3.1 8B", 8.03e9 - OUTPUT, 32, 32, 8, OUTPUT)


# --8<-- [start:bounds]
def prefill(model: Model, prompt: int) -> tuple[float, float]:
    """Seconds for a prompt's operations and for the bytes; the larger one binds."""
    causal = 2 * model.layers * model.heads * model.width * prompt**2
    work = 2 * (model.read - model.head) * prompt + 2 * model.head + causal
    return work / COMPUTE, 2 * model.read / MEMORY


def decode(model: Model, batch: int, context: int) -> tuple[float, float]:
    """The same for one new token in each of `batch` sequences."""
    attention = 4 * model.layers * model.heads * model.width * context
    moved = 2 * model.read + batch * context * model.cache()
    return batch * (2 * model.read + attention) / COMPUTE, moved / MEMORY


# --8<-- [end:bounds]


def turning_context(model: Model) -> float:
    """Context from which decode is memory-bound at any batch.

    There a sequence's cache takes as long to read as its token takes to compute.
    """
    attention = 4 * model.layers * model.heads * model.width
    return 2 * model.read / COMPUTE / (model.cache() / MEMORY - attention / COMPUTE)


def show(model: Model) -> None:
    """Print both phases side by side."""
    print(f"{model.name} in BF16 on one H100, by data sheet; ms")
    print("phase    tokens  compute  memory  binds")
    for prompt in (128, 512, 2048, 8192):
        work, moved = prefill(model, prompt)
        binds = "compute" if work > moved else "memory"
        print(f"prefill  {prompt:6d}  {work * 1e3:7.2f}  {moved * 1e3:6.2f}  {binds}")
    for batch in (1, 8, 64, 128):
        work, moved = decode(model, batch, 2048)
        binds = "compute" if work > moved else "memory"
        print(f"decode   {batch:6d}  {work * 1e3:7.2f}  {moved * 1e3:6.2f}  {binds}")
    print(f"any batch is memory-bound from {turning_context(model):.0f} tokens of context on")


def questions() -> None:
    """Print the numbers of the answers."""
    first = prefill(LLAMA_8B, 2048)[0]
    rest = 511 * decode(LLAMA_8B, 1, 2048 + 256)[1]
    print(f"Q1 prefill {first * 1e3:.1f} ms, 511 steps {rest * 1e3:.0f} ms: {rest / first:.0f}x")
    for batch in (32, 64):
        print(f"Q2 batch {batch}: {decode(LLAMA_8B, batch, 8192)[1] * 1e3:.1f} ms")
    work, moved = decode(LLAMA_8B, 512, 128)
    print(f"Q3 context 128, batch 512: compute {work * 1e3:.1f} ms, memory {moved * 1e3:.1f} ms")


def main() -> None:
    """Print the table, or the numbers of the answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", action="store_true", help="numbers of the note's answers")
    if parser.parse_args().questions:
        questions()
    else:
        show(LLAMA_8B)


if __name__ == "__main__":
    main()
