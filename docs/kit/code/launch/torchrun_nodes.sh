#!/usr/bin/env bash
# Several nodes without a scheduler; start the same line on every node, in any order:
#     FIRST=10.0.0.1 NODES=4 bash torchrun_nodes.sh check_links.py --json links.json
set -euo pipefail
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-8} # cores of a node / GPUs; torchrun would set 1
# Where a node has several interfaces, name the one that reaches the other nodes, on every node:
# export NCCL_SOCKET_IFNAME=eth0 GLOO_SOCKET_IFNAME=eth0
exec torchrun --nnodes="${NODES:?how many}" --nproc-per-node=gpu --rdzv-backend=c10d \
  --rdzv-id="${JOB:-kit}" --rdzv-endpoint="${FIRST:?address of one of the nodes}:${PORT:-29500}" "$@"
