"""Latency by load of small networks, simulated; the record of the charts.

Packets of four flits, buffers of four flits per VC, two cycles a hop; 3000 cycles after 500 to warm
up. A curve ends before the load at which the mean latency passes 100 cycles.

    python docs/link/noc/code/load_latency.py --write        # all curves, about a minute
    python docs/link/noc/code/load_latency.py --zero        # latency without load, by formula
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "code"))
import noc_routing as grid
import noc_traffic as traffic
from simulated import arguments, axis, keep, record, result

Curve = tuple[str, str, str, int, str]
"""Name, topology, routing, VCs, pattern."""
STEPS = {"mesh": 0.05, "torus": 0.05, "ring": 0.02}
TOPOLOGY: list[Curve] = [
    ("ring, 2 VC", "ring", "xy", 2, "uniform"),
    ("mesh, 2 VC", "mesh", "xy", 2, "uniform"),
    ("torus, 2 VC", "torus", "xy", 2, "uniform"),
    ("torus, 4 VC", "torus", "xy", 4, "uniform"),
]
CHANNELS: list[Curve] = [(f"{v} VC", "mesh", "xy", v, "uniform") for v in (1, 2, 4)]
ROUTING: list[Curve] = [
    ("XY", "mesh", "xy", 2, "transpose"),
    ("west-first", "mesh", "west-first", 2, "transpose"),
]


def measured(curve: Curve, load: float) -> traffic.Result:
    """Return one point of a curve."""
    _, topology, routing, vcs, pattern = curve
    shape = grid.SHAPES[topology]
    network = traffic.Network(shape, grid.ROUTINGS[routing], vcs, dateline=shape.wraps)
    return traffic.run(network, load, pattern=pattern, cycles=3000)


def points(curves: Iterable[Curve], finer: float = 1) -> list[dict[str, object]]:
    """Return load and latency along each curve, up to its saturation."""
    out: list[dict[str, object]] = []
    for curve in curves:
        step = STEPS[curve[1]] / finer
        for i in range(1, 40):
            load = round(i * step, 4)
            found = measured(curve, load)
            if found.dead_at or found.latency > 100:
                break
            out.append({"load": load, "curve": curve[0], "value": round(found.latency, 1)})
    return out


def zero_load(shape: grid.Shape, length: int = 4, hop: int = 2) -> float:
    """Return hops x cycles a hop + the rest of the packet + half a cycle until the clock ticks."""
    pairs = [(a, b) for a in range(shape.nodes) for b in range(shape.nodes) if a != b]
    hops = 0
    for a, b in pairs:
        (x, y), (u, v) = shape.at(a), shape.at(b)
        hops += abs(shape.way(x, u, shape.width)) + abs(shape.way(y, v, shape.height))
    return hops / len(pairs) * hop + length - 1 + 0.5


def bound(bisection: int, nodes: int) -> float:
    """Return the load at which uniform traffic fills the bisection: 4 b / N, b channels one way."""
    return 4 * bisection / nodes


def made() -> dict[str, Any]:
    """Return everything that is drawn."""
    axes = [
        axis("load", "负载（flit/节点/周期）", "load, flits per node and cycle"),
        axis("curve", "网络", "network"),
    ]
    groups = (
        ("topology", "拓扑", "Topology", points(TOPOLOGY)),
        ("channels", "虚拟通道数", "Virtual channels", points(CHANNELS)),
        ("routing", "转置流量下的路由", "Routing under transpose traffic", points(ROUTING, 2)),
    )
    return record(
        __file__,
        {"zh": "负载与延迟，模拟", "en": "Load and latency, simulated"},
        None,
        [
            result(name, {"zh": zh, "en": en}, "cycle", axes, found)
            for name, zh, en, found in groups
        ],
    )


def main() -> None:
    """Keep the record or compare it, or print latencies without load."""
    parser = arguments(__doc__)
    parser.add_argument("--zero", action="store_true")
    said = parser.parse_args()
    if said.write or said.check:
        keep(made(), said.write)
    if said.zero:
        for curve, channels in zip(TOPOLOGY[:3], (2, 8, 16), strict=True):
            shape, load = grid.SHAPES[curve[1]], STEPS[curve[1]] / 2
            found = measured(curve, load).latency
            print(
                f"{curve[1]:<6} latency: formula {zero_load(shape):5.1f}, simulated at load"
                f" {load:.3f} {found:5.1f} cycles; load at most {bound(channels, shape.nodes):.3f}"
            )


if __name__ == "__main__":
    main()
