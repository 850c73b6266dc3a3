"""The runs of rl_run.py one seed at a time: a line for each number of `rate_run` and `learn_run`.

    python3 docs/train/code/rl_run_seeds.py < rl_run.jsonl > rl_run_seeds.jsonl

rl_run.py prints whole runs, and medians over seeds; the record wants single seeds by update.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

FACTS = (
    *("drift", "drift_largest", "effective", "effective_smallest", "above_cap_largest"),
    *("length", "entropy", "alike", "reward", "gradient", "gradient_largest"),
)


def numbers(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the lines of one run."""
    name = run["result"].removesuffix("_run")
    labels = {key: run[key] for key in ("correction", "old", "rate", "seed")}
    labels["rounding"] = run.get("rounding", "bf16")
    curve = {int(update): share for update, share in run["curve"].items()}

    def line(what: str, value: float, **more: int) -> dict[str, Any]:
        tail = {"unit": "value", "n": 1, "median": value}
        return {"result": f"{name}_{what}", **labels, **more, **tail}

    for update, share in curve.items():
        yield line("reward", share, update=update)
    last = max(curve)
    yield line("lowest", min(share for update, share in curve.items() if 2 * update > last))
    yield line("final", curve[last])
    for fact in FACTS:  # means of the last 20 updates, or extremes over all
        what = "batch_reward" if fact == "reward" else fact
        yield line(what, run["facts"][fact])


def seeds(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the line of versions and those of each run, in the order of the file."""
    for one in map(json.loads, lines):
        if one["result"] == "versions":
            yield one
        elif one["result"] in ("rate_run", "learn_run"):
            yield from numbers(one)


if __name__ == "__main__":
    for found in seeds(sys.stdin):
        print(json.dumps(found))
