"""PFC headroom: the worst peak above XOFF that a link shows, against the formula.

Units: B = byte, kB = 10^3 bytes, ns. Everything printed is simulated or computed, not measured.

Model: a sender at line rate, a cable, a receiver whose buffer does not drain. When the buffer
passes XOFF the receiver wants to send a pause: it waits for the frame it is sending itself,
sends 84 bytes (64, preamble, gap), and the pause travels the cable. The sender takes its full
response time, then finishes the frame it has begun. What arrives after XOFF must fit.
The worst of 60 random phases is kept.

Formula: headroom = own frame + pause + 2 x cable + response + one frame of the peer, all as
bytes at line rate. Response times are the pause quanta of 512 bits that IEEE 802.3 31B.3.7
allows, as SONiC's headroom script lists them; 5 ns a metre.

Usage
    python docs/link/ethernet/code/headroom.py                  # the table of the note
    python docs/link/ethernet/code/headroom.py --write          # and the record of the chart
"""

from __future__ import annotations

import random
import sys
from collections.abc import Generator
from pathlib import Path

import simpy

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "code"))
from simulated import Point, arguments, axis, keep, record, result

FRAME, PAUSE = 4200, 84
"""Bytes on the wire: a RoCE frame of 4 kB payload rounded up, and a pause frame."""
QUANTA = {100: 394, 200: 453, 400: 905, 800: 905}
"""Allowed response of the peer, by Gb/s."""
METRES = (3, 30, 100, 300)
CELL = 280
"""Bytes: what the buffer is counted in."""
TRIES = 60
Process = Generator[simpy.Event, object, None]


# --8<-- [start:formula]
def formula(rate: int, metres: float) -> float:
    """Bytes above XOFF that can still arrive."""
    cable = 2 * metres * 5 * rate / 8
    response = QUANTA[rate] * 512 / 8
    return FRAME + PAUSE + cable + response + FRAME


# --8<-- [end:formula]


def peak(rate: int, metres: float, reverse_phase: float, xoff: float) -> int:
    """Return the highest buffer above XOFF; the arguments say where in a frame things begin."""
    env = simpy.Environment()
    cell, frame = CELL * 8 / rate, FRAME * 8 / rate  # ns
    cable, response = metres * 5, QUANTA[rate] * 512 / rate
    crossed, paused = env.event(), env.event()
    buffer = 0

    def sender() -> Process:
        while not paused.processed:
            for _ in range(FRAME // CELL):  # a frame that has begun is finished
                yield env.timeout(cell)
                env.process(fly())

    def fly() -> Process:
        nonlocal buffer
        yield env.timeout(cable)
        buffer += CELL
        if buffer > xoff * FRAME and not crossed.triggered:
            crossed.succeed()

    def receiver() -> Process:
        """Its own frames go the other way; the pause waits for the one that has begun."""
        yield env.timeout(reverse_phase * frame)
        while not crossed.triggered:
            yield env.timeout(frame)
        yield env.timeout(PAUSE * 8 / rate + cable + response)
        paused.succeed()

    env.process(sender())
    env.process(receiver())
    env.run()
    return buffer - round(xoff * FRAME)


def main() -> None:
    """Print the table; keep or compare the record where asked."""
    options = arguments(__doc__).parse_args()
    rng = random.Random(1)
    points: list[Point] = []
    print("kB above XOFF, one port and class")
    print(f"{'Gb/s':>5}{'m':>5}{'formula':>9}{'simulated worst':>17}{'share of cable':>17}")
    for rate in QUANTA:
        for metres in METRES:
            worst = max(peak(rate, metres, rng.random(), 2 + rng.random()) for _ in range(TRIES))
            bound = formula(rate, metres)
            share = 2 * metres * 5 * rate / 8 / bound
            print(f"{rate:>5}{metres:>5}{bound / 1e3:>9.1f}{worst / 1e3:>17.1f}{share:>17.0%}")
            for kind, value in (("formula", bound), ("worst", worst)):
                name = f"{rate}G {kind}"
                points.append({"m": metres, "series": name, "value": round(value / 1e3, 1)})
    if options.write or options.check:
        axes = [axis("m", "线缆", "cable", "m"), axis("series", "速率", "rate")]
        title = {"zh": "XOFF 以上", "en": "above XOFF"}
        found = [result("headroom", title, "kB", axes, points)]
        keep(
            record(__file__, {"zh": "余量，模拟", "en": "Headroom, simulated"}, None, found),
            options.write,
        )


if __name__ == "__main__":
    main()
