#!/usr/bin/env bash
# Compile and test the programs of docs/link/infiniband/code against the rdma-core of the system.
#
#   tools/rdma.sh [CTEST OPTIONS...]
set -euo pipefail
packages="libibverbs-dev librdmacm-dev pkg-config cmake make gcc clang-format python3-pyverbs"
missing=()
for tool in pkg-config cmake make cc clang-format; do command -v $tool >/dev/null || missing+=("$tool"); done
for library in libibverbs librdmacm; do pkg-config --exists $library 2>/dev/null || missing+=("$library"); done
[ -x /usr/bin/python3 ] && /usr/bin/python3 -c 'import pyverbs' 2>/dev/null || missing+=(pyverbs)
if [ ${#missing[@]} != 0 ]; then
    echo "rdma: missing here: ${missing[*]}." >&2
    echo "  Debian, Ubuntu: apt-get install $packages" >&2
    exit 1
fi
cd "$(dirname "$0")/../docs/link/infiniband/code"
clang-format --dry-run --Werror ./*.c ./*.h
cmake --preset ci --log-level=WARNING >/dev/null
cmake --build --preset ci -- --no-print-directory
ctest --preset ci "$@"
