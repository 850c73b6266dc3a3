#!/usr/bin/env bash
# Build and run every measurement of docs/link/topo and docs/link/gpudirect on a machine with several GPUs.
#
#   tools/measure/run_topo.sh OUTPUT_FOLDER [STEP...]     (all steps, or the named ones)
#
# Needs nvcc, the NVIDIA driver, and a python3 with PyTorch (and, for some steps, nvidia-ml-py and nvidia-cufile).
# Each step has a time limit and its own files: NAME (standard output) and NAME.err; steps.jsonl says how each ended.
# `python -m tools.measure.topo FOLDER` makes the records under docs/ from it. Nothing here changes a setting of a GPU.
set -uo pipefail
only=" ${*:2} "
out=$(mkdir -p "${1:?output folder}" && cd "$1" && pwd)
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD_DIR:-build}
mkdir -p "$build"
# Reduction inside the NVSwitch (NVLink SHARP, NCCL's NVLS) stays off: these records are of plain NVLink traffic.
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 NVSHMEM_DISABLE_NVLS=1
export PYTHONUNBUFFERED=1 OMP_NUM_THREADS=4
topo=docs/link/topo/code direct=docs/link/gpudirect/code
gpus=$(nvidia-smi -L | wc -l)

step() { # NAME SECONDS COMMAND...
    local name=$1 limit=$2 start code
    shift 2
    [ "$only" = "  " ] || [[ $only == *" $name "* ]] || [ "$name" = build.txt ] || return 0
    start=$(date +%s.%N)
    timeout -k 5 "$limit" "$@" >"$out/$name" 2>"$out/$name.err"
    code=$?
    [ -s "$out/$name.err" ] || rm -f "$out/$name.err"
    printf '{"step": "%s", "exit": %d, "seconds": %.1f}\n' "$name" "$code" "$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')" |
        tee -a "$out/steps.jsonl"
}

compile() { # SOURCE FLAGS...: machine code for the GPU that is here
    local source=$1
    shift
    nvcc -O3 -std=c++17 -arch=sm_90 -o "$build/$(basename "${source%.cu}")" "$source" "$@"
}

compile_all() {
    local job jobs=()
    for source in $topo/{p2p_bandwidth,contention,latency,host_link,gpu_properties}.cu; do
        compile "$source" & jobs+=($!)
    done
    compile $direct/gds_compat.cu -ldl -lpthread & jobs+=($!)
    compile $direct/gpudirect_caps.cu & jobs+=($!)
    for job in "${jobs[@]}"; do wait "$job" || echo "a build failed"; done
}

machine() {
    uname -r
    nvcc --version | tail -2
    free -g | head -2
    df -hT "$build" /dev/shm
    lsblk -o NAME,SIZE,TYPE,ROTA,MOUNTPOINT
    cat /proc/driver/nvidia/version
    ls -la /dev/nvidia* /proc/driver/nvidia-fs /dev/infiniband 2>&1
    ls /sys/class/infiniband 2>&1
    grep -E 'nvidia|gdrdrv|peermem' /proc/modules
    for device in /sys/bus/pci/devices/*; do
        [ "$(cat "$device/vendor")" = 0x10de ] || continue
        echo "$(basename "$device") class $(cat "$device/class") device $(cat "$device/device")" \
            "link $(cat "$device/current_link_speed" 2>&1) x$(cat "$device/current_link_width" 2>&1)" \
            "max $(cat "$device/max_link_speed" 2>&1) x$(cat "$device/max_link_width" 2>&1)" \
            "numa $(cat "$device/numa_node") path $(readlink -f "$device")"
        awk '{if ($1 != "0x0000000000000000") printf "  region %s %s\n", $1, $2}' "$device/resource"
    done
    ls /sys/kernel/iommu_groups 2>&1 | head -20
}

# What runs, as it is now: records take the hashes from here, not from the files of a later day.
step programs.sha256 20 bash -c "sha256sum $topo/*.cu $topo/*.cuh $topo/*.py $direct/*.cu $direct/*.py"
step nvidia_smi.txt 30 nvidia-smi
step nvidia_smi_q.txt 30 nvidia-smi -q
step machine.txt 30 bash -c "$(declare -f machine); build=$build; machine"
step lscpu.txt 10 lscpu
step numactl.txt 10 numactl -H
step lspci.txt 10 lspci -tv
step topo_m.txt 30 nvidia-smi topo -m
for kind in r w n a p; do step "topo_p2p_$kind.txt" 30 nvidia-smi topo -p2p $kind; done
step nvlink_s.txt 30 nvidia-smi nvlink -s
step nvlink_c.txt 30 nvidia-smi nvlink -c
step nvlink_status.json 30 python3 $topo/nvlink_status.py
step build.txt 120 bash -c "$(declare -f compile compile_all); build=$build topo=$topo direct=$direct; compile_all"
step gpu_properties.jsonl 60 "$build/gpu_properties"
step clocks.txt 20 nvidia-smi --query-gpu=index,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.draw,temperature.gpu --format=csv
step gpudirect_caps.json 30 "$build/gpudirect_caps"
step p2p.jsonl 120 "$build/p2p_bandwidth"
[ "$gpus" -lt 3 ] || step contention.jsonl 60 "$build/contention" # needs a third GPU
step latency.jsonl 60 "$build/latency"
step p2p_off.jsonl 60 "$build/p2p_bandwidth" --no-peer
step host_link.jsonl 75 "$build/host_link"
step nvlink_counters.jsonl 45 python3 $topo/nvlink_counters.py "$build/p2p_bandwidth" 64
ranks=(python3 -m torch.distributed.run --standalone --nproc-per-node="$gpus" $topo/allreduce.py)
step allreduce_probe.jsonl 75 env NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,TUNING,ENV NCCL_DEBUG_FILE="$out/nccl_probe.%p.log" \
    NCCL_TOPO_DUMP_FILE="$out/nccl_topology.xml" NCCL_GRAPH_DUMP_FILE="$out/nccl_graph.xml" "${ranks[@]}" --probe
step allreduce.jsonl 150 "${ranks[@]}"
step allreduce_no_p2p.jsonl 60 env NCCL_P2P_DISABLE=1 NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT NCCL_DEBUG_FILE="$out/nccl_no_p2p.%p.log" "${ranks[@]}" --quick

# GPUDirect Storage: a small file first, to choose a size that a slow disk can bear.
size=4
start=$(date +%s%N)
dd if=/dev/urandom of="$build/gds.dat" bs=16M count=16 oflag=direct status=none 2>/dev/null
[ $((($(date +%s%N) - start) / 1000000)) -gt 1500 ] && size=1
cufile=$(python3 -c 'import glob, site; print((glob.glob("/usr/local/cuda*/lib64/libcufile.so.0") + [f for d in site.getsitepackages() for f in glob.glob(d + "/nvidia/**/libcufile.so.0", recursive=True)] + ["libcufile.so.0"])[0])')
cat >"$out/cufile.json" <<'JSON'
{"logging": {"level": "INFO"}, "properties": {"allow_compat_mode": true}}
JSON
gds() { # NAME: where the log goes
    step "$1.jsonl" 80 env CUFILE_ENV_PATH_JSON="$out/cufile.json" CUFILE_LOGFILE_PATH="$out/$1.log" \
        "$build/gds_compat" "$build/gds.dat" "$size" "$cufile"
}
gds gds_compat
# cuFile asks udev's database what the block device holds. A machine without udevd has no such database, and
# cuFileHandleRegister fails even for compatibility mode; so once more with the one entry that it looks for.
entry=/run/udev/data/b$(stat -c %Hd:%Ld "$build")
if [ ! -e "$entry" ] && [ "$(id -u)" = 0 ]; then
    mkdir -p "${entry%/*}"
    printf 'I:1\nE:ID_FS_USAGE=filesystem\nE:ID_FS_TYPE=%s\n' "$(stat -f -c %T "$build" | sed 's|ext2/ext3|ext4|')" >"$entry"
    gds gds_compat_udev
    rm -f "$entry"
fi
rm -f "$build/gds.dat"
step nvlink_s_after.txt 30 nvidia-smi nvlink -s
step nvlink_errors.txt 30 nvidia-smi nvlink -e

# No serial numbers, unique ids, addresses or host names in what is kept.
name=$(hostname)
sed -i -E -e 's/(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/\1-<id>/g' \
    -e 's/^( *(Serial Number|GPU UUID|GPU PDI|Board ID|Chassis Serial Number|ClusterUUID|Cluster UUID|Module ID|GPU Fabric GUID)[^:]*: ).*/\1<removed>/' \
    -e 's/[0-9]{1,3}(\.[0-9]{1,3}){3}(<[0-9]+>|:[0-9]+)/<address>/g' -e 's/host_hash="[^"]*"/host_hash="0x0"/' \
    -e 's/(commId|commHash) 0x[0-9a-f]+/\1 <id>/g' "$out"/*
[ ${#name} -gt 4 ] && sed -i -e "s/$name/<host>/g" "$out"/*
exit 0
