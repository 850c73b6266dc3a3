"""A server of eight cards without a switch: is it wired right, and what does the wiring bound?

In: nothing, or wiring files of Habana's collective library HCL (connectivity_autogen_*.cpp).
Out, without files: a full mesh made by rule and checked; what it loses with one dead port; the
least time of an all-reduce by bytes among 2, 4 and 8 cards, beside a server with a switch; what
a card sends inside and outside when there are many servers. With files: each checked.

Rates are line rates in one direction, without headers; a round's latency is left out.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

Plug = tuple[int, int]  # card, port
Wiring = dict[Plug, Plug | None]  # None leads out of the server
MIB = 2**20
CARDS, LINKS, OUT = 8, 3, 3  # of the mesh made by rule: links of a pair, ports out of a card


# --8<-- [start:mesh]
def matchings(cards: int) -> list[list[tuple[int, int]]]:
    """All pairs of an even number of cards, as rounds in which every card has one partner."""
    last = cards - 1
    rounds = []
    for turn in range(last):
        pairs = [(turn, last)]
        pairs += [((turn + i) % last, (turn - i) % last) for i in range(1, cards // 2)]
        rounds.append(pairs)
    return rounds


def mesh(cards: int, links: int, out: int) -> Wiring:
    """Round r takes ports links*r and on at both ends; the last ports of a card lead out."""
    wiring: Wiring = {}
    for turn, pairs in enumerate(matchings(cards)):
        for port in range(links * turn, links * (turn + 1)):
            for a, b in pairs:
                wiring[a, port], wiring[b, port] = (b, port), (a, port)
    inner = links * (cards - 1)
    wiring |= {(card, inner + i): None for card in range(cards) for i in range(out)}
    return wiring


# --8<-- [end:mesh]
def read(text: str) -> Wiring:
    """The wiring in a file of HCL: blocks of a card, lines `make_tuple(card, port, index)`."""
    wiring: Wiring = {}
    blocks = re.split(r"card_location_(\d+)_mapping\s*=", text)
    for card, block in zip(blocks[1::2], blocks[2::2], strict=True):
        body = block.split("};")[0]
        for port, (far, far_port) in enumerate(re.findall(r"make_tuple\(\s*(\w+),\s*(\d+)", body)):
            if far == "SCALEOUT_DEVICE_ID":
                wiring[int(card), port] = None
            elif far != "NOT_CONNECTED_DEVICE_ID":
                wiring[int(card), port] = (int(far), int(far_port))
    return wiring


# --8<-- [start:check]
def faults(wiring: Wiring) -> list[str]:
    """Every port must lead back to where it came from, and all pairs of a group be alike."""
    found = []
    for plug, far in wiring.items():
        if far and wiring.get(far) != plug:
            found.append(f"{plug} leads to {far}, which leads to {wiring.get(far)}")
    counts = {pair: n for group in groups(wiring) for pair, n in links(wiring, group).items()}
    usual = Counter(counts.values()).most_common(1)[0][0]
    found += [f"{pair}: {n} links, not {usual}" for pair, n in counts.items() if n != usual]
    return found


def links(wiring: Wiring, cards: Sequence[int]) -> dict[tuple[int, int], int]:
    """Links of each pair; a cable has two ends in the wiring, of which the lower card counts."""
    ends = Counter((a, far[0]) for (a, _), far in wiring.items() if far)
    return {pair: ends[pair] for pair in combinations(cards, 2)}


def groups(wiring: Wiring) -> list[list[int]]:
    """Cards that reach each other without leaving the server."""
    found: list[set[int]] = []
    for (card, _), far in wiring.items():
        joined = {card, far[0]} if far else {card}
        joined = joined.union(*(group for group in found if group & joined))
        found = [group for group in found if not group & joined] + [joined]
    return sorted(sorted(group) for group in found)


# --8<-- [end:check]
def describe(name: str, wiring: Wiring) -> str:
    meshes, bad = groups(wiring), faults(wiring)
    per_pair = {n for group in meshes for n in links(wiring, group).values()}
    ports: dict[int, list[int]] = {card: [] for card, _ in wiring}
    for (card, port), far in wiring.items():
        if far is None:
            ports[card].append(port)
    cross = sum(far is not None and port != far[1] for (_, port), far in wiring.items()) // 2
    out = sum(map(len, ports.values()))
    alike = len(set(map(tuple, ports.values()))) == 1
    lines = [
        f"{name}",
        f"  meshes of {[len(group) for group in meshes]} cards; ports {len(wiring)}: "
        f"{len(wiring) - out} inside, {out} out",
        f"  links per pair {sorted(per_pair)}; cables between unlike port numbers {cross}",
        f"  ports out: {ports[meshes[0][0]] if alike else 'differ from card to card'}",
        f"  faults: {len(bad)}",
    ]
    return "\n".join(lines + [f"    {b}" for b in bad])


# --8<-- [start:bound]
@dataclass(frozen=True)
class Server:
    """GB/s in one direction: of a pair in a mesh, or of a card into a switch; out of a card."""

    name: str
    pair: float | None
    card: float | None
    out: float
    cards: int = 8

    def inside(self, members: int) -> float:
        """What one card can send to the others of a group, all of them at once."""
        if self.pair is None:
            assert self.card is not None
            return self.card
        return (members - 1) * self.pair

    def all_reduce(self, size: float, members: int) -> float:
        """Least seconds: reduce-scatter and all-gather, each moving (m-1)/m of the data."""
        return 2 * (members - 1) / members * size / (self.inside(members) * 1e9)

    def many(self) -> tuple[float, float]:
        """busbw bounds of many servers: ports out, and links inside (docs/ccl/cost-models.md)."""
        return self.cards * self.out, self.cards / (self.cards - 1) * self.inside(self.cards)


# --8<-- [end:bound]
def gaudi(name: str, port: float) -> Server:
    return Server(name, pair=3 * port, card=None, out=3 * port)


SERVERS = [
    gaudi("Gaudi 2, 100 Gb/s", 12.5),
    gaudi("Gaudi 3, 200 Gb/s", 25),
    Server("MI300X, xGMI", pair=64, card=None, out=50),
    Server("H100, NVLS off", pair=None, card=450, out=50),
]


def main(files: Sequence[str]) -> int:
    if files:
        wirings = {Path(file).name: read(Path(file).read_text()) for file in files}
        for name, wiring in wirings.items():
            print(describe(name, wiring))
        return any(faults(wiring) for wiring in wirings.values())
    good = mesh(CARDS, LINKS, OUT)
    print(describe("mesh by rule", good))
    cut = {plug: far for plug, far in good.items() if plug != (0, 3) and far != (0, 3)}
    slow = min(links(cut, range(CARDS)).values())
    most, less = (25 * (CARDS - 1) * n for n in (LINKS, slow))
    print(describe("the same, one cable gone", cut))
    print(f"  direct all-reduce, Gaudi 3: at most {less} GB/s instead of {most}")

    print("\nall-reduce of 256 MiB, least microseconds (busbw at most, GB/s)")
    print(f"{'cards':20}" + "".join(f"{m:>16}" for m in (2, 4, 8)))
    for server in SERVERS:
        cells = ""
        for m in (2, 4, 8):
            us = server.all_reduce(256 * MIB, m) * 1e6
            cells += f"{f'{us:.0f} ({server.inside(m):g})':>16}"
        print(f"{server.name:20}{cells}")

    print("\nmany servers, busbw at most: by ports out, by links inside")
    for server in SERVERS:
        out, inside = server.many()
        print(f"{server.name:20}{out:8.0f}{inside:8.0f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
