"""The requests of allocator.py on a GPU: what PyTorch reserves, beside what the model says.

    python docs/framework/code/allocator_real.py            # needs CUDA; prints JSON lines

Each way runs in a process of its own, since the allocator's settings are read once.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

import allocator

SINGLES = (4, 102_400, 1 << 20, (1 << 20) + 1, 9 << 20, 10 << 20, 11 << 20)
TRACES = {"2000 tokens, 11 steps": [2000] * 11, "1000 to 2000 tokens": list(range(1000, 2001, 100))}


def on_gpu(kind: str, name: str) -> dict[str, Any]:
    """Make one set of requests in this process and return what PyTorch says of it."""
    import torch  # here, so that the parent process has no CUDA context

    def ask(size: int) -> Any:
        return torch.empty(size, dtype=torch.uint8, device="cuda")

    if kind == "single":
        held = ask(int(name))
        return {
            "allocated": torch.cuda.memory_allocated(),
            "reserved": torch.cuda.memory_reserved(),
            "of": held.numel(),
        }
    if kind == "trace":
        for sizes in allocator.steps(TRACES[name]):
            blocks = [ask(size) for size in sizes]
            while blocks:
                blocks.pop()
        return {
            "allocated": torch.cuda.max_memory_allocated(),
            "reserved": torch.cuda.max_memory_reserved(),
        }

    def timed(clear: bool) -> list[float]:
        found = []
        for _ in range(50):
            if clear:
                torch.cuda.empty_cache()
            torch.cuda.synchronize()
            begun = time.perf_counter()
            kept = ask(int(name))
            found.append((time.perf_counter() - begun) * 1e6)
            del kept
        return found[10:]

    return {f"{way}_us": statistics.median(timed(way == "driver")) for way in ("cached", "driver")}


def main() -> None:
    """Run each way and print a line of JSON for it."""
    if len(sys.argv) == 3:
        print(json.dumps(on_gpu(*sys.argv[1:])))
        return
    jobs = [("single", str(size)) for size in SINGLES] + [("trace", name) for name in TRACES]
    jobs += [("time", str(size)) for size in (1 << 20, 64 << 20, 1 << 30)]
    for kind, name in jobs:
        for expandable in (False, True) if kind == "trace" else (False,):
            setting = f"expandable_segments:{expandable}"
            env = os.environ | {"PYTORCH_ALLOC_CONF": setting, "PYTORCH_CUDA_ALLOC_CONF": setting}
            done = subprocess.run(
                [sys.executable, __file__, kind, name],
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            line: dict[str, Any] = {"kind": kind, "name": name, "expandable": expandable}
            if done.returncode:
                line["error"] = done.stderr[-300:]
            else:
                line |= json.loads(done.stdout.splitlines()[-1])
            if kind != "time":
                model = allocator.Allocator(expandable=expandable)
                if kind == "single":
                    model.malloc(int(name))
                else:
                    allocator.replay(allocator.steps(TRACES[name]), model)
                line["model"] = {"allocated": model.peak_allocated, "reserved": model.peak_reserved}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
