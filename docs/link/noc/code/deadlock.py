"""A deadlock on a ring of four routers, seen cycle by cycle, and the dateline that prevents it.

Four packets of four flits each go two hops clockwise, all at once; a buffer holds two flits. With
one virtual channel (VC) each packet takes its first channel and waits for the next one. With two
VCs a packet changes to the upper one at the link 3->0, the dateline.

    python docs/link/noc/code/deadlock.py              # the ring without and with a dateline
    python docs/link/noc/code/deadlock.py --loads      # large networks under random traffic
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import noc
import noc_routing as grid
import noc_traffic as traffic

RING = grid.Shape(4, 1, wraps=True, one_way=True)
CASES: list[tuple[str, grid.Shape, str, int, bool, float]] = [
    ("mesh 8x8, XY", grid.SHAPES["mesh"], "xy", 1, False, 0.35),
    ("mesh 8x8, west-first", grid.SHAPES["mesh"], "west-first", 1, False, 0.35),
    ("mesh 8x8, all turns", grid.SHAPES["mesh"], "unrestricted", 1, False, 0.35),
    ("torus 8x8, XY, 1 VC", grid.SHAPES["torus"], "xy", 1, False, 0.35),
    ("torus 8x8, XY, 2 VCs, no dateline", grid.SHAPES["torus"], "xy", 2, False, 0.45),
    ("torus 8x8, XY, 2 VCs, dateline", grid.SHAPES["torus"], "xy", 2, True, 0.45),
]


def ring(dateline: bool) -> noc.Network:
    """Return the ring with its four packets, A from 0 to 2 and so on."""
    network = noc.Network(RING, grid.dimension_order, 1 + dateline, depth=2, dateline=dateline)
    for node in range(4):
        network.send(grid.Packet(node, (node + 2) % 4, 4, 0.0, "ABCD"[node]))
    return network


def contents(network: noc.Network) -> dict[str, str]:
    """Return what lies in each buffer, front first, as letters: a capital is a head."""
    found = {}
    for b in sorted(network.active):
        flits = [p.name if i == 0 else p.name.lower() for p, i in network.buffer[b]]
        found[network.name(b)] = "".join(flits)
    return found


def story(dateline: bool, cycles: int = 40) -> list[tuple[int, dict[str, str], list[str]]]:
    """Return cycle, contents and the cycle of waiting buffers, until all arrived or none can."""
    network, out = ring(dateline), []
    for cycle in range(1, cycles):
        network.env.run(until=cycle)
        dead = [network.name(b) for b in network.deadlock()]
        out.append((cycle, contents(network), dead))
        if dead or len(network.delivered) == 4:
            break
    return out


def main() -> None:
    """Print the ring, or with --loads the table of large networks."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--loads", action="store_true", help="large networks instead of the ring")
    if parser.parse_args().loads:
        for title, shape, routing, vcs, dateline, load in CASES:
            network = noc.Network(shape, grid.ROUTINGS[routing], vcs, dateline=dateline)
            dead = traffic.run(network, load, cycles=4500).dead_at
            state = f"dead by cycle {dead:.0f}" if dead else "runs on"
            print(f"{title:<34} load {load:.2f}: {state}")
        return
    for dateline in (False, True):
        print(f"{1 + dateline} VC{'s, dateline at 3->0' if dateline else ''}")
        steps = story(dateline)
        for cycle, held, _ in steps if not dateline else []:
            print(f"  cycle {cycle}: " + ", ".join(f"{b} {flits}" for b, flits in held.items()))
        cycle, _, cycle_of_buffers = steps[-1]
        if cycle_of_buffers:
            print("  deadlock: " + " waits for ".join([*cycle_of_buffers, cycle_of_buffers[0]]))
        else:
            print(f"  all four packets arrived by cycle {cycle}")


if __name__ == "__main__":
    main()
