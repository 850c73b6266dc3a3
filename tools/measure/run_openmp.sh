#!/usr/bin/env bash
# Build and run the timing programs of docs/hpc/openmp/code on a machine with many cores, and note what it is.
#
#   tools/measure/run_openmp.sh OUTPUT_FOLDER
#
# Needs gcc. Under 150 s. `python -m tools.measure.openmp` makes the records of what has
# run; STEPS="padded simd_len" runs only those. Nothing here changes a setting.
set -uo pipefail
out=$(mkdir -p "${1:?output folder}" && cd "$1" && pwd)
cd "$(dirname "$0")/../.." || exit 1
code=docs/hpc/openmp/code
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
sha256sum $code/*.c $code/*.h >"$out/programs.sha256"
{ date -u +%F; uname -r; gcc --version | head -1; lscpu; cat /proc/loadavg; nproc; free -g; } >"$out/machine.txt" 2>&1
{ grep -H . /sys/devices/system/node/node*/{cpulist,distance}; cat /sys/kernel/mm/transparent_hugepage/enabled; cat /sys/fs/cgroup/cpu.max; grep -E "Cpus_allowed_list|Mems_allowed_list" /proc/self/status; env | grep -E "^(OMP|GOMP|KMP)_"; } >"$out/system.txt" 2>&1
for name in overheads schedules scaling false_sharing padded fib simd simd_len; do
    case $name in scaling) level="-O3 -march=native" ;; simd*) level="-O2 -march=native" ;; *) level=-O2 ;; esac
    # shellcheck disable=SC2086
    gcc -std=c17 -Wall -Wextra -Wpedantic -Werror $level -fopenmp -o "$build/$name" "$code/$name.c" -lm 2>"$out/$name.err" &
done
wait
OMP_DISPLAY_ENV=true OMP_PROC_BIND=close OMP_PLACES=cores "$build/simd" --quick >"$out/display_env.txt" 2>&1

step() { # NAME VARIABLES... PROGRAM
    local name=$1 start
    shift
    [[ -z ${STEPS:-} || " $STEPS " == *" $name "* ]] || return 0
    start=$(date +%s.%N)
    timeout -k 5 "${STEP_LIMIT:-40}" env "$@" >"$out/$name.jsonl" 2>>"$out/$name.err"
    printf '{"step": "%s", "exit": %d, "seconds": %.1f}\n' "$name" "$?" "$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')" |
        tee -a "$out/steps.jsonl"
    [ -s "$out/$name.err" ] || rm -f "$out/$name.err"
}
close="OMP_PROC_BIND=close OMP_PLACES=cores"
# shellcheck disable=SC2086
{
    step simd $close "$build/simd"
    step simd_len $close "$build/simd_len"
    step padded $close "$build/padded"
    step false_sharing $close "$build/false_sharing"
    step schedules $close "$build/schedules"
    step scaling $close "$build/scaling"
    step scaling_spread OMP_PROC_BIND=spread OMP_PLACES=cores "$build/scaling"
    step overheads $close "$build/overheads"
    step overheads_passive $close OMP_WAIT_POLICY=passive "$build/overheads"
    step fib $close "$build/fib"
}
cat /proc/loadavg >>"$out/machine.txt"
# No host names and no unique ids in what is kept.
host=$(hostname)
[ ${#host} -gt 4 ] && sed -i -e "s/$host/<host>/g" "$out"/*.txt
exit 0
