#!/usr/bin/env bash
# The loop of dot.c in the assembly of one machine, without directives:  listing.sh x86|aarch64|mips
set -euo pipefail
source=$(dirname "$0")/dot.c
common=(-O1 -fno-asynchronous-unwind-tables -S -o -)
case $1 in
    x86) gcc "${common[@]}" -masm=intel -fcf-protection=none "$source" ;;
    aarch64) aarch64-linux-gnu-gcc "${common[@]}" "$source" ;;
    mips) mips-linux-gnu-gcc "${common[@]}" "$source" ;;
esac | grep -E '^[a-z$.]*[A-Za-z0-9]+:$|^	[a-z]' | expand -t 8,16
