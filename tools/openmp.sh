#!/usr/bin/env bash
# Compile the programs of docs/hpc/openmp/code with gcc, and run each in teams of a few threads.
#
#   tools/openmp.sh [CTEST OPTIONS...]
set -euo pipefail
missing=()
for tool in gcc cmake make clang-format; do command -v $tool >/dev/null || missing+=("$tool"); done
if [ ${#missing[@]} != 0 ]; then
    echo "openmp: missing here: ${missing[*]}." >&2
    echo "  Debian, Ubuntu: apt-get install cmake make gcc clang-format" >&2
    exit 1
fi
cd "$(dirname "$0")/../docs/hpc/openmp/code"
clang-format --dry-run --Werror ./*.c ./*.h
cmake --preset ci --log-level=WARNING >/dev/null
cmake --build --preset ci -- --no-print-directory
ctest --preset ci "$@"
