#!/usr/bin/env bash
# One node, one process for each GPU:  bash torchrun.sh check_links.py --json links.json
# torchrun sets RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT itself.
set -euo pipefail
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-8} # cores of the node / GPUs; torchrun would set 1
exec torchrun --standalone --nproc-per-node=gpu "$@"
