"""What a number format holds, computed from its bits; and what blocks with scales cost.

Run:  python docs/train/code/number_formats.py [--questions]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from fractions import Fraction


# --8<-- [start:format]
@dataclass(frozen=True)
class Format:
    """Sign, exponent and mantissa bits; and what the highest exponent code is used for.

    top: `ieee`, infinity and NaN take the whole code; `fn`, numbers but for one NaN (E4M3);
    `finite`, numbers alone (E2M1).
    """

    name: str
    exponent: int
    mantissa: int
    top: str = "ieee"

    @property
    def bias(self) -> int:
        """Taken off the exponent's code."""
        return 2 ** (self.exponent - 1) - 1

    @property
    def largest(self) -> Fraction:
        """The largest finite number."""
        code = 2**self.exponent - 1 - (self.top == "ieee")
        fraction = 2**self.mantissa - 1 - (self.top == "fn")
        return (1 + Fraction(fraction, 2**self.mantissa)) * Fraction(2) ** (code - self.bias)

    @property
    def normal(self) -> Fraction:
        """The smallest number with all its bits of precision."""
        return Fraction(2) ** (1 - self.bias)

    @property
    def subnormal(self) -> Fraction:
        """The smallest number above zero; half of it and less rounds to zero."""
        return self.normal / 2**self.mantissa

    @property
    def epsilon(self) -> Fraction:
        """From 1 to the next number: the relative size of a step is this or half of it."""
        return Fraction(1, 2**self.mantissa)

    @property
    def finite(self) -> int:
        """How many different finite numbers, zero once."""
        codes = 2**self.exponent - (self.top == "ieee")
        return 2 * (codes * 2**self.mantissa - (self.top == "fn")) - 1


FORMATS = (
    Format("FP32", 8, 23),
    Format("TF32", 8, 10),
    Format("BF16", 8, 7),
    Format("FP16", 5, 10),
    Format("FP8 E5M2", 5, 2),
    Format("FP8 E4M3", 4, 3, "fn"),
    Format("FP4 E2M1", 2, 1, "finite"),
)
# --8<-- [end:format]

# Name, bits of an element, elements that share a scale, bits of the scale.
BLOCKS = (
    ("FP8, a scale a tensor", 8, None, 32),
    ("FP8, 1 x 128, FP32 scale", 8, 128, 32),
    ("FP8, 128 x 128, FP32 scale", 8, 128 * 128, 32),
    ("MXFP8, 1 x 32, E8M0", 8, 32, 8),
    ("MXFP4, 1 x 32, E8M0", 4, 32, 8),
    ("NVFP4, 1 x 16, E4M3", 4, 16, 8),
)


def table() -> None:
    """Print the formats and the blocks."""
    print("format     bits  exp  man      largest  min normal  min subnorm     epsilon")
    for f in FORMATS:
        bits = 1 + f.exponent + f.mantissa
        numbers = [float(x) for x in (f.largest, f.normal, f.subnormal, f.epsilon)]
        shown = "  ".join(f"{x:>11.5g}" for x in numbers)
        print(f"{f.name:<10} {bits:>4} {f.exponent:>4} {f.mantissa:>4}  {shown}")
    print("\nstored as                     bits an element")
    for name, element, shared, scale in BLOCKS:
        each = element + (scale / shared if shared else 0)
        print(f"{name:<28}  {each:>15.4f}")
    e2m1 = FORMATS[-1]
    values = sorted(
        {
            float((m if code == 0 else 2 + m) * e2m1.subnormal * 2 ** max(0, code - 1))
            for code in range(4)
            for m in range(2)
        }
    )
    print("\nE2M1 without sign:", *values)
    e8m0 = " to ".join(f"2^{e}" for e in (-127, 127))
    print(f"E8M0 scale: {e8m0}, no zero, no sign")


def questions() -> None:
    """Print the numbers of the answers."""
    by = {f.name: f for f in FORMATS}
    fp16, bf16, e4m3, e5m2 = (by[n] for n in ("FP16", "BF16", "FP8 E4M3", "FP8 E5M2"))
    step = fp16.largest - fp16.largest / (2 - fp16.epsilon) * (2 - 2 * fp16.epsilon)
    lost, most = float(fp16.subnormal / 2), float(fp16.largest + step / 2)
    print(f"Q1 FP16 loses {lost:.3g} and less; 1e-9 needs a scale above {lost / 1e-9:.1f}")
    print(f"Q1 scaled by 65536 it is {65536e-9:.4g}; gradients overflow from {most / 65536:.4f} on")
    for weight in (0.02, 1.0):
        step = bf16.epsilon
        while step / bf16.epsilon > Fraction(weight):
            step /= 2
        print(
            f"Q2 BF16 at {weight}: next number {float(step):.3g} away, half {float(step) / 2:.3g}"
        )
    for f in (e4m3, e5m2):
        print(f"Q4 {f.name}: largest over smallest {float(f.largest / f.subnormal):,.0f}")


if __name__ == "__main__":
    questions() if "--questions" in sys.argv else table()
