#!/usr/bin/env bash
# Build and time the programs of docs/hpc/simd/code and the CPU programs of docs/chip/code.
#
#   tools/measure/run_simd.sh OUTPUT_FOLDER
#
# Needs gcc and nothing else; under two minutes. Each program prints medians of repeats as JSON lines; where there is a
# GPU its name is noted too. Nothing here changes a setting.
set -uo pipefail
out=$(mkdir -p "${1:?output folder}" && cd "$1" && pwd)
cd "$(dirname "$0")/../.." || exit 1
code=docs/hpc/simd/code
chip=docs/chip/code
build=${BUILD_DIR:-.cache/simd-time}
mkdir -p "$build"
sha256sum $code/*.c $code/*.h $chip/core.c $chip/pointer_chase.c $chip/stream.c >"$out/programs.sha256"
command -v nvidia-smi >/dev/null && nvidia-smi >"$out/nvidia_smi.txt"
date -u +%F >"$out/date.txt"
{ uname -r; gcc --version | head -1; lscpu; } >"$out/machine.txt"
{
    grep -H . /sys/devices/system/node/node*/{cpulist,distance}
    grep -H . /sys/devices/system/cpu/cpu0/topology/{thread_siblings_list,core_siblings_list}
    grep -H . /sys/devices/system/cpu/cpu0/cache/index*/{level,type,size,shared_cpu_list}
    cat /sys/kernel/mm/transparent_hugepage/{enabled,defrag}
    head -5 /proc/meminfo
    cat /proc/loadavg
} >"$out/system.txt" 2>&1

common="-std=gnu17 -Wall -Wextra -Werror -pthread"
compile() { # PROGRAM SOURCE OPTIONS...
    local name=$1 source=$2
    shift 2
    gcc $common "$@" -o "$build/$name" "$source" -lm >"$out/$name.err" 2>&1 &
}
compile cpu_report $code/cpu_report.c -O2
compile clock $code/clock.c -O2
compile ladder $code/ladder.c -O3 -fno-tree-vectorize
compile int8 $code/int8.c -O3 -fno-tree-vectorize
compile gemm_kernel $code/gemm_kernel.c -O3
compile core $chip/core.c -O2 -fno-tree-vectorize
compile pointer_chase $chip/pointer_chase.c -O2
compile stream $chip/stream.c -O3
{
    loops="gcc $common -fopenmp-simd -c $code/loops.c"
    $loops -DBUILD=scalar -O3 -fno-tree-vectorize -o "$build/scalar.o"
    $loops -DBUILD=o2 -O2 -o "$build/o2.o"
    $loops -DBUILD=o3 -O3 -o "$build/o3.o"
    $loops -DBUILD=v3 -O3 -march=x86-64-v3 -o "$build/v3.o"
    $loops -DBUILD=fast -O3 -march=x86-64-v3 -ffast-math -o "$build/fast.o"
    gcc $common -O2 -o "$build/autovec" $code/autovec.c "$build"/{scalar,o2,o3,v3,fast}.o -lm
} >"$out/autovec.err" 2>&1 &
wait

step() { # PROGRAM ARGUMENTS...
    local name=$1 start
    shift
    start=$(date +%s.%N)
    timeout -k 5 "${STEP_LIMIT:-60}" "$build/$name" "$@" >"$out/$name.jsonl" 2>>"$out/$name.err"
    printf '{"step": "%s", "exit": %d, "seconds": %.1f}\n' "$name" "$?" "$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')" |
        tee -a "$out/steps.jsonl"
    [ -s "$out/$name.err" ] || rm -f "$out/$name.err"
}
"$build/cpu_report" >"$out/cpu_report.txt"
rm -f "$out/cpu_report.err"
step clock --time
step ladder --time
step int8 --time
step autovec --time
step gemm_kernel --time
step core --time
step pointer_chase --time
# Arrays of at least four times the last cache, as STREAM asks, but at most 1 GiB each.
l3=$(getconf LEVEL3_CACHE_SIZE)
mib=$((4 * ${l3:-0} >> 20))
[ "$mib" -ge 256 ] || mib=256
[ "$mib" -le 1024 ] || mib=1024
step stream --time --mib "$mib"
cat /proc/loadavg >>"$out/system.txt"
# No host names in what is kept.
host=$(hostname)
[ ${#host} -gt 4 ] && sed -i -e "s/$host/<host>/g" "$out"/*.txt
exit 0
