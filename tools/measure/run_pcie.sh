#!/usr/bin/env bash
# Build and run the programs of docs/link/pcie/code on a machine with a GPU, and note its PCIe configuration.
#
#   tools/measure/run_pcie.sh OUTPUT_FOLDER
#
# Needs nvcc, gcc and the driver; root for the configuration space beyond its first 64 bytes and for bar_read (which
# reads one register; SKIP_BAR=1 leaves it out). `python -m tools.measure.programs` makes the records. Nothing here
# changes a setting.
set -uo pipefail
out=$(mkdir -p "${1:?output folder}" && cd "$1" && pwd)
cd "$(dirname "$0")/../.." || exit 1
code=docs/link/pcie/code
build=${BUILD_DIR:-build}
mkdir -p "$build"
sha256sum $code/*.cu $code/*.c $code/*.py docs/link/topo/code/measure.cuh >"$out/programs.sha256"
nvidia-smi >"$out/nvidia_smi.txt"
nvidia-smi -q | grep -n -A30 -E "^    PCI$|BAR1 Memory" >"$out/nvidia_smi_pci.txt"
{ uname -r; nvcc --version | tail -2; lscpu | grep -E "Model name|CPU family|^ *Model:|^CPU\(s\)|Socket|NUMA|L[123]"; nvidia-smi topo -m; } >"$out/machine.txt"
{ grep -H . /sys/devices/system/node/node*/{cpulist,distance}; head -5 /sys/devices/system/node/node0/meminfo; cat /proc/cmdline; ls /sys/class/iommu /sys/kernel/iommu_groups; cat /sys/kernel/mm/transparent_hugepage/enabled; dmesg | grep -iE "pci|iommu|dmar" | head -80; } >"$out/system.txt" 2>&1
lspci -vvv >"$out/lspci.txt" 2>&1
export CUDA_MODULE_LOADING=EAGER

for name in host_latency host_payload numa_copy; do
    nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o "$build/$name" "$code/$name.cu" >"$out/$name.err" 2>&1 &
done
for name in cpu_matrix bar_read; do
    gcc -std=c11 -O2 -Wall -Wextra -Werror -pthread -o "$build/$name" "$code/$name.c" >"$out/$name.err" 2>&1 &
done
wait

step() { # NAME FILE COMMAND...
    local name=$1 file=$2 start
    shift 2
    start=$(date +%s.%N)
    timeout -k 5 "${STEP_LIMIT:-45}" "$@" >"$out/$file" 2>>"$out/$name.err"
    printf '{"step": "%s", "exit": %d, "seconds": %.1f}\n' "$name" "$?" "$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')" |
        tee -a "$out/steps.jsonl"
    [ -s "$out/$name.err" ] || rm -f "$out/$name.err"
}
step pcie_config pcie_config.json python3 $code/pcie_config.py --json
step host_latency host_latency.jsonl "$build/host_latency"
step host_payload host_payload.jsonl "$build/host_payload"
step numa_copy numa_copy.jsonl "$build/numa_copy"
step cpu_matrix cpu_matrix.jsonl "$build/cpu_matrix"
[ -n "${SKIP_BAR:-}" ] || step bar_read bar_read.jsonl "$build/bar_read"
step pcie_config_after pcie_config_after.json python3 $code/pcie_config.py --json --class 03
# No serial numbers, unique ids, addresses or host names in what is kept.
host=$(hostname)
sed -i -E -e 's/(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/\1-<id>/g' -e 's/(Serial Number).*/\1 <removed>/' \
    -e 's/[0-9]{1,3}(\.[0-9]{1,3}){3}(<[0-9]+>|:[0-9]+|\/[0-9]+)?/<address>/g' -e 's/([0-9a-f]{2}:){5}[0-9a-f]{2}/<mac>/g' "$out"/*.txt
[ ${#host} -gt 4 ] && sed -i -e "s/$host/<host>/g" "$out"/*.txt
exit 0
