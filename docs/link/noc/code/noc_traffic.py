"""Random traffic through a network of noc.py, and what it gives.

python docs/link/noc/code/noc_traffic.py --topology mesh --routing xy --load 0.3
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from noc import Network
from noc_routing import ROUTINGS, SHAPES


def uniform(network: Network) -> Callable[[int], int]:
    """Every other node is as likely a target."""
    return lambda node: network.random.choice([n for n in range(network.shape.nodes) if n != node])


def transpose(network: Network) -> Callable[[int], int]:
    """(x, y) sends to (y, x)."""
    width = network.shape.width
    return lambda node: node % width * width + node // width


@dataclass(frozen=True)
class Result:
    """What a run gave: cycles from birth to the tail's arrival, and flits per node and cycle."""

    latency: float
    accepted: float
    dead_at: float | None


def run(
    network: Network,
    load: float,
    length: int = 4,
    pattern: str = "uniform",
    warm: int = 500,
    cycles: int = 1500,
) -> Result:
    """Return latency and throughput at a load in flits per node and cycle."""
    target = {"uniform": uniform, "transpose": transpose}[pattern](network)
    for node in range(network.shape.nodes):
        network.source(node, load, length, target)
    before = 0
    dead_at = None
    while dead_at is None and network.env.now < warm + cycles:
        network.env.run(until=network.env.now + 50)
        if network.env.now == warm:
            before = network.ejected
        if network.deadlock():
            dead_at = network.env.now
    times = [at - packet.born for packet, at in network.delivered if packet.born >= warm]
    accepted = (network.ejected - before) / max(network.env.now - warm, 1) / network.shape.nodes
    return Result(sum(times) / len(times) if times else float("inf"), accepted, dead_at)


def main() -> None:
    """Print one run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--topology", choices=SHAPES, default="mesh")
    parser.add_argument("--routing", choices=ROUTINGS, default="xy")
    parser.add_argument("--load", type=float, default=0.3, help="flits per node and cycle")
    parser.add_argument("--vcs", type=int, default=2)
    parser.add_argument("--pattern", choices=("uniform", "transpose"), default="uniform")
    said = parser.parse_args()
    shape = SHAPES[said.topology]
    network = Network(shape, ROUTINGS[said.routing], said.vcs, dateline=shape.wraps)
    result = run(network, said.load, pattern=said.pattern)
    print(f"{said.topology}, {said.routing}, {said.vcs} VCs, {said.pattern} traffic")
    print(f"offered {said.load:.2f}, accepted {result.accepted:.3f} flits per node and cycle")
    print(f"latency {result.latency:.1f} cycles, deadlock: {result.dead_at or 'none'}")


if __name__ == "__main__":
    main()
