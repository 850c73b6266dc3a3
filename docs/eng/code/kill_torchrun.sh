#!/bin/bash
# What is left of two torchrun workers with 2 GiB of GPU memory each, after a
# signal to the agent alone. Needs PyTorch and one NVIDIA GPU that nobody else
# uses; takes two minutes.
#
#     bash docs/eng/code/kill_torchrun.sh
set -u
work=$(mktemp -d)
mark=$work/held.py
trap 'pkill -9 -f "$mark"; rm -r "$work"' EXIT

cat > "$mark" <<'P'
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
held = torch.ones(2 << 30, dtype=torch.uint8, device="cuda:0")
torch.cuda.synchronize()
print("ready", flush=True)
time.sleep(600)
P

used() { nvidia-smi --query-gpu=memory.used --format=csv,noheader,nounits -i 0; }
workers() { pgrep -f -- "-u $mark" | wc -l; }

after() {
  torchrun --standalone --nproc-per-node=2 "$mark" > "$work/log" 2>&1 &
  local agent=$! status start end
  for _ in $(seq 120); do
    [ "$(grep -c ready "$work/log")" = 2 ] && break
    sleep 0.5
  done
  echo "SIG$1: $(workers) workers hold $(used) MiB"
  start=$(date +%s%N)
  kill "-$1" "$agent"
  wait "$agent"
  status=$?
  end=$(date +%s%N)
  sleep 3
  echo "SIG$1: agent gone after $(((end - start) / 1000000)) ms, status $status;" \
    "3 s later $(workers) workers hold $(used) MiB"
  pkill -9 -f "$mark"
  sleep 3
}

echo "GPU 0 empty: $(used) MiB"
for name in TERM KILL USR1; do after "$name" 2> /dev/null; done
python -c 'import torch; print("PyTorch", torch.__version__)'
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader -i 0
date -u +%F
