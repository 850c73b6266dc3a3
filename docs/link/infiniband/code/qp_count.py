"""How many queue pairs one node holds when every process can reach every other one.

    python docs/link/infiniband/code/qp_count.py --nodes 64 --processes 8

Formulas for N nodes of p processes each, processes of the same node not counted:

    RC, UC     p * p * (N - 1)     a QP for each pair of processes
    XRC        2 * p * (N - 1)     a process sends through one QP to a node; the node holds one
                                   receiving QP for each process that sends to it
    DC         p * (k + 1)         k initiators and one target a process
    UD, SRD    p                   one QP a process
"""

from __future__ import annotations

import argparse

WQE_BYTES = 64
"""What one slot of a send queue takes in mlx5 (MLX5_SEND_WQE_BB); larger requests take more."""


# --8<-- [start:counts]
def counts(nodes: int, processes: int, initiators: int) -> dict[str, int]:
    """Return the queue pairs of one node by transport."""
    others = nodes - 1
    return {
        "RC": processes * processes * others,
        "XRC": 2 * processes * others,
        "DC": processes * (initiators + 1),
        "UD, SRD": processes,
    }
    # --8<-- [end:counts]


def main() -> None:
    """Print the queue pairs, and the least memory that their send queues take."""
    parser = argparse.ArgumentParser(description="Queue pairs of one node, all to all.")
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--processes", type=int, default=8, help="of one node")
    parser.add_argument("--initiators", type=int, default=8, help="DC initiators of a process")
    parser.add_argument("--depth", type=int, default=128, help="slots of a send queue")
    options = parser.parse_args()
    print(f"{options.nodes} nodes of {options.processes} processes")
    print(f"{'':8} {'QPs of a node':>14} {'send queues':>12}")
    for name, number in counts(options.nodes, options.processes, options.initiators).items():
        senders = number // 2 if name == "XRC" else number
        if name == "DC":
            senders = options.processes * options.initiators
        memory = senders * options.depth * WQE_BYTES / 2**20
        print(f"{name:8} {number:14d} {memory:8.1f} MiB")


if __name__ == "__main__":
    main()
