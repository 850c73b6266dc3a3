"""When communication of data parallelism hides behind computation. Pure arithmetic.

Run:  python docs/train/code/dp_budget.py ddp|zero3|memory|thread|check

A token costs 2 FLOP a parameter forward and 4 backward; the parameters cancel, so that only
tokens a GPU and step, FLOP/s and bus bandwidth remain. Attention's quadratic term is left out;
it adds computation without communication, so the batches found here are on the safe side.
"""

from __future__ import annotations

import sys

GPU = 400e12
"""FLOP/s that a GPU really reaches; about 40 % of an H100's dense bf16 peak."""
LINKS = {
    "450 GB/s, NVLink 4": 450e9,
    "345 GB/s, measured on 2 H200": 345e9,
    "50 GB/s, one 400 Gb/s port": 50e9,
    "12.5 GB/s, 100 GbE": 12.5e9,
}


# --8<-- [start:ddp]
def tokens_ddp(flops: float, bandwidth: float, n: int, gradient: int) -> float:
    """Tokens a GPU and step from which an all-reduce hides behind the backward pass.

    2 (n-1)/n P g / B = 4 P t / F, solved for t; `bandwidth` is bus bandwidth in bytes/s,
    `gradient` the bytes of one gradient.
    """
    return (n - 1) / n * gradient * flops / (2 * bandwidth)


# --8<-- [end:ddp]


# --8<-- [start:zero3]
def tokens_zero3(
    flops: float, bandwidth: float, n: int, weight: int, gradient: int
) -> tuple[float, float]:
    """Tokens a GPU and step: (forward, backward) of ZeRO-3.

    Forward: (n-1)/n P w / B = 2 P t / F. Backward: (n-1)/n P (w + g) / B = 4 P t / F.
    """
    share = (n - 1) / n * flops / bandwidth
    return share * weight / 2, share * (weight + gradient) / 4


def bandwidth_zero3(
    flops: float, tokens: float, n: int, weight: int = 2, gradient: int = 2
) -> float:
    """Bus bandwidth in bytes/s for a whole step: (2w + g) (n-1)/n P / B = 6 P t / F."""
    return (2 * weight + gradient) / 6 * (n - 1) / n * flops / tokens


# --8<-- [end:zero3]


def ceiling_zero3(
    bandwidth: float, tokens: float, n: int, weight: int = 2, gradient: int = 2
) -> float:
    """FLOP/s a GPU cannot exceed when the network is the limit; the inverse of the above."""
    return 6 / (2 * weight + gradient) * n / (n - 1) * bandwidth * tokens


# --8<-- [start:memory]
def states(parameters: float, n: int, stage: int, k: int = 12) -> float:
    """Bytes of weights (2), gradients (2) and optimiser (k) a GPU; stage s shards the last s."""
    weights, gradients, optimizer = 2 * parameters, 2 * parameters, k * parameters
    if stage >= 1:
        optimizer /= n
    if stage >= 2:
        gradients /= n
    if stage >= 3:
        weights /= n
    return weights + gradients + optimizer


def volume(stage: int) -> int:
    """Elements a GPU sends in a step, in units of (n-1)/n of the parameters."""
    reduce_scatter, all_gather = 1, 1
    return reduce_scatter + (2 if stage == 3 else 1) * all_gather


# --8<-- [end:memory]


def show_ddp() -> None:
    """Tokens for some links."""
    print(f"DDP, {GPU / 1e12:.0f} TFLOPS attained, 64 GPUs: tokens a GPU that hide the all-reduce")
    print(f"{'bus bandwidth':<30} {'bf16 gradients':>14} {'fp32 gradients':>14}")
    for name, bandwidth in LINKS.items():
        two, four = (tokens_ddp(GPU, bandwidth, 64, g) for g in (2, 4))
        print(f"{name:<30} {two:>14.0f} {four:>14.0f}")


def show_zero3() -> None:
    """Bus bandwidth that ZeRO-3 needs."""
    print(f"ZeRO-3, 64 GPUs, all in bf16: bus bandwidth that keeps {GPU / 1e12:.0f} TFLOPS")
    print(f"{'tokens a GPU':>12} {'GB/s':>8} {'Gb/s':>8}   gradients reduced in fp32: GB/s")
    for tokens in (1024, 2048, 4096, 8192, 16384):
        two = bandwidth_zero3(GPU, tokens, 64) / 1e9
        four = bandwidth_zero3(GPU, tokens, 64, 2, 4) / 1e9
        print(f"{tokens:>12} {two:>8.1f} {two * 8:>8.0f} {four:>12.1f}")


def show_memory() -> None:
    """The figure of the ZeRO paper, and a step's volume."""
    print("7.5 B parameters, K = 12, 64 GPUs")
    print(f"{'stage':>5} {'GB a GPU':>9} {'volume':>7} {'of DDP':>7}")
    for stage in range(4):
        size = states(7.5e9, 64, stage) / 1e9
        print(f"{stage:>5} {size:>9.1f} {volume(stage):>5} P {volume(stage) / volume(0):>6.1f}x")


def show_thread() -> None:
    """Ceilings of ZeRO-3 for the rates of the DeepSpeed thread."""
    print("ZeRO-3 on 384 GPUs: TFLOPS a GPU that the network allows, at most")
    print(f"{'Gb/s':>5} {'1024 tokens':>12} {'2048 tokens':>12}   reported on V100")
    reported = {100: "< 20", 200: "30-40", 400: "30-40", 800: "40+"}
    for rate, seen in reported.items():
        one, two = (ceiling_zero3(rate / 8 * 1e9, t, 384) / 1e12 for t in (1024, 2048))
        print(f"{rate:>5} {one:>12.1f} {two:>12.1f}   {seen}")


def show_check() -> None:
    """Numbers of the questions."""
    gigabyte = 1e9
    time = 2 * 31 / 32 * 13e9 * 2 / 50e9
    print(f"13 B, bf16 gradients, 32 GPUs, 50 GB/s: {time * 1e3:.0f} ms")
    print(f"tokens to hide it at 350 TFLOPS: {tokens_ddp(350e12, 50e9, 32, 2):.0f}")
    sizes = [f"{states(70e9, 512, stage) / gigabyte:.1f}" for stage in (1, 2, 3)]
    print(f"70 B, 512 GPUs, stages 1 2 3: {' '.join(sizes)} GB")
    for gradient in (2, 4):
        need = bandwidth_zero3(450e12, 4096, 128, 2, gradient) / gigabyte
        print(f"ZeRO-3, 450 TFLOPS, 4096 tokens, 128 GPUs, g = {gradient}: {need:.1f} GB/s")
    forward, backward = tokens_zero3(400e12, 400e9, 64, 2, 2)
    print(f"ZeRO-3, 400 TFLOPS, 400 GB/s: forward {forward:.0f}, backward {backward:.0f} tokens")
    shards = [f"{states(70e9, n, 3) / gigabyte:.1f}" for n in (8, 64)]
    print(f"70 B sharded over 8, over 64: {' '.join(shards)} GB")
    print(f"13 B: gradients out, weights in, 55 GB/s each: {2 * 2 * 13e9 / 55e9:.2f} s")


SHOW = {
    "ddp": show_ddp,
    "zero3": show_zero3,
    "memory": show_memory,
    "thread": show_thread,
    "check": show_check,
}

if __name__ == "__main__":
    for word in sys.argv[1:] or SHOW:
        SHOW[word]()
