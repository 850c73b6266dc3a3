#!/usr/bin/env bash
# Run the programs of docs/framework/code that need a GPU, and note the machine.
#
#   tools/measure/run_framework.sh OUTPUT_FOLDER
#
# Needs the driver and a python3 with PyTorch. Under a minute. Nothing here changes a setting.
set -uo pipefail
out=$(mkdir -p "${1:?output folder}" && cd "$1" && pwd)
cd "$(dirname "$0")/../.." || exit 1
code=docs/framework/code
sha256sum $code/*.py >"$out/programs.sha256"
{ uname -r; nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv; lscpu | grep -E "Model name|^CPU\(s\)"; } >"$out/machine.txt"
timeout 120 python3 $code/allocator_real.py >"$out/allocator.jsonl" 2>"$out/allocator.err"
timeout 60 python3 $code/op_cost.py >"$out/op_cost.jsonl" 2>"$out/op_cost.err"
timeout 60 python3 $code/saved_tensors.py cuda >"$out/saved_cuda.txt" 2>"$out/saved_cuda.err"
timeout 60 python3 $code/saved_tensors.py cpu >"$out/saved_cpu.txt" 2>&1
timeout 60 python3 $code/dispatch_trace.py >"$out/dispatch.txt" 2>&1
find "$out" -name '*.err' -empty -delete
exit 0
