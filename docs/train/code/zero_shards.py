"""ZeRO without a GPU: four stages train the same model; what each holds and sends is counted.

Run:  python docs/train/code/zero_shards.py

The ring of ring_gradients.py carries everything. Every stage sums in the same order, so the
weights must come out equal to the last bit, not only nearly.
"""

from __future__ import annotations

import random

from ring_gradients import FP32, Ring, Sample, chunks, gradient, samples_of

N, WIDTH, STEPS = 4, 64, 3
RATE, DECAY, EPSILON = 0.01, 0.9, 1e-8


def adam(weights: list[float], grads: list[float], state: list[list[float]]) -> list[float]:
    """One update of any slice of the model; elementwise, so a shard needs nothing from others."""
    mean, square = state
    for i, g in enumerate(grads):
        mean[i] = DECAY * mean[i] + (1 - DECAY) * g
        square[i] = DECAY * square[i] + (1 - DECAY) * g * g
    return [
        w - RATE * m / (v**0.5 + EPSILON) for w, m, v in zip(weights, mean, square, strict=True)
    ]


# --8<-- [start:train]
def train(stage: int, data: list[list[list[Sample]]]) -> tuple[list[float], Ring, int]:
    """Train on N ranks; return the weights, the ring with its bytes, and numbers held at rest."""
    ring = Ring(N)
    full = [[0.5] * WIDTH for _ in range(N)]  # stages 0 to 2: whole weights on every rank
    shard = [[0.5] * (WIDTH // N) for _ in range(N)]  # what a rank owns: chunk (rank + 1) % N
    length = WIDTH if stage == 0 else WIDTH // N
    moments = [[[0.0] * length, [0.0] * length] for _ in range(N)]
    for batch in data:
        if stage == 3:  # the forward pass, then the backward pass: weights are gathered twice
            gathered = gather(ring, shard)
            gathered = gather(ring, shard)
            full = gathered
        grads = [gradient(full[r], batch[r]) for r in range(N)]
        if stage == 0:
            sums = ring.all_reduce(grads)
            full = [adam(full[r], sums[r], moments[r]) for r in range(N)]
            continue
        pieces = [chunks(g, N) for g in grads]
        ring.reduce_scatter(pieces)
        for r in range(N):
            mine = (r + 1) % N
            own = shard[r] if stage == 3 else chunks(full[r], N)[mine]
            shard[r] = adam(own, pieces[r][mine], moments[r])
        if stage < 3:
            full = gather(ring, shard)
    whole = gather(Ring(N), shard)[0] if stage == 3 else full[0]
    weights = WIDTH // N if stage == 3 else WIDTH
    grads_held = WIDTH // N if stage >= 2 else WIDTH
    return whole, ring, weights + grads_held + 2 * length


def gather(ring: Ring, shard: list[list[float]]) -> list[list[float]]:
    """All-gather: from one chunk a rank to the whole vector on every rank."""
    data = [[list(shard[r]) if c == (r + 1) % N else [] for c in range(N)] for r in range(N)]
    ring.all_gather(data)
    return [[x for chunk in rank for x in chunk] for rank in data]


# --8<-- [end:train]


def main() -> None:
    """Run the four stages and compare them."""
    rng = random.Random(3)
    data = [[samples_of(rng, 2, WIDTH) for _ in range(N)] for _ in range(STEPS)]
    unit = (N - 1) / N * WIDTH * FP32
    print(f"{N} ranks, {WIDTH} parameters, Adam; unit of traffic: (N-1)/N x parameters")
    print(f"{'stage':>5} {'held':>5} {'sent a step':>12} {'in units':>9}  weights equal stage 0")
    expected, _, _ = train(0, data)
    for stage in range(4):
        weights, ring, held = train(stage, data)
        sent = ring.sent[0] / STEPS
        print(f"{stage:>5} {held:>5} {sent:>12.0f} {sent / unit:>9.1f}  {weights == expected}")


if __name__ == "__main__":
    main()
