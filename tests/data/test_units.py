"""Units: the vocabulary, and conversion between what it holds."""

from __future__ import annotations

import pytest

from hooks.data import units


@pytest.mark.parametrize(
    "unit",
    [
        *("GB/s", "GiB/s", "Gb/s", "GT/s", "TFLOPS", "TOPS", "FLOP/B", "M msg/s", "µs", "mm²"),
        *("KiB", "W", "GB/s/W", "token/s", "1/s", "GHz", "%", "none", "", "USD/GPU/h", "TB"),
    ],
)
def test_units_in_use_are_known(unit: str) -> None:
    assert units.unknown_part(unit) == ""


@pytest.mark.parametrize(
    ("unit", "repair"),
    [
        ("GB/S", "GB/s"),
        ("Gbps", "Gb/s"),
        ("GBps", "GB/s"),
        ("gb/s", "Gb/s"),
        ("tokens/s", "token/s"),
        ("TFLOP/S", "TFLOP/s"),
    ],
)
def test_a_misspelt_unit_is_refused_with_its_repair(unit: str, repair: str) -> None:
    assert units.unknown_part(unit)
    hint = units.suggestion(unit)
    assert hint.lower() == repair.lower()
    assert not units.unknown_part(hint)


@pytest.mark.parametrize(
    ("value", "unit", "into", "expected"),
    [
        (1800, "GB/s", "TB/s", 1.8),
        (400, "Gb/s", "GB/s", 50),
        (64, "GT/s", "GB/s", 8),
        (80, "GiB", "GB", 85.899345920),
        (1, "MiB/s", "B/s", 1048576),
        (3, "M msg/s", "msg/s", 3e6),
        (814, "mm²", "m²", 814e-6),
        (1, "PFLOPS", "TFLOPS", 1000),
        (2, "TOPS", "TFLOPS", 2),
        (3, "us", "µs", 3),
        (50, "%", "none", 0.5),
        (700, "W", "kW", 0.7),
        (1, "kWh", "J", 3.6e6),
        (2, "1/s", "Hz", 2),
    ],
)
def test_conversion(value: float, unit: str, into: str, expected: float) -> None:
    assert units.convert(value, unit, into) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("unit", "into"),
    [("GB/s", "GB"), ("msg/s", "token/s"), ("GHz", "GB/s"), ("none", "GB"), ("W", "FLOPS")],
)
def test_what_measures_different_things_is_not_converted(unit: str, into: str) -> None:
    with pytest.raises(units.UnitError):
        units.convert(1, unit, into)


@pytest.mark.parametrize(
    ("unit", "is_rate"),
    [
        *(("GB/s", True), ("Gb/s", True), ("GT/s", True), ("MiB/s", True), ("B/s", True)),
        *(("GB", False), ("M msg/s", False), ("TFLOPS", False), ("GB/s/W", False), ("", False)),
    ],
)
def test_data_rates_are_told_from_other_units(unit: str, is_rate: bool) -> None:
    assert units.is_data_rate(unit) is is_rate
