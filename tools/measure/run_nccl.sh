#!/usr/bin/env bash
# Build and run time_protocols.cc and operations.cc of docs/ccl/nccl/code on a machine with GPUs, and note the machine.
#
#   tools/measure/run_nccl.sh OUTPUT_FOLDER NCCL_FOLDER [RANKS ...]      default: 2 and 4
#
# NCCL_FOLDER has include/ and lib/ (from 2.30.3 if ranks are to share a GPU). Needs nvcc and the driver. PROGRAMS names
# the programs to run, if not both. `python -m tools.measure.programs` makes the records. Nothing here changes a setting.
set -uo pipefail
out=$(mkdir -p "${1:?output folder}" && cd "$1" && pwd)
nccl=$(cd "${2:?folder of NCCL}" && pwd)
shift 2
cd "$(dirname "$0")/../.." || exit 1
code=docs/ccl/nccl/code
build=$(mktemp -d)
sha256sum $code/*.cc $code/*.h >"$out/programs.sha256"
nvidia-smi >"$out/nvidia_smi.txt"
{ uname -r; nvcc --version | tail -2; lscpu | grep -E "Model name|CPU family|^ *Model:|^CPU\(s\)|Socket|NUMA|L[123]"; nvidia-smi topo -m; } >"$out/machine.txt"
export LD_LIBRARY_PATH=$nccl/lib:${LD_LIBRARY_PATH:-} NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_NVLS_ENABLE=0
ranks=("$@")
[ ${#ranks[@]} != 0 ] || ranks=(2 4)
gpus=$(nvidia-smi -L | wc -l)
keep() { # PROGRAM: its lines of JSON, and what else it says
    grep '^{' "$out/all" >>"$out/$1.jsonl"
    grep -v '^{' "$out/all" >>"$out/said"
    rm -f "$out/all"
}
for program in ${PROGRAMS:-time_protocols operations}; do
    nvcc -O2 -std=c++17 -x cu -gencode arch=compute_90a,code=sm_90a -I"$nccl/include" -o "$build/$program" \
        $code/$program.cc -L"$nccl/lib" -lnccl || exit 1
    rm -f "$out/$program.jsonl"
    if [ "$program" = time_protocols ]; then
        "$build/$program" "${ranks[@]}" >"$out/all" 2>>"$out/errors.txt"
        keep $program
        continue
    fi
    for count in "${ranks[@]}"; do
        largest=4294967296
        unset NCCL_MAX_CTAS
        # Ranks on one GPU share its memory; and where all their CTAs do not fit beside each other, they wait for ever.
        if [ "$count" -gt "$gpus" ]; then
            largest=1073741824
            export NCCL_MAX_CTAS=16
        fi
        for buffers in plain registered symmetric; do
            "$build/$program" --ranks "$count" --buffers $buffers --largest $largest >"$out/all" 2>>"$out/errors.txt"
            keep $program
        done
        [ "$count" -le "$gpus" ] || continue # processes take turns on a GPU: their times say nothing
        "$build/$program" --ranks "$count" --processes --largest $largest >"$out/all" 2>>"$out/errors.txt"
        keep $program
    done
done
sort -u "$out/said" >"$out/version.txt"
rm -rf "$build" "$out/said"
[ -s "$out/errors.txt" ] || rm -f "$out/errors.txt"
# No addresses, unique ids or host names in what is kept.
sed -i -E -e 's/(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/\1-<id>/g' -e 's/[0-9]{1,3}(\.[0-9]{1,3}){3}/<address>/g' "$out"/*.txt
exit 0
