#!/bin/bash
# Starts one job of this node in the directory RUN: passes signals on, returns the job's own
# status, ends what the job leaves behind, and refuses to start beside it.
#
#     RUN=/data/run7 bash docs/eng/code/job.sh torchrun --nproc-per-node=8 train.py
# --8<-- [start:job]
set -euo pipefail
mkdir -p "${RUN:?the directory of the run}"
RUN=$(realpath "$RUN")
mark="JOB_OF=$RUN" # every process of the job inherits it
left() { grep -slzxF "$mark" /proc/[0-9]*/environ | cut -d/ -f3; }

exec 9> "$RUN/lock"
flock -n 9 || { echo "$RUN: already started" >&2; exit 75; }
[ -z "$(left)" ] || { echo "$RUN: still running:" $(left) >&2; exit 75; }

# SPT_NOENV: else setproctitle (Ray, vLLM) writes its title over the mark
env "$mark" SPT_NOENV=1 "$@" >> "$RUN/log" 2>&1 9>&- &
job=$!
trap 'kill -TERM "$job" 2> /dev/null || true' TERM INT
while kill -0 "$job" 2> /dev/null; do wait "$job" || true; done # a signal ends wait, too
trap '' TERM INT
status=0
wait "$job" || status=$? # bash has kept it
for _ in 1 2 3; do left | xargs -r kill -KILL 2> /dev/null || true; done
exit "$status"
# --8<-- [end:job]
