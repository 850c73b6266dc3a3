#!/usr/bin/env bash
# Build and run the measurements of docs/chip, docs/train and docs/infer on a machine with one or more GPUs.
#
#   tools/measure/run_compute.sh OUTPUT_FOLDER [STEP...]     (all steps, or the named ones)
#
# Needs nvcc, the NVIDIA driver, and a python3 with PyTorch and nvidia-ml-py. Steps of several GPUs are left out where
# there is one. Each step has a time limit and its own files: NAME (standard output) and NAME.err; steps.jsonl says how
# each ended, programs.sha256 what ran. `python -m tools.measure.compute` makes the records under docs/ from it.
# Nothing here changes a setting of a GPU.
set -uo pipefail
only=" ${*:2} "
out=$(mkdir -p "${1:?output folder}" && cd "$1" && pwd)
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD_DIR:-build}
mkdir -p "$build"
# Reduction inside the NVSwitch (NVLink SHARP, NCCL's NVLS) stays off: these records are of plain NVLink traffic.
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1
export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=4 PYTHONDONTWRITEBYTECODE=1 TOKENIZERS_PARALLELISM=false
chip=docs/chip/code train=docs/train/code infer=docs/infer/code
gpus=$(nvidia-smi -L | wc -l)

step() { # NAME SECONDS COMMAND...
    local name=$1 limit=$2 start code
    shift 2
    [ "$only" = "  " ] || [[ $only == *" $name "* ]] || return 0
    start=$(date +%s.%N)
    timeout -k 5 "$limit" "$@" >"$out/$name" 2>"$out/$name.err"
    code=$?
    [ -s "$out/$name.err" ] || rm -f "$out/$name.err"
    printf '{"step": "%s", "exit": %d, "seconds": %.1f}\n' "$name" "$code" "$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')" |
        tee -a "$out/steps.jsonl"
}

cuda() { # NAME SECONDS: build and run a program of docs/chip
    step "$1.jsonl" "$2" bash -c "nvcc -O3 -std=c++17 -arch=sm_90 -o $build/$1 $chip/$1.cu && $build/$1"
}

several() { # NAME SECONDS: one process a GPU
    step "$1.jsonl" "$2" python3 -m torch.distributed.run --standalone --nproc-per-node="$gpus" "$train/$1.py"
}

step nvidia_smi.txt 30 nvidia-smi
step machine.txt 30 bash -c 'uname -r; nvcc --version | tail -2; lscpu | grep -E "Model name|CPU family|^ *Model:|^CPU\(s\)"; nvidia-smi topo -m'
step clocks.txt 20 nvidia-smi --query-gpu=index,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.draw,power.limit,temperature.gpu --format=csv
sha256sum $chip/* $train/* $infer/* docs/link/topo/code/measure.cuh >"$out/programs.sha256" 2>/dev/null
if [ "$gpus" -gt 1 ]; then
    several tensor_parallel 90
    several pipeline 120
    several data_parallel 300
    several ddp_peak 150
else
    cuda device_query 60
    cuda hbm_bandwidth 90
    cuda roofline 90
    step train_memory.jsonl 270 python3 $train/train_memory.py
    step recompute_time.jsonl 120 python3 $train/recompute_time.py
    step precision_products.jsonl 90 python3 $train/precision_products.py
    step precision_steps.jsonl 90 python3 $train/precision_steps.py
    step precision_training.jsonl 340 python3 $train/precision_training.py
    step precision_late.jsonl 260 python3 $train/precision_late.py
    step kv_cache.jsonl 150 python3 $infer/kv_cache.py
    step gemm.jsonl 200 python3 $chip/gemm.py
    step power.jsonl 340 python3 $chip/power.py
    step batch_invariance.jsonl 150 python3 $infer/batch_invariance.py
fi
step clocks_after.txt 20 nvidia-smi --query-gpu=index,clocks.sm,clocks.mem,power.draw,temperature.gpu --format=csv

# No serial numbers, unique ids, addresses or host names in what is kept.
name=$(hostname)
sed -i -E -e 's/(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/\1-<id>/g' \
    -e 's/[0-9]{1,3}(\.[0-9]{1,3}){3}(<[0-9]+>|:[0-9]+)/<address>/g' "$out"/*
[ ${#name} -gt 4 ] && sed -i -e "s/$name/<host>/g" "$out"/*
exit 0
