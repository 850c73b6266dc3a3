"""Pipeline schedules, played piece by piece: who waits for whom, and how much each stage holds.

Run:  python docs/train/code/pipeline_schedule.py [--table | --uneven | --questions]

A schedule is nothing but a fixed order of work on each GPU. Every piece starts when its GPU is free
and what it needs has arrived; no formula of the bubble is used. Transfers take no time. A
backward pass is two units, a forward pass one; with v chunks a GPU, each is a v-th of that.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Job = tuple[str, int, int]
"""Kind (F, B, or W for a weight gradient by itself), micro-batch, chunk; counted from 0."""


@dataclass(frozen=True)
class Piece:
    """A job with its place."""

    kind: str
    micro: int
    chunk: int
    gpu: int
    start: Fraction
    end: Fraction


# --8<-- [start:orders]
def gpipe(p: int, m: int, v: int, gpu: int) -> list[Job]:
    """All forward passes, then all backward passes."""
    return [("F", k, 0) for k in range(m)] + [("B", k, 0) for k in range(m)]


def one_f_one_b(p: int, m: int, v: int, gpu: int) -> list[Job]:
    """p - 1 - gpu forward passes to warm up; then one forward, one backward in turn."""
    warm = min(m, p - 1 - gpu)
    order: list[Job] = [("F", k, 0) for k in range(warm)]
    for k in range(m - warm):
        order += [("F", warm + k, 0), ("B", k, 0)]
    return order + [("B", k, 0) for k in range(m - warm, m)]


def interleaved(p: int, m: int, v: int, gpu: int) -> list[Job]:
    """1F1B over v chunks a GPU, p micro-batches at a time; m must be a multiple of p."""
    if m % p:
        raise ValueError(f"interleaving: {m} micro-batches are no multiple of {p} stages")

    def at(k: int, back: bool) -> Job:
        chunk = k % (p * v) // p
        micro = k // (p * v) * p + k % p
        return ("B", micro, v - 1 - chunk) if back else ("F", micro, chunk)

    warm = min(m * v, 2 * (p - 1 - gpu) + (v - 1) * p)
    order = [at(k, False) for k in range(warm)]
    for k in range(m * v - warm):
        order += [at(warm + k, False), at(k, True)]
    return order + [at(k, True) for k in range(m * v - warm, m * v)]


def zb_h1(p: int, m: int, v: int, gpu: int) -> list[Job]:
    """1F1B whose backward is cut: B (input gradient) at once, W (weight gradient) p - 1 later."""
    order: list[Job] = []
    for k in range(m + p - 1):
        order += [("F", k, 0)] * (k < m)
        order += [("B", k - (p - 1 - gpu), 0)] * (0 <= k - (p - 1 - gpu) < m)
        order += [("W", k - (p - 1), 0)] * (k >= p - 1)
    return order


# --8<-- [end:orders]

SCHEDULES = {"gpipe": gpipe, "1f1b": one_f_one_b, "interleaved": interleaved, "zb-h1": zb_h1}


# --8<-- [start:play]
def play(name: str, p: int, m: int, v: int = 1, layers: Sequence[Fraction] = ()) -> list[Piece]:
    """Play a schedule; `layers` are the sizes of the stages, 1 where not given."""
    orders = [SCHEDULES[name](p, m, v, gpu) for gpu in range(p)]
    length = {"F": Fraction(1, v), "B": Fraction(1 if name == "zb-h1" else 2, v), "W": Fraction(1)}
    done: dict[tuple[str, int, int], Fraction] = {}  # kind, micro-batch, place in the model
    free = [Fraction(0)] * p
    pieces: list[Piece] = []
    while any(orders):
        before = len(pieces)
        for gpu in range(p):
            while orders[gpu]:
                kind, micro, chunk = orders[gpu][0]
                place, last = chunk * p + gpu, p * v - 1
                needs = {
                    "F": ("F", micro, place - 1) if place else None,
                    "B": ("B", micro, place + 1) if place < last else ("F", micro, place),
                    "W": ("B", micro, place),
                }[kind]
                if needs and needs not in done:
                    break
                start = max(free[gpu], done[needs] if needs else Fraction(0))
                size = layers[gpu] if layers else Fraction(1)
                free[gpu] = done[kind, micro, place] = start + length[kind] * size
                pieces.append(Piece(kind, micro, chunk, gpu, start, free[gpu]))
                orders[gpu].pop(0)
        if len(pieces) == before:
            raise RuntimeError(f"{name}: the schedule waits for itself")
    return pieces


# --8<-- [end:play]


def step(pieces: Sequence[Piece]) -> Fraction:
    """Time of a step."""
    return max(one.end for one in pieces)


def idle(pieces: Sequence[Piece], gpu: int = 0) -> Fraction:
    """Time in which a GPU does nothing."""
    return step(pieces) - sum(one.end - one.start for one in pieces if one.gpu == gpu)


def held(pieces: Sequence[Piece], gpu: int, v: int = 1) -> Fraction:
    """Most activations kept at once, in micro-batches of a whole stage: from F until B (or W)."""
    frees = "W" if any(one.kind == "W" for one in pieces) else "B"
    events = []
    for one in pieces:
        if one.gpu == gpu and one.kind == "F":
            events.append((one.start, 1))
        elif one.gpu == gpu and one.kind == frees:
            events.append((one.end, -1))
    now = most = 0
    for _, change in sorted(events):
        now += change
        most = max(most, now)
    return Fraction(most, v)


def bubble(name: str, p: int, m: int, v: int = 1) -> Fraction:
    """Idle over ideal time by formula, with F = 1, B = 1, W = 1."""
    return Fraction(p - 1, m) / {"interleaved": v, "zb-h1": 3}.get(name, 1)


def drawn(pieces: Sequence[Piece], p: int, v: int) -> str:
    """The schedule in letters: 1, 2 .. forward, a, b .. backward, A, B .. weight gradients."""
    width = int(step(pieces) * v)
    lines = []
    for gpu in range(p):
        for chunk in range(v):
            cells = ["."] * width
            for one in pieces:
                if (one.gpu, one.chunk) == (gpu, chunk):
                    letter = {"F": "1", "B": "a", "W": "A"}[one.kind]
                    for k in range(int(one.start * v), int(one.end * v)):
                        cells[k] = chr(ord(letter) + one.micro)
            name = f"GPU {gpu + 1}" + (f" chunk {chunk + 1}" if v > 1 else "")
            lines.append(f"{name:<13} {''.join(cells)}")
    return "\n".join(lines)


def show() -> None:
    """Draw the schedules and say what they cost."""
    p, m = 4, 8
    for name, v in (("gpipe", 1), ("1f1b", 1), ("interleaved", 2), ("zb-h1", 1)):
        pieces = play(name, p, m, v)
        lost, ideal = idle(pieces), Fraction(3 * m)
        assert lost / ideal == bubble(name, p, m, v)
        print(
            f"{name}: p = {p}, m = {m}" + (f", v = {v}, a column is half a unit" if v > 1 else "")
        )
        print(drawn(pieces, p, v))
        first = f"{float(held(pieces, 0, v)):g}, last {float(held(pieces, p - 1, v)):g}"
        print(
            f"step {float(step(pieces)):g}, idle {float(lost):g}: {float(lost / ideal):.2%} of"
            f" ideal, {float(lost / step(pieces)):.2%} of the step; held: first {first}\n"
        )


def table() -> None:
    """Played against the formulas, for several shapes."""
    print("schedule      p    m  v   idle/ideal    formula   idle/step   held by the first")
    shapes = [
        (name, p, m, 1) for p, m in ((2, 8), (8, 8), (8, 32), (8, 64)) for name in ("gpipe", "1f1b")
    ]
    shapes += [("interleaved", 8, 32, v) for v in (2, 4)] + [("zb-h1", 8, 32, 1)]
    for name, p, m, v in shapes:
        pieces = play(name, p, m, v)
        lost, formula = idle(pieces), float(bubble(name, p, m, v))
        print(
            f"{name:<11} {p:>3} {m:>4} {v:>2}   {float(lost / (3 * m)):>10.2%} {formula:>10.2%}"
            f"   {float(lost / step(pieces)):>9.2%}   {float(held(pieces, 0, v)):>17g}"
        )


def uneven() -> None:
    """Llama 3.1 8B on four GPUs: the output layer weighs as much as 2.4 layers."""
    h, ffn, kv, vocabulary = 4096, 14336, 8 * 128, 128256
    layer = 2 * h * h + 2 * h * kv + 3 * h * ffn
    head = Fraction(round(Fraction(h * vocabulary, layer) * 100), 100)
    print(
        f"a layer has {layer / 1e6:.1f} million parameters, the output layer"
        f" {h * vocabulary / 1e6:.1f} million: {float(head):g} layers"
    )
    m, ideal = 32, 3 * 32 * (32 + head) / 4
    for split in ((8, 8, 8, 8), (9, 9, 8, 6), (9, 9, 9, 5)):
        sizes = [Fraction(k) for k in split]
        sizes[-1] += head
        took = step(play("1f1b", 4, m, 1, sizes))
        print(
            f"layers {split}: stages {[float(k) for k in sizes]}, step {float(took):7.1f},"
            f" over perfect balance without bubble {float(took / ideal - 1):.1%}"
        )


def questions() -> None:
    """The answers of the note's questions."""
    p, m = 8, 32
    print(
        f"Q1 p = 8, m = 32: {Fraction(p - 1, m)} = {7 / 32:.1%} of ideal, {7 / 39:.1%} of the step"
    )
    need = next(k for k in range(1, 999) if Fraction(p - 1, k + p - 1) <= Fraction(1, 20))
    print(
        f"Q2 p = 8: share of the step <= 5 %: m >= {need}; idle/ideal <= 5 %: m >= {20 * (p - 1)};"
        f" idle/ideal with v = 4: m >= {next(k for k in range(8, 999, 8) if 7 / (4 * k) <= 0.05)}"
    )
    first, last = (held(play("1f1b", p, m), g) for g in (0, p - 1))
    print(
        f"Q3 GPipe holds {held(play('gpipe', p, m), 0)} everywhere,"
        f" 1F1B {first} in the first stage and {last} in the last"
    )
    s = h = 8192
    message, layers, t = 2 * s * h, 20, 8
    tensor = layers * 4 * 2 * (t - 1) / t * message
    print(
        f"Q4 a boundary: {message / 1e6:.1f} MB each way, {message / t / 1e6:.1f} MB a GPU with"
        f" t = 8; tensor parallelism of 20 layers sends {tensor / 1e9:.2f} GB a GPU"
    )
    print(f"   at 50 GB/s: {message / t / 50e6:.2f} ms each way against {tensor / 50e6:.0f} ms")
    f, b, w, both = 1, 2, 1, 3
    for name, lost in (
        ("1F1B", 7 * (f + b)),
        ("ZB1P", 7 * (f + b - 2 * w)),
        ("DualPipe", 3 * (both + b - 3 * w)),
    ):
        print(f"Q5 PP = 8, F = W = 1, B = 2, F&B = 3: {name:<8} idles {lost}")


def main() -> None:
    """Read the arguments and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--table", action="store_true", help="several shapes against the formulas")
    parser.add_argument("--uneven", action="store_true", help="stages of different sizes")
    parser.add_argument("--questions", action="store_true", help="answers of the note's questions")
    given = parser.parse_args()
    (table if given.table else uneven if given.uneven else questions if given.questions else show)()


if __name__ == "__main__":
    main()
