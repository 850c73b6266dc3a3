"""What rounding does to a training step, in plain Python: updates, moments, loss scale, sums.

Run:  python docs/train/code/bf16_updates.py [--questions]

Numbers of a format are kept as Python floats (64 bits) and rounded after each operation.
"""

from __future__ import annotations

import math
import random
import sys


# --8<-- [start:rounding]
def nearest(x: float, mantissa: int, lowest: int = -126) -> float:
    """x to the nearest number with so many mantissa bits, ties to even; subnormals included."""
    if x == 0:
        return x
    exponent = max(math.frexp(x)[1] - 1, lowest)
    step = 2.0 ** (exponent - mantissa)
    return round(x / step) * step


def bf16(x: float) -> float:
    """The nearest BF16 number."""
    return nearest(x, 7)


def fp16(x: float) -> float:
    """The nearest FP16 number; infinity from 65520 on."""
    rounded = nearest(x, 10, -14)
    return math.copysign(math.inf, x) if abs(rounded) > 65504 else rounded


def stochastic(x: float, source: random.Random) -> float:
    """Up or down to a BF16 number, up with the chance that makes the mean equal x."""
    step = 2.0 ** (max(math.frexp(x)[1] - 1, -126) - 7)
    return math.floor(x / step + source.random()) * step


# --8<-- [end:rounding]


# --8<-- [start:updates]
def updates(weight: float, update: float, count: int) -> dict[str, float]:
    """The weight after `count` equal updates, kept in four ways."""
    source = random.Random(0)
    plain = chance = kahan = bf16(weight)
    lost, master = 0.0, weight
    for _ in range(count):
        plain = bf16(plain + update)
        chance = stochastic(chance + update, source)
        lost = bf16(lost + update)  # what is still owed
        before, kahan = kahan, bf16(kahan + lost)
        lost = bf16(lost - (kahan - before))  # less what was paid
        master += update
    return {"nearest": plain, "stochastic": chance, "Kahan": kahan, "master": bf16(master)}


# --8<-- [end:updates]


def moment(beta2: float, steps: int) -> tuple[float, float]:
    """The second moment after the gradient, 1 until now, is 0 for some steps: exact, and BF16."""
    exact = kept = 1.0
    for _ in range(steps):
        exact *= beta2
        kept = bf16(beta2 * kept)
    return exact, kept


def table() -> None:
    """Print five experiments."""
    print("1  1000 equal updates                nearest  stochastic     Kahan    master     exact")
    for weight, update in ((1.0, 0.001), (0.02, 6e-5), (0.02, 7e-5), (0.02, 1e-5)):
        found = updates(weight, update, 1000)
        shown = "  ".join(f"{x:>8.4f}" for x in found.values())
        print(
            f"   {weight:>4g} {update:>+9.0e} each {'':>12}{shown}  {weight + 1000 * update:>8.4f}"
        )
    print("\n2  second moment, gradient gone: exact / BF16 after 500 steps")
    for beta2 in (0.95, 0.99, 0.995, 0.997, 0.999):
        exact, kept = moment(beta2, 500)
        print(f"   beta2 {beta2:<6g} {exact:>10.3g} {kept:>10.3g}")
    print("\n3  gradients through FP16, times the loss scale and back")
    print("   gradient     scale 1    scale 1024    scale 65536")
    for g in (1e-4, 1e-6, 5e-8, 1e-9, 1e-11, 2.0):
        shown = "  ".join(f"{fp16(g * s) / s:>12.4g}" for s in (1, 1024, 65536))
        print(f"   {g:<8g}{shown}")
    print("\n4  0.1 added 4096 times (409.6 if exact)")
    bf = half = 0.0
    for _ in range(4096):
        bf, half = bf16(bf + bf16(0.1)), fp16(half + fp16(0.1))
    print(f"   summed in BF16 {bf:g}, in FP16 {half:g}, in FP32 and rounded ", end="")
    print(f"{bf16(4096 * bf16(0.1)):g} (BF16), {fp16(4096 * fp16(0.1)):g} (FP16)")
    print("\n5  bytes a parameter               weight  gradient  master  moments  more  sum")
    for name, *parts in (
        ("FP32, or autocast", 4, 4, 0, 8, 0),
        ("BF16, FP32 masters", 2, 2, 4, 8, 0),
        ("the same, FP32 gradients", 2, 4, 4, 8, 0),
        ("FP16, FP32 gradients as well", 2, 2, 4, 8, 4),
        ("BF16 weights, FP32 moments", 2, 2, 0, 8, 0),
        ("pure BF16", 2, 2, 0, 4, 0),
        ("pure BF16, stochastic", 2, 2, 0, 4, 0),
        ("pure BF16, Kahan", 2, 2, 0, 4, 2),
    ):
        shown = "".join(f"{x:>9}" for x in parts)
        print(f"   {name:<29}{shown}{sum(parts):>6}")


def questions() -> None:
    """Print the numbers of the answers."""
    # Cauchy-Schwarz on the two moments; the corrections for early steps do not raise it.
    most = [0.1 / math.sqrt((1 - b) * (1 - 0.9**2 / b)) for b in (0.95, 0.999)]
    print(f"Q2 AdamW's step over the rate: at most {most[0]:.3f} with beta2 0.95, ", end="")
    print(f"{most[1]:.3f} with 0.999")
    tied = bf16(1.0 - 1.3 * 6e-4) == 1.0
    print(f"Q2 a gain of 1 less 1.3 x 0.0006: {'unchanged' if tied else 'changed'}")
    print(f"Q3 7 B parameters: Kahan {7 * 10} GB, masters {7 * 16} GB, pure BF16 {7 * 8} GB")
    print(f"Q5 (1 + 2^-8) + 2^-8 = {bf16(bf16(1 + 2**-8) + 2**-8)}", end=", ")
    print(f"1 + (2^-8 + 2^-8) = {bf16(1 + bf16(2**-8 + 2**-8))}")


if __name__ == "__main__":
    questions() if "--questions" in sys.argv else table()
