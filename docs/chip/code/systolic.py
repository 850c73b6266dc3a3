"""A weight-stationary systolic array, cycle by cycle, and what a product of any shape costs on it.

In: the edge of the array and two integer matrices. Every cell keeps a weight, passes the value
that came from the left to the right and the sum that came from above, plus its own product, down.
A tile of weights is written, one row a cycle, into a second register of each cell, and takes effect
with the first value of its own rows. Out: the product, added up below the array, and the cycles.
`cycles` gives the same count without simulating; shapes are rows x depth x columns.
"""

from __future__ import annotations

from math import ceil

import numpy as np


def starts(edge: int, rows: int, tiles: int) -> list[int]:
    """Return the cycle in which the first value of each tile's rows enters the array.

    A row of weights enters per cycle, so tiles follow each other no faster than in `edge` cycles;
    the first value follows its weights by one.
    """
    return [1 + tile * max(rows, edge) for tile in range(tiles)]


def cycles(edge: int, rows: int, depth: int, columns: int) -> int:
    """Return the cycles until the last sum has left: load, stream, and the way through."""
    tiles = ceil(depth / edge) * ceil(columns / edge)
    return starts(edge, rows, tiles)[-1] + rows + 2 * (edge - 1)


def used(edge: int, rows: int, depth: int, columns: int) -> float:
    """Return the multiplications that were wanted as a share of those that the array could do."""
    return rows * depth * columns / (cycles(edge, rows, depth, columns) * edge * edge)


def tiles_of(weights: np.ndarray, edge: int) -> list[tuple[int, int, np.ndarray]]:
    """Cut into tiles, padded with zeros; return the first row and column of each with it."""
    depth, columns = weights.shape
    result = []
    for column in range(0, columns, edge):
        for row in range(0, depth, edge):
            tile = np.zeros((edge, edge), int)
            part = weights[row : row + edge, column : column + edge]
            tile[: part.shape[0], : part.shape[1]] = part
            result.append((row, column, tile))
    return result


def multiply(edge: int, x: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, int]:
    """Return `x @ w` and the cycles, by moving every input and sum through the array."""
    tiles = tiles_of(w, edge)
    begin = starts(edge, len(x), len(tiles))
    wide = np.pad(x, ((0, 0), (0, edge)))  # zeros where a tile is deeper than the matrix
    sums = np.zeros((len(x), w.shape[1] + edge), int)  # the accumulators below the array
    weight, waiting, value, total = (np.zeros((edge, edge), int) for _ in range(4))
    place = np.arange(edge)
    diagonal = place[:, None] + place[None, :]
    left = 0  # cycles until the last sum so far has left
    # --8<-- [start:cycle]
    for now in range(begin[-1] + len(x) + 2 * edge):
        value[:, 1:] = value[:, :-1].copy()  # to the right
        value[:, 0] = 0
        total[1:] = total[:-1].copy()  # down
        total[0] = 0
        for (first, _, tile), start in zip(tiles, begin, strict=True):
            if not start - 1 <= now <= start + len(x) + 2 * edge:
                continue
            swap = diagonal == now - start  # the wave of the tile's first row
            weight[swap] = waiting[swap]
            enter = diagonal == now - (start - 1)  # weights run one cycle ahead of it
            waiting[enter] = tile[enter]
            row = now - start - place  # row k of the array gets its value k cycles later
            here = (row >= 0) & (row < len(x))
            value[here, 0] = wide[row[here], first + place[here]]
        total += weight * value
        for (_, column, _), start in zip(tiles, begin, strict=True):
            row = now - start - (edge - 1) - place  # what leaves column j at the bottom
            here = (row >= 0) & (row < len(x))
            sums[row[here], column + place[here]] += total[-1, here]
            left = now + 1 if here.any() else left
    # --8<-- [end:cycle]
    return sums[:, : w.shape[1]], left


def padded(rows: int, columns: int) -> float:
    """Return the memory of a matrix in tiles of 8 x 128 as a multiple of its own."""
    return ceil(rows / 8) * 8 * ceil(columns / 128) * 128 / (rows * columns)


def wave(edge: int, rows: int) -> list[str]:
    """Return, for each cycle, which row of the input is in which cell of the array."""
    lines = []
    for now in range(rows + 2 * (edge - 1)):
        cells = [[now - i - j for j in range(edge)] for i in range(edge)]
        text = [" ".join(str(c) if 0 <= c < rows else "." for c in line) for line in cells]
        lines.append("   ".join(text))
    return lines


SHAPES = [
    ("one tile, as many rows", 128, 128, 128),
    ("many rows", 4096, 128, 128),
    ("100 deep, 100 columns", 4096, 100, 100),
    ("129 columns", 4096, 128, 129),
    ("attention, head of 64", 4096, 64, 4096),
    ("attention, head of 128", 4096, 128, 4096),
    ("a layer, 8 rows", 8, 4096, 4096),
    ("a layer, 128 rows", 128, 4096, 4096),
    ("a layer, 256 rows", 256, 4096, 4096),
    ("a layer, 4096 rows", 4096, 4096, 4096),
]


def main() -> None:
    print("which row of the input is in which cell, edge 3, 4 rows; a line is a cycle")
    for number, line in enumerate(wave(3, 4)):
        print(f"  {number}   {line}")
    random = np.random.default_rng(0)
    for edge, rows, depth, columns in [(16, 40, 50, 37), (128, 300, 100, 200)]:
        x = random.integers(-9, 9, (rows, depth))
        w = random.integers(-9, 9, (depth, columns))
        result, took = multiply(edge, x, w)
        print(
            f"edge {edge}, {rows} x {depth} x {columns}:"
            f" equals numpy {np.array_equal(result, x @ w)},"
            f" cycles {took}, by formula {cycles(edge, rows, depth, columns)}"
        )
    print("                                                 edge 128          edge 256")
    print("                        rows depth columns     cycles  used     cycles  used")
    for name, *shape in SHAPES:
        sides = "".join(
            f"  {cycles(e, *shape):9}  {100 * used(e, *shape):3.0f}%" for e in (128, 256)
        )
        print(f"{name:23} {shape[0]:4}  {shape[1]:4}    {shape[2]:4}{sides}")
    print("memory in tiles of 8 x 128, times the matrix itself")
    for rows, columns in [(4096, 100), (100, 4096), (4096, 129), (4096, 8), (4096, 1)]:
        print(f"  {rows:4} x {columns:4}  {padded(rows, columns):6.2f}")


if __name__ == "__main__":
    main()
