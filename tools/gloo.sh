#!/usr/bin/env bash
# Run the programs of docs/ccl/code that need PyTorch's gloo backend, with the Python of the system.
#
# Without PyTorch there: says so and passes, unless HANDBOOK_GLOO=1 (then it is an error).
set -euo pipefail
python=/usr/bin/python3
if ! [ -x $python ] || ! $python -c 'import torch.distributed as d; assert d.is_available()' 2>/dev/null; then
    echo "gloo: $python cannot import torch.distributed, nothing was run." >&2
    echo "  Debian: apt-get install --no-install-recommends python3-torch" >&2
    [ "${HANDBOOK_GLOO:-0}" = 0 ] || exit 1
    exit 0
fi
cd "$(dirname "$0")/.."
program=docs/ccl/code/gloo_allreduce.py
for asked in "2 1" "3 7" "4 1003" "5 2"; do
    # shellcheck disable=SC2086
    timeout 120 $python $program compare $asked
done
# What goes wrong on purpose must be said, and the program must fail.
says() { # text, command...
    local text=$1 printed
    shift
    if printed=$("$@" 2>/dev/null); then
        echo "gloo: no failure from: $*" >&2
        exit 1
    fi
    if ! grep -qF "$text" <<<"$printed"; then
        printf 'gloo: "%s" is missing in:\n%s\n' "$text" "$printed" >&2
        exit 1
    fi
}
says "Detected mismatch between collectives" env TORCH_DISTRIBUTED_DEBUG=DETAIL timeout 120 $python $program mismatch
says "Ranks 2 failed to pass monitoredBarrier" timeout 120 $python $program missing 3
