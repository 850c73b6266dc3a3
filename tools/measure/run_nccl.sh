#!/usr/bin/env bash
# Build and run docs/ccl/nccl/code/time_protocols.cc on a machine with GPUs, and note the machine.
#
#   tools/measure/run_nccl.sh OUTPUT_FOLDER NCCL_FOLDER [RANKS ...]
#
# NCCL_FOLDER has include/ and lib/ (from 2.30.3 if ranks are to share a GPU). Needs nvcc and the driver.
# `python -m tools.measure.programs` makes the record. Nothing here changes a setting.
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
nvcc -O2 -std=c++17 -x cu -gencode arch=compute_90a,code=sm_90a -I"$nccl/include" -o "$build/time_protocols" \
    $code/time_protocols.cc -L"$nccl/lib" -lnccl || exit 1
export LD_LIBRARY_PATH=$nccl/lib:${LD_LIBRARY_PATH:-} NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_NVLS_ENABLE=0
"$build/time_protocols" "$@" >"$out/time_protocols.all" 2>"$out/time_protocols.err"
echo "exit $?"
grep '^{' "$out/time_protocols.all" >"$out/time_protocols.jsonl"
grep -v '^{' "$out/time_protocols.all" | sort -u >"$out/version.txt"
rm -rf "$build" "$out/time_protocols.all"
[ -s "$out/time_protocols.err" ] || rm -f "$out/time_protocols.err"
# No addresses, unique ids or host names in what is kept.
sed -i -E -e 's/(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/\1-<id>/g' -e 's/[0-9]{1,3}(\.[0-9]{1,3}){3}/<address>/g' "$out"/*.txt
exit 0
