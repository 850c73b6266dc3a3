#!/usr/bin/env bash
# Open MPI on one node or several, one process for each GPU:
#     bash mpirun.sh check_links.py --json links.json
#     HOSTS=node1:8,node2:8 RANKS=16 bash mpirun.sh check_links.py --json links.json
# The kit reads the variables of Open MPI; a program that wants RANK must take it from them.
set -euo pipefail
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-8} # cores of a node / GPUs
export MASTER_PORT=${MASTER_PORT:-29500}
HOSTS=${HOSTS:-localhost:$(nvidia-smi -L | wc -l)}
export MASTER_ADDR=${HOSTS%%[:,]*} # rank 0 runs on the first host of the list
# Without --bind-to none each process, with its loaders and threads, is tied to a few cores.
exec mpirun -np "${RANKS:-${HOSTS##*:}}" --host "$HOSTS" --bind-to none \
  -x MASTER_ADDR -x MASTER_PORT -x OMP_NUM_THREADS -x PATH -x LD_LIBRARY_PATH python3 "$@"
