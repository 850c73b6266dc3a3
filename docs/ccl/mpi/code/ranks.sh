#!/usr/bin/env bash
# Run a program as several ranks of this machine; ends with the code of mpirun, 124 after the time limit.
#
#   ranks.sh [--expect CODE] N PROGRAM [ARGUMENTS...]
#
# The variables are for containers and small machines; each has its own word on mpirun's command line.
set -u
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # --allow-run-as-root
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # --oversubscribe
export OMPI_MCA_mpi_yield_when_idle=1 # more ranks than cores: who waits lets others run
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=${OMPI_MCA_btl:-^openib} # shared memory and TCP; look for no fast network
# Containers often forbid to read another process's memory: the variable of Open MPI 4, then of 5.
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_smsc=^cma
export OMPI_MCA_btl_base_warn_component_unused=0
# A folder for each run: one that ends deletes what it shares with one that begins.
TMPDIR=$(mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
expected=0
if [ "${1:-}" = --expect ]; then
    expected=$2
    shift 2
fi
number=${1:?how many ranks}
shift
timeout --kill-after=5 "${RANKS_LIMIT_S:-30}" mpirun -n "$number" "$@"
code=$?
[ "$expected" != 0 ] || exit $code
if [ "$code" != "$expected" ]; then
    echo "ranks: ended with $code instead of $expected" >&2
    exit 1
fi
