"""Prices, dies, power and the export rule: identities, published figures, what the notes quote."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from tests.programs import printed

cloud, die, export, cooling, choice = printed.load(
    "chip/code", "cloud_cost", "die_cost", "export_rule", "cooling", "gpu_choice"
)

# cloud_cost: renting and owning


@pytest.mark.parametrize("rent", [2.0, 4.0, 6.88, 12.29])
def test_at_break_even_renting_and_owning_cost_the_same(rent: float) -> None:
    own = cloud.middle(cloud.OWNING)
    share = cloud.break_even(own, rent)
    assert cloud.owning(own | {"share of hours used": share}) == pytest.approx(rent)
    assert cloud.break_even(own, 0.1) == math.inf  # below the running cost


def test_payments_return_the_capital_less_what_is_left() -> None:
    own = cloud.middle(cloud.OWNING) | {"upkeep of capital": 0.0}
    payment, rate = cloud.own_hour(own)[0] * cloud.HOURS, own["interest"]
    balance = own["capital per GPU"]
    for _ in range(int(own["life, years"])):
        balance = balance * (1 + rate) - payment
    assert balance == pytest.approx(own["capital per GPU"] * own["residual value"])


@pytest.mark.parametrize(("between", "dearer"), [(1e9, 1.0), (1.0, 2.0), (0.5, math.inf)])
def test_spot_pays_for_lost_work(between: float, dearer: float) -> None:
    assert cloud.spot(1.0, between, 0.5, 0.25) == pytest.approx(dearer)


def test_cheapest_offers_are_those_that_the_note_names() -> None:
    offers = {name: row for name, *row in cloud.offers()}
    for column, best in ((1, "p6-b200"), (2, "p4de"), (3, "p5en")):
        assert min(offers, key=lambda name: offers[name][column]) == best


# gpu_choice: published rates against prices


@pytest.mark.parametrize(("work", "gpu"), [(w, g) for w in choice.RUNS for g in choice.RUNS[w]])
def test_at_the_limit_a_token_costs_the_same_on_both(work: str, gpu: str) -> None:
    price, rates = choice.prices(), choice.RUNS[work]
    old, new = rates["H100"], rates[gpu]
    limit = choice.change(old, new, (price["H100"], price[gpu]), (1, 1)).limit
    now = choice.change(old, old, (price["H100"],) * 2, (1, 1))
    assert choice.change(old, new, (price["H100"], limit), (1, 1)).cost == pytest.approx(now.cost)
    assert (now.speed, now.dollars) == (1, 1)


# die_cost: geometry counted twice, yields beside closed forms, ratios as published


@pytest.mark.parametrize(("width", "height"), [(26, 33), (26, 16.5), (14.6, 14.6), (45, 20)])
def test_no_die_counted_is_cut_by_the_rim(width: float, height: float) -> None:
    """Another count of the same grids: every die of every grid, corner by corner."""
    radius, places = die.WAFER / 2 - die.EDGE, np.arange(-25, 25)

    def farthest(pitch: float) -> np.ndarray:
        """Return the farther edge of each die from the middle, squared, by the grid's offset."""
        near = pitch * (np.arange(16)[:, None] / 16 + places)
        return np.maximum(near**2, (near + pitch) ** 2)

    across, down = farthest(width + die.STREET), farthest(height + die.STREET)
    inside = across[:, None, :, None] + down[None, :, None, :] <= radius**2
    assert die.dies(width, height) == inside.sum(axis=(2, 3)).max()


@pytest.mark.parametrize("density", [0.05, 0.2])
@pytest.mark.parametrize("cluster", [1.5, 3, 10])
def test_without_spares_clustering_is_the_negative_binomial(density: float, cluster: float) -> None:
    found = die.clustered(die.Die(500), density, cluster)
    assert found == pytest.approx((1 + 5 * density / cluster) ** -cluster, rel=0.01)


def test_spares_are_counted_as_by_listing_every_way_to_break() -> None:
    mean, total = 814 / 100 * 0.2, 0.0
    hit, gone = 1 - math.exp(-mean * 0.5 / 8), 1 - math.exp(-mean * 0.2 / 3)
    for cores, sites in itertools.product(range(3), range(2)):
        way = math.comb(8, cores) * hit**cores * (1 - hit) ** (8 - cores)
        total += way * math.comb(3, sites) * gone**sites * (1 - gone) ** (3 - sites)
    eight = die.Die(814, ((0.5, 8, 2), (0.2, 3, 1)))
    assert die.sold(eight, 0.2) == pytest.approx(total * math.exp(-mean * 0.3))


def test_spares_pay_and_defects_do_not() -> None:
    """Half of a GH100 in SMs with six spare pairs yields like a perfect die of half the size."""
    spare = die.Die(814, die.GH100.units[:1])
    assert die.clustered(spare, 0.1) == pytest.approx(die.clustered(die.Die(407), 0.1), rel=0.01)
    for density in (0.05, 0.1, 0.2, 0.4):
        assert die.clustered(die.GH100, density) > die.clustered(die.Die(814), density)
        assert die.clustered(die.GH100, density) > die.clustered(die.GH100, 2 * density)


def test_amd_s_ratio_comes_out_near_the_density_that_others_use_for_the_node() -> None:
    """0.59 (Hot Chips 2017); Chiplet Actuary has 0.08 for 14 nm."""
    assert die.solve(0.59) == pytest.approx(0.08, abs=0.02)
    assert die.amd(die.solve(0.59)) == pytest.approx(0.59, abs=0.001)


def test_a_slide_of_amd_comes_out() -> None:
    """ISSCC 2021, F5.5: 395 chips, 362 good; twice the area (not printed): 192, 162 good."""
    area = 152.5
    for size, chips, error in ((area, 395, 0.01), (2 * area, 192, 0.02)):
        assert die.dies(math.sqrt(size), math.sqrt(size)) == pytest.approx(chips, rel=error)
    density = math.log(395 / 362) / area * 100
    assert die.sold(die.Die(2 * area), density) == pytest.approx(162 / 192, abs=0.01)


def test_two_halves_win_only_by_what_the_whole_loses() -> None:
    """At no defects the larger silicon and the second bond are pure cost."""
    one = die.product(die.Die(800), 1, 1e-9)
    assert die.product(die.halved(die.Die(800)), 2, 1e-9) > one


# export_rule: its lines


@pytest.mark.parametrize(
    ("tpp", "density", "paragraph"),
    [
        *((4800, 0.1, "a"), (4799, 0.1, "-"), (1600, 5.92, "a"), (1599, 99.0, "-")),
        *((4799, 5.92, "a"), (4799, 5.91, "b"), (2400, 1.6, "b"), (2400, 1.59, "-")),
        *((2399, 3.19, "-"), (1600, 3.2, "b")),
    ],
)
def test_lines_of_2023(tpp: float, density: float, paragraph: str) -> None:
    assert export.rule_2023(tpp, density) == paragraph


@pytest.mark.parametrize("area", [50.0, 294.5, 480.0, 608.0, 750.0, 814.0, 1500.0, 1628.0, 4000.0])
def test_no_paragraph_below_the_limit_and_one_from_it_on(area: float) -> None:
    edge = export.limit(area)
    below = {export.rule_2023(edge * n / 1000, edge * n / 1000 / area) for n in range(1, 1000)}
    above = {export.rule_2023(edge * n, edge * n / area) for n in np.arange(1, 4, 0.01)}
    assert below == {"-"}
    assert "-" not in above


def test_bits_times_rate_is_the_agencys_own_example() -> None:
    assert export.performance({"int8": 600.0}) == export.performance({"fp16": 300.0}) == 4800


def test_parts_fall_where_their_makers_put_them() -> None:
    """By the rule of 2022, which needs both performance and link, and by that of 2023."""
    assert [export.rule_2022(*one) for one in ((4800, 600), (4799, 900), (16_000, 599))] == [
        *(True, False, False)
    ]
    parts = export.parts()
    assert {
        name: (export.rule_2022(one.tpp, one.link), export.rule_2023(one.tpp, one.density))
        for name in export.ORDER
        for one in [parts[name]]
    } == {
        "a100-sxm-80": (True, "a"),
        "a800": (False, "a"),
        "h100-sxm": (True, "a"),
        "h800-sxm": (False, "a"),
        "h20-sxm": (False, "-"),
        "l20": (False, "-"),
        "l2": (False, "-"),
    }
    shares = [parts[name].tpp / export.limit(parts[name].area) for name in ("h20-sxm", "l20", "l2")]
    assert 0.96 <= min(shares) <= max(shares) <= 0.99
    judged = [export.case_by_case(parts[name].tpp, parts[name].memory) for name in export.LATER]
    assert judged == [True, True, False]


def test_rates_are_equal_where_one_part_overtakes_the_other() -> None:
    h20, h100 = (export.parts()[name] for name in ("h20-sxm", "h100-sxm"))
    cross = export.faster_below(h20, h100)
    assert export.rate(h20, cross) == pytest.approx(export.rate(h100, cross))
    assert export.rate(h20, cross * 0.9) > export.rate(h100, cross * 0.9)
    assert export.rate(h20, cross * 1.1) < export.rate(h100, cross * 1.1)


# cooling


def test_prose_on_power_is_in_step_with_the_record() -> None:
    tokens, products = (cooling.measured(f"{one}_energy") for one in ("decoding", "products"))
    watts, instant = cooling.measured("watts"), cooling.measured("instant_high")
    counted, idle = (cooling.measured(one)["100"] for one in ("counted", "instant_low"))
    # at most: a batch is about an eighth of the half, and may overrun it
    busy = (1 + 1 / 7) / (2 + 1 / 7)
    assert 100 * tokens["tokens_2048"] < tokens["tokens_1"], "a token in a batch is cheap"
    assert watts["tokens_32"] < 1.17 * watts["tokens_1"], "batch 32 draws a sixth more power"
    assert max(instant.values()) > 900, "a burst reads more than 900 W"
    assert (counted - (1 - busy) * idle) / busy > 800, "the counter leaves more for the busy half"
    assert watts["one_thread"] < watts["context"] + 1, "a spinning thread draws as much as idle"
    assert products["bf16_zeros"] < 0.54 * products["bf16_random"], "zeros take half the energy"
    assert cooling.dollars(1, price=0.10, overhead=1.3) == pytest.approx(0.036, abs=2e-4)
    # The second question: 0.4 s of work and 0.2 s of waiting in each step, seen a second long.
    steps = [watts["bf16_random"]] * 40 + [watts["context"]] * 20
    means = [sum(steps[(at + i) % 60] for i in range(100)) / 100 for at in range(60)]
    assert (round(min(means)), round(max(means))) == (466, 582)
