"""Degree, diameter, mean hops and bisection of networks on chip, counted on the graph.

A router is a node; terminals hang on routers. Counted are links between routers, each full duplex:

degree      most links of a router to other routers
diameter    links on the longest of the shortest ways between two terminals
mean        the same, averaged over all ordered pairs of different terminals
bisection   links cut when the terminals are halved, the cheaper of the canonical halves;
            `exact_bisection` tries every half of a small network

The butterfly is directed: a terminal sends at the first stage and receives at the last, so its
diameter counts links between stages and its bisection the channels that cross one way.

    python docs/link/noc/code/topologies.py          # 64 terminals
    python docs/link/noc/code/topologies.py --terminals 16
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import combinations, product

import networkx as nx  # type: ignore[import-untyped]


@dataclass(frozen=True)
class Topology:
    """A network with its terminals: the router where each sends, and the one where it receives."""

    name: str
    graph: nx.Graph
    sends: list[Hashable]
    receives: list[Hashable]
    halves: list[set[int]]  # canonical halves of the terminals, by number

    @property
    def degree(self) -> int:
        """Return the most links of one router."""
        return max(degree for _, degree in self.graph.degree)

    def hops(self) -> tuple[int, float]:
        """Return diameter and mean."""
        far = dict(nx.all_pairs_shortest_path_length(self.graph))
        n = len(self.sends)
        found = [
            far[a][b]
            for i, a in enumerate(self.sends)
            for j, b in enumerate(self.receives)
            if i != j
        ]
        return max(found), sum(found) / (n * (n - 1))

    def cut(self, half: set[int]) -> int:
        """Return the least links between a half of the terminals and the rest: a maximum flow."""
        flow = nx.DiGraph()
        for a, b in self.graph.edges:
            flow.add_edge(a, b, capacity=1)
            if not self.graph.is_directed():
                flow.add_edge(b, a, capacity=1)
        for i, (a, b) in enumerate(zip(self.sends, self.receives, strict=True)):
            if i in half:
                flow.add_edge("source", a)
            else:
                flow.add_edge(b, "sink")
        return int(nx.maximum_flow_value(flow, "source", "sink"))

    def bisection(self) -> int:
        """Return the least cut of the canonical halves."""
        return min(self.cut(half) for half in self.halves)

    def exact_bisection(self) -> int:
        """Return the least cut of all halves; small networks only."""
        n = len(self.sends)
        return min(self.cut({0, *rest}) for rest in combinations(range(1, n), n // 2 - 1))


# --8<-- [start:builders]
def direct(name: str, graph: nx.Graph) -> Topology:
    """A network whose every router has a terminal."""
    nodes = sorted(graph)
    n = len(nodes)
    lower = set(range(n // 2))
    even = {i for i in range(n) if i % 2 == 0}
    return Topology(name, graph, nodes, nodes, [lower, even])


def ring(n: int) -> Topology:
    """A ring of n."""
    return direct("ring", nx.cycle_graph(n))


def mesh(n: int) -> Topology:
    """A square mesh."""
    k = math.isqrt(n)
    return direct("mesh", nx.grid_2d_graph(k, k))


def torus(n: int) -> Topology:
    """A square mesh with wrap-around links."""
    k = math.isqrt(n)
    return direct("torus", nx.grid_2d_graph(k, k, periodic=True))


def hypercube(n: int) -> Topology:
    """Neighbours differ in one bit of their number."""
    size = n.bit_length() - 1
    return direct("hypercube", nx.hypercube_graph(size))


def butterfly(n: int) -> Topology:
    """log2(n) stages of n/2 switches, 2 inputs and 2 outputs each: one way for each pair."""
    stages = n.bit_length() - 1
    graph = nx.DiGraph()

    def switch(
        stage: int, row: int
    ) -> tuple[int, int]:  # the switch that handles this row at a stage
        return stage, row & ~(1 << (stages - 1 - stage))

    for stage, row in product(range(stages - 1), range(n)):
        # `row` is the wire behind a stage; it keeps its number on the way to the next.
        graph.add_edge(switch(stage, row), switch(stage + 1, row))
    sends: list[Hashable] = [switch(0, row) for row in range(n)]
    receives: list[Hashable] = [switch(stages - 1, row) for row in range(n)]
    halves = [set(range(n // 2)), {i for i in range(n) if i % 2 == 0}]
    return Topology("butterfly", graph, sends, receives, halves)


def fat_tree(n: int) -> Topology:
    """A k-ary 3-tree: n = k**3 terminals, three levels of k * k switches, k links up and k down."""
    k = round(n ** (1 / 3))
    graph = nx.Graph()
    for a, b, c in product(range(k), repeat=3):
        graph.add_edge((0, a, b), (1, a, c))  # inside pod a
        graph.add_edge((1, a, c), (2, b, c))  # spine (b, c) has one link to every pod
    ends: list[Hashable] = [(0, a, b) for a, b, _ in product(range(k), repeat=3)]
    return Topology("fat tree", graph, ends, ends, [set(range(n // 2))])


# --8<-- [end:builders]


BUILDERS: dict[str, Callable[[int], Topology]] = {
    "ring": ring,
    "mesh": mesh,
    "torus": torus,
    "hypercube": hypercube,
    "butterfly": butterfly,
    "fat tree": fat_tree,
}


def formula(name: str, n: int) -> tuple[int, int, float, int]:
    """Return degree, diameter, mean hops (not to oneself) and bisection, from formulas."""
    k, d, other = math.isqrt(n), n.bit_length() - 1, n / (n - 1)
    third = round(n ** (1 / 3))
    return {
        "ring": (2, n // 2, n / 4 * other, 2),
        "mesh": (4, 2 * (k - 1), 2 * (k * k - 1) / (3 * k) * other, k),
        "torus": (4, k, k / 2 * other, 2 * k),
        "hypercube": (d, d, d / 2 * other, n // 2),
        "butterfly": (4, d - 1, float(d - 1), n // 2),
        "fat tree": (
            2 * third,
            4,
            (2 * third * (third - 1) + 4 * (n - third**2)) / (n - 1),
            n // 2,
        ),
    }[name]


def main() -> None:
    """Print the table; every figure counted, and checked against its formula."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--terminals", type=int, default=64, help="a square and a power of two")
    n = parser.parse_args().terminals
    print(f"{n} terminals  routers  links  degree  diameter  mean hops  bisection")
    for name, build in BUILDERS.items():
        if name == "fat tree" and round(n ** (1 / 3)) ** 3 != n:
            continue
        t = build(n)
        diameter, mean = t.hops()
        counted = (t.degree, diameter, mean, t.bisection())
        want = formula(name, n)
        assert all(math.isclose(a, b) for a, b in zip(counted, want, strict=True)), (counted, want)
        print(
            f"{name:<12} {len(t.graph):8} {t.graph.number_of_edges():6} {t.degree:7}"
            f" {diameter:9} {mean:10.2f} {counted[3]:10}"
        )


if __name__ == "__main__":
    main()
