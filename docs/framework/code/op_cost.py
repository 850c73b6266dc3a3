"""What one small operation costs the host in PyTorch: dispatch, autograd, launch.

    python docs/framework/code/op_cost.py    # prints JSON lines; CUDA rows where there is a GPU

Each row is the host's time of one call on one element, without waiting for a GPU: the least over
repeats of the mean over many calls, in nanoseconds.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import torch

CALLS, REPEATS = 2000, 30


# --8<-- [start:timed]
def timed(call: Callable[[], object], context: AbstractContextManager[object]) -> float:
    """Return nanoseconds per call; the GPU, if any, is idle at the start of each repeat."""
    best = float("inf")
    with context:
        for _ in range(REPEATS):
            if torch.cuda.is_available():
                torch.cuda.synchronize()
            begun = time.perf_counter_ns()
            for _ in range(CALLS):
                call()
            best = min(best, (time.perf_counter_ns() - begun) / CALLS)
    return best


# --8<-- [end:timed]


def main() -> None:
    """Print one line for each device and mode."""
    print(
        json.dumps(
            {
                "torch": torch.__version__,
                "python": sys.version.split()[0],
                "threads": torch.get_num_threads(),
            }
        )
    )
    print(
        json.dumps(
            {"call": "empty Python function", "ns": timed(lambda: None, contextlib.nullcontext())}
        )
    )
    devices = ["cpu"] + ["cuda"] * torch.cuda.is_available()
    for device in devices:
        plain = torch.ones(1, device=device)
        leaf = torch.ones(1, device=device, requires_grad=True)
        out = torch.empty(1, device=device)
        ways: list[tuple[str, Callable[[], object], AbstractContextManager[object]]] = [
            ("no gradient wanted", lambda p=plain: torch.add(p, p), contextlib.nullcontext()),
            ("recorded for autograd", lambda p=leaf: torch.add(p, p), contextlib.nullcontext()),
            ("no_grad", lambda p=leaf: torch.add(p, p), torch.no_grad()),
            ("inference_mode", lambda p=leaf: torch.add(p, p), torch.inference_mode()),
            (
                "result given (out=)",
                lambda p=plain, o=out: torch.add(p, p, out=o),
                contextlib.nullcontext(),
            ),
            ("a view, plain.t()", lambda p=plain: p.t(), contextlib.nullcontext()),
        ]
        for name, call, context in ways:
            print(
                json.dumps({"device": device, "call": name, "ns": timed(call, context)}), flush=True
            )


if __name__ == "__main__":
    main()
