"""How many GPUs a run of several had, and the words and names that follow from it."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tools.measure.compute.lines import Line, one
from tools.measure.topo.model import MeasureError, Text
from tools.measure.topo.wording import both

CODE: Final = "docs/train/code"
COUNTED: Final = {2: both("两", "two"), 4: both("四", "four")}
FIRST: Final = 2
"""The records of the first run of several GPUs carry no number in their names."""


@dataclass(frozen=True, slots=True)
class Group:
    """The GPUs of one run: `n` of them."""

    n: int

    @property
    def said(self) -> Text:
        """Return the number in words."""
        return COUNTED[self.n]

    def named(self, id: str) -> str:
        """Return the name of a record."""
        return id if self.n == FIRST else f"{id}_x{self.n}"

    def titled(self, zh: str, en: str) -> Text:
        """Return a title; `{n}` stands for the number in words."""
        return both(zh.format(n=self.said["zh"]), en.format(n=self.said["en"]))

    def start(self, program: str) -> str:
        """Return the command that runs a program on all of them."""
        return (
            "export NCCL_NVLS_ENABLE=0\n"
            f"torchrun --standalone --nproc-per-node={self.n} {CODE}/{program}.py"
        )

    def share(self, kind: str) -> Fraction:
        """Return the part of a collective's bytes that a ring sends through each GPU's link."""
        return Fraction((2 if kind == "all_reduce" else 1) * (self.n - 1), self.n)

    def bus(self, kind: str) -> str:
        """Return what nccl-tests' bus bandwidth of a collective is, of size S and time t."""
        share = self.share(kind)
        above = "S" if share.numerator == 1 else f"{share.numerator}S"
        return f"{above}/t" if share.denominator == 1 else f"{above}/{share.denominator}t"


def group(lines: list[Line]) -> Group:
    """Return the GPUs that a program's first line counts.

    Raises MeasureError for a number that has no word here yet.
    """
    n = one(lines, "versions")["ranks"]
    if n not in COUNTED:
        known = ", ".join(str(k) for k in COUNTED)
        raise MeasureError(f"a run on {n} GPUs: say {n} in words in COUNTED (known: {known})")
    return Group(n)
