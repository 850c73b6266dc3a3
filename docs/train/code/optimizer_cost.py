"""What AdamW, Muon, SOAP and Shampoo cost on a dense decoder: bytes, FLOP, messages. Stdlib only.

Run:  python docs/train/code/optimizer_cost.py [--batch] [--running]

Matrices of the layers take the optimizer named; the two tables of the vocabulary stay with AdamW.
FLOP are counted from the products of each algorithm; nothing here was timed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from planner import H100, SHAPES, Model

STEPS = 5  # Newton-Schulz iterations
EVERY = 10  # steps between two new eigenbases
CAP = 10_000  # a side longer than this keeps no preconditioner (SOAP's reference program)
BLOCK = 1024  # Distributed Shampoo cuts matrices into blocks of this side


def matrices(m: Model) -> Iterator[tuple[int, int]]:
    """Rows and columns of the matrices of one layer of a Llama, short side first."""
    kv = m.hidden * m.kv_heads // m.heads
    for rows, columns in ((m.hidden, m.hidden), (m.hidden, m.hidden), (kv, m.hidden),
                          (kv, m.hidden), *3 * [(m.hidden, m.feed)]):  # fmt: skip
        yield min(rows, columns), max(rows, columns)


# --8<-- [start:cost]
def newton_schulz(m: int, n: int) -> float:
    """FLOP of the iterations on m x n, m <= n: X X', the square of that, its product with X."""
    return STEPS * (4 * m * m * n + 2 * m**3)


def newton_schulz_tp(m: int, n: int, side: int, ranks: int) -> float:
    """FLOP of a rank in Megatron-LM's distributed mode, which keeps the side that TP does not cut.

    Only the two products with X are divided: every rank squares the whole X X'.
    """
    return STEPS * (4 * side * m * n / ranks + 2 * side**3)


def soap(m: int, n: int, cap: float) -> float:
    """FLOP a step: two factors, three rotations; power step and QR of a side every few steps."""
    total = 0.0
    for side, other in ((m, n), (n, m)):
        if side <= cap:
            total += 4 * 2 * side * side * other + (2 + 8 / 3) * side**3 / EVERY
    return total


def state(name: str, m: int, n: int) -> float:
    """Bytes kept besides the FP32 weight, all in FP32."""
    if name == "Muon":
        return 4 * m * n
    if name == "SOAP, no cap":
        return 8 * m * n + 2 * 4 * (m * m + n * n)
    if name == "SOAP, cap":
        return 8 * m * n + 2 * 4 * sum(side**2 for side in (m, n) if side <= CAP)
    if name == "Shampoo, blocks":
        return 8 * m * n + 2 * 4 * 2 * m * n  # two factors and two roots a block
    return 8 * m * n


# --8<-- [end:cost]
NAMES = ("AdamW", "Muon", "Shampoo, blocks", "SOAP, cap", "SOAP, no cap")


def work(name: str, m: int, n: int) -> float | None:
    """FLOP of a step; None where the roots are not counted."""
    return {
        "AdamW": 0.0,
        "Muon": newton_schulz(m, n),
        "SOAP, cap": soap(m, n, CAP),
        "SOAP, no cap": soap(m, n, float("inf")),
    }.get(name)


def costs() -> None:
    """State and FLOP by model; the share is of 6N per token."""
    print(f"{'':14s}{'':17s}{'state':>9s} {'bytes per':>10s} {'FLOP':>9s} {'of a step of':>14s}")
    print(f"{'':14s}{'':17s}{'GB':>9s} {'parameter':>10s} {'a step':>9s} {'1M':>8s}{'16M':>6s}")
    for m in SHAPES.values():
        shapes = list(matrices(m))
        tables = 2 * m.table
        for name in NAMES:
            held = m.layers * sum(state(name, *s) for s in shapes) + 8 * tables
            each = [work(name, *s) for s in shapes]
            line = f"{m.name:14s} {name:16s}{held / 1e9:9.1f} {held / m.parameters:10.1f}"
            if None in each:
                print(f"{line} {'roots not counted':>19s}")
                continue
            flop = m.layers * sum(w or 0.0 for w in each)
            shares = [flop / (6 * m.parameters * 2**k) for k in (20, 24)]
            print(f"{line} {flop:9.1e} {shares[0]:8.2%}{shares[1]:7.2%}")


def running() -> None:
    """Muon on the running example, 70B on 64 H100, by who runs Newton-Schulz on what."""
    m = SHAPES["70b"]
    layer = sum(newton_schulz(*s) for s in matrices(m))
    speed = H100.rate * H100.peak
    step = 6 * m.parameters * 128 * 8192 / (64 * 0.4 * H100.peak)
    print(f"Newton-Schulz of a layer {layer / 1e12:.0f} TFLOP, of all {m.layers} "
          f"{m.layers * layer / 1e15:.1f} PFLOP; a step at 40% MFU takes {step:.1f} s")  # fmt: skip
    whole = m.layers / 4 / 2  # layers that a TP group of A updates, whole
    divided = sum(newton_schulz_tp(*s, m.hidden, 8) for s in matrices(m))
    for name, flop in (
        ("every matrix once, spread over 64 GPUs", m.layers * layer / 64),
        ("A (TP 8, PP 4, DP 2), TP duplicated", whole * layer),
        ("A, TP distributed", whole * divided),
        ("A, TP duplicated and every DP rank as well", 2 * whole * layer),
    ):
        seconds = flop / speed
        print(f"  {name:43s}{seconds:6.2f} s {seconds / step:6.1%} of the step")
    rank = m.layers * m.layer / 4 / 8  # parameters of a rank of A, tables left out
    wide = whole * sum(a * b for a, b in matrices(m))
    square = whole * 7 * m.hidden**2
    print("sent by a rank of A in a step, GB:")
    print(f"  TP duplicated, one gather of FP32 momenta {7 / 8 * 4 * wide / 1e9:.1f}")
    print(f"  TP distributed, {STEPS} all-reduces of h x h a matrix in BF16 "
          f"{STEPS * 2 * 7 / 8 * 2 * square / 1e9:.1f}")  # fmt: skip
    print(f"  ZeRO-1 over DP 2: FP32 gradients {4 * rank / 2 / 1e9:.2f}, "
          f"BF16 weights {2 * rank / 2 / 1e9:.2f}")  # fmt: skip


def batch() -> None:
    """McCandlish's trade, and a fit extrapolated: a warning rather than a rule."""
    print("batch over critical  steps over fewest  tokens over fewest")
    for ratio in (0.1, 0.2, 0.5, 1, 2, 4):
        print(f"{ratio:19g} {1 + 1 / ratio:18.2f} {1 + ratio:19.2f}")
    print("fit 22.91 D^0.47 (D in millions, sequences of 512): tokens trained, 20% batch in tokens")
    for tokens in (3.072e9, 24e9, 1e12, 15e12):
        note = "" if tokens < 25e9 else "  far outside the data of the fit"
        print(f"{tokens:19.3g} {512 * 22.91 * (tokens / 1e6) ** 0.47:18.2e}{note}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", action="store_true", help="the critical batch")
    parser.add_argument("--running", action="store_true", help="Muon on the running example")
    given = parser.parse_args()
    (batch if given.batch else running if given.running else costs)()


if __name__ == "__main__":
    main()
