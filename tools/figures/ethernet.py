"""Draw the figures of the note on lossless Ethernet into docs/link/ethernet/figures.

They show the networks that docs/link/ethernet/code/pfc.py simulates.
"""

from __future__ import annotations

import math

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import Label, colour, drawn, nic, num, switch, text

FOLDER = figure_files.ROOT / "docs/link/ethernet/figures"

Point = tuple[float, float]


def _arrow(a: Point, b: Point, tint: str, *, dashes: str = "", mark: Label = "") -> str:
    """Return an arrow from a to b; `mark` stands on a plate in its middle."""
    (x1, y1), (x2, y2) = a, b
    length = math.hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / length, (y2 - y1) / length
    base = (x2 - ux * 9, y2 - uy * 9)
    wings = [(base[0] - uy * s, base[1] + ux * s) for s in (4.5, -4.5)]
    way = f"M{num(x1)} {num(y1)}L{num(base[0])} {num(base[1])}"
    out = pen.path(way, tint, dashes=dashes) + pen.head((x2, y2), *wings, tint=tint)
    if mark:
        x, y = (x1 + x2) / 2, (y1 + y2) / 2
        plate = f'<circle cx="{num(x)}" cy="{num(y)}" r="10" fill="{colour("paper")}" '
        out += f'{plate}stroke="{colour(tint)}" stroke-width="1.5"/>'
        out += text(x, y + 4.8, mark, size=14, bold=True)
    return out


def _pair(a: Point, b: Point, mark: Label) -> str:
    """Return data from a to b and beside it, dashed, the pause that comes back."""
    (x1, y1), (x2, y2) = a, b
    length = math.hypot(x2 - x1, y2 - y1)
    ox, oy = -(y2 - y1) / length * 9, (x2 - x1) / length * 9
    data = _arrow((x1 - ox, y1 - oy), (x2 - ox, y2 - oy), "line")
    return data + _arrow((x2 + ox, y2 + oy), (x1 + ox, y1 + oy), "pcie", dashes="7 4", mark=mark)


def _row(y: float, line: Label, tint: str, dashes: str = "") -> str:
    """Return a row of the legend."""
    return _arrow((8, y), (44, y), tint, dashes=dashes) + text(
        54, y + 4.8, line, size=14, anchor="start"
    )


@drawn(358, 282)
def storm() -> list[str]:
    """A pause storm and its victim.

    Hosts h1 and h2 send through switches L1 and L2, h1 to R1 and h2 to R2. R1 is broken and
    pauses L2, L2 pauses L1, L1 pauses both hosts. R2 is healthy and gets nothing.
    """
    return [
        nic(2, 24, 48, 46, "h1"),
        nic(2, 136, 48, 46, "h2"),
        switch(94, 73, 56, 60, "L1"),
        switch(200, 73, 56, 60, "L2"),
        nic(294, 24, 62, 46, "R1", ("坏", "broken"), size=12),
        nic(294, 136, 62, 46, "R2", ("好", "healthy"), size=12),
        _pair((252, 92), (296, 54), "1"),
        _pair((150, 103), (200, 103), "2"),
        _pair((50, 54), (96, 92), "3"),
        _pair((50, 152), (96, 114), "3"),
        _arrow((256, 116), (296, 150), "line"),
        _row(214, ("数据的方向", "way of the data"), "line"),
        _row(240, ("暂停，按先后编号", "pauses, in order"), "pcie", "7 4"),
        text(
            8,
            270,
            ("L2 到 R2 没有暂停，只是没有数据", "L2 to R2 is not paused, it is empty"),
            anchor="start",
        ),
    ]


CENTRE = 24
"""Half the width of a switch of the ring, and the gap of its links."""


def _ring(top: float, links: list[tuple[int, int, str, str, Label]]) -> str:
    """Return three switches in a triangle and arrows between them, each (from, to, colour, ...)."""
    places = {1: (66.0, top + 34), 2: (292.0, top + 34), 3: (179.0, top + 150)}
    pieces = []
    for start, end, tint, dashes, mark in links:
        (x1, y1), (x2, y2) = places[start], places[end]
        length = math.hypot(x2 - x1, y2 - y1)
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        off = -12 if dashes else 12
        shift = (-uy * off, ux * off)
        a = (x1 + ux * 42 + shift[0], y1 + uy * 42 + shift[1])
        b = (x2 - ux * 42 + shift[0], y2 - uy * 42 + shift[1])
        pieces.append(_arrow(a, b, tint, dashes=dashes, mark=mark))
    for n, (x, y) in places.items():
        pieces.append(switch(x - 30, y - CENTRE, 60, 2 * CENTRE, str(n)))
    return "".join(pieces)


@drawn(358, 556)
def ring() -> list[str]:
    """A ring of three switches, locked and free.

    Above: each host sends over two links clockwise, in one class; link a, 1 to 2, waits for b,
    2 to 3, that for c, 3 to 1, and c for a. Below: packets change to a second class from link 3
    to 1 on; a waits for b, b for c in the second class, c for d, the second class of 1 to 2,
    and d ends at a receiver.
    """
    first = [(1, 2, "line", "", "a"), (2, 3, "line", "", "b")]
    return [
        text(8, 20, ("一个类", "one class"), anchor="start", bold=True),
        _ring(34, [*first, (3, 1, "line", "", "c")]),
        text(
            8,
            238,
            ("a 等 b，b 等 c，c 等 a：都不动", "a waits for b, b for c, c for a: nothing moves"),
            anchor="start",
        ),
        text(
            8, 276, ("从 3→1 起换第二个类", "second class from 3→1 on"), anchor="start", bold=True
        ),
        _ring(290, [*first, (3, 1, "net", "2 3", "c"), (1, 2, "net", "2 3", "d")]),
        text(
            8,
            494,
            ("a 等 b，b 等 c，c 等 d，d 到头", "a waits for b, b for c, c for d, d for none"),
            anchor="start",
        ),
        _row(520, ("第一个类", "first class"), "line"),
        _row(544, ("第二个类", "second class"), "net", "2 3"),
    ]


FIGURES = {"pfc-storm.svg": storm, "pfc-ring.svg": ring}
