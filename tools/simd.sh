#!/usr/bin/env bash
# Compile the programs of docs/hpc/simd/code and the CPU programs of docs/chip/code, and run and check each.
#
#   tools/simd.sh [CTEST OPTIONS...]
set -euo pipefail
missing=()
for tool in cmake make cc clang-format; do command -v $tool >/dev/null || missing+=("$tool"); done
if [ ${#missing[@]} != 0 ]; then
    echo "simd: missing here: ${missing[*]}." >&2
    echo "  Debian, Ubuntu: apt-get install cmake make gcc libc6-dev clang-format" >&2
    echo "  for the Arm program also: gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" >&2
    exit 1
fi
cd "$(dirname "$0")/../docs/hpc/simd/code"
clang-format --dry-run --Werror --style=file:.clang-format ./*.c ./*.h ../../../chip/code/*.c
cmake --preset ci --log-level=WARNING >/dev/null
cmake --build --preset ci -- --no-print-directory
ctest --preset ci "$@"
