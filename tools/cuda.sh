#!/usr/bin/env bash
# Compile and test the programs of docs/hpc/cuda/code (with docs/chip/code/gpu_anatomy.cu) and docs/ccl/nccl/code with the compiler of an environment.
#
#   tools/cuda.sh VENV [CTEST OPTIONS...]
#
# The packages of the registry lay the toolkit out as nvidia/cu13 below site-packages.
set -euo pipefail
venv=$(cd "${1:?the environment}" && pwd)
shift
cd "$(dirname "$0")/../docs"
PATH=$venv/bin:$PATH
CUDA_HOME=$("$venv/bin/python" -c 'import nvidia; print(list(nvidia.__path__)[0])')/cu13
export PATH=$CUDA_HOME/bin:$PATH CUDA_HOME CUDACXX=$CUDA_HOME/bin/nvcc
# CMake looks for lib64; the packages have lib.
[ -e "$CUDA_HOME/lib64" ] || ln -s lib "$CUDA_HOME/lib64"
export NCCL_HOME=${CUDA_HOME%/cu13}/nccl
clang-format --dry-run --Werror --style=file:hpc/cuda/code/.clang-format chip/code/gpu_anatomy.cu chip/code/gpu_anatomy.cuh
for folder in hpc/cuda/code ccl/nccl/code; do
    pushd $folder >/dev/null
    find . -maxdepth 1 -name '*.cu' -o -maxdepth 1 -name '*.cuh' -o -maxdepth 1 -name '*.cc' -o -maxdepth 1 -name '*.h' |
        xargs clang-format --dry-run --Werror
    cmake --preset ci --log-level=WARNING >/dev/null
    cmake --build --preset ci
    ctest --preset ci "$@"
    popd >/dev/null
done
