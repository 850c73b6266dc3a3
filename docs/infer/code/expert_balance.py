"""Copies of popular experts: how even they make the GPUs, and what they cost.

Run:  python docs/infer/code/expert_balance.py [--groups | --questions]

NumPy only. The shape is DeepSeek-V3's (58 MoE layers, 256 experts, 8 per token) in FP8 on H200.
The popularity of experts is made up (log-normal); placement and times follow from it.
"""

from __future__ import annotations

import argparse

import numpy as np

LAYERS, EXPERTS, TOP, GROUPS = 58, 256, 8, 8
EXPERT = 3 * 7168 * 2048  # parameters, and bytes in FP8
READ = EXPERT / 4.8e12  # seconds to read an expert from HBM
ROW = 2 * EXPERT / 1979e12  # seconds to multiply a row by it, at the dense FP8 peak
SKEW = 0.7  # of the logarithm of the popularity


# --8<-- [start:place]
def copies(load: np.ndarray, slots: int) -> np.ndarray:
    """Return how many copies each expert gets: again and again one for the fullest copy."""
    count = np.ones(len(load), dtype=int)
    for _ in range(slots - len(load)):
        count[np.argmax(load / count)] += 1
    return count


def pack(load: np.ndarray, gpus: int) -> np.ndarray:
    """Return the GPU of each slot: heaviest first, to the lightest GPU that has a place."""
    room, filled = len(load) // gpus, np.zeros(gpus, dtype=int)
    weight, place = np.zeros(gpus), np.empty(len(load), dtype=int)
    for slot in np.argsort(-load):
        gpu = int(np.argmin(np.where(filled < room, weight, np.inf)))
        place[slot], weight[gpu] = gpu, weight[gpu] + load[slot]
        filled[gpu] += 1
    return place


# --8<-- [end:place]


def placed(
    load: np.ndarray, experts: np.ndarray, slots: int, gpus: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the expert and the GPU of each slot, for these experts on so many GPUs."""
    count = copies(load[experts], slots)
    expert, share = np.repeat(experts, count), np.repeat(load[experts] / count, count)
    return expert, pack(share, gpus)


class Layer:
    """One MoE layer: where the slots are, and who waits when traffic comes."""

    def __init__(self, gpus: int, extra: int, seen: np.ndarray | None, hosts: int = 1) -> None:
        self.gpus = gpus
        if seen is None:  # as loaded: in the order of their numbers, no copies
            self.expert = np.arange(EXPERTS)
            self.place = self.expert * gpus // EXPERTS
            return
        # With several hosts: whole groups go to hosts first, then each host is packed alone.
        host = np.repeat(pack(seen.reshape(GROUPS, -1).sum(1), hosts), EXPERTS // GROUPS)
        slots, share = (EXPERTS + extra) // hosts, gpus // hosts
        parts = [placed(seen, np.flatnonzero(host == h), slots, share) for h in range(hosts)]
        self.expert = np.concatenate([expert for expert, _ in parts])
        self.place = np.concatenate([h * share + gpu for h, (_, gpu) in enumerate(parts)])

    def rows(self, load: np.ndarray) -> np.ndarray:
        """Rows of each slot, if the copies of an expert share them evenly."""
        count = np.bincount(self.expert, minlength=EXPERTS)
        return load[self.expert] / count[self.expert]

    def uneven(self, load: np.ndarray) -> float:
        """Rows of the fullest GPU over the mean."""
        total = np.bincount(self.place, self.rows(load), self.gpus)
        return float(total.max() / total.mean())

    def slowest(self, load: np.ndarray) -> float:
        """Seconds of the slowest GPU: each slot is read, or multiplied for longer."""
        time = np.maximum(READ, self.rows(load) * ROW)
        return float(np.bincount(self.place, time, self.gpus).max())


def drawn(random: np.random.Generator, popular: np.ndarray, tokens: int) -> np.ndarray:
    share = np.exp(popular)
    return random.multinomial(tokens * TOP, share / share.sum()).astype(float)


def measure(gpus: int, extra: int | None, hosts: int = 1, seed: int = 1) -> list[float]:
    """Return the means over layers of what the table shows."""
    random = np.random.default_rng(seed)
    sums = np.zeros(5)
    for _ in range(LAYERS):
        popular = random.normal(0, SKEW, EXPERTS)
        other = np.sqrt(0.5) * (popular + random.normal(0, SKEW, EXPERTS))
        seen = drawn(random, popular, 200_000) if extra is not None else None
        layer = Layer(gpus, extra or 0, seen, hosts)
        decode, prefill = (drawn(random, popular, n * gpus) for n in (64, 4096))
        changed = drawn(random, other, 4096 * gpus)
        sums += (
            layer.uneven(prefill),
            layer.uneven(changed),
            layer.uneven(decode),
            layer.slowest(decode) * LAYERS,
            layer.slowest(prefill) * LAYERS,
        )
    return list(sums / LAYERS)


def table() -> None:
    print("58 layers, FP8, H200      rows: fullest GPU over mean     experts of the slowest, ms")
    print("EP   slots   extra   prefill  traffic   decode       decode,  prefill,")
    print("   per GPU      GB            changed              64 tokens      4096")
    for gpus in (8, 32, 128):
        for extra in (None, 0, gpus, 2 * gpus):
            slots = (EXPERTS + (extra or 0)) // gpus
            more = (extra or 0) // gpus * EXPERT * LAYERS / 1e9
            even, changed, decode, short, long = measure(gpus, extra)
            name = "as loaded" if extra is None else ""
            print(
                f"{gpus:3d} {slots:6d} {more:8.1f} {even:9.2f} {changed:8.2f} {decode:8.2f} "
                f"{short * 1e3:13.1f} {long * 1e3:9.1f}  {name}".rstrip()
            )


def groups() -> None:
    print("fullest GPU over mean, prefill    anywhere   groups on hosts   experts, ms")
    for gpus in (16, 32, 64):
        for extra in (0, gpus):
            free, bound = measure(gpus, extra), measure(gpus, extra, gpus // 8)
            name = f"EP {gpus}, {gpus // 8} hosts, {extra} copies"
            times = f"{free[4] * 1e3:9.1f} {bound[4] * 1e3:6.1f}"
            print(f"{name:31s} {free[0]:10.2f} {bound[0]:17.2f} {times}")


def questions() -> None:
    print(f"one copy on each GPU, all layers: {EXPERT * LAYERS / 1e9:.2f} GB")
    print(f"rows at which multiplying takes as long as reading: {READ / ROW:.0f}")
    for gpus, tokens in ((8, 64), (32, 64), (128, 64), (32, 4096)):
        rows = tokens * gpus * TOP // EXPERTS
        print(f"EP {gpus}, {tokens} tokens per GPU: {rows} rows per expert")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--groups", action="store_true")
    parser.add_argument("--questions", action="store_true")
    options = parser.parse_args()
    if options.groups:
        groups()
    elif options.questions:
        questions()
    else:
        table()


if __name__ == "__main__":
    main()
