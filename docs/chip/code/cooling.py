"""What a watt asks for: water or air to carry it off, money per token, swings of a cluster.

Powers and energies are those of the measured record of one H100; the rest is given below.

    python docs/chip/code/cooling.py [--price 0.10] [--overhead 1.3]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

RECORD = Path(__file__).parents[1] / "measured/power_h100.json"
# At about 40 °C and 101 kPa: heat capacity in kJ/(kg K), density in kg/m3.
WATER, AIR = (4.18, 992.0), (1.006, 1.13)


# --8<-- [start:flow]
def flow(kilowatts: float, kelvin: float, medium: tuple[float, float]) -> float:
    """Cubic metres an hour that carry a power off while they warm by so many kelvins."""
    capacity, density = medium
    return kilowatts / (capacity * kelvin * density) * 3600


# --8<-- [end:flow]


def litres(kilowatts: float, kelvin: float) -> float:
    """Litres of water a minute."""
    return flow(kilowatts, kelvin, WATER) * 1000 / 60


def dollars(joules: float, price: float, overhead: float) -> float:
    """Of a million tokens of so many joules; overhead: host, losses and cooling over the GPU."""
    return joules * 1e6 / 3.6e6 * price * overhead


def measured(result: str) -> dict[str, float]:
    """One result of the record, by its first axis."""
    found = json.loads(RECORD.read_text(encoding="utf-8"))["results"]
    (points,) = [one["points"] for one in found if one["id"] == result]
    return {str(next(iter(point.values()))): point["value"] for point in points}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--price", type=float, default=0.10, help="dollars per kWh")
    parser.add_argument("--overhead", type=float, default=1.3, help="at the meter, per GPU watt")
    given = parser.parse_args()
    print("heat                        water, +10 K   air, +15 K")
    for name, kilowatts in (
        ("one kilowatt", 1),
        ("8 GPUs of 700 W", 5.6),
        ("72 GPUs of 1200 W", 86.4),
    ):
        air = flow(kilowatts, 15, AIR)
        print(f"{name:26} {litres(kilowatts, 10):7.1f} L/min {air:8.0f} m3/h")

    print("tokens at once     J/token   kWh a million   $ a million")
    energies = measured("decoding_energy")
    for load, joules in energies.items():
        kwh, money = joules / 3.6, dollars(joules, given.price, given.overhead)
        print(f"{load.removeprefix('tokens_'):>14} {joules:11.4f} {kwh:15.4f} {money:13.5f}")

    watts = measured("watts")
    swing = watts["bf16_random"] - watts["context"]
    print(f"one GPU, product against waiting: {swing:.0f} W; 16,384: {swing * 16384 / 1e6:.1f} MW")
    print(f"a context that idles for a month: {watts['context'] * 730 / 1000:.0f} kWh")


if __name__ == "__main__":
    main()
