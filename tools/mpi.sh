#!/usr/bin/env bash
# Compile the programs of docs/ccl/mpi/code against the MPI of the system, and run each as two to five ranks.
#
#   tools/mpi.sh [CTEST OPTIONS...]
set -euo pipefail
packages="libopenmpi-dev openmpi-bin python3-mpi4py python3-numpy cmake make gcc clang-format"
missing=()
for tool in mpicc mpirun cmake make cc clang-format; do command -v $tool >/dev/null || missing+=("$tool"); done
for module in mpi4py numpy; do
    [ -x /usr/bin/python3 ] && /usr/bin/python3 -c "import $module" 2>/dev/null || missing+=("$module")
done
if [ ${#missing[@]} != 0 ]; then
    echo "mpi: missing here: ${missing[*]}." >&2
    echo "  Debian, Ubuntu: apt-get install $packages" >&2
    exit 1
fi
cd "$(dirname "$0")/../docs/ccl/mpi/code"
clang-format --dry-run --Werror ./*.c ./*.h
cmake --preset ci --log-level=WARNING >/dev/null
cmake --build --preset ci -- --no-print-directory
ctest --preset ci "$@"
