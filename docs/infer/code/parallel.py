"""What each way of cutting a model over GPUs reads, holds and sends in a step of inference.

Run:  python docs/infer/code/parallel.py [--questions]

Llama 3.1 70B in BF16 by tensor and pipeline parallelism on H200 (all-reduces measured on two and
four), and the all-to-all of DeepSeek-V3's experts. The rest are rates of data sheets.
"""

from __future__ import annotations

import argparse

MEMORY = 4.8e12  # H200: byte/s
LAYERS, HIDDEN, KV_HEADS = 80, 8192, 8
READ = 2 * (70.55e9 - 128256 * HIDDEN)  # bytes of weights that a step reads
TOKEN = 2 * LAYERS * KV_HEADS * 128 * 2  # bytes of cache per token
NVLINK, PORT, RACK = 450e9, 50e9, 900e9  # byte/s one way: NVLink 4, 400 Gb/s, NVLink 5

# Microseconds of a BF16 all-reduce, medians: four H200 replayed from a CUDA graph
# (link/topo/measured/allreduce.json), and four launched (train/measured/collectives_x4.json).
GRAPH_4 = {16384: 15.67, 65536: 16.22, 262144: 16.70, 1048576: 22.11, 4194304: 43.83}
LAUNCHED_4 = {33554432: 175.1}


# --8<-- [start:cuts]
def tensor(gpus: int, batch: int, context: int) -> tuple[float, float]:
    """Seconds to read weights and cache on one GPU, and bytes of each of the 160 all-reduces."""
    heads = -(-KV_HEADS // gpus)  # whole heads; with more GPUs than heads, copies
    cache = batch * context * TOKEN * heads / KV_HEADS
    return (READ / gpus + cache) / MEMORY, batch * HIDDEN * 2


def pipeline(stages: int, batch: int, context: int) -> tuple[float, float]:
    """Seconds that one token spends in all stages, and bytes sent at each boundary.

    The batch is cut into as many micro-batches as there are stages, so that all are busy.
    """
    micro = -(-batch // stages)
    stage = (READ / stages + micro * context * TOKEN / stages) / MEMORY
    return stages * stage, micro * HIDDEN * 2


def experts(tokens: int, gpus: int, hidden: int = 7168, chosen: int = 8) -> float:
    """Bytes one GPU sends per layer: dispatch in FP8, combine in BF16, no copies merged."""
    return tokens * chosen * hidden * (1 + 2) * (1 - 1 / gpus)


# --8<-- [end:cuts]


def show() -> None:
    """Print a decode step of 70B by both cuts, and the experts' exchange."""
    print("Llama 3.1 70B, BF16, decode, 2048 tokens of context, least ms on H200")
    print("batch  TP 4: read  160 all-reduces  PP 4: one token  message KB")
    for batch in (1, 8, 64):
        read, message = tensor(4, batch, 2048)
        told = GRAPH_4[max(size for size in GRAPH_4 if size <= message)] * 160e-3
        through, _ = pipeline(4, batch, 2048)
        print(
            f"{batch:5d}  {read * 1e3:10.1f}  {told:15.1f}"
            f"  {through * 1e3:15.1f}  {message / 1024:10.0f}"
        )
    print()
    print("DeepSeek-V3, 64 tokens per GPU, 58 layers, least ms of dispatch and combine")
    print("GPUs  MB a layer  NVLink 4  400 Gb/s  NVLink 5")
    for gpus in (8, 32, 144):
        sent = experts(64, gpus)
        times = [58 * sent / rate * 1e3 for rate in (NVLINK, PORT, RACK)]
        shown = [f"{time:8.1f}" for time in times]
        if gpus > 8:  # more than a server holds
            shown[0] = "       -"
        print(f"{gpus:4d}  {sent / 1e6:10.1f}  " + "  ".join(shown))


def questions() -> None:
    """Print the numbers of the answers."""
    work = 2 * 70e9 * 2048 / (4 * 989.4e12)
    told = 160 * LAUNCHED_4[33554432] * 1e-6
    print(f"Q1 TP 4, prompt 2048: compute at least {work * 1e3:.0f} ms, told {told * 1e3:.0f} ms")
    computed, ring = work / 4, 160 * 2 * 15 / 16 * 33554432 / PORT
    print(
        f"Q2 TP 16 on two hosts, prompt 2048: compute {computed * 1e3:.0f} ms, ring"
        f" {ring / 8 * 1e3:.0f} ms over 8 ports a host, {ring * 1e3:.0f} ms over 1"
    )
    inside = 80 * 2 * 7 / 8 * 33554432 / NVLINK
    print(
        f"Q2 TP 8 x PP 2: a stage {(computed + inside) * 1e3:.0f} ms,"
        f" border {33554432 / PORT * 1e3:.1f} ms"
    )
    print(f"Q3 EP 64, DeepEP's 173 + 314 us a layer: {58 * (173 + 314) / 1e3:.0f} ms a step")


def main() -> None:
    """Print the tables, or the numbers of the answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", action="store_true", help="numbers of the note's answers")
    if parser.parse_args().questions:
        questions()
    else:
        show()


if __name__ == "__main__":
    main()
