"""What a trace hides: each kind of communication, beside computing or exposed.

    python docs/train/code/overlap_trace.py                # three small traces, made here
    python docs/train/code/overlap_trace.py trace.json.gz  # one that torch.profiler exported

One line a kind: its time, how much of it lies beside a computing kernel, how much does not, in how
many pieces, and the longest piece. The last line counts each instant once.
"""

from __future__ import annotations

import bisect
import gzip
import itertools
import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Spans = list[tuple[float, float]]

# --8<-- [start:sets]
KINDS = {  # by the names of kernels; print the longest names of your trace, and extend it
    "all-gather": r"nccl.*AllGather",
    "reduce-scatter": r"nccl.*ReduceScatter",
    "all-reduce": r"nccl.*AllReduce",
    "other NCCL": r"nccl",
    "expert exchange": r"(deep_ep|hybrid_ep)::",
    "userbuffers": r"userbuffers",
    "copies between GPUs": r"Memcpy PtoP",
}


def merged(spans: Spans) -> Spans:
    """The instants that any span covers, as spans in order that do not touch."""
    out: Spans = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        elif end > start:
            out.append((start, end))
    return out


def without(spans: Spans, others: Spans) -> Spans:
    """What is left of merged spans where none of the merged others runs."""
    out: Spans = []
    ends = [end for _, end in others]
    for start, end in spans:
        now = start
        for a, b in itertools.islice(others, bisect.bisect(ends, start), None):
            if a >= end:
                break
            out.append((now, a))
            now = b
        out.append((now, end))
    return merged(out)


# --8<-- [end:sets]


def total(spans: Spans) -> float:
    return sum(end - start for start, end in spans)


def read(events: list[Event]) -> dict[str, Spans]:
    """Spans of each kind; the kind "computing" is every other kernel."""
    found: dict[str, Spans] = defaultdict(list)
    for event in events:
        if event.get("ph") != "X" or event.get("cat") not in {"kernel", "gpu_memcpy"}:
            continue
        kinds = [kind for kind, name in KINDS.items() if re.search(name, event["name"])]
        if kinds or event["cat"] == "kernel":
            start = float(event["ts"])
            span = (start, start + float(event["dur"]))
            found[kinds[0] if kinds else "computing"].append(span)
    return {kind: merged(spans) for kind, spans in found.items()}


def report(events: list[Event]) -> list[str]:
    """The table, times in ms."""
    found = read(events)
    computing = found.pop("computing", [])
    rows = [*sorted(found.items()), ("all of it", merged([*itertools.chain(*found.values())]))]
    lines = [f"{'':<20}   time  hidden  exposed  pieces  longest"]
    for kind, spans in rows:
        bare = without(spans, computing)
        longest = max((end - start for start, end in bare), default=0.0)
        times = (total(spans), total(spans) - total(bare), total(bare))
        line = "".join(f"{t / 1e3:>{w}.2f}" for t, w in zip(times, (7, 8, 9), strict=True))
        lines.append(f"{kind:<20}{line}{len(bare):>8}{longest / 1e3:>9.2f}")
    every = merged(computing + rows[-1][1])
    span = every[-1][1] - every[0][0] if every else 0.0
    return [*lines, f"computing {total(computing) / 1e3:.2f} ms of {span / 1e3:.2f}"]


def made(products: list[float], length: float, sums: list[float]) -> list[Event]:
    """Products that start at these times, and reduce-scatters of 600 us that start at those."""
    nccl = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"
    rows = [("gemm", at, length) for at in products] + [(nccl, at, 600.0) for at in sums]
    return [{"ph": "X", "cat": "kernel", "name": n, "ts": ts, "dur": dur} for n, ts, dur in rows]


EXAMPLES = {
    "each sum beside the next product": made([0, 1000, 2000, 3000], 1000, [1000, 2000, 3000, 4000]),
    "each sum before the next product": made([0, 1600, 3200, 4800], 1000, [1000, 2600, 4200, 5800]),
    "beside it, but products slower": made([0, 1150, 2300, 3450], 1150, [1150, 2300, 3450, 4600]),
}


def main() -> None:
    if sys.argv[1:]:
        raw = Path(sys.argv[1]).read_bytes()
        text = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        print(*report(json.loads(text)["traceEvents"]), sep="\n")
        return
    for name, events in EXAMPLES.items():
        print(f"# {name}", *report(events)[:2], report(events)[-1], sep="\n")


if __name__ == "__main__":
    main()
