"""Memory and weight synchronisation of RL on a 32B model, colocated. Standard library only.

Run:  python docs/train/code/rl_bytes.py

Bytes are decimal (GB = 10^9); bandwidths are one way and nominal unless said otherwise.
"""

from __future__ import annotations

PARAMS = 32.76e9  # Qwen3 32B
LAYERS, KV_HEADS, HEAD = 64, 8, 128
MEMORY = 85.02e9  # H100 SXM, by its driver
KEEP = 0.9  # share of it that is planned for; the rest is contexts, NCCL, fragments
STATE = {"weights": 2, "gradients": 4, "optimiser": 12}  # bytes a parameter, sharded over all GPUs
PORT, NVLINK, PCIE = 50e9, 450e9, 63e9  # bytes a second, one way
MEASURED = 8.25e9  # verl's table: NCCL, one sender's bandwidth, 32 H100
BUCKET = 512 * 2**20  # slime's default

WEIGHTS = 2 * PARAMS
KV_TOKEN = 2 * LAYERS * KV_HEADS * HEAD * 2  # bytes a token over all TP ranks


# --8<-- [start:room]
def room(gpus: int, tp: int, offloaded: bool) -> tuple[float, float, float]:
    """Return training states, rollout weights, and what is left for the KV cache, per GPU."""
    states = 0.0 if offloaded else PARAMS * sum(STATE.values()) / gpus
    copy = WEIGHTS / tp
    return states, copy, KEEP * MEMORY - states - copy


# --8<-- [end:room]


def tokens(left: float, tp: int) -> float:
    """Return how many tokens the KV cache of one replica of `tp` GPUs holds."""
    return max(0.0, left) * tp / KV_TOKEN


def synchronise() -> list[tuple[str, float, float]]:
    """Return ways of moving all weights: the name, the bytes on the narrowest path, the seconds."""
    node = WEIGHTS * 7 / 8  # what a node of eight lacks when all eight nodes hold a part
    return [
        ("one sender, its 400 Gb/s port, nominal", WEIGHTS, WEIGHTS / PORT),
        ("one sender, at the 8.25 GB/s that verl measured", WEIGHTS, WEIGHTS / MEASURED),
        ("colocated, every node gathers through 8 ports", node / 8, node / 8 / PORT),
        ("the same bytes on to each GPU over NVLink", WEIGHTS, WEIGHTS / NVLINK),
    ]


def main() -> None:
    print(f"weights {WEIGHTS / 1e9:.1f} GB in BF16; KV cache {KV_TOKEN / 1024:.0f} KiB a token")
    print("per GPU, GB, rollout with TP 4; tokens: what the KV cache of a replica of 4 holds")
    for gpus in (8, 16, 32, 64):
        for offloaded in (False, True):
            states, copy, left = room(gpus, 4, offloaded)
            where = "offloaded" if offloaded else "resident "
            print(
                f"  {gpus:2} GPUs, states {where} {states / 1e9:5.1f}  copy {copy / 1e9:4.1f}"
                f"  left {left / 1e9:6.1f}  {tokens(left, 4) / 1e3:6.0f} thousand tokens"
            )
    print("moving the weights once")
    for name, volume, seconds in synchronise():
        print(f"  {name:48} {volume / 1e9:5.1f} GB  {seconds:5.2f} s")
    print(f"  buckets of 512 MiB: {-(-WEIGHTS // BUCKET):.0f}")
    shard = PARAMS * STATE["optimiser"] / 64
    print(f"  optimiser of 64 GPUs over PCIe: {shard / 1e9:.1f} GB, {shard / PCIE:.2f} s one way")


if __name__ == "__main__":
    main()
