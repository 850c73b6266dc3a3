#!/usr/bin/env bash
# Build and run the programs of docs/hpc/cuda/code (or of the folder CODE) on a machine with a GPU, each for what it measures.
#
#   tools/measure/run_cuda.sh OUTPUT_FOLDER [PROGRAM...]     (all programs, or the named ones)
#
# Needs nvcc and the driver. Each program has a time limit and its own files: NAME.jsonl (standard output) and NAME.err;
# steps.jsonl says how each ended, programs.sha256 what ran. `python -m tools.measure.programs` makes the records from
# it. Nothing here changes a setting of a GPU.
set -uo pipefail
only=" ${*:2} "
out=$(mkdir -p "${1:?output folder}" && cd "$1" && pwd)
cd "$(dirname "$0")/../.." || exit 1
code=${CODE:-docs/hpc/cuda/code}
build=${BUILD_DIR:-build}
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -cd 0-9)
# Not -arch=sm_90a: nvcc 13.0 then runs a pass for plain sm_90 too, which refuses wgmma.
[ "$arch" = 90 ] && arch=90a
mkdir -p "$build"
nvidia-smi >"$out/nvidia_smi.txt"
{ uname -r; nvcc --version | tail -2; lscpu | grep -E "Model name|CPU family|^ *Model:|^CPU\(s\)"; nvidia-smi topo -m; } >"$out/machine.txt"
sha256sum $code/* docs/hpc/cuda/code/lesson.cuh docs/link/topo/code/measure.cuh 2>/dev/null | sort -u >"$out/programs.sha256"
export CUDA_MODULE_LOADING=EAGER

names=()
for source in $code/*.cu; do
    name=$(basename "$source" .cu)
    [ "$only" = "  " ] || [[ $only == *" $name "* ]] || continue
    names+=("$name")
done
# Compile beside each other: nvcc takes longer than most programs run.
printf '%s\n' "${names[@]}" | xargs -P 8 -I{} bash -c \
    'flags=$(grep -m1 "^// flags:" '"$code"'/{}.cu | cut -d: -f2); nvcc -O3 -std=c++17 --expt-relaxed-constexpr -gencode arch=compute_'"$arch"',code=sm_'"$arch"' $flags -o '"$build"'/{} '"$code"'/{}.cu >"'"$out"'/{}.err" 2>&1 || true'
for name in "${names[@]}"; do
    start=$(date +%s.%N)
    timeout -k 5 "${STEP_LIMIT:-60}" "$build/$name" >"$out/$name.jsonl" 2>>"$out/$name.err"
    code_=$?
    [ -s "$out/$name.err" ] || rm -f "$out/$name.err"
    printf '{"step": "%s", "exit": %d, "seconds": %.1f}\n' "$name" "$code_" "$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')" |
        tee -a "$out/steps.jsonl"
done
# No serial numbers, unique ids, addresses or host names in what is kept.
host=$(hostname)
sed -i -E -e 's/(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/\1-<id>/g' \
    -e 's/[0-9]{1,3}(\.[0-9]{1,3}){3}(<[0-9]+>|:[0-9]+)/<address>/g' "$out"/*
[ ${#host} -gt 4 ] && sed -i -e "s/$host/<host>/g" "$out"/*
exit 0
