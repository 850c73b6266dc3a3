"""The running example of the training notes: Llama 3.1 70B on 64 H100. Standard library only.

Run:  python docs/train/code/running_example.py

Bytes per GPU and step; GB are 10^9 bytes. Layout A cuts the model (tensor 8, pipeline 4, data 2,
ZeRO-1), layout B shards its storage (ZeRO-3 over 64). A ring's bytes; times at nominal bandwidth.
"""

from __future__ import annotations

from memory_budget import RECIPES, activations, llama, states

PARAMETERS = 70.55e9
LAYERS, HIDDEN, FEED, HEADS, KV_HEADS, VOCABULARY = 80, 8192, 28672, 64, 8, 128256
SEQUENCE, SEQUENCES, GPUS = 8192, 128, 64
TP, PP, DP = 8, 4, 2
NVLINK, PORT, PEAK = 450e9, 50e9, 989.4e12  # bytes/s one way; FLOP/s dense bf16


def ring(ranks: int, size: float) -> float:
    """Bytes that a rank sends for one half: a reduce-scatter or an all-gather."""
    return (ranks - 1) / ranks * size


def main() -> None:
    tokens = SEQUENCE * SEQUENCES
    flop = 6 * PARAMETERS * tokens
    print(f"a step: {SEQUENCES} x {SEQUENCE} = {tokens:,} tokens, {flop / 1e15:.1f} PFLOP by 6N; "
          f"at 40 % MFU {flop / (GPUS * PEAK * 0.4):.1f} s")  # fmt: skip

    recipe = RECIPES["training, FP32 gradients"]
    for stage, name in enumerate(["plain", "ZeRO-1", "ZeRO-2", "ZeRO-3"]):
        alone, cut = states(PARAMETERS, recipe, stage, GPUS), states(
            PARAMETERS / (TP * PP), recipe, stage, DP)  # fmt: skip
        print(f"states, {name:6s}  data parallel over 64: {alone / 1e9:7.1f} GB;  "
              f"inside A: {cut / 1e9:5.1f} GB")  # fmt: skip

    own = llama(KV_HEADS / HEADS, FEED / HIDDEN)
    whole = activations(LAYERS, SEQUENCE, 1, HIDDEN, own)
    print(f"activations of a sequence, {own:.1f} sbh a layer: {whole / 1e9:.1f} GB on one GPU, "
          f"{whole / TP / 1e9:.1f} in A's first stage, "
          f"{activations(LAYERS, SEQUENCE, 1, HIDDEN, 2) / 1e9:.1f} with whole layers recomputed"
    )  # fmt: skip

    micro = SEQUENCES // DP
    half = 2 * SEQUENCE * HIDDEN  # bf16 activations of one micro-batch
    tensor = micro * LAYERS // PP * 4 * 2 * ring(TP, half)
    border = micro * 2 * half / TP
    part = PARAMETERS / (TP * PP)
    gradients = ring(DP, part * 4) + ring(DP, part * 2)
    print(f"A, {micro} micro-batches, sent by a GPU in a step:")
    print(f"  tensor    {tensor / 1e9:7.1f} GB, {tensor / NVLINK:5.2f} s on NVLink")
    print(f"  pipeline  {border / 1e9:7.2f} GB, {border / PORT:5.2f} s on its port (middle stage)")
    print(f"  data      {gradients / 1e9:7.2f} GB, {gradients / PORT:5.2f} s on its port")
    print(f"  bubble    {(PP - 1) / micro:.1%} of the ideal time")

    per_gpu = SEQUENCES // GPUS
    plain = 2 * ring(GPUS, 2 * PARAMETERS)
    sharded = 2 * ring(GPUS, 2 * PARAMETERS) + ring(GPUS, 4 * PARAMETERS)
    print(f"B, {per_gpu} sequences on a GPU in one pass, sent by a GPU in a step:")
    print(f"  all-reduce of bf16 gradients (plain)  {plain / 1e9:6.1f} GB")
    print(f"  ZeRO-3, gradients in fp32             {sharded / 1e9:6.1f} GB, "
          f"{sharded / (8 * PORT):.2f} s on rings over the 8 ports of a node")  # fmt: skip


if __name__ == "__main__":
    main()
