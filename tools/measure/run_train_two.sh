#!/usr/bin/env bash
# Run expert_exchange.py and sequence_split.py of docs/train/code on all GPUs of a machine.
#
#   tools/measure/run_train_two.sh OUTPUT_FOLDER [STEP...]     (all steps, or the named ones)
#
# Needs the NVIDIA driver and a python3 with PyTorch. Each step has a time limit and its own files: NAME.jsonl and NAME.err;
# steps.jsonl says how each ended, programs.sha256 what ran. `python -m tools.measure.programs` makes the records under
# docs/ from it. Nothing here changes a setting of a GPU.
set -uo pipefail
only=" ${*:2} "
out=$(mkdir -p "${1:?output folder}" && cd "$1" && pwd)
cd "$(dirname "$0")/../.." || exit 1
export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=4 PYTHONDONTWRITEBYTECODE=1
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 # as in the other records of several GPUs
code=docs/train/code
gpus=$(nvidia-smi -L | wc -l)

step() { # NAME SECONDS COMMAND...
    local name=$1 limit=$2 start status
    shift 2
    [ "$only" = "  " ] || [[ $only == *" $name "* ]] || return 0
    start=$(date +%s.%N)
    timeout -k 5 "$limit" "$@" >"$out/$name" 2>"$out/$name.err"
    status=$?
    [ -s "$out/$name.err" ] || rm -f "$out/$name.err"
    printf '{"step": "%s", "exit": %d, "seconds": %.1f}\n' "$name" "$status" "$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')" |
        tee -a "$out/steps.jsonl"
}

step nvidia_smi.txt 30 nvidia-smi
step machine.txt 30 bash -c 'uname -r; nvcc --version | tail -2; lscpu | grep -E "Model name|CPU family|^ *Model:|^CPU\(s\)"; nvidia-smi topo -m'
sha256sum $code/*.py docs/chip/code/timing.py >"$out/programs.sha256"
for program in sequence_split expert_exchange; do
    step "$program.jsonl" 200 python3 -m torch.distributed.run --standalone --nproc-per-node="$gpus" "$code/$program.py"
done
exit 0
