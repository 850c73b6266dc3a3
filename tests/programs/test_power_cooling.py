"""The note on power and cooling: what its program computes, and what its prose says of the record."""

from __future__ import annotations

import pytest

from tools.figures.files import load_program

program = load_program("chip/code/cooling.py")
watts = program.measured("watts")
tokens = program.measured("decoding_energy")


@pytest.mark.parametrize(
    ("medium", "kelvin", "kilowatts"), [(program.WATER, 10, 5.6), (program.AIR, 15, 86.4)]
)
def test_a_flow_carries_the_heat_off(
    medium: tuple[float, float], kelvin: float, kilowatts: float
) -> None:
    capacity, density = medium
    kilograms = program.flow(kilowatts, kelvin, medium) * density / 3600
    assert kilograms * capacity * kelvin == pytest.approx(kilowatts)


def test_price_of_a_million_tokens() -> None:
    assert program.dollars(1, price=0.10, overhead=1.3) == pytest.approx(0.036, abs=2e-4)


@pytest.mark.parametrize(
    ("said", "low", "high"),
    [
        (
            "a token among 2,048 takes less than a hundredth",
            tokens["tokens_2048"] * 100,
            "tokens_1",
        ),
        ("batch 32 draws 16% more power than batch 1", watts["tokens_32"] / 1.17, "watts_1"),
        ("a burst reads more than 900 W", 900, "burst"),
        ("a spinning thread draws within 1 W of an idle context", watts["one_thread"], "spin"),
        ("zeros take 53% of the energy of random data", 0.53, "zeros"),
    ],
)
def test_prose_is_in_step_with_the_record(said: str, low: float, high: str) -> None:
    products = program.measured("products_energy")
    above = {
        "tokens_1": tokens["tokens_1"],
        "watts_1": watts["tokens_1"],
        "burst": max(program.measured("instant_high").values()),
        "spin": watts["context"] + 1,
        "zeros": products["bf16_zeros"] / products["bf16_random"],
    }[high]
    assert low < above, said
