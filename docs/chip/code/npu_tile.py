"""A matrix product on one Da Vinci core: which tile, how many cycles for each unit, bound by what.

In: the shape (rows, columns, depth; FP16) and a core (sizes of its buffers, bytes per cycle of the
paths between them). Out: the tile that fits and takes least, the cycles that cube, MTE1 (L1 to L0),
MTE2 (memory to L1) and the way out are busy, and the total of a schedule in which a unit waits for
data and for a free half of a buffer. Bytes moved are counted step by step and by formula.

Buffers and paths are those that a test of CANN expects for Ascend 310P3. Sides are padded to 16.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import ceil

EDGE = 16  # the cube multiplies 16 x 16 by 16 x 16 in a cycle
HALF, SINGLE = 2, 4  # bytes of an operand, of a sum in L0C


# --8<-- [start:core]
@dataclass(frozen=True)
class Core:
    name: str
    l0a: int = 65536  # bytes
    l0b: int = 65536
    l0c: int = 262144
    l1: int = 1048576
    to_l0a: int = 512  # bytes a cycle
    to_l0b: int = 256
    memory: int = 114  # from and to L2; 17 where the data are in DRAM


L2 = Core("from L2")
DRAM = Core("from DRAM", memory=17)
# --8<-- [end:core]


@dataclass(frozen=True)
class Shape:
    m: int
    n: int
    k: int

    def padded(self) -> Shape:
        return Shape(*(ceil(side / EDGE) * EDGE for side in (self.m, self.n, self.k)))


@dataclass(frozen=True)
class Tile:
    """Rows and columns of the result, depth in L1 and in L0."""

    m: int
    n: int
    k1: int
    k0: int


# --8<-- [start:fits]
def fits(core: Core, tile: Tile, halves: int = 2) -> bool:
    """Every operand twice, to fetch one while the other is used; the sums once."""
    return (
        halves * HALF * tile.m * tile.k0 <= core.l0a
        and halves * HALF * tile.n * tile.k0 <= core.l0b
        and SINGLE * tile.m * tile.n <= core.l0c
        and halves * HALF * (tile.m + tile.n) * tile.k1 <= core.l1
    )


# --8<-- [end:fits]


# --8<-- [start:busy]
def moved(shape: Shape, tile: Tile) -> Counter[str]:
    """Bytes on each path. A is read once for every column of tiles, B for every row of them."""
    a = HALF * shape.m * shape.k * ceil(shape.n / tile.n)
    b = HALF * shape.n * shape.k * ceil(shape.m / tile.m)
    return Counter({"to L1": a + b, "to L0A": a, "to L0B": b, "out": HALF * shape.m * shape.n})


def busy(core: Core, shape: Shape, tile: Tile) -> dict[str, float]:
    """Cycles that each unit works, if it never waits."""
    paths = moved(shape, tile)
    return {
        "cube": shape.m * shape.n * shape.k / EDGE**3,
        "MTE1": paths["to L0A"] / core.to_l0a + paths["to L0B"] / core.to_l0b,
        "MTE2": paths["to L1"] / core.memory,
        "out": paths["out"] / core.memory,
    }


# --8<-- [end:busy]


def spans(length: int, step: int) -> list[int]:
    """The lengths of the pieces of at most `step`."""
    return [min(step, length - at) for at in range(0, length, step)]


@dataclass
class Clock:
    """When each unit is done with its last task, and the bytes that it has moved."""

    mte2: float = 0
    mte1: float = 0
    cube: float = 0
    out: float = 0


def schedule(
    core: Core, shape: Shape, tile: Tile, halves: int = 2
) -> tuple[float, Counter[str], int]:
    """Play the loops. A unit starts when it is free, its data are there, and the place it writes
    to has been read by the next unit. Returns cycles, bytes by path, and products computed."""
    clock, paths, products = Clock(), Counter[str](), 0
    read_l1: list[float] = []  # when MTE1 had read the last of each L1 tile
    read_l0: list[float] = []  # when the cube was done with each L0 tile
    for m in spans(shape.m, tile.m):
        for n in spans(shape.n, tile.n):
            emptied = clock.out  # L0C is free when the tile before has gone out
            for k1 in spans(shape.k, tile.k1):
                size = HALF * (m + n) * k1
                free = read_l1[-halves] if len(read_l1) >= halves else 0
                clock.mte2 = max(clock.mte2, free) + size / core.memory
                paths["to L1"] += size
                for k0 in spans(k1, tile.k0):
                    a, b = HALF * m * k0, HALF * n * k0
                    free = read_l0[-halves] if len(read_l0) >= halves else 0
                    start = max(clock.mte1, clock.mte2, free)
                    clock.mte1 = start + a / core.to_l0a + b / core.to_l0b
                    paths["to L0A"] += a
                    paths["to L0B"] += b
                    clock.cube = max(clock.cube, clock.mte1, emptied) + m * n * k0 / EDGE**3
                    products += m * n * k0
                    read_l0.append(clock.cube)
                read_l1.append(clock.mte1)
            result = HALF * m * n
            clock.out = max(clock.out, clock.cube) + result / core.memory
            paths["out"] += result
    return clock.out, paths, products


def candidates(core: Core, shape: Shape) -> list[Tile]:
    """All tiles of multiples of 16 that fit, with the deepest L0 and up to four of them in L1."""
    found = []
    for m in range(EDGE, min(shape.m, 1024) + 1, EDGE):
        for n in range(EDGE, min(shape.n, 1024) + 1, EDGE):
            for k0 in (256, 128, 64, 32, 16):
                deep = [Tile(m, n, k0 * times, k0) for times in (4, 2, 1)]
                fitting = [tile for tile in deep if fits(core, tile)]
                if fitting:
                    found.append(fitting[0])
                    break
    return found


def choose(core: Core, shape: Shape) -> Tile:
    """The best of the ten whose busiest unit has least to do, by schedule."""

    def promise(tile: Tile) -> tuple[float, float]:
        work = busy(core, shape, tile)
        return max(work.values()), sum(work.values())

    best = sorted(candidates(core, shape), key=promise)[:10]
    return min(best, key=lambda tile: schedule(core, shape, tile)[0])


SHAPES = [
    Shape(4096, 4096, 4096),
    Shape(256, 4096, 4096),
    Shape(64, 4096, 4096),
    Shape(16, 4096, 4096),
    Shape(1, 4096, 4096),
]


def main() -> None:
    print("one core of Ascend 310P3, FP16, N = K = 4096; thousand cycles")
    print(
        "              M    tile m, n, k1, k0    cube   MTE1   MTE2    out   total  one half  cube"
    )
    for core in (L2, DRAM):
        for asked in SHAPES:
            shape = asked.padded()
            tile = choose(core, shape)
            work = busy(core, shape, tile)
            two = schedule(core, shape, tile)[0]
            one = schedule(core, shape, tile, halves=1)[0]
            bound = max(work, key=lambda unit: work[unit])
            cells = "".join(f"{work[unit] / 1e3:7.0f}" for unit in ("cube", "MTE1", "MTE2", "out"))
            print(
                f"{core.name:9} {asked.m:5}  {tile.m:4} {tile.n:5} {tile.k1:4} {tile.k0:4} {cells}"
                f"{two / 1e3:8.0f}{one / 1e3:10.0f} {work['cube'] / two:5.0%}  {bound}"
            )


if __name__ == "__main__":
    main()
