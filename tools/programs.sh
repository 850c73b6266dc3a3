#!/usr/bin/env bash
# Compile the programs of the notes with what this machine has, and run what it can.
#
#   tools/programs.sh [cuda|rdma|mpi|openmp|simd|gloo ...]     # all of them by default
#
# cuda needs the environment of requirements/cuda.lock in .venv-cuda; what else is missing is named.
# gloo passes with a word where there is no PyTorch, unless HANDBOOK_GLOO=1.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

need() { # packages of Debian, commands...
    local packages=$1 missing=() one
    shift
    for one; do
        case $one in
            lib*) pkg-config --exists "$one" 2>/dev/null || missing+=("$one") ;;
            py:*) /usr/bin/python3 -c "import ${one#py:}" 2>/dev/null || missing+=("${one#py:}") ;;
            *) command -v "$one" >/dev/null || missing+=("$one") ;;
        esac
    done
    [ ${#missing[@]} = 0 ] && return
    echo "programs: missing here: ${missing[*]}; Debian, Ubuntu: apt-get install $packages" >&2
    exit 1
}

build() { # folder with presets of CMake: its files are formatted, compile, and do what they say
    cd "$root/docs/$1"
    find . -maxdepth 1 -name '*.c' -o -maxdepth 1 -name '*.cc' -o -maxdepth 1 -name '*.h' \
        -o -maxdepth 1 -name '*.cu' -o -maxdepth 1 -name '*.cuh' | xargs clang-format --dry-run --Werror
    cmake --preset ci --log-level=WARNING >/dev/null
    cmake --build --preset ci
    ctest --preset ci
}

cuda() { # no GPU and no toolkit of the system: the packages lay it out as nvidia/cu13
    local venv=$root/.venv-cuda
    PATH=$venv/bin:$PATH
    CUDA_HOME=$("$venv/bin/python" -c 'import nvidia; print(list(nvidia.__path__)[0])')/cu13
    export PATH=$CUDA_HOME/bin:$PATH CUDA_HOME CUDACXX=$CUDA_HOME/bin/nvcc NCCL_HOME=${CUDA_HOME%/cu13}/nccl
    [ -e "$CUDA_HOME/lib64" ] || ln -s lib "$CUDA_HOME/lib64" # CMake looks for lib64; the packages have lib
    clang-format --dry-run --Werror --style=file:docs/hpc/cuda/code/.clang-format docs/chip/code/gpu_anatomy.cu*
    build hpc/cuda/code
    build ccl/nccl/code
    objects=$(mktemp -d)
    trap 'rm -r "$objects"' EXIT # of the programs that no CMake file names
    find "$root/docs" -path '*/code/*.cu' ! -path '*/hpc/cuda/code/*' ! -path '*/ccl/nccl/code/*' -print0 |
        (cd "$objects" && xargs -0 -P "$(nproc)" -n 1 nvcc -std=c++17 -arch=sm_90 -Werror all-warnings -c)
}

rdma() {
    need "libibverbs-dev librdmacm-dev pkg-config cmake make gcc clang-format python3-pyverbs" \
        pkg-config cmake make cc clang-format libibverbs librdmacm py:pyverbs
    build link/infiniband/code
}

mpi() {
    need "libopenmpi-dev openmpi-bin python3-mpi4py python3-numpy cmake make gcc clang-format" \
        mpicc mpirun cmake make cc clang-format py:mpi4py py:numpy
    build ccl/mpi/code
}

openmp() {
    need "cmake make gcc clang-format" gcc cmake make clang-format
    build hpc/openmp/code
}

simd() { # for the Arm program also: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
    need "cmake make gcc libc6-dev clang-format" cmake make cc clang-format
    clang-format --dry-run --Werror --style=file:docs/hpc/simd/code/.clang-format docs/chip/code/*.c
    build hpc/simd/code
}

gloo() { # PyTorch's backend, with the Python of the system
    local python=/usr/bin/python3 program=docs/ccl/code/gloo_allreduce.py asked
    if ! $python -c 'import torch.distributed as d; assert d.is_available()' 2>/dev/null; then
        echo "programs: $python cannot import torch.distributed: apt-get install python3-torch" >&2
        [ "${HANDBOOK_GLOO:-0}" = 0 ]
        return
    fi
    for asked in "2 1" "3 7" "4 1003" "5 2"; do
        # shellcheck disable=SC2086
        timeout 120 $python $program compare $asked
    done
    says "Detected mismatch between collectives" env TORCH_DISTRIBUTED_DEBUG=DETAIL timeout 120 $python $program mismatch
    says "Ranks 2 failed to pass monitoredBarrier" timeout 120 $python $program missing 3
}

says() { # text, command...: it fails on purpose and says so
    local text=$1 printed
    shift
    if printed=$("$@" 2>/dev/null) || ! grep -qF "$text" <<<"$printed"; then
        printf 'programs: no failure with "%s" from %s:\n%s\n' "$text" "$*" "$printed" >&2
        exit 1
    fi
}

[ $# -gt 0 ] || set -- cuda rdma mpi openmp simd gloo
for kind; do
    case $kind in cuda | rdma | mpi | openmp | simd | gloo) ;; *) echo "programs: no kind '$kind'" >&2; exit 2 ;; esac
    (set -e; "$kind")
    echo "programs: $kind: done."
done
