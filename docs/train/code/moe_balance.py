"""Routing of a mixture of experts: who waits, what is dropped, what is sent, what must fit.

Run:  python docs/train/code/moe_balance.py [--bytes | --tiles | --memory | --questions]

NumPy only. The shape is DeepSeek-V3's (256 routed experts, 8 per token, 64 GPUs in 8 nodes). The
scores are made up: a popularity per expert, a taste per topic of a token, noise; what is counted
(loads, drops, copies) follows from them by the same rules that a router runs.
"""

from __future__ import annotations

import argparse

import numpy as np

EXPERTS, TOP, GPUS, NODES, LIMIT = 256, 8, 64, 8, 4
HIDDEN, WIDTH, LAYERS = 7168, 2048, 58  # of the MoE layers
PEAK, MEMORY, PORT = 989.4e12, 3.35e12, 50e9  # H100: dense bf16 FLOP/s, bytes/s; 400 Gb/s
ROUTED = LAYERS * EXPERTS * 3 * HIDDEN * WIDTH
WHOLE = 671.026e9  # parameters, counted by transformer_math.py


class Tokens:
    """Affinities of tokens that are alike in places and love some experts more than others."""

    def __init__(self, seed: int, skew: float = 0.5, topics: int = 64) -> None:
        self.random = np.random.default_rng(seed)
        self.popular = self.random.normal(0, skew, EXPERTS)
        self.taste = self.random.normal(0, 1, (topics, EXPERTS))

    def batch(self, tokens: int) -> np.ndarray:
        topic = self.random.integers(0, len(self.taste), tokens)
        score = self.random.standard_normal((tokens, EXPERTS), dtype=np.float32)
        score += (self.popular + self.taste)[topic].astype(np.float32)
        return 1 / (1 + np.exp(-score))


# --8<-- [start:route]
def route(score: np.ndarray, bias: np.ndarray, limit: int = NODES) -> np.ndarray:
    """Return the experts of each token: top 8 of score + bias, on at most `limit` nodes."""
    ranked = score + bias
    if limit < NODES:
        nodes = ranked.reshape(len(score), NODES, -1)
        best = np.sort(nodes, axis=2)[:, :, -(TOP // limit) :].sum(axis=2)
        cut = np.sort(best, axis=1)[:, NODES - limit, None]
        ranked = np.where((best >= cut)[:, :, None], nodes, -np.inf).reshape(score.shape)
    return np.argpartition(ranked, -TOP, axis=1)[:, -TOP:]


def nudge(bias: np.ndarray, load: np.ndarray, speed: float) -> np.ndarray:
    """Loss-free balancing: the overloaded go down by one step, the underloaded up."""
    return bias + speed * np.sign(load.mean() - load)


# --8<-- [end:route]


def loads(chosen: np.ndarray) -> np.ndarray:
    return np.bincount(chosen.ravel(), minlength=EXPERTS)


def worst(load: np.ndarray, parts: int) -> float:
    """The largest of `parts` equal groups of experts over the mean: who waits for whom."""
    groups = load.reshape(parts, -1).sum(axis=1)
    return float(groups.max() / groups.mean())


def dropped(load: np.ndarray, factor: float) -> float:
    """Share of assignments over the capacity of their expert."""
    capacity = factor * load.mean()
    return float(np.maximum(load - capacity, 0).sum() / load.sum())


def trained(source: Tokens, bias: np.ndarray, steps: int, speed: float = 0.001) -> np.ndarray:
    for _ in range(steps):
        bias = nudge(bias, loads(route(source.batch(2048), bias)), speed)
    return bias


def affinity(score: np.ndarray, chosen: np.ndarray) -> float:
    return float(np.take_along_axis(score, chosen, axis=1).sum(axis=1).mean())


def balance() -> None:
    source, none = Tokens(seed=1), np.zeros(EXPERTS, np.float32)
    after = trained(source, none, 30)
    settled = trained(source, after, 120)
    score = source.batch(16384)
    free = affinity(score, route(score, none))
    ways = {
        "no balancing": (score, none),
        "bias, 30 steps": (score, after),
        "bias, 150 steps": (score, settled),
        "chance alone": (source.random.random(score.shape, np.float32), none),
    }
    print("16,384 tokens; largest load over the mean, by       dropped at capacity   affinity")
    print("                  expert  GPU (EP 64)  GPU (EP 8)   1.0   1.25    2.0        kept")
    for name, (scores, offset) in ways.items():
        chosen = route(scores, offset)
        load = loads(chosen)
        kept = "-" if name.startswith("chance") else f"{affinity(score, chosen) / free:.1%}"
        print(f"{name:16s} {worst(load, EXPERTS):7.2f} {worst(load, GPUS):12.2f} "
              f"{worst(load, 8):11.2f} {dropped(load, 1):7.1%} {dropped(load, 1.25):6.1%} "
              f"{dropped(load, 2):6.1%} {kept:>11s}")  # fmt: skip


def remote(chosen: np.ndarray) -> tuple[float, float]:
    """GPUs of other nodes, and other nodes, that a token of node 0 goes to, on average."""
    gpu = chosen // (EXPERTS // GPUS)
    gpus = [len({x for x in row if x >= GPUS // NODES}) for row in gpu.tolist()]
    nodes = [len({x * NODES // GPUS for x in row} - {0}) for row in gpu.tolist()]
    return float(np.mean(gpus)), float(np.mean(nodes))


def copies() -> dict[str, tuple[float, float, float]]:
    """Remote GPUs and nodes per token and the affinity kept, by the limit on nodes."""
    source = Tokens(seed=1)
    bias = trained(source, np.zeros(EXPERTS, np.float32), 150)
    score = source.batch(16384)
    free = affinity(score, route(score, bias))
    found = {}
    for name, limit in {"no limit": NODES, "at most 4 nodes": LIMIT}.items():
        chosen = route(score, bias, limit)
        found[name] = (*remote(chosen), affinity(score, chosen) / free)
    return found


def sent() -> None:
    found = copies()
    print("a token and MoE layer, 64 GPUs in 8 nodes; KB through its port, forward only")
    print("(out FP8, back BF16)  remote GPUs  remote nodes  once per GPU  once per node  affinity")
    for name, (gpus, nodes, kept) in found.items():
        print(f"  {name:19s} {gpus:10.2f} {nodes:13.2f} {gpus * 3 * HIDDEN / 1e3:13.1f} "
              f"{nodes * 3 * HIDDEN / 1e3:14.1f} {kept:9.1%}")  # fmt: skip
    print(f"8 copies: {8 * HIDDEN / 1e3:.1f} KB out in FP8, {16 * HIDDEN / 1e3:.1f} back in BF16; "
          f"BF16, forward and backward: {4 * 16 * HIDDEN / 1e3:.0f} KB")  # fmt: skip
    print(f"tensor parallelism (8) of Llama 3.1 70B, a token and layer, all eight GPUs together: "
          f"{8 * 4 * 2 * 7 / 8 * 2 * 8192 / 1e3:.0f} KB")  # fmt: skip
    flop = 4096 * 2 * (TOP + 1) * 3 * HIDDEN * WIDTH
    print(f"4096 tokens per GPU, forward: experts {flop / PEAK / 0.6 * 1e3:.1f} ms at 60 % of the "
          f"bf16 peak; on the port")  # fmt: skip
    for name, (gpus, nodes, _) in found.items():
        print(f"  {name:19s} once per GPU {4096 * gpus * 3 * HIDDEN / PORT * 1e3:5.1f} ms, "
              f"once per node {4096 * nodes * 3 * HIDDEN / PORT * 1e3:5.1f} ms")  # fmt: skip
    inside = 4096 * found["no limit"][1] * 2 * HIDDEN  # 8 GPUs hold what 8 nodes held above
    print(f"EP 8 in one node, 4096 tokens, BF16, once per GPU: {inside / 1e6:.0f} MB each way")


def tiles() -> None:
    ridge = PEAK / MEMORY
    print("EP  tokens per GPU  per expert  rows in tiles of 128  tensor rate reached by weights")
    random = np.random.default_rng(2)
    for ranks, tokens in ((8, 128), (64, 128), (8, 4096), (64, 4096)):
        mean = tokens * ranks * TOP / EXPERTS
        rows = random.poisson(mean, EXPERTS)
        padded = -(-rows // 128) * 128
        print(f"{ranks:2d} {tokens:15d} {mean:11.0f} {rows.sum() / padded.sum():20.1%} "
              f"{min(1, mean / ridge):20.1%}")  # fmt: skip
    print(f"a bf16 weight is read once for all rows: {ridge:.0f} rows per expert to reach the peak")


# --8<-- [start:memory]
def states(routed: float, other: float, gpus: int, pp: int, ep: int, tp: int = 1) -> list[float]:
    """GB per GPU of weights + gradients (6 bytes) of experts and rest, and optimiser (12), ZeRO-1.

    Experts are copied gpus / (pp ep) times, the rest gpus / (pp tp) times; the optimiser's part
    is sharded over the copies, so that all GPUs share it.
    """
    return [6 * routed / pp / ep / 1e9, 6 * other / pp / tp / 1e9,
            12 * (routed + other) / gpus / 1e9]  # fmt: skip


# --8<-- [end:memory]


def memory() -> None:
    mixtral = 32 * 8 * 3 * 4096 * 14336
    shapes = [
        ("Mixtral 8x7B", mixtral, 46.703e9 - mixtral, 64, 4, 1),
        ("Mixtral 8x7B", mixtral, 46.703e9 - mixtral, 64, 4, 8),
        ("DeepSeek-V3", ROUTED, WHOLE - ROUTED, 64, 1, 64),
        ("DeepSeek-V3", ROUTED, WHOLE - ROUTED, 512, 8, 64),
        ("DeepSeek-V3", ROUTED, WHOLE - ROUTED, 2048, 16, 8),
        ("DeepSeek-V3", ROUTED, WHOLE - ROUTED, 2048, 16, 64),
    ]
    print("states, GB per GPU, 18 bytes a parameter, ZeRO-1")
    print("model         GPUs  PP  EP  experts  the rest  optimiser    all")
    for name, routed, other, gpus, pp, ep in shapes:
        parts = states(routed, other, gpus, pp, ep)
        print(f"{name:13s} {gpus:4d} {pp:3d} {ep:3d} {parts[0]:8.1f} {parts[1]:9.1f} "
              f"{parts[2]:10.1f} {sum(parts):6.1f}")  # fmt: skip


def questions() -> None:
    print(f"Q1 64 H100: {18 * WHOLE / 1e12:.1f} TB of states against {64 * 80 / 1e3:.2f} TB; "
          f"256 GPUs: {18 * WHOLE / 256 / 1e9:.0f} GB, 512: {18 * WHOLE / 512 / 1e9:.0f} GB each "
          "where everything is shared evenly")  # fmt: skip
    load = 1.4
    print(f"Q2 a GPU at {load} of the mean: the others idle for {1 - 1 / load:.0%} of the experts'"
          f" time; at 1.05, for {1 - 1 / 1.05:.0%}")  # fmt: skip
    for top, limit in ((8, 8), (8, 4), (16, 4)):
        print(f"Q3 top {top:2d}, at most {limit} nodes: port carries at most "
              f"{min(top, limit) * 3 * HIDDEN / 1e3:.0f} KB per token and layer")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("bytes", "tiles", "memory", "questions"):
        parser.add_argument(f"--{name}", action="store_true")
    args = parser.parse_args()
    chosen = [sent] * args.bytes + [tiles] * args.tiles + [memory] * args.memory
    for what in chosen + [questions] * args.questions or [balance]:
        what()


if __name__ == "__main__":
    main()
