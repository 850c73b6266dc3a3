"""Costs of dies: geometry counted twice, yields beside closed forms, ratios as published."""

from __future__ import annotations

import itertools
from math import comb, exp, log, sqrt

import pytest

from tools.figures.files import load_program

cost = load_program("chip/code/die_cost.py")
EIGHT = cost.Die(814, ((0.5, 8, 2), (0.2, 3, 1)))


@pytest.mark.parametrize(("width", "height"), [(26, 33), (26, 16.5), (14.6, 14.6), (45, 20)])
def test_no_die_counted_is_cut_by_the_rim(width: float, height: float) -> None:
    """Another count of the same grids: every die of every grid, corner by corner."""
    across, down, radius = width + cost.STREET, height + cost.STREET, cost.WAFER / 2 - cost.EDGE
    best = 0
    for i, j in itertools.product(range(16), repeat=2):
        inside = 0
        for column, row in itertools.product(range(-25, 25), repeat=2):
            left, low = across * (i / 16 + column), down * (j / 16 + row)
            corners = itertools.product((left, left + across), (low, low + down))
            inside += all(x * x + y * y <= radius * radius for x, y in corners)
        best = max(best, inside)
    assert cost.dies(width, height) == best


@pytest.mark.parametrize("density", [0.05, 0.2])
@pytest.mark.parametrize("cluster", [1.5, 3, 10])
def test_without_spares_clustering_is_the_negative_binomial(density: float, cluster: float) -> None:
    found = cost.clustered(cost.Die(500), density, cluster)
    assert found == pytest.approx((1 + 5 * density / cluster) ** -cluster, rel=0.01)


def test_spares_are_counted_as_by_listing_every_way_to_break() -> None:
    mean, total = 814 / 100 * 0.2, 0.0
    hit, gone = 1 - exp(-mean * 0.5 / 8), 1 - exp(-mean * 0.2 / 3)
    for cores, sites in itertools.product(range(9), range(4)):
        if cores <= 2 and sites <= 1:
            way = comb(8, cores) * hit**cores * (1 - hit) ** (8 - cores)
            total += way * comb(3, sites) * gone**sites * (1 - gone) ** (3 - sites)
    assert cost.sold(EIGHT, 0.2) == pytest.approx(total * exp(-mean * 0.3))


def test_spared_area_costs_next_to_nothing_while_spares_last() -> None:
    """Half of a GH100 in SMs with six spare pairs yields like a perfect die of half the size."""
    spare = cost.Die(814, cost.GH100.units[:1])
    assert cost.clustered(spare, 0.1) == pytest.approx(cost.clustered(cost.Die(407), 0.1), rel=0.01)


def test_more_density_never_helps_and_spares_never_hurt() -> None:
    for density in (0.05, 0.1, 0.2, 0.4):
        assert cost.clustered(cost.GH100, density) > cost.clustered(cost.Die(814), density)
        assert cost.clustered(cost.GH100, density) > cost.clustered(cost.GH100, 2 * density)


def test_amd_s_ratio_comes_out_near_the_density_that_others_use_for_the_node() -> None:
    """0.59 (Hot Chips 2017); Chiplet Actuary has 0.08 for 14 nm."""
    assert cost.solve(0.59) == pytest.approx(0.08, abs=0.02)
    assert cost.amd(cost.solve(0.59)) == pytest.approx(0.59, abs=0.001)


def test_a_slide_of_amd_comes_out() -> None:
    """ISSCC 2021, F5.5: 395 chips, 362 good; twice the area (not printed): 192, 162 good."""
    area = 152.5
    assert cost.dies(sqrt(area), sqrt(area)) == pytest.approx(395, rel=0.01)
    assert cost.dies(sqrt(2 * area), sqrt(2 * area)) == pytest.approx(192, rel=0.02)
    density = log(395 / 362) / area * 100
    assert cost.sold(cost.Die(2 * area), density) == pytest.approx(162 / 192, abs=0.01)


def test_two_halves_win_only_by_what_the_whole_loses() -> None:
    """At no defects the larger silicon and the second bond are pure cost."""
    one = cost.product(cost.Die(800), 1, 1e-9)
    assert cost.product(cost.halved(cost.Die(800)), 2, 1e-9) > one
