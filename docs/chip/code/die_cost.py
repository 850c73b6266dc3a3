"""What a good die costs: dies on a wafer, yield with and without spare units, one die or several.

In: the sides of a die, the density of defects, how defects cluster, which units of the die may be
broken. Out: whole dies on a wafer, the share of them that can be sold, dollars for each; and the
same for a product of several small dies that are bonded to an interposer.

Wafer prices and densities are estimates (Chiplet Actuary's table), shares of area are assumptions:
read the ratios, not the dollars.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import cache
from math import ceil, comb, exp, floor, gamma, pi, sqrt

WAFER, EDGE, STREET = 300.0, 3.0, 0.1  # mm: diameter, unusable rim, width of a saw cut
N5, INTERPOSER = 16988.0, 1937.0  # dollars a wafer
CLUSTER = 10.0  # parameter of the negative binomial; the larger, the more like Poisson


# --8<-- [start:wafer]
@cache
def dies(width: float, height: float) -> int:
    """Whole dies on a wafer: the best of 16 x 16 places of the grid under the circle."""
    across, down, radius = width + STREET, height + STREET, WAFER / 2 - EDGE
    columns = int(radius / across) + 2

    def count(left: float, low: float) -> int:
        found = 0
        for column in range(-columns, columns):
            x = max(abs(left + column * across), abs(left + (column + 1) * across))
            if x < radius:
                y = sqrt(radius * radius - x * x)
                found += max(0, floor((y - low) / down) - ceil((-y - low) / down))
        return found

    return max(count(across * i / 16, down * j / 16) for i in range(16) for j in range(16))


# --8<-- [end:wafer]


def rule_of_thumb(area: float) -> float:
    """The usual estimate: the wafer's area less a ring for the cut dies."""
    return pi * (WAFER / 2) ** 2 / area - pi * WAFER / sqrt(2 * area)


# --8<-- [start:yield]
@dataclass(frozen=True)
class Die:
    """Square millimetres; `units` are groups (share of area, how many, how many may be broken)."""

    area: float
    units: tuple[tuple[float, int, int], ...] = ()


def sold(die: Die, density: float) -> float:
    """Share of dies with no defect outside the units and few enough broken units. `density` is in
    defects for each square centimetre, the same everywhere (Poisson)."""
    mean = die.area / 100 * density
    spared = sum(share for share, _, _ in die.units)
    good = exp(-mean * (1 - spared))
    for share, count, broken in die.units:
        hit = 1 - exp(-mean * share / count)
        good *= sum(comb(count, k) * hit**k * (1 - hit) ** (count - k) for k in range(broken + 1))
    return good


def clustered(die: Die, density: float, cluster: float = CLUSTER) -> float:
    """The same where the density varies from die to die (gamma): without units it is the negative
    binomial, (1 + area * density / cluster) ** -cluster."""
    steps, top = 800, 1 + 12 / sqrt(cluster)
    width, total = top / steps, 0.0
    for step in range(steps):
        x = (step + 0.5) * width
        weight = cluster**cluster * x ** (cluster - 1) * exp(-cluster * x) / gamma(cluster)
        total += weight * sold(die, density * x) * width
    return total


# --8<-- [end:yield]

# GH100 has 72 pairs of SMs and 6 memory sites, an H100 SXM5 66 and 5; the shares are assumed.
GH100 = Die(814, ((0.5, 72, 6), (0.25, 6, 1)))


# --8<-- [start:product]
def product(die: Die, parts: int, density: float, bond: float = 0.99) -> float:
    """Dollars for a product of `parts` tested dies on an interposer that reaches 10 % beyond them.
    Each bond works with probability `bond`; where one fails, everything on the interposer is lost.
    """
    side, base = sqrt(die.area), sqrt(1.1 * parts * die.area)
    logic = parts * N5 / (dies(side, side) * clustered(die, density))
    carrier = INTERPOSER / (dies(base, base) * clustered(Die(base**2), 0.06))
    return float((logic + carrier) / bond**parts)


# --8<-- [end:product]


def halved(die: Die, extra: float = 0.1) -> Die:
    """Half of a die, `extra` larger for the link, with half of the units and of the spares."""
    units = tuple((share, count // 2, broken // 2) for share, count, broken in die.units)
    return Die(die.area / 2 * (1 + extra), units)


def amd(density: float) -> float:
    """Cost of silicon of four dies of 213 mm2 beside one of 777, without packaging."""
    cost = {}
    for area in (213.0, 777.0):
        cost[area] = 1 / (dies(sqrt(area), sqrt(area)) * sold(Die(area), density))
    return 4 * cost[213.0] / cost[777.0]


def solve(target: float) -> float:
    """The density at which AMD's ratio comes out; the ratio falls as the density rises."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if amd(middle) > target else (low, middle)
    return low


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", type=float, default=0.5, help="share of the area in SMs")
    share = parser.parse_args().share
    spare = Die(GH100.area, ((share, 72, 6), GH100.units[1]))

    print("whole dies on a 300 mm wafer            counted   rule of thumb")
    for name, width, height in (
        ("reticle, 26 x 33 mm", 26.0, 33.0),
        ("half of it, 26 x 16.5 mm", 26.0, 16.5),
        ("814 mm2, square", sqrt(814), sqrt(814)),
        ("213 mm2, square", sqrt(213), sqrt(213)),
    ):
        print(f"{name:38} {dies(width, height):8} {rule_of_thumb(width * height):14.0f}")

    print("\n814 mm2, share that can be sold")
    print("defects per cm2        perfect   6 of 72 pairs of SMs   and 1 of 6 memory sites")
    for density in (0.05, 0.1, 0.2, 0.4):
        cells = [
            clustered(die, density)
            for die in (Die(814), Die(814, spare.units[:1]), Die(814, spare.units))
        ]
        print(f"{density:10.2f} {cells[0]:18.0%} {cells[1]:18.0%} {cells[2]:24.0%}")

    print("\none die of 800 mm2, or two of 440 bonded: dollars for silicon and interposer")
    print("defects per cm2      one     two   ratio     with spares: one     two   ratio")
    plain, fixed = Die(800), Die(800, ((share, 72, 6), (0.25, 6, 0)))
    for density in (0.05, 0.1, 0.2, 0.4):
        cells = []
        for die in (plain, fixed):
            one, two = product(die, 1, density), product(halved(die), 2, density)
            cells += [one, two, two / one]
        print(
            f"{density:10.2f} {cells[0]:13.0f} {cells[1]:7.0f} {cells[2]:7.2f}"
            f"{cells[3]:21.0f} {cells[4]:7.0f} {cells[5]:7.2f}"
        )

    print(
        f"\nAMD's 0.59 for four dies of 213 mm2 beside one of 777 needs {solve(0.59):.3f} per cm2"
    )


if __name__ == "__main__":
    main()
