"""Where attention logits leave the range of FP16, and what each repair changes.

Run:  python docs/train/code/logit_overflow.py limit|order|softmax|cap

FP16 is rounded by the standard library (struct code "e"); BF16 by keeping the upper 16 bits of
an FP32, ties to even. Vectors are constant, so that a product is exact before it is rounded.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Callable

FP16_MAX = 65504.0


# --8<-- [start:round]
def fp16(x: float) -> float:
    """Return `x` as FP16 holds it; beyond 65504 (rounded) that is infinity."""
    try:
        (back,) = struct.unpack("<e", struct.pack("<e", x))
    except OverflowError:
        return math.copysign(math.inf, x)
    return float(back)


def bf16(x: float) -> float:
    """Return `x` as BF16 holds it: FP32 cut to 16 bits, ties to even."""
    if math.isinf(x) or math.isnan(x):
        return x
    (bits,) = struct.unpack("<I", struct.pack("<f", x))
    bits += 0x7FFF + (bits >> 16 & 1)
    (back,) = struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))
    return float(back)


# --8<-- [end:round]


# --8<-- [start:order]
def product_first(q: float, k: float, d: int) -> float:
    """Store q.k in FP16, then divide by sqrt(d): two kernels with an FP16 tensor between."""
    return fp16(fp16(d * q * k) / math.sqrt(d))


def scale_in_fp32(q: float, k: float, d: int) -> float:
    """Accumulate and scale in FP32, round once at the end: one matrix product with its alpha."""
    return fp16(d * q * k / math.sqrt(d))


def scale_inputs(q: float, k: float, d: int) -> float:
    """Divide q and k by d**(1/4) each, then multiply: the scale moved inward."""
    root = d**0.25
    return fp16(d * fp16(q / root) * fp16(k / root))


# --8<-- [end:order]

ORDERS: dict[str, Callable[[float, float, int], float]] = {
    "product, scale": product_first,
    "scale in FP32": scale_in_fp32,
    "scale, product": scale_inputs,
}


def softmax(logits: list[float], shift: bool, cast: Callable[[float], float]) -> list[float]:
    """Return softmax with every intermediate cast; `shift` subtracts the maximum first."""
    top = max(logits) if shift else 0.0
    powers = []
    for x in logits:
        try:
            powers.append(cast(math.exp(cast(x - top))))
        except OverflowError:
            powers.append(math.inf)
    total = cast(sum(powers))
    return [cast(p / total) for p in powers]


def soft_cap(x: float, cap: float) -> float:
    """Return cap * tanh(x / cap): within +-cap, slope 1 at zero."""
    return cap * math.tanh(x / cap)


def show_limit() -> None:
    """Largest |element| for which the stored number is still finite."""
    print("largest element of q and k, all equal, before infinity is stored")
    print(f"{'head dim':>8} {'product':>9} {'scaled':>9} {'ratio':>6}   product at |element| = 30")
    for d in (64, 128, 145, 256, 512):
        product, scaled = math.sqrt(FP16_MAX / d), math.sqrt(FP16_MAX / math.sqrt(d))
        print(f"{d:>8} {product:>9.1f} {scaled:>9.1f} {scaled / product:>6.2f}   {fp16(d * 900.0)}")


def show_order() -> None:
    """The same logit by three orders of work."""
    print("head dim 128: the stored logit, by order of work")
    print(f"{'|element|':>10} " + " ".join(f"{name:>15}" for name in ORDERS))
    for a in (5.0, 20.0, 25.0, 70.0, 80.0):
        print(f"{a:>10} " + " ".join(f"{order(a, a, 128):>15}" for order in ORDERS.values()))


def show_softmax() -> None:
    """Maximum subtracted or not, and logits that were infinite before."""
    print(f"exp(x) leaves FP16 above x = ln 65504 = {math.log(FP16_MAX):.2f}")
    cases = {
        "12, 11, 0": [12.0, 11.0, 0.0],
        "300, 299, 0": [300.0, 299.0, 0.0],
        "inf, 299, 0": [math.inf, 299.0, 0.0],
    }
    for name, logits in cases.items():
        for shift in (False, True):
            weights = ", ".join(f"{w:.3f}" for w in softmax(logits, shift, fp16))
            print(f"{name:<12} {'minus max' if shift else 'as it is':<10} {weights}")
    print("BF16 holds such logits, on a coarse grid: stored as")
    for x in (10.3, 100.3, 1001.0):
        near = bf16(x)
        (bits,) = struct.unpack("<I", struct.pack("<f", near))
        (upper,) = struct.unpack("<f", struct.pack("<I", bits + 0x10000))
        print(f"  {x:>7} -> {near:>8}   next one up is {upper - near:g} more")


def show_cap() -> None:
    """What bounds the logit, and how."""
    print("raw logit   soft cap 50   slope there   qk-norm bound, head dim 128")
    for x in (1.0, 25.0, 50.0, 150.0, 1000.0):
        slope = 1 - math.tanh(x / 50) ** 2
        print(f"{x:>9} {soft_cap(x, 50):>13.3f} {slope:>13.2e} {math.sqrt(128):>14.2f}")


SHOW = {"limit": show_limit, "order": show_order, "softmax": show_softmax, "cap": show_cap}

if __name__ == "__main__":
    for word in sys.argv[1:] or SHOW:
        SHOW[word]()
