"""How many layers to keep in local memory: slices in H, rows computed twice, global traffic.

A chain of 3 x 3 convolutions, stride 1, with the local memory of a BM1684X: 64 lanes of 256 KiB.
A group reads its input once and writes its output once; all between stays in local memory. The
model ignores bank limits, double buffering, and the traffic and time of weights.
"""

import itertools
import math

LANES, LANE_BYTES, ALIGN = 64, 256 * 1024, 64
CHANNELS, SIDE, LAYERS = 256, 640, 24  # of each layer; INT8, so an element is a byte


def in_lane(rows):
    """Bytes that `rows` rows of an activation take in each lane; channels go over the lanes."""
    return math.ceil(CHANNELS / LANES) * math.ceil(rows * SIDE / ALIGN) * ALIGN


def rows_needed(rows, depth):
    """Input rows of each layer of a group for `rows` rows of its output, last layer first."""
    return [min(SIDE, rows + 2 * layer) for layer in range(depth + 1)]


def rows_of(count, grow):
    """Rows of all slices together, where each has `grow` more on both sides, inside the picture."""
    rows = math.ceil(SIDE / count)
    return sum(min(SIDE, at + rows + grow) - max(0, at - grow) for at in range(0, SIDE, rows))


def slices(depth):
    """The least number of slices with which a group of `depth` layers fits."""
    weights = depth * math.ceil(CHANNELS / LANES) * CHANNELS * 9
    for count in range(1, SIDE + 1):
        needed = [in_lane(rows) for rows in rows_needed(math.ceil(SIDE / count), depth)]
        live = max(a + b for a, b in itertools.pairwise(needed))  # input and output
        if weights + live <= LANE_BYTES:
            return count
    return None


def main():
    whole = CHANNELS * SIDE * SIDE
    print(f"{LAYERS} layers, activation {whole / 1e6:.1f} MB, local {LANES * LANE_BYTES >> 20} MiB")
    print("layers a group  slices  rows computed  global traffic, MB")
    for depth in (1, 2, 3, 4, 6, 8, 12, 24):
        count = slices(depth)
        if count is None:
            print(f"{depth:14}  {'none':>6}")
            continue
        computed = sum(rows_of(count, layer) for layer in range(depth)) / (depth * SIDE)
        moved = whole / SIDE * (rows_of(count, depth) + SIDE) * LAYERS / depth
        print(f"{depth:14}  {count:6}  {computed:12.2f}x  {moved / 1e6:18.0f}")


if __name__ == "__main__":
    main()
