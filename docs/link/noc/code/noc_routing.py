"""Grids of routers, and which way a packet may go: XY, turn models, datelines.

Not a program by itself: noc.py builds its networks with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

Choice = tuple[int, int]  # the next node, and the class of VCs there (0, or 1 past a dateline)


@dataclass(slots=True)
class Packet:
    """`length` flits from `src` to `dst`; `name` is for stories with few packets."""

    src: int
    dst: int
    length: int
    born: float
    name: str = ""


@dataclass(frozen=True)
class Shape:
    """A grid of `width` x `height` routers; `wraps`: rows and columns are rings (a torus)."""

    width: int
    height: int
    wraps: bool = False
    one_way: bool = False

    @property
    def nodes(self) -> int:
        """How many routers there are."""
        return self.width * self.height

    def at(self, node: int) -> tuple[int, int]:
        """Return column and row of a node; row 0 is the southernmost."""
        return node % self.width, node // self.width

    def next(self, node: int, dx: int, dy: int) -> int | None:
        """Return the neighbour in a direction, or None beyond the edge."""
        x, y = self.at(node)
        x, y = x + dx, y + dy
        if self.wraps:
            x, y = x % self.width, y % self.height
        elif not (0 <= x < self.width and 0 <= y < self.height):
            return None
        return x + y * self.width

    def way(self, here: int, there: int, size: int) -> int:
        """Return the signed distance in one dimension along the shorter way."""
        if not self.wraps:
            return there - here
        ahead = (there - here) % size
        return ahead if self.one_way or ahead <= size // 2 else ahead - size

    def links(self) -> Iterator[tuple[int, int]]:
        """Yield every channel once."""
        ways = [(1, 0), (0, 1)] if self.one_way else [(1, 0), (-1, 0), (0, 1), (0, -1)]
        for node in range(self.nodes):
            for dx, dy in ways:
                if (dx and self.width > 1) or (dy and self.height > 1):
                    other = self.next(node, dx, dy)
                    if other is not None and other != node:
                        yield node, other


def sign(n: int) -> int:
    """Return -1, 0 or 1."""
    return (n > 0) - (n < 0)


# --8<-- [start:routing]
Routing = Callable[[Shape, Packet, int], list[Choice]]


def _moves(shape: Shape, packet: Packet, node: int) -> tuple[int, int, int, int]:
    """Return what is left to go in x and y, and whether the way there has wrapped around."""
    (x, y), (tx, ty), (sx, sy) = shape.at(node), shape.at(packet.dst), shape.at(packet.src)
    dx, dy = shape.way(x, tx, shape.width), shape.way(y, ty, shape.height)
    x_wrapped = int((shape.wraps and not 0 <= x + sign(dx) < shape.width) or (x - sx) * dx < 0)
    y_wrapped = int((shape.wraps and not 0 <= y + sign(dy) < shape.height) or (y - sy) * dy < 0)
    return dx, dy, x_wrapped, y_wrapped


def dimension_order(shape: Shape, packet: Packet, node: int) -> list[Choice]:
    """X first, then Y: XY routing. On a torus the class of VCs changes at the wrap-around link."""
    dx, dy, x_wrapped, y_wrapped = _moves(shape, packet, node)
    step = (sign(dx), 0) if dx else (0, sign(dy))
    there = shape.next(node, *step)
    assert there is not None
    return [(there, x_wrapped if dx else y_wrapped)]


def _grid(shape: Shape, node: int, steps: list[tuple[int, int]]) -> list[Choice]:
    found = [shape.next(node, *step) for step in steps if step != (0, 0)]
    return [(there, 0) for there in found if there is not None]


def west_first(shape: Shape, packet: Packet, node: int) -> list[Choice]:
    """All steps west first; then any of the shortest ways (no turn into west)."""
    dx, dy, *_ = _moves(shape, packet, node)
    return _grid(shape, node, [(-1, 0)] if dx < 0 else [(sign(dx), 0), (0, sign(dy))])


def negative_first(shape: Shape, packet: Packet, node: int) -> list[Choice]:
    """Steps west and south first, in any order; then those east and north, in any order."""
    dx, dy, *_ = _moves(shape, packet, node)
    down = [(-1, 0)] * (dx < 0) + [(0, -1)] * (dy < 0)
    return _grid(shape, node, down or [(sign(dx), 0), (0, sign(dy))])


def unrestricted(shape: Shape, packet: Packet, node: int) -> list[Choice]:
    """Any of the shortest ways, all turns allowed: may deadlock."""
    dx, dy, *_ = _moves(shape, packet, node)
    return _grid(shape, node, [(sign(dx), 0), (0, sign(dy))])


# --8<-- [end:routing]


ROUTINGS: dict[str, Routing] = {
    "xy": dimension_order,
    "west-first": west_first,
    "negative-first": negative_first,
    "unrestricted": unrestricted,
}


SHAPES = {
    "mesh": Shape(8, 8),
    "torus": Shape(8, 8, wraps=True),
    "ring": Shape(64, 1, wraps=True),
}
