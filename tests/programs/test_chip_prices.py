"""Price and cost of GPU hours: identities of the formulas, and the numbers that the note quotes."""

from __future__ import annotations

import math

import pytest

from tests.programs import printed
from tools.figures.files import load_program

cost = load_program("chip/code/cloud_cost.py")
NOTES = ["chip/cloud-pricing", "chip/cloud-pricing.en"]


@pytest.mark.parametrize("rent", [2.0, 4.0, 6.88, 12.29])
def test_at_break_even_renting_and_owning_cost_the_same(rent: float) -> None:
    own = cost.middle(cost.OWNING)
    share = cost.break_even(own, rent)
    assert cost.owning(own | {"share of hours used": share}) == pytest.approx(rent)


def test_payments_return_the_capital_less_what_is_left() -> None:
    own = cost.middle(cost.OWNING) | {"upkeep of capital": 0.0}
    payment, rate = cost.own_hour(own)[0] * cost.HOURS, own["interest"]
    balance = own["capital per GPU"]
    for _ in range(int(own["life, years"])):
        balance = balance * (1 + rate) - payment
    assert balance == pytest.approx(own["capital per GPU"] * own["residual value"])


@pytest.mark.parametrize(
    ("change", "factor"),
    [
        ({"tokens/s and GPU": 2 * 653.0}, 0.5),
        ({"share of hours used": 0.25}, 2.0),
        ({"price per GPU hour": 3.44}, 0.5),
    ],
)
def test_cost_per_token_is_proportional(change: dict[str, float], factor: float) -> None:
    given = cost.middle(cost.SERVING)
    assert cost.tokens(given | change) == pytest.approx(factor * cost.tokens(given))


def test_rent_below_the_running_cost_never_breaks_even() -> None:
    assert cost.break_even(cost.middle(cost.OWNING), 0.1) == math.inf


@pytest.mark.parametrize(("between", "dearer"), [(1e9, 1.0), (1.0, 2.0), (0.5, math.inf)])
def test_spot_pays_for_lost_work(between: float, dearer: float) -> None:
    assert cost.spot(1.0, between, 0.5, 0.25) == pytest.approx(dearer)


@pytest.mark.parametrize("note", NOTES)
def test_the_note_quotes_what_the_program_computes(note: str) -> None:
    text, serving, own = printed.text(note), cost.middle(cost.SERVING), cost.middle(cost.OWNING)
    low, middle, high = (
        cost.tokens(serving | {"tokens/s and GPU": value})
        for value in cost.SERVING["tokens/s and GPU"]
    )
    assert f"| {low:.2f} | {middle:.2f} | {high:.2f} |" in text
    for rent in (6.88, 4.0, 2.0):
        assert f"{cost.break_even(own, rent):.0%}".replace("%", " %") in text
    offers = {name: row for name, *row in cost.offers()}
    for column, best in ((1, "p6-b200"), (2, "p4de"), (3, "p5en")):
        assert min(offers, key=lambda name: offers[name][column]) == best
    for name in ("p5", "p5en", "p6-b200"):
        assert f"{offers[name][3]:.2f}" in text
