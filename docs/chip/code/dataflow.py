"""What a convolution reads and writes under three loop orders, and from DRAM under three splits.

In: a layer (height, width, channels, kernels, filter) and an array of multipliers that takes
`atom_c` channels of `atom_k` kernels in a step, as NVDLA's does. Out: how many elements go between
buffer and registers for each order, counted by a formula; how many bytes go between DRAM and a
buffer of some banks; and the cycles that both need. The formulas are checked on small layers
against walks that fetch each element and compute the convolution itself.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import ceil


@dataclass(frozen=True)
class Layer:
    """A square-filter convolution with stride 1; `pad` zeros at each side."""

    height: int
    width: int
    channels: int
    kernels: int
    filter: int
    pad: int

    @property
    def rows(self) -> int:
        return self.height + 2 * self.pad - self.filter + 1

    @property
    def columns(self) -> int:
        return self.width + 2 * self.pad - self.filter + 1

    @property
    def macs(self) -> int:
        return self.rows * self.columns * self.channels * self.kernels * self.filter**2


# --8<-- [start:orders]
@dataclass(frozen=True)
class Order:
    """Loops from the outside in, and how many steps' worth of each operand the registers keep."""

    loops: str  # k kernel group, c channel group, y x output, r q filter, X piece of a row
    weights: int = 1
    inputs: int = 1


ORDERS = {
    "weight-stationary": Order("kcrqyx"),
    "NVDLA's stripes": Order("kyXcrqx"),
    "output-stationary": Order("kyxcrq"),
    "row-stationary": Order("kycrxq", weights=3, inputs=3),
}
NEEDS = {"weights": "kcrq", "inputs": "cyxrqX", "sums": "kyxX"}
# --8<-- [end:orders]


@dataclass(frozen=True)
class Array:
    atom_c: int = 64
    atom_k: int = 32
    stripe: int = 28  # outputs for which a stripe keeps its weights


def trips(layer: Layer, array: Array, order: Order) -> dict[str, int]:
    """How often each loop turns."""
    size = min(array.stripe, layer.columns) if "X" in order.loops else layer.columns
    return {
        "k": ceil(layer.kernels / array.atom_k),
        "c": ceil(layer.channels / array.atom_c),
        "y": layer.rows,
        "X": ceil(layer.columns / size),
        "x": size,
        "r": layer.filter,
        "q": layer.filter,
    }


# --8<-- [start:formula]
def fetches(layer: Layer, array: Array, order: Order) -> dict[str, int]:
    """Steps at which an operand comes from the buffer: the turns of every loop down to the
    innermost one that changes it. What lies further inside is reuse. Stripes of three outputs or
    more that divide the row; of two, a neighbour's last input would be the next one's first."""
    turns = trips(layer, array, order)
    found = {}
    for operand, dims in NEEDS.items():
        innermost = max(i for i, loop in enumerate(order.loops) if loop in dims)
        count = 1
        for loop in order.loops[: innermost + 1]:
            count *= turns[loop]
        found[operand] = count
    if order.weights >= layer.filter:  # a filter row stays for a whole row of outputs
        found["weights"] //= turns["x"]
    if order.inputs >= layer.filter:  # a window slides: each column once per row
        per_row = turns["x"] * turns["q"]
        found["inputs"] = found["inputs"] // per_row * (turns["x"] + layer.filter - 1)
    return found


# --8<-- [end:formula]


def waiting(layer: Layer, array: Array, order: Order) -> int:
    """Bytes of unfinished sums (INT32) for one kernel group: outputs that are begun before the
    loops over channels and filter have gone round."""
    turns = trips(layer, array, order)
    first = min(order.loops.index(loop) for loop in "crq")
    count = 4 * array.atom_k
    for loop in order.loops[first:]:
        count *= turns[loop] if loop in "yxX" else 1
    return count


def steps(layer: Layer, array: Array, order: Order) -> Iterator[dict[str, int]]:
    """The indices of every step, in order."""
    turns = trips(layer, array, order)
    for values in product(*(range(turns[loop]) for loop in order.loops)):
        at = dict(zip(order.loops, values, strict=True))
        at["x"] += at.pop("X", 0) * turns["x"]
        if at["x"] < layer.columns:
            yield at


class Registers:
    """Keeps the `size` pieces used last, and counts the rest as fetched."""

    def __init__(self, size: int) -> None:
        self.size, self.kept, self.fetched = size, OrderedDict[tuple[int, ...], None](), 0

    def need(self, piece: tuple[int, ...]) -> None:
        if piece in self.kept:
            self.kept.move_to_end(piece)
            return
        self.fetched += 1
        self.kept[piece] = None
        if len(self.kept) > self.size:
            self.kept.popitem(last=False)


def walk(layer: Layer, array: Array, order: Order) -> tuple[dict[str, int], list[int]]:
    """Brute force: every step with its registers, and the outputs that it computes.
    Input and weight are whole numbers made from their indices."""
    files = {
        "weights": Registers(order.weights),
        "inputs": Registers(order.inputs),
        "sums": Registers(1),
    }
    out = [0] * (layer.kernels * layer.rows * layer.columns)
    for at in steps(layer, array, order):
        k, c, y, x, r, q = (at[name] for name in "kcyxrq")
        files["weights"].need((k, c, r, q))
        files["inputs"].need((c, y + r, x + q))
        files["sums"].need((k, y, x))
        for kernel in range(k * array.atom_k, min((k + 1) * array.atom_k, layer.kernels)):
            place = (kernel * layer.rows + y) * layer.columns + x
            for channel in range(c * array.atom_c, min((c + 1) * array.atom_c, layer.channels)):
                out[place] += pixel(layer, channel, y + r, x + q) * weight(kernel, channel, r, q)
    return {name: file.fetched for name, file in files.items()}, out


def pixel(layer: Layer, channel: int, row: int, column: int) -> int:
    row, column = row - layer.pad, column - layer.pad
    inside = 0 <= row < layer.height and 0 <= column < layer.width
    return (channel * 31 + row * 7 + column * 3) % 11 - 5 if inside else 0


def weight(kernel: int, channel: int, r: int, q: int) -> int:
    return (kernel * 13 + channel * 5 + r * 3 + q) % 7 - 3


def plain(layer: Layer) -> list[int]:
    """The convolution by its definition."""
    field = range(layer.filter)
    return [
        sum(
            pixel(layer, c, y + r, x + q) * weight(k, c, r, q)
            for c in range(layer.channels)
            for r in field
            for q in field
        )
        for k in range(layer.kernels)
        for y in range(layer.rows)
        for x in range(layer.columns)
    ]


# --8<-- [start:split]
@dataclass(frozen=True)
class Split:
    """Output rows and kernels whose operands are in the buffer at once, and which of both stays."""

    rows: int
    kernels: int
    stays: str  # "inputs" or "weights"


def band(layer: Layer, first: int, rows: int) -> range:
    """Input rows that a band of output rows reads; zeros at the border come from nowhere."""
    start = max(first - layer.pad, 0)
    stop = min(first + rows - 1 + layer.filter - layer.pad, layer.height)
    return range(start, stop)


def traffic(layer: Layer, split: Split) -> dict[str, int]:
    """Bytes (INT8) between DRAM and buffer. Every sum sees all its channels, so none is spilled."""
    bands = range(0, layer.rows, split.rows)
    groups = ceil(layer.kernels / split.kernels)
    rows = sum(len(band(layer, y, min(split.rows, layer.rows - y))) for y in bands)
    inputs = rows * layer.width * layer.channels
    weights = layer.kernels * layer.channels * layer.filter**2
    if split.stays == "inputs" and groups > 1:
        weights *= len(bands)
    if split.stays == "weights" and len(bands) > 1:
        inputs *= groups
    outputs = layer.rows * layer.columns * layer.kernels
    return {"inputs": inputs, "weights": weights, "outputs": outputs}


# --8<-- [end:split]


def walk_traffic(layer: Layer, split: Split) -> dict[str, int]:
    """Brute force: go through bands and groups in order, and fetch what the buffer lacks."""
    bands = [
        band(layer, y, min(split.rows, layer.rows - y)) for y in range(0, layer.rows, split.rows)
    ]
    groups = range(ceil(layer.kernels / split.kernels))
    pairs = (
        [(b, g) for b in range(len(bands)) for g in groups]
        if split.stays == "inputs"
        else [(b, g) for g in groups for b in range(len(bands))]
    )
    row, kernel = layer.width * layer.channels, layer.channels * layer.filter**2
    here: tuple[int, int] | tuple[None, None] = (None, None)
    found = {"inputs": 0, "weights": 0, "outputs": 0}
    for b, g in pairs:
        wide = min(split.kernels, layer.kernels - g * split.kernels)
        if here[0] != b:
            found["inputs"] += len(bands[b]) * row
        if here[1] != g:
            found["weights"] += wide * kernel
        tall = min(split.rows, layer.rows - b * split.rows)
        found["outputs"] += tall * layer.columns * wide
        here = (b, g)
    return found


@dataclass(frozen=True)
class Machine:
    """A configuration of NVDLA as its specification file has it."""

    name: str
    atom_c: int
    atom_k: int
    banks: int
    bank_bytes: int
    memory_bytes: int  # that the primary interface takes in a cycle

    @property
    def macs(self) -> int:
        return self.atom_c * self.atom_k


SMALL = Machine("nv_small", 8, 8, 32, 8 * 512, 8)
LARGE = Machine("nv_large", 64, 32, 16, 64 * 512, 32)


def splits(layer: Layer, machine: Machine, stays: str) -> list[Split]:
    """Every split that fits. An operand has whole banks; kernels come in groups of `atom_k`, twice
    where not all fit, to fetch one set while the other is used. A row more is a row more of input.
    """
    kernel, row = layer.channels * layer.filter**2, layer.width * layer.channels
    found = []
    for group in range(1, ceil(layer.kernels / machine.atom_k) + 1):
        kernels = min(group * machine.atom_k, layer.kernels)
        sets = 2 if kernels < layer.kernels else 1
        banks = machine.banks - sets * ceil(kernels * kernel / machine.bank_bytes)
        held = banks * machine.bank_bytes // row if banks > 0 else 0
        rows = layer.rows if held >= layer.height else held - layer.filter + 1
        if rows >= 1:
            found.append(Split(rows, kernels, stays))
    return found


def best(layer: Layer, machine: Machine, stays: str) -> Split:
    return min(splits(layer, machine, stays), key=lambda split: sum(traffic(layer, split).values()))


def cycles(layer: Layer, machine: Machine, moved: int) -> tuple[int, int]:
    """Of the multipliers at full rate, edges included, and of the memory interface."""
    steps = ceil(layer.channels / machine.atom_c) * ceil(layer.kernels / machine.atom_k)
    return steps * layer.rows * layer.columns * layer.filter**2, ceil(moved / machine.memory_bytes)


CONV = Layer(56, 56, 256, 256, 3, 1)  # conv3_2 of VGG-16
FULL = Layer(1, 1, 4096, 4096, 1, 0)  # fc7 of VGG-16


def show_orders(layer: Layer, array: Array) -> None:
    print(
        f"conv3_2 of VGG-16: {layer.macs:,} multiplications, {array.atom_c * array.atom_k} a step"
    )
    print("read by the multipliers, MB; sums read and written, million; unfinished sums, bytes")
    for name, order in ORDERS.items():
        found = fetches(layer, array, order)
        inputs = found["inputs"] * array.atom_c / 1e6
        weights = found["weights"] * array.atom_c * array.atom_k / 1e6
        sums = found["sums"] * array.atom_k / 1e6
        print(
            f"  {name:18} inputs {inputs:5.1f}  weights {weights:7.1f}  sums {sums:5.1f}  "
            f"unfinished {waiting(layer, array, order):7,}"
        )


def show_splits(layer: Layer, label: str, *stay: str) -> None:
    for machine in (SMALL, LARGE):
        for stays in stay:
            split = best(layer, machine, stays)
            moved = traffic(layer, split)
            mac, memory = cycles(layer, machine, sum(moved.values()))
            print(
                f"  {label:7} {machine.name} {stays:7} stay: {split.rows:2} rows, "
                f"{split.kernels:2} kernels; in {moved['inputs'] / 1e6:5.2f}, "
                f"weights {moved['weights'] / 1e6:5.2f}, out {moved['outputs'] / 1e6:4.2f}; "
                f"cycles {mac / 1e3:6.0f}, {memory / 1e3:5.0f}"
            )


def main() -> None:
    show_orders(CONV, Array())
    print("from and to DRAM, MB; thousand cycles of the multipliers, of the memory interface")
    show_splits(CONV, "conv3_2", "inputs", "weights")
    show_splits(FULL, "fc7", "weights")


if __name__ == "__main__":
    main()
