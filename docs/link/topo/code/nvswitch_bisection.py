"""Total and bisection bandwidth of NVLink systems, from their port maps.

Every link is full duplex. ``rate`` is the advertised payload rate of ONE link
in ONE direction, in GB/s (1 GB = 10**9 bytes). "both" is the sum of the two
directions. Nothing here is measured: these are wiring limits.

A bisection splits the GPUs into two equal halves. For a given split, the
bandwidth is the minimum cut between the halves (found as a maximum flow);
switch chips may fall on either side of the cut. The bisection of the system is
the smallest value over all splits. All 35 splits of 8 GPUs are tried; in larger
systems GPUs with the same wiring are interchangeable, so only how many of each
kind go left is tried, which covers every split.

Wiring: NVIDIA Fabric Manager User Guide, "NVLink Topology" (HGX-2, HGX A100,
HGX H100, HGX B200); NVIDIA DGX-1 whitepaper (hybrid cube mesh); GB200 NVL72:
18 switch chips of 72 ports, one link from every GPU to every chip.

Usage
    python docs/link/topo/code/nvswitch_bisection.py              # the tables
    python docs/link/topo/code/nvswitch_bisection.py --nvls       # ceilings of all-reduce
    python docs/link/topo/code/nvswitch_bisection.py --questions  # answers of the notes
"""

from __future__ import annotations

import argparse
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product


# --8<-- [start:main]
@dataclass(frozen=True)
class System:
    """GPUs are "g0".., switch chips "s0"..; links maps a pair to a link count."""

    name: str
    rate: float  # GB/s, one link, one direction
    links: dict[tuple[str, str], int]

    @property
    def gpus(self) -> list[str]:
        return sorted({n for e in self.links for n in e if n[0] == "g"}, key=lambda n: int(n[1:]))

    def wiring(self, gpu: str) -> tuple[tuple[str, int], ...]:
        """The neighbours of a GPU with link counts."""
        return tuple(
            sorted(((b if a == gpu else a), c) for (a, b), c in self.links.items() if gpu in (a, b))
        )

    def min_cut(self, left: set[str], right: set[str]) -> int:
        """Links across the cheapest cut between two sets of nodes (Edmonds-Karp)."""
        cap: Counter[tuple[str, str]] = Counter()
        near: dict[str, set[str]] = {}
        endless = sum(self.links.values()) + 1
        edges = [(a, b, c, c) for (a, b), c in self.links.items()]  # full duplex
        edges += [("src", g, endless, 0) for g in left]
        edges += [(g, "dst", endless, 0) for g in right]
        for a, b, forth, back in edges:
            cap[a, b] += forth
            cap[b, a] += back
            near.setdefault(a, set()).add(b)
            near.setdefault(b, set()).add(a)
        flow = 0
        while True:
            came_from = {"src": ""}
            queue = deque(["src"])
            while queue and "dst" not in came_from:
                a = queue.popleft()
                for b in near[a]:
                    if b not in came_from and cap[a, b] > 0:
                        came_from[b] = a
                        queue.append(b)
            if "dst" not in came_from:
                return flow
            path, b = [], "dst"
            while b != "src":
                path.append((came_from[b], b))
                b = came_from[b]
            step = min(cap[e] for e in path)
            for a, b in path:
                cap[a, b] -= step
                cap[b, a] += step
            flow += step

    def splits(self) -> Iterator[set[str]]:
        """One half of every balanced split, up to symmetry."""
        gpus, half = self.gpus, len(self.gpus) // 2
        if len(gpus) <= 8:
            yield from (set(c) for c in combinations(gpus, half) if gpus[0] in c)
            return
        kinds: dict[object, list[str]] = {}
        for g in gpus:
            kinds.setdefault(self.wiring(g), []).append(g)
        for counts in product(*(range(len(k) + 1) for k in kinds.values())):
            if sum(counts) == half:
                yield {g for k, n in zip(kinds.values(), counts, strict=True) for g in k[:n]}

    def bisection_links(self) -> int:
        return min(self.min_cut(s, set(self.gpus) - s) for s in self.splits())


def switched(name: str, rate: float, gpus: int, per_switch: list[int]) -> System:
    """Every GPU has per_switch[i] links to switch chip i."""
    return System(
        name,
        rate,
        {(f"g{g}", f"s{i}"): n for g in range(gpus) for i, n in enumerate(per_switch) if n},
    )


def dgx2() -> System:
    """Two boards of 8 GPUs and 6 chips; 8 trunk links join each pair of chips."""
    links = {(f"g{g}", f"s{6 * (g // 8) + i}"): 1 for g in range(16) for i in range(6)}
    links |= {(f"s{i}", f"s{6 + i}"): 8 for i in range(6)}
    return System("DGX-2 (V100)", 25, links)


def cube_mesh() -> System:
    """DGX-1 (P100): two fully meshed quads, and one link from i to i + 4."""
    pairs = [p for q in (range(4), range(4, 8)) for p in combinations(q, 2)]
    pairs += [(i, i + 4) for i in range(4)]
    return System("DGX-1 (P100), no switch", 20, {(f"g{a}", f"g{b}"): 1 for a, b in pairs})


SYSTEMS = [
    cube_mesh(),
    dgx2(),
    switched("DGX A100", 25, 8, [2] * 6),
    switched("DGX H100 / H200", 25, 8, [4, 5, 5, 4]),
    switched("HGX B200", 50, 8, [9, 9]),
    switched("GB200 NVL72", 50, 72, [1] * 18),
]
# --8<-- [end:main]


# --8<-- [start:nvls]
def allreduce_ceiling(n: int, wire: float) -> tuple[float, float]:
    """Upper limits of nccl-tests busbw for ring and NVLS all-reduce, GB/s.

    wire: GB/s, one GPU, one direction. busbw = S/t * 2(n-1)/n by definition.
    Ring moves 2(n-1)/n * S per GPU each way, so its limit is the wire.
    NVLS moves (n+1)/n * S each way (S out and S/n back while reducing, S/n out
    and S back while multicasting), so its limit is wire * 2(n-1)/(n+1).
    """
    return wire, wire * 2 * (n - 1) / (n + 1)


def nvls_wire(n: int, busbw: float) -> float:
    """GB/s that each GPU really sends, one direction, at a given NVLS busbw."""
    algbw = busbw / (2 * (n - 1) / n)
    return algbw * (n + 1) / n


# --8<-- [end:nvls]


def row(s: System) -> str:
    n = len(s.gpus)
    per_gpu = sum(c for _, c in s.wiring(s.gpus[0]))
    total, bis = n * per_gpu * s.rate, s.bisection_links() * s.rate
    return (
        f"{s.name:24}{n:4}{per_gpu:6}{total:10.0f}{2 * total:9.0f}"
        f"{bis:10.0f}{2 * bis:9.0f}{bis / (total / 2):7.2f}"
    )


def tables() -> None:
    print("GB/s; 1-dir = one direction, both = the two directions summed")
    print(f"{'':24}{'':4}{'links':>6}{'all GPUs':>19}{'bisection':>19}{'of':>7}")
    print(
        f"{'system':24}{'GPUs':>4}{'/GPU':>6}{'1-dir':>10}{'both':>9}"
        f"{'1-dir':>10}{'both':>9}{'full':>7}"
    )
    for s in SYSTEMS:
        print(row(s))
    print("\none switch chip disabled:")
    for name, rate, wiring in [
        ("DGX A100, 5 of 6 chips", 25, [2] * 5),
        ("DGX H100, a 4-link chip", 25, [5, 5, 4]),
        ("DGX H100, a 5-link chip", 25, [4, 5, 4]),
        ("HGX B200, 1 of 2 chips", 50, [9]),
    ]:
        print(row(switched(name, rate, 8, wiring)))


def ceilings() -> None:
    print("all-reduce busbw ceiling at 450 GB/s per GPU, one direction:")
    print(f"{'GPUs':>6}{'ring':>8}{'NVLS':>8}{'ratio':>8}")
    for n in (2, 3, 4, 5, 8, 72):
        ring, nvls = allreduce_ceiling(n, 450)
        print(f"{n:6}{ring:8.0f}{nvls:8.0f}{nvls / ring:8.3f}")


def questions() -> None:
    mesh = cube_mesh()
    pairs = list(combinations(mesh.gpus, 2))
    linked, cut = sum(p in mesh.links for p in pairs), mesh.bisection_links()
    print(
        f"1  P100 cube mesh: {linked} of {len(pairs)} pairs linked, {len(pairs) - linked} not; "
        f"bisection {cut} links = {cut * mesh.rate:.0f} GB/s 1-dir"
    )
    print(
        f"2  8 GPUs, 18 links each, no switch: {18 // 7} links = {18 // 7 * 25} GB/s 1-dir "
        f"per pair; any pair at full rate would need {7 * 18} links per GPU"
    )
    five = switched("", 25, 8, [2] * 5)
    print(
        f"3  DGX A100 on 5 of 6 chips: {10 * 25} GB/s 1-dir per GPU, "
        f"bisection {2 * five.bisection_links() * 25} GB/s both"
    )
    wire = nvls_wire(8, 480)
    print(
        f"4  480 GB/s NVLS busbw on 8 GPUs: algbw {480 / 1.75:.1f}, "
        f"wire {wire:.1f} GB/s 1-dir = {wire / 450:.0%} of 450"
    )
    uplinks = 32 * 8 * 18 // 2
    nvlink, ib = uplinks / 2 * 50 / 1000, 256 / 2 * 50 / 1000
    print(
        f"5  256 H100: {uplinks} uplinks, half x 50 GB/s = {nvlink:.1f} TB/s both; "
        f"256 HDR ports, half x 50 = {ib:.1f} TB/s both; ratio {nvlink / ib:.1f}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--nvls", action="store_true", help="ceilings of all-reduce busbw")
    parser.add_argument("--questions", action="store_true", help="the answers of the notes")
    args = parser.parse_args()
    questions() if args.questions else ceilings() if args.nvls else tables()
