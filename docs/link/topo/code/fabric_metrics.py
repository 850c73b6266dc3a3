"""Hops, diameter, bisection and parts lists of GPU and cluster networks.

A fabric is an undirected graph. An edge carries ``links`` (how many cables or NVLinks lie in
parallel) and ``rate`` (payload of ONE link in ONE direction, GB/s, 1 GB = 10**9 bytes). Every
link is full duplex, so a cut of c GB/s carries c in each direction at the same time. Nothing
here is measured: these are limits set by the wiring.

hops        links on a shortest path between two endpoints. Endpoints pass traffic on only in
            direct networks (mesh, torus, cube mesh); elsewhere every inner node is a switch, so
            switches crossed = hops - 1.
bisection   the least capacity between two equal halves of the endpoints; switches fall on the
            side that makes the cut cheapest (a maximum flow). "exact": every split was tried,
            up to endpoints that are wired alike. "halves": the least of the canonical halves
            that the builder names, an upper bound of the true value.
of full     bisection divided by what half of the endpoints can inject.

Formulas: k-ary fat tree, Al-Fares et al., SIGCOMM 2008; dragonfly a, p, h, Kim et al., ISCA 2008;
torus, counted by hand: cutting a ring of k nodes in two crosses 2 of its links (1 if k = 2).
Wiring of DGX-1, SummitDev and Summit: Li et al., arXiv 1903.04611; of NVSwitch systems: NVIDIA
Fabric Manager User Guide. Cluster fabrics use 400 Gb/s links, that is 50 GB/s in one direction.

Usage (needs networkx)
    python docs/link/topo/code/fabric_metrics.py                     # all fabrics
    python docs/link/topo/code/fabric_metrics.py --fabric dgx1-p100  # one, in detail
    python docs/link/topo/code/fabric_metrics.py --rings             # NVLink rings per GPU subset
    python docs/link/topo/code/fabric_metrics.py --sizes             # sizes from closed formulas
    python docs/link/topo/code/fabric_metrics.py --ecmp              # hash collisions
    python docs/link/topo/code/fabric_metrics.py --questions fabrics # answers of a note
    python docs/link/topo/code/fabric_metrics.py --fabric dragonfly --draw out.svg
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, permutations, product
from pathlib import Path

import networkx as nx  # type: ignore[import-untyped]

NET = 50.0  # GB/s, one direction: 400 Gb/s


# --8<-- [start:metrics]
@dataclass
class Fabric:
    """A network; `ends` are its endpoints, `halves` the canonical halves of `ends`."""

    name: str
    graph: nx.Graph = field(default_factory=nx.Graph)
    ends: list[str] = field(default_factory=list)
    halves: list[set[str]] = field(default_factory=list)
    relay: bool = False  # endpoints pass traffic on
    transitive: bool = False  # every endpoint sees the same network
    inject: float = 0.0  # GB/s, one direction, an endpoint can send into it; 0: all its links

    def wire(self, a: str, b: str, links: int = 1, rate: float = NET) -> None:
        """Add links between two nodes."""
        before = self.graph.edges[a, b]["links"] if self.graph.has_edge(a, b) else 0
        self.graph.add_edge(a, b, links=before + links, rate=rate)

    def capacity(self, a: str, b: str) -> float:
        """Return GB/s in one direction of an edge."""
        edge = self.graph.edges[a, b]
        return float(edge["links"] * edge["rate"])

    def hops(self) -> Counter[int]:
        """Count ordered pairs of endpoints by the number of links between them."""
        found: Counter[int] = Counter()
        ends = set(self.ends)
        for start in self.ends[:1] if self.transitive else self.ends:
            far = {start: 0}
            queue = deque([start])
            while queue:
                node = queue.popleft()
                if node in ends and node != start and not self.relay:
                    continue
                for other in self.graph[node]:
                    if other not in far:
                        far[other] = far[node] + 1
                        queue.append(other)
            found.update(far[end] for end in self.ends if end != start and end in far)
        weight = len(self.ends) if self.transitive else 1
        return Counter({length: count * weight for length, count in sorted(found.items())})

    def cut(self, left: set[str]) -> float:
        """Return the least capacity, GB/s in one direction, between `left` and the other ends."""
        if set(self.graph) == set(self.ends):  # no switches: nothing to choose
            crossing = ((a, b) for a, b in self.graph.edges if (a in left) != (b in left))
            return sum(self.capacity(a, b) for a, b in crossing)
        flow = nx.DiGraph()
        for a, b in self.graph.edges:
            for c, d in ((a, b), (b, a)):
                flow.add_edge(c, d, capacity=self.capacity(a, b))
        for end in self.ends:  # no capacity given: unlimited
            flow.add_edge(*(("source", end) if end in left else (end, "sink")))
        return float(nx.maximum_flow_value(flow, "source", "sink"))

    def splits(self) -> Iterator[set[str]]:
        """Yield one half of every balanced split, once per way of choosing among equals."""
        kinds: dict[object, list[str]] = {}
        for end in self.ends:
            wiring = tuple(sorted((n, self.capacity(end, n)) for n in self.graph[end]))
            kinds.setdefault(wiring, []).append(end)
        groups = list(kinds.values())
        for counts in product(*(range(len(group) + 1) for group in groups)):
            other = tuple(len(group) - n for group, n in zip(groups, counts, strict=True))
            if sum(counts) == len(self.ends) // 2 and counts >= other:  # one of the two halves
                yield {end for group, n in zip(groups, counts, strict=True) for end in group[:n]}

    def bisection(self) -> tuple[float, str]:
        """Return GB/s in one direction and how it was found."""
        kinds = Counter(tuple(sorted(self.graph[end])) for end in self.ends)
        direct = set(self.graph) == set(self.ends)
        if math.prod(n + 1 for n in kinds.values()) <= (2**16 if direct else 2**13):
            tried = [self.cut(half) for half in self.splits()]
            return min(tried), f"exact, splits: {len(tried)}"
        return min(map(self.cut, self.halves)), f"halves, tried: {len(self.halves)}"

    def injection(self) -> float:
        """Return GB/s in one direction that an endpoint can send into the network."""
        return self.inject or sum(self.capacity(self.ends[0], n) for n in self.graph[self.ends[0]])

    def parts(self) -> tuple[int, int, int]:
        """Return the numbers of switches, links at endpoints, and links between switches."""
        ends = set(self.ends)
        at_ends = sum(
            d["links"] for a, b, d in self.graph.edges(data=True) if a in ends or b in ends
        )
        every = sum(d["links"] for _, _, d in self.graph.edges(data=True))
        return len(self.graph) - len(ends), at_ends, every - at_ends


# --8<-- [end:metrics]


def _names(kind: str, count: int) -> list[str]:
    return [f"{kind}{n}" for n in range(count)]


# --8<-- [start:mesh]
def cube_mesh() -> Fabric:
    """DGX-1 with P100: two quads, every pair in a quad linked, and i linked to i + 4."""
    fabric = Fabric("dgx1-p100", ends=_names("g", 8), relay=True)
    for base in (0, 4):
        for a, b in combinations(range(base, base + 4), 2):
            fabric.wire(f"g{a}", f"g{b}", 1, 20.0)
    for a in range(4):
        fabric.wire(f"g{a}", f"g{a + 4}", 1, 20.0)
    return fabric


def cube_mesh_v100() -> Fabric:
    """DGX-1 with V100: the same edges at 25 GB/s; a ring through all GPUs is doubled."""
    fabric = cube_mesh()
    fabric.name = "dgx1-v100"
    for edge in fabric.graph.edges:
        fabric.graph.edges[edge]["rate"] = 25.0
    for a, b in ((0, 3), (3, 2), (2, 1), (1, 5), (5, 6), (6, 7), (7, 4), (4, 0)):
        fabric.wire(f"g{a}", f"g{b}", 1, 25.0)
    return fabric


# --8<-- [end:mesh]


def nvswitch(name: str, gpus: int, per_chip: list[int], rate: float) -> Fabric:
    """One level of NVSwitch chips: every GPU has per_chip[i] links to chip i."""
    fabric = Fabric(name, ends=_names("g", gpus), transitive=True)
    for gpu, (chip, links) in product(fabric.ends, enumerate(per_chip)):
        fabric.wire(gpu, f"nvswitch{chip}", links, rate)
    return fabric


# --8<-- [start:clos]
def leaf_spine(k: int, up: int | None = None) -> Fabric:
    """Two tiers of k-port switches, `up` uplinks a leaf (k / 2 when not given: no blocking)."""
    up = k // 2 if up is None else up
    fabric = Fabric(f"leaf-spine-{k}" + (f"-{k - up}to{up}" if up != k // 2 else ""))
    for leaf in range(k):
        for host in range(k - up):
            fabric.ends.append(f"h{leaf}.{host}")
            fabric.wire(fabric.ends[-1], f"leaf{leaf}")
        for spine in range(up):
            fabric.wire(f"leaf{leaf}", f"spine{spine}")
    fabric.halves = [set(fabric.ends[: len(fabric.ends) // 2])]
    return fabric


def fat_tree(k: int) -> Fabric:
    """Three tiers of k-port switches: k pods of k/2 edge and k/2 aggregation switches."""
    fabric, half = Fabric(f"fat-tree-{k}"), k // 2
    for pod, edge in product(range(k), range(half)):
        for host in range(half):
            fabric.ends.append(f"h{pod}.{edge}.{host}")
            fabric.wire(fabric.ends[-1], f"leaf{pod}.{edge}")
        for agg in range(half):
            fabric.wire(f"leaf{pod}.{edge}", f"spine{pod}.{agg}")
    for pod, agg, up in product(range(k), range(half), range(half)):
        fabric.wire(f"spine{pod}.{agg}", f"core{agg * half + up}")
    fabric.halves = [set(fabric.ends[: len(fabric.ends) // 2])]
    return fabric


# --8<-- [end:clos]


def rails(servers: int, gpus: int, spines: int) -> Fabric:
    """Rail-optimised: network card i of every server on leaf i; leaves joined by spines.

    Each leaf has as many uplinks as servers. With 0 spines it is rail-only, and the NVSwitch of
    each server (450 GB/s per GPU, one direction) is drawn in, the only way between rails.
    """
    fabric = Fabric("rail-only" if spines == 0 else "rail-optimised")
    for server, gpu in product(range(servers), range(gpus)):
        fabric.ends.append(f"g{server}.{gpu}")
        fabric.wire(fabric.ends[-1], f"leaf{gpu}")
        if spines == 0:
            fabric.wire(fabric.ends[-1], f"nvswitch{server}", 18, 25.0)
    for gpu, spine in product(range(gpus), range(spines)):
        fabric.wire(f"leaf{gpu}", f"spine{spine}", servers // spines)
    by_server = {end for end in fabric.ends if int(end[1:].split(".")[0]) < servers // 2}
    by_rail = {end for end in fabric.ends if int(end.split(".")[1]) < gpus // 2}
    fabric.halves = [by_server, by_rail]
    fabric.relay = spines == 0  # a GPU hands data to its neighbour's card (PXN)
    fabric.inject = NET
    return fabric


def dragonfly(p: int, a: int, h: int, groups: int | None = None) -> Fabric:
    """p hosts, a - 1 local and h global links per router; one link between each pair of groups."""
    g = a * h + 1 if groups is None else groups
    fabric = Fabric("dragonfly")
    for group, router in product(range(g), range(a)):
        for host in range(p):
            fabric.ends.append(f"h{group}.{router}.{host}")
            fabric.wire(fabric.ends[-1], f"router{group}.{router}")
    for group in range(g):
        for one, two in combinations(range(a), 2):
            fabric.wire(f"router{group}.{one}", f"router{group}.{two}")
    for one, two in combinations(range(g), 2):  # consecutive groups on consecutive ports
        here, there = (two - one - 1) % g // h, (one - two - 1) % g // h
        fabric.wire(f"router{one}.{here}", f"router{two}.{there}")
    fabric.halves = [set(fabric.ends[: len(fabric.ends) // 2])]
    if g % 2 and a % 2 == 0:  # cut group 0 so that its routers stay with the groups they reach
        size = a * p
        cut = fabric.ends[: size // 2] + fabric.ends[size : size + size * (g // 2)]
        fabric.halves.append(set(cut))
    return fabric


def dragonfly_plus(p: int, leaves: int, spines: int, h: int) -> Fabric:
    """Groups are leaf-spine blocks; h global links per spine, one between each pair of groups."""
    g = spines * h + 1
    fabric = Fabric("dragonfly+")
    for group, leaf in product(range(g), range(leaves)):
        for host in range(p):
            fabric.ends.append(f"h{group}.{leaf}.{host}")
            fabric.wire(fabric.ends[-1], f"leaf{group}.{leaf}")
        for spine in range(spines):
            fabric.wire(f"leaf{group}.{leaf}", f"spine{group}.{spine}")
    for one, two in combinations(range(g), 2):
        here, there = (two - one - 1) % g // h, (one - two - 1) % g // h
        fabric.wire(f"spine{one}.{here}", f"spine{two}.{there}")
    fabric.halves = [set(fabric.ends[: len(fabric.ends) // 2])]
    return fabric


def torus(*dims: int, wrap: bool = True) -> Fabric:
    """Every node linked to the next in each dimension; `wrap` closes the rings (else a mesh)."""
    shape = "x".join(map(str, dims))
    fabric = Fabric(("torus-" if wrap else "mesh-") + shape, relay=True, transitive=wrap)
    for place in product(*map(range, dims)):
        fabric.ends.append(name := "n" + ".".join(map(str, place)))
        for axis, size in enumerate(dims):
            following = (place[axis] + 1) % size
            if following > place[axis] or (wrap and size > 2):
                other = [*place[:axis], following, *place[axis + 1 :]]
                fabric.wire(name, "n" + ".".join(map(str, other)))
    for axis, size in enumerate(dims):
        inside = {e for e in fabric.ends if int(e[1:].split(".")[axis]) < size // 2}
        fabric.halves.append(inside)
    return fabric


BUILDERS: dict[str, Callable[[], Fabric]] = {
    "dgx1-p100": cube_mesh,
    "dgx1-v100": cube_mesh_v100,
    "dgx-h100": lambda: nvswitch("dgx-h100", 8, [4, 5, 5, 4], 25.0),
    "gb200-nvl72": lambda: nvswitch("gb200-nvl72", 72, [1] * 18, 50.0),
    "leaf-spine-8": lambda: leaf_spine(8),
    "leaf-spine-8-6to2": lambda: leaf_spine(8, 2),
    "fat-tree-4": lambda: fat_tree(4),
    "fat-tree-8": lambda: fat_tree(8),
    "rail-optimised": lambda: rails(8, 8, 4),
    "rail-only": lambda: rails(8, 8, 0),
    "dragonfly": lambda: dragonfly(2, 4, 2),
    "dragonfly+": lambda: dragonfly_plus(2, 2, 2, 2),
    "mesh-4x4": lambda: torus(4, 4, wrap=False),
    "torus-4x4": lambda: torus(4, 4),
    "torus-4x4x4": lambda: torus(4, 4, 4),
    "torus-8x8x8": lambda: torus(8, 8, 8),
    "torus-16x16x16": lambda: torus(16, 16, 16),
}


# --8<-- [start:rings]
def cycles(fabric: Fabric, gpus: tuple[str, ...]) -> list[tuple[tuple[str, str], ...]]:
    """Return every ring through all of `gpus`, as its edges; two GPUs need just their link."""
    found = []
    first, *rest = gpus
    for order in permutations(rest):
        if len(order) > 1 and order[0] > order[-1]:
            continue  # the same ring the other way round
        ring = (first, *order)
        around = zip(ring, (*ring[1:], first), strict=True)
        edges = tuple(sorted({(min(e), max(e)) for e in around}))
        if all(fabric.graph.has_edge(*edge) for edge in edges):
            found.append(edges)
    return found


def rings(fabric: Fabric, gpus: tuple[str, ...]) -> int:
    """Return how many rings through all of `gpus` fit without sharing a link."""
    options = cycles(fabric, gpus)
    free = {(min(e), max(e)): fabric.graph.edges[e]["links"] for e in fabric.graph.edges}

    def pack(start: int) -> int:
        best = 0
        for n in range(start, len(options)):
            if all(free[edge] for edge in options[n]):
                for edge in options[n]:
                    free[edge] -= 1
                best = max(best, 1 + pack(n))
                for edge in options[n]:
                    free[edge] += 1
        return best

    return pack(0)


# --8<-- [end:rings]


def two_tier(k: int) -> tuple[int, int, int]:
    """Hosts, switches, links between switches: non-blocking leaf-spine of k-port switches."""
    return k * k // 2, 3 * k // 2, k * k // 2


def three_tier(k: int) -> tuple[int, int, int]:
    """The same for the k-ary fat tree of Al-Fares et al."""
    return k**3 // 4, 5 * k * k // 4, k**3 // 2


def rail_pod(units: int) -> tuple[int, int, int]:
    """The same for `units` of 32 servers with 8 GPUs, one 64-port leaf per unit and rail."""
    leaves = 8 * units
    return 32 * leaves, leaves + leaves * 32 // 64, 32 * leaves


def dragonfly_size(p: int, a: int, h: int, g: int | None = None) -> tuple[int, int, int]:
    """The same for a dragonfly of Kim et al. with all h global ports in use."""
    g = a * h + 1 if g is None else g
    return a * p * g, a * g, g * a * (a - 1) // 2 + g * a * h // 2


def ecmp(flows: int, links: int) -> tuple[float, float]:
    """Return P(no two flows share a link) and the expected share of links that carry traffic.

    Each flow picks one of `links` equal paths at random, independently.
    """
    alone = math.perm(links, flows) / links**flows if flows <= links else 0.0
    return alone, 1 - (1 - 1 / links) ** flows


def table(fabrics: Iterable[Fabric]) -> None:
    """Print one line per fabric."""
    print("GB/s, one direction; links: at endpoints + between switches")
    print(
        f"{'fabric':<18} {'ends':>5} {'switches':>8} {'links':>12} {'hops':>5} {'mean':>5} "
        f"{'bisection':>10} {'of full':>7}  method"
    )
    for fabric in fabrics:
        switches, at_ends, trunks = fabric.parts()
        hops = fabric.hops()
        mean = sum(n * c for n, c in hops.items()) / hops.total()
        value, how = fabric.bisection()
        full = fabric.injection() * len(fabric.ends) / 2
        print(
            f"{fabric.name:<18} {len(fabric.ends):>5} {switches:>8} {f'{at_ends}+{trunks}':>12} "
            f"{max(hops):>5} {mean:>5.2f} {value:>10.0f} {value / full:>7.3f}  {how}"
        )


def detail(fabric: Fabric) -> None:
    """Print what one fabric is made of."""
    table([fabric])
    hops = fabric.hops()
    print("ordered pairs by hops: " + ", ".join(f"{n}: {c}" for n, c in hops.items()))
    if fabric.relay and len(fabric.ends) <= 8:
        print("links between pairs (row and column: GPU):")
        for a in fabric.ends:
            row = [
                "."
                if a == b
                else str(fabric.graph.edges[a, b]["links"])
                if fabric.graph.has_edge(a, b)
                else "0"
                for b in fabric.ends
            ]
            print("  " + " ".join(row))


def ring_table() -> None:
    """Print, for every size of job, how many subsets of the 8 GPUs have an NVLink ring."""
    print("rings that share no link; one ring carries its link rate in each direction")
    print(
        f"{'GPUs':>4} {'subsets':>8} {'P100: with a ring':>18} {'most':>5} "
        f"{'V100: with a ring':>18} {'most':>5}"
    )
    for size in range(2, 9):
        line = f"{size:>4} {math.comb(8, size):>8}"
        for fabric in (cube_mesh(), cube_mesh_v100()):
            counts = [rings(fabric, chosen) for chosen in combinations(fabric.ends, size)]
            line += f" {sum(map(bool, counts)):>18} {max(counts):>5}"
        print(line)


def size_table() -> None:
    """Print closed-form sizes; the 64-port rows can be compared with arXiv 2505.09343, table 3."""
    print(
        f"{'network':<38} {'endpoints':>9} {'switches':>8} {'switch links':>12} "
        f"{'per endpoint':>12}"
    )
    eight = tuple(8 * n for n in two_tier(64))
    rows = [
        ("two tiers, 64 ports", two_tier(64)),
        ("8 planes of two tiers, 64 ports", eight),
        ("three tiers, 64 ports", three_tier(64)),
        ("dragonfly p16 a32 h16, 511 groups", dragonfly_size(16, 32, 16, 511)),
        *((f"rails of 64 ports, {n} x 32 servers x 8", rail_pod(n)) for n in (1, 2, 4)),
        ("two tiers, 128 ports", two_tier(128)),
        ("three tiers, 128 ports", three_tier(128)),
    ]
    for name, (ends, switches, links) in rows:
        print(f"{name:<38} {ends:>9} {switches:>8} {links:>12} {links / ends:>12.2f}")


def ecmp_table() -> None:
    """Print what random hashing does to equal flows on equal links."""
    print(f"{'flows':>5} {'links':>5} {'no collision':>13} {'links in use':>13}")
    for flows, links in ((4, 4), (8, 8), (16, 16), (32, 32), (64, 32), (128, 32), (512, 32)):
        alone, used = ecmp(flows, links)
        print(f"{flows:>5} {links:>5} {alone:>13.2e} {used:>13.1%}")


def questions(note: str) -> None:
    """Print the numbers that a note's answers use."""
    if note == "dgx1":
        mesh, volta = cube_mesh(), cube_mesh_v100()
        pairs = mesh.hops()
        eight = tuple(mesh.ends)
        print(
            f"1  linked pairs {pairs[1] // 2}, two-hop pairs {pairs[2] // 2}; "
            f"relays of g0 to g7: {sorted(nx.common_neighbors(mesh.graph, 'g0', 'g7'))}"
        )
        for fabric, rate in ((mesh, 20), (volta, 25)):
            n = rings(fabric, eight)
            print(f"2  {fabric.name}: {n} rings x 2 directions x {rate} = {2 * n * rate} GB/s")
        print(
            f"3  g0..g3 and g7: {rings(mesh, ('g0', 'g1', 'g2', 'g3', 'g7'))} rings; "
            f"g0 g1 g2 g4 g5: {rings(mesh, ('g0', 'g1', 'g2', 'g4', 'g5'))} ring"
        )
        for fabric in (mesh, volta):
            value, _ = fabric.bisection()
            print(
                f"4  {fabric.name}: bisection {value:.0f} GB/s 1-dir, "
                f"{value / (4 * fabric.injection()):.2f} of full"
            )
        print(
            f"5  one 400 MB buffer, 8 GPUs, ring all-reduce: {2 * 7 / 8 * 0.4 / 80 * 1e3:.2f} ms "
            f"at 80 GB/s, {2 * 7 / 8 * 0.4 / 40 * 1e3:.2f} ms with one ring"
        )
        return
    ends, switches, links = two_tier(64)
    more = three_tier(64)
    print(
        f"1  64 ports: two tiers {ends} endpoints, {switches} switches, {ends}+{links} cables; "
        f"three tiers {more[0]}, {more[1]}, {more[0]}+{more[2]}"
    )
    cross = 24576 / 2 * NET / 7
    print(
        f"2  24,576 GPUs, 1:7 above the pods: {cross / 1000:.1f} TB/s 1-dir across the middle, "
        f"{cross / 12288:.2f} GB/s per GPU"
    )
    print(
        f"3  torus 16x16x16: {2 * 16 * 16} links across, diameter {3 * 8}; "
        f"torus 64x64: {2 * 64} links, diameter {2 * 32}; 24 TB/s / 512 = {24000 / 512:.1f} GB/s"
    )
    alone, used = ecmp(8, 8)
    print(f"4  8 flows on 8 uplinks: no collision {alone:.4f}, links in use {used:.1%}")
    print(
        f"5  Frontier: 512 x 25 = {512 * 25 / 1000:.1f} TB/s in, 4 x 73 x 25 = "
        f"{4 * 73 * 25 / 1000:.1f} TB/s out of a group: {4 * 73 / 512:.0%}"
    )


def draw(fabric: Fabric, path: Path) -> None:
    """Draw a fabric of up to 72 endpoints: tiers from below, direct networks on a circle."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[4]))
    from tools.figures import draw as art

    if len(fabric.ends) > 72:
        raise SystemExit(f"{fabric.name} has {len(fabric.ends)} endpoints; 72 can be drawn")
    tiers = ["end", "leaf", "router", "nvswitch", "spine", "core"]
    ends = set(fabric.ends)
    rows: dict[str, list[str]] = {}
    for node in fabric.graph:
        kind = "end" if node in ends else str(node).rstrip("0123456789.")
        rows.setdefault(kind, []).append(node)
    height = 90 + 110 * (len(rows) if len(rows) > 1 else 4)
    place: dict[str, tuple[float, float]] = {}
    for level, kind in enumerate(sorted(rows, key=tiers.index)):
        for n, node in enumerate(sorted(rows[kind], key=_natural)):
            if len(rows) == 1:
                turn = 2 * math.pi * n / len(rows[kind])
                place[node] = (380 + 230 * math.sin(turn), 260 - 190 * math.cos(turn))
            else:
                place[node] = (20 + 720 * (n + 0.5) / len(rows[kind]), height - 75 - 110 * level)
    local = fabric.name.startswith(("dgx", "gb"))
    lines = []
    for one, two in fabric.graph.edges:
        a, b = sorted((place[one], place[two]))
        row = len(rows) > 1 and a[1] == b[1]  # neighbours in a row: pass above the others
        style: art.Style = "nvlink" if local or "nvswitch" in two else "net"
        lines.append(art.link(*a, *b, style, bend=14 + 0.1 * (b[0] - a[0]) if row else 0))
    marks = []
    for kind, nodes in rows.items():
        w = min(44.0, 720 / len(nodes) - 2) if len(rows) > 1 else 44.0
        shape = art.gpu if kind == "end" else art.switch
        for node in nodes:
            label = (node[1:] if kind == "end" else f"S{node[len(kind) :]}",) if w >= 40 else ()
            if label and art.widest(label[0], 12) > w - 20:
                label = ()
            x, y = place[node]
            marks.append(shape(x - w / 2, y - 13, w, 26, *label, size=12))
    legend = art.legend(20, height - 22, *(("nvlink",) if local else ("net",)))
    title = f"{fabric.name}: {len(fabric.ends)} endpoints"
    desc = f"{len(fabric.graph) - len(ends)} switches and {len(lines)} edges."
    path.write_text(art.figure(760, height, title, desc, *lines, *marks, legend), encoding="utf-8")


def _natural(node: str) -> list[int]:
    return [int(part) for part in node.lstrip("abcdefghijklmnopqrstuvwxyz").split(".")]


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--fabric", choices=sorted(BUILDERS), help="one fabric in detail")
    parser.add_argument("--draw", type=Path, metavar="FILE.svg", help="draw --fabric")
    parser.add_argument("--rings", action="store_true", help="NVLink rings per subset of GPUs")
    parser.add_argument("--sizes", action="store_true", help="sizes from closed formulas")
    parser.add_argument("--ecmp", action="store_true", help="hash collisions")
    parser.add_argument("--questions", choices=["dgx1", "fabrics"], help="answers of a note")
    given = parser.parse_args()
    if given.draw and not given.fabric:
        parser.error("--draw needs --fabric")
    if given.rings:
        ring_table()
    elif given.sizes:
        size_table()
    elif given.ecmp:
        ecmp_table()
    elif given.questions:
        questions(given.questions)
    elif given.draw:
        draw(BUILDERS[given.fabric](), given.draw)
    elif given.fabric:
        detail(BUILDERS[given.fabric]())
    else:
        table(build() for build in BUILDERS.values())


if __name__ == "__main__":
    main()
