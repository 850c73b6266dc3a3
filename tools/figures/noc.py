"""Draw the figures of networks on chip into docs/link/noc/figures.

What lies in the buffers of the ring comes from docs/link/noc/code/deadlock.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import Label, box, colour, drawn, frame, num, remark, text

FOLDER = figure_files.ROOT / "docs/link/noc/figures"
Point = tuple[float, float]
PANEL, TOP = 124, 26


def line(a: Point, b: Point, *, tint: str = "ink", width: float = 1.5, dashes: str = "") -> str:
    """Return a straight line."""
    return pen.line(*a, *b, tint, width, dashes)


def router(at: Point, size: float = 10) -> str:
    """Return a router: a small square around a point."""
    return pen.rect(at[0] - size / 2, at[1] - size / 2, size, size, "switch")


def arc(a: Point, b: Point, bend: Point) -> str:
    """Return a curved link that wraps around."""
    way = f"M{num(a[0])} {num(a[1])}Q{num(bend[0])} {num(bend[1])} {num(b[0])} {num(b[1])}"
    return pen.path(way, width=1.2)


def panel(left: float, top: float, name: Label, links: Iterable[str], at: Iterable[Point]) -> str:
    """Return one network under its name."""
    title = text(left + PANEL / 2, top + 14, name, size=13, bold=True)
    return "\n".join([title, *links, *(router(one) for one in at)])


def grid(left: float, top: float) -> dict[tuple[int, int], Point]:
    """Return where the routers of a 4 x 4 grid stand."""
    return {
        (x, y): (left + 26 + 24 * x, top + TOP + 12 + 24 * y) for x in range(4) for y in range(4)
    }


@drawn(380, 270)
def topologies() -> list[str]:
    """Six topologies.

    A ring of eight routers; a mesh of four by four; the same with wrap-around links, a torus; a
    hypercube of eight; a butterfly of three stages of four switches; a fat tree of three levels
    of four switches, two links up and two down each. Grey lines lead to terminals.
    """
    pieces = []
    # a ring of eight
    left, top = 4.0, 4.0
    ring = [(left + 30 + 32 * x, top + TOP + 22) for x in (0, 1, 2)]
    ring += [
        (left + 94, top + TOP + 52),
        *((left + 94 - 32 * x, top + TOP + 82) for x in (0, 1, 2)),
    ]
    ring += [(left + 30, top + TOP + 52)]
    links = [line(a, b) for a, b in zip(ring, [*ring[1:], ring[0]], strict=True)]
    pieces.append(panel(left, top, ("环", "ring"), links, ring))
    # mesh and torus
    for column, name in ((1, ("网格", "mesh")), (2, ("环面", "torus"))):
        left = 4 + column * PANEL
        at = grid(left, top)
        links = [line(at[x, y], at[x + 1, y]) for x in range(3) for y in range(4)]
        links += [line(at[x, y], at[x, y + 1]) for x in range(4) for y in range(3)]
        if column == 2:
            for k in range(4):
                (a, b), (c, d) = (at[0, k], at[3, k]), (at[k, 0], at[k, 3])
                links.append(arc(a, b, ((a[0] + b[0]) / 2, a[1] - 17)))
                links.append(arc(c, d, (c[0] - 17, (c[1] + d[1]) / 2)))
        pieces.append(panel(left, top, name, links, at.values()))
    # a hypercube of eight, a butterfly of eight, a 2-ary 3-tree
    top = 148.0
    left = 4.0
    cube = {
        (x, y, z): (left + 30 + 50 * x + 20 * z, top + TOP + 76 - 50 * y - 16 * z)
        for x in (0, 1)
        for y in (0, 1)
        for z in (0, 1)
    }
    links = [
        line(cube[a], cube[b])
        for a in cube
        for b in cube
        if a < b and sum(p != q for p, q in zip(a, b, strict=True)) == 1
    ]
    pieces.append(panel(left, top, ("超立方体", "hypercube"), links, cube.values()))
    left += PANEL
    stage = {
        (s, r): (left + 24 + 38 * s, top + TOP + 14 + 23 * r) for s in range(3) for r in range(4)
    }
    links = []
    for s, r in stage:
        if s < 2:
            for to in (r, r ^ (2 >> s)):
                links.append(line(stage[s, r], stage[s + 1, to]))
        for side, off in ((0, -12), (2, 12)):
            if s == side:
                x, y = stage[s, r]
                links += [line((x, y), (x + off, y + d), tint="line") for d in (-4, 4)]
    pieces.append(panel(left, top, ("蝶形", "butterfly"), links, stage.values()))
    left += PANEL
    tree = {
        (v, k): (left + 20 + 28 * k, top + TOP + 14 + 28 * (2 - v))
        for v in range(3)
        for k in range(4)
    }
    links = []
    for k in range(4):
        for other in (k, k ^ 1):
            links.append(line(tree[0, k], tree[1, other]))
        for other in (k, k ^ 2):
            links.append(line(tree[1, k], tree[2, other]))
        x, y = tree[0, k]
        links += [line((x, y), (x + d, y + 14), tint="line") for d in (-6, 6)]
    pieces.append(panel(left, top, ("胖树", "fat tree"), links, tree.values()))
    return pieces


# ------------------------------------------------------------------- ways to join, and two halves


def dot(at: Point) -> str:
    """Return a crosspoint."""
    return f'<circle cx="{num(at[0])}" cy="{num(at[1])}" r="3" fill="{colour("ink")}"/>'


@drawn(380, 216)
def joins() -> list[str]:
    """Bus, crossbar and network.

    A bus: four cores and four slices of cache on one wire. A crossbar: four by four wires with
    sixteen crosspoints. A network: nine routers in a grid, each with a core or a slice.
    """
    pieces = []
    names: list[Label] = [("总线", "bus"), ("交叉开关", "crossbar"), ("网络", "network")]
    for n, name in enumerate(names):
        pieces.append(text(66 + 124 * n, 18, name, size=13, bold=True))
    pieces.append(line((10, 88), (122, 88), width=4))
    for n in range(4):
        x = 20 + 31 * n
        pieces += [line((x, 60), (x, 88)), line((x, 88), (x, 116))]
        pieces += [small((x, 52), "gpu"), small((x, 124), "memory")]
    for n in range(4):
        y, x = 48 + 24 * n, 168 + 24 * n
        pieces += [line((144, y), (246, y)), line((x, 40), (x, 136))]
        pieces += [small((140, y), "gpu"), small((x, 140), "memory")]
        pieces += [dot((168 + 24 * k, y)) for k in range(4)]
    at = {(x, y): (278 + 38 * x, 46 + 38 * y) for x in range(3) for y in range(3)}
    pieces += [line(at[x, y], at[x + 1, y]) for x in range(2) for y in range(3)]
    pieces += [line(at[x, y], at[x, y + 1]) for x in range(3) for y in range(2)]
    for (x, y), (a, b) in at.items():
        pieces += [line((a, b), (a + 13, b + 14), tint="line"), router((a, b))]
        pieces.append(small((a + 14, b + 15), "gpu" if (x + y) % 2 == 0 else "memory"))
    words: list[Label] = [
        ("一次一个", "one at a time"),
        ("端口数的平方", "ports squared"),
        ("逐跳转发", "hop by hop"),
    ]
    for n, said in enumerate(words):
        pieces.append(remark(66 + 124 * n, 176, said))
    pieces += [small((96, 200), "gpu"), small((216, 200), "memory")]
    pieces.append(text(108, 205, ("核", "core"), size=13, anchor="start"))
    pieces.append(text(228, 205, ("缓存切片", "slice of cache"), size=13, anchor="start"))
    return pieces


def small(at: Point, fill: str) -> str:
    """Return a core (round) or a slice of memory (square corners)."""
    x, y = at
    return (
        f'<rect x="{num(x - 7)}" y="{num(y - 7)}" width="14" height="14"'
        f' rx="{7 if fill == "gpu" else 0}" fill="{colour(fill)}" stroke="{colour("ink")}"'
        ' stroke-width="1.2"/>'
    )


@drawn(380, 236)
def halves() -> list[str]:
    """The two sides of an H100.

    Each side: 66 SMs, a half of L2 with the lines at home there and copies of the other side's
    lines, and its HBM. A dashed link joins the halves: about 200 cycles more.
    """
    pieces = []
    for side, other, x in (("A", "B", 8.0), ("B", "A", 232.0)):
        pieces.append(box(x, 10, 140, 34, "gpu", (f"{side} 侧：66 个 SM", f"side {side}: 66 SMs")))
        pieces.append(line((x + 70, 44), (x + 70, 66), width=2))
        pieces.append(box(x, 66, 140, 104, "paper"))
        name = (f"L2，{side} 侧", f"L2, side {side}")
        pieces.append(text(x + 70, 84, name, size=13, bold=True))
        pieces.append(box(x + 8, 92, 124, 30, "memory", (f"家在 {side} 的行", f"home in {side}")))
        pieces.append(
            box(x + 8, 130, 124, 30, "storage", (f"{other} 的副本", f"copies of {other}"))
        )
        pieces.append(line((x + 70, 170), (x + 70, 192), width=2))
        pieces.append(box(x, 192, 140, 34, "cpu", (f"{side} 侧的 HBM", f"HBM of side {side}")))
    pieces.append(line((148, 107), (232, 107), width=3, dashes="7 4"))
    pieces.append(text(190, 98, ("约 +200", "about +200"), size=13))
    pieces.append(text(190, 126, ("周期", "cycles"), size=13))
    return pieces


# ------------------------------------------------------------------------------------ the ring

CORNERS: list[Point] = [(70, 90), (310, 90), (310, 250), (70, 250)]
"""Routers 0 to 3, clockwise."""
SLOTS: dict[str, Point] = {
    "0->1": (190, 78),
    "1->2": (310, 158),
    "2->3": (190, 238),
    "3->0": (70, 158),
}
"""The upper left corner of VC 0 of each channel, less half of what it needs."""


def slots(channel: str, vc: int, held: str, *, waits: bool) -> list[str]:
    """Return a buffer of two slots with its flits, front first."""
    x, y = SLOTS[channel]
    across = channel in ("0->1", "2->3")
    outward = {"0->1": (0, -30), "1->2": (34, 0), "2->3": (0, 30), "3->0": (-34, 0)}[channel]
    x, y = x + outward[0] * vc - 24, y + outward[1] * vc
    front = 1 if channel in ("0->1", "1->2") else 0
    flits = dict(zip((front, 1 - front), held, strict=False))
    pieces = []
    for n in range(2):
        left, top = (x + 24 * n, y) if across else (x + 12, y - 12 + 24 * n)
        fill = "memory" if n in flits else "paper"
        pieces.append(pen.rect(left, top, 24, 24, fill, edge=3 if waits else 1.2))
        if n in flits:
            pieces.append(text(left + 12, top + 17, flits[n], size=14, bold=True))
    return pieces


def scene(held: dict[str, str], dead: list[str], vcs: int, done: str, note: Label) -> list[str]:
    """Return the ring at one moment."""
    pieces = [text(190, 24, note, size=14, bold=True)]
    for a, b in zip(CORNERS, [*CORNERS[1:], CORNERS[0]], strict=True):
        pieces.append(line(a, b, tint="line", width=2))
    for node, (x, y) in enumerate(CORNERS):
        pieces.append(router((x, y), 40))
        pieces.append(text(x, y + 5, str(node), size=15, bold=True))
        rest = held.get(f"source {node}", "")
        if rest:
            shown = f"{rest[0].upper()}: {len(rest)}"
            below = node in (2, 3)
            pieces.append(remark(x, y + (38 if below else -28), shown))
    for channel in SLOTS:
        for vc in range(vcs):
            name = f"{channel} vc{vc}"
            flits = held.get(name, "")
            pieces += slots(channel, vc, flits, waits=name in dead)
    if dead:
        label = ("粗框：互相等待", "bold: a cycle of waits")
        pieces.append(text(190, 170, label, size=13))
    elif done:
        pieces.append(text(190, 170, (f"已到达：{done}", f"arrived: {done}"), size=13))
    return pieces


@drawn(380, 310)
def ring() -> list[str]:
    """A deadlock on a ring of four routers, and its cure.

    Frames. One virtual channel: packets A to D each hold one channel and wait for the next;
    nothing moves. Two virtual channels with a dateline at link 3 to 0: all arrive.
    """
    code: Any = figure_files.load_program("link/noc/code/deadlock.py")

    def at(dateline: bool, cycle: int) -> tuple[dict[str, str], list[str], str]:
        network = code.ring(dateline)
        network.env.run(until=cycle)
        dead = [network.name(b) for b in network.deadlock()]
        done = " ".join(sorted(packet.name for packet, _ in network.delivered))
        return code.contents(network), dead, done

    moments: list[tuple[bool, int, str, str]] = [
        (
            False,
            1,
            "四个节点各要把一个四 flit 的包顺时针送出两跳；"
            "大写是头，路由器旁的数是还没发出的 flit。",
            "Each of four nodes sends a packet of four flits two hops clockwise; a capital is a"
            " head, the number beside a router counts flits not sent yet.",
        ),
        (
            False,
            3,
            "每个头占住一条通道，下一条已被别人占住：等待成环，已经死锁。",
            "Each head has one channel, and the next is taken: the waits form a cycle, a deadlock.",
        ),
        (
            False,
            30,
            "缓冲装满，信用用完；三十个周期后什么也没动，以后也不会动。",
            "Buffers full, credits gone: nothing has moved by cycle 30, and nothing ever will.",
        ),
        (
            True,
            4,
            "有日界线：过链路 3→0 的包改用外侧的 VC 1。"
            "D 因此不等 A，正在途中（移动中的 flit 不画）。",
            "With a dateline a packet that passes link 3→0 uses the outer VC 1. So D need not"
            " wait for A and is on its way (flits on the move are not drawn).",
        ),
        (
            True,
            9,
            "D 让出 3→0 之后 C 走完，2→3 随之空出，轮到 B。",
            "D has left 3→0, so C could finish; 2→3 is free, and B is next.",
        ),
        (
            True,
            21,
            "四个包全部到达：等待关系里没有环。",
            "All four packets have arrived: the waits held no cycle.",
        ),
    ]
    frames = []
    for number, (dateline, cycle, zh, en) in enumerate(moments, 1):
        held, dead, done = at(dateline, cycle)
        vcs = ("1 个 VC", "1 VC") if not dateline else ("2 个 VC，有日界线", "2 VCs, dateline")
        note = (f"{vcs[0]}，周期 {cycle}", f"{vcs[1]}, cycle {cycle}")
        frames.append(frame(number, (zh, en), *scene(held, dead, 1 + dateline, done, note)))
    return frames


FIGURES = {
    "joins.svg": joins,
    "topologies.svg": topologies,
    "ring-deadlock.svg": ring,
    "l2-halves.svg": halves,
}
