"""PFC in a small network: a pause storm with its victim, and a deadlock with its cures.

Units: us = 10^-6 s, Gb/s = 10^9 bit/s, kB = 10^3 bytes. Everything printed is simulated.

The model is in pfc_network.py: 100 Gb/s links, no congestion control, a pause for each ingress.

Storm: h1 and h2 share the link L1 -> L2; h1 sends to R1, h2 to R2. From 300 us on R1, a broken
adapter, pauses without end. R2 is healthy, and its flow stops all the same.

Ring: switches 1, 2, 3; each host sends over two links, clockwise. Every link wants buffer of
the next one.

Usage
    python docs/link/ethernet/code/pfc.py                  # the table of the note
    python docs/link/ethernet/code/pfc.py --write          # and the record of the charts
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from pfc_network import LINE, SAMPLE, Network

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "code"))
from simulated import Point, arguments, axis, keep, record, result


def storm(watchdog: float = 0) -> Network:
    """Two flows over one link; one receiver breaks at 300 us."""
    net = Network(watchdog=watchdog)
    net.host("h1", ["L1", "L2", "R1"])
    net.host("h2", ["L1", "L2", "R2"])
    net.storm("R1", "L2", 300)
    return net


def ring(
    rate: float = LINE, watchdog: float = 0, dateline: tuple[str, str] | None = None
) -> Network:
    """Three switches in a circle, three flows of two hops."""
    net = Network(dateline, watchdog)
    net.host("h1", ["1", "2", "3", "R1"], rate)
    net.host("h2", ["2", "3", "1", "R2"], rate)
    net.host("h3", ["3", "1", "2", "R3"], rate)
    return net


CASES: dict[str, Callable[[], Network]] = {
    "storm": storm,
    "storm, watchdog 200 us": lambda: storm(200),
    "ring": ring,
    "ring, watchdog 200 us": lambda: ring(watchdog=200),
    "ring, 45 Gb/s a host": lambda: ring(45),
    "ring, second class from 3->1 on": lambda: ring(dateline=("3", "1")),
}
"""What is run, by its name in the table."""


def main() -> None:
    """Print the table; keep or compare the record where asked."""
    options = arguments(__doc__).parse_args()
    points: dict[str, list[Point]] = {"storm": [], "ring": []}
    print("simulated; Gb/s of each flow, 1000 to 2000 us")
    print(f"{'case':<31}{'h1':>6}{'h2':>6}{'h3':>6}{'drops':>7}  waiting in a circle")
    for name, make in CASES.items():
        net = make()
        series = net.run()
        late = {flow: rates[round(1000 / SAMPLE) :] for flow, rates in series.items()}
        means = [sum(rates) / len(rates) for rates in late.values()]
        cells = "".join(f"{mean:6.1f}" for mean in means) + "      " * (3 - len(means))
        print(f"{name:<31}{cells}{net.dropped:>7}  {' '.join(net.cycle()) or '-'}")
        for i, now in enumerate(zip(*series.values(), strict=True)):
            us = round((i + 1) * SAMPLE)
            if name.startswith("ring"):
                points["ring"].append({"us": us, "case": name, "value": round(sum(now), 1)})
            else:
                end = " + watchdog" if "watchdog" in name else ""
                for flow, value in zip(series, now, strict=True):
                    point: Point = {"us": us, "flow": flow + end, "value": round(value, 1)}
                    points["storm"].append(point)
    if options.write or options.check:
        clock = axis("us", "时间", "time", "us")
        titles = {
            "storm": ({"zh": "送达速率", "en": "delivered"}, axis("flow", "流", "flow")),
            "ring": (
                {"zh": "三条流之和", "en": "sum of the three flows"},
                axis("case", "情形", "case"),
            ),
        }
        found = [
            result(key, title, "Gb/s", [clock, other], points[key])
            for key, (title, other) in titles.items()
        ]
        keep(
            record(__file__, {"zh": "PFC，模拟", "en": "PFC, simulated"}, None, found),
            options.write,
        )


if __name__ == "__main__":
    main()
