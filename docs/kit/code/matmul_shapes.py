"""Which shapes of a model's matrix products are fast on this GPU, and what padding would gain.

Run:  python3 matmul_shapes.py --hidden 4096 --heads 32 --kv-heads 8 --ffn 14336 --vocabulary 128256

Products are M tokens by N columns of the weight, over K. First the best shape is searched for: the
most that this card achieves, which a data sheet does not say. The products of the model stand
beside it, also with sizes rounded up.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

from common import Report, main_of, parser, quantile, say, the_torch, timed

NEEDS = """It takes --seconds (60) for the search and about a second for each product and rounding:
two minutes in all. It needs 8 GiB free on the GPU. The GPU should be idle."""
NOTE = "en/chip/roofline.html"
Shape = tuple[int, int, int]
ENOUGH = 0.8  # of the best shape's rate: what thousands on each side reach without trouble


def products(args: Any) -> dict[str, Shape]:
    """The products of one layer and of the vocabulary: name to M, N, K, on one GPU of --tp."""
    t, h, tp = args.tokens, args.hidden, args.tp
    size = h // args.heads
    heads, shared = args.heads // tp, max(1, (args.kv_heads or args.heads) // tp)
    found = {"qkv": (t, (heads + 2 * shared) * size, h), "attention out": (t, h, heads * size)}
    wide = (args.ffn or 4 * h) // tp
    if args.experts:
        t = max(1, t * args.top_k // args.experts)
    name = "expert " if args.experts else ""
    found[f"{name}gate and up"] = (t, 2 * wide, h)
    found[f"{name}down"] = (t, h, wide)
    if args.vocabulary:
        found["vocabulary"] = (args.tokens, -(-args.vocabulary // tp), h)
    return found


def rounded(shape: Shape) -> Iterator[Shape]:
    """The shape with N, K or both rounded up to multiples of 8, 64, 128 and 256."""
    m, n, k = shape
    seen = {shape}
    for step in (8, 64, 128, 256):
        up_n, up_k = -(-n // step) * step, -(-k // step) * step
        for one in ((m, up_n, k), (m, n, up_k), (m, up_n, up_k)):
            # A fifth more work cannot pay where the waste of tiles is less.
            if one not in seen and one[1] * one[2] <= 1.2 * n * k:
                seen.add(one)
                yield one


class Bench:
    """Times products of one kind of number on the first GPU."""

    def __init__(self, torch: Any, kind: str) -> None:
        self.torch, self.kind = torch, kind

    def operand(self, rows: int, columns: int) -> Any:
        """Random numbers of the kind; zeros would be faster than any real ones."""
        x = self.torch.randn(rows, columns, device="cuda", dtype=self.torch.bfloat16)
        return x.to(self.torch.float8_e4m3fn) if self.kind == "fp8" else x

    def seconds(self, shape: Shape, n: int = 5) -> float:
        """Seconds for a product; weights rotate, so that small ones come from memory."""
        m, columns, k = shape
        a, sets = self.operand(m, k), max(1, min(16, 2**28 // (2 * columns * k)))
        weights = cycle([self.operand(columns, k) for _ in range(sets)])
        call = lambda: a @ next(weights).t()  # noqa: E731
        if self.kind == "fp8":
            one, out = self.torch.ones((), device="cuda"), {"out_dtype": self.torch.bfloat16}
            call = lambda: self.torch._scaled_mm(a, next(weights).t(), one, one, **out)  # noqa: E731
        return quantile(timed(self.torch, call, n, 0.01))

    def rate(self, shape: Shape) -> float:
        """TFLOP/s of a product; 0 where the library refuses the shape."""
        try:
            return 2 * shape[0] * shape[1] * shape[2] / self.seconds(shape) / 1e12
        except RuntimeError:
            return 0.0


def search(rate: Callable[[Shape], float], seconds: float) -> tuple[Shape, float, int]:
    """The fastest shape found in the time, its rate, and how many were tried.

    Half of the time for shapes by chance, half for neighbours of the best one.
    """
    chance, largest = random.Random(1), 20480
    best, top, found = (8192, 8192, 8192), 0.0, {}
    shape, start = best, time.monotonic()
    while not found or time.monotonic() < start + seconds:
        found[shape] = rate(shape)
        if found[shape] > top:
            best, top = shape, found[shape]
            say(f"{len(found)}: {' x '.join(map(str, best))}: {top:.0f} TFLOP/s")
        if time.monotonic() < start + seconds / 2:
            shape = tuple(256 * chance.randint(8, largest // 256) for _ in range(3))
        else:
            step = [chance.choice((-512, -256, -128, 0, 128, 256, 512)) for _ in range(3)]
            shape = tuple(max(1024, min(largest, a + b)) for a, b in zip(best, step))
    # The highest of many is high by chance too: the best ones are measured again.
    again = {one: rate(one) for one in sorted(found, key=found.__getitem__)[-8:]}
    best = max(again, key=again.__getitem__)
    return best, again[best], len(found)


def model(report: Report, bench: Bench, args: Any, top: float) -> None:
    """The products of the model beside the best shape, and what rounding up gains."""
    for name, shape in products(args).items():
        m, n, k = shape
        rate = bench.rate(shape)
        odd = [f"{letter} = {size}" for letter, size in zip("MNK", shape) if size % 8]
        better = {one: bench.rate(one) for one in rounded(shape)}
        # Of the padded product only the old part is useful.
        useful = {one: r * n * k / (one[1] * one[2]) for one, r in better.items()}
        advice, first = "", max(useful, key=useful.__getitem__, default=None)
        if first and useful[first] > 1.03 * rate:
            gain = f"{useful[first] / rate - 1:.0%} faster" if rate else "refused as it is"
            advice = f"Round up to N = {first[1]}, K = {first[2]}: {gain}."
        rule = f"{ENOUGH:.0%} of {top:.0f}"
        do = advice or "More tokens at once, or a smaller --tp, give larger products."
        how = {"rule": rule, "good": rate >= ENOUGH * top, "note": NOTE, "then": do}
        report.add(f"{name}, {m} x {n} x {k}", rate, "TFLOP/s", **how)
        if odd:
            report.add("  not a multiple of 8", ", ".join(odd), note=NOTE)
        if advice:
            report.add("  rounded up", advice, note=NOTE)


def main() -> int:
    options = parser((__doc__ or "").splitlines()[0], NEEDS)
    for name, default in (("hidden", 4096), ("heads", 32), ("tokens", 8192), ("tp", 1)):
        options.add_argument(f"--{name}", type=int, default=default, help=f"{default} if not given")
    more = {"kv-heads": "as many as heads", "experts": "none", "vocabulary": "left out"}
    for name, said in {**more, "ffn": "4 times hidden; with experts, of one"}.items():
        options.add_argument(f"--{name}", type=int, default=0, help=f"if not given: {said}")
    options.add_argument("--top-k", type=int, default=2, help="experts for each token (2)")
    options.add_argument("--kind", choices=("bf16", "fp8"), default="bf16")
    options.add_argument("--seconds", type=float, default=60, help="for the search (60)")
    args = options.parse_args()
    torch = the_torch()
    report = Report("matmul_shapes.py", args, torch)
    if torch is None or not torch.cuda.is_available():
        report.missing("products", "PyTorch and a GPU are needed: run it where a job would run.")
        return report.finish("")
    bench = Bench(torch, args.kind)
    say("some seconds of products first: a cool card is faster than a job will find it")
    hot = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    timed(torch, lambda: hot @ hot, 2, 3.0)
    report.section("best")
    shape, top, tried = search(bench.rate, args.seconds)
    name = f"best of {tried} shapes, {' x '.join(map(str, shape))}"
    report.add(name, top, "TFLOP/s", key=f"product.best.{args.kind}")
    report.section("model")
    model(report, bench, args, top)
    return report.finish("Keep the shapes; compare MFU with the best shape, not the data sheet.")


if __name__ == "__main__":
    main_of(main)
