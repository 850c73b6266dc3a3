"""The note on power and cooling: what its program computes, and what its prose says."""

from __future__ import annotations

import pytest

from tools.figures.files import load_program

program = load_program("chip/code/cooling.py")
watts = program.measured("watts")
tokens = program.measured("decoding_energy")
products = program.measured("products_energy")
instant = program.measured("instant_high")
counted, idle = program.measured("counted"), program.measured("instant_low")
BUSY = (1 + 1 / 7) / (
    2 + 1 / 7
)  # at most: a batch is about an eighth of the half, and may overrun it


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
    ("said", "less", "more"),
    [
        ("a token in a batch is cheap", 100 * tokens["tokens_2048"], tokens["tokens_1"]),
        ("batch 32 draws a sixth more power", watts["tokens_32"], 1.17 * watts["tokens_1"]),
        ("a burst reads more than 900 W", 900, max(instant.values())),
        (
            "the counter leaves more than 800 W for the busy half",
            800,
            (counted["100"] - (1 - BUSY) * idle["100"]) / BUSY,
        ),
        ("a spinning thread draws within 1 W of idle", watts["one_thread"], watts["context"] + 1),
        ("zeros take half the energy", products["bf16_zeros"], 0.54 * products["bf16_random"]),
    ],
)
def test_prose_is_in_step_with_the_record(said: str, less: float, more: float) -> None:
    assert less < more, said


def test_mean_of_a_second_over_steps_of_six_tenths() -> None:
    """The second question: 0.4 s of work and 0.2 s of waiting in each step."""
    steps = [watts["bf16_random"]] * 40 + [watts["context"]] * 20
    means = [sum(steps[(at + i) % 60] for i in range(100)) / 100 for at in range(60)]
    assert (round(min(means)), round(max(means))) == (466, 582)
