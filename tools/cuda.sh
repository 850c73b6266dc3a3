#!/usr/bin/env bash
# Compile and test the programs of docs/hpc/cuda/code with the compiler of an environment.
#
#   tools/cuda.sh VENV [CTEST OPTIONS...]
#
# The packages of the registry lay the toolkit out as nvidia/cu13 below site-packages.
set -euo pipefail
venv=$(cd "${1:?the environment}" && pwd)
shift
cd "$(dirname "$0")/../docs/hpc/cuda/code"
PATH=$venv/bin:$PATH
CUDA_HOME=$("$venv/bin/python" -c 'import nvidia; print(list(nvidia.__path__)[0])')/cu13
export PATH=$CUDA_HOME/bin:$PATH CUDA_HOME CUDACXX=$CUDA_HOME/bin/nvcc
# CMake looks for lib64; the packages have lib.
[ -e "$CUDA_HOME/lib64" ] || ln -s lib "$CUDA_HOME/lib64"
clang-format --dry-run --Werror ./*.cu ./*.cuh
cmake --preset ci --log-level=WARNING >/dev/null
cmake --build --preset ci
ctest --preset ci "$@"
