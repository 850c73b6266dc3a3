"""Time of an engine's step, from the steps that were measured: Llama 3.1 8B on one H100.

A step without a chunk of a prompt is replayed from a CUDA graph; one with a chunk is launched
call by call, so that it also has a floor. Both are straight lines:

    decode only   fixed + sequence x decoding + cached x tokens of cache read
    with a chunk  max(floor, start + token x tokens) + cached x tokens read + pair x pairs

`tokens` counts decoding sequences and the chunk; a pair is one query of the chunk and one token
that it sees. `fit` finds the constants by least squares of the relative error.

Usage
    python docs/infer/code/step_time.py    # constants, and the error at every measured step
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

RECORD = Path(__file__).resolve().parents[1] / "measured/serve_steps.json"
SHAPE = "Llama 3.1 8B"
MIXED = (64, 2048)
"""Sequences and tokens of cache each in the measured steps with a chunk."""


# --8<-- [start:model]
@dataclass(frozen=True)
class Steps:
    """Seconds a step takes; every constant in seconds."""

    fixed: float
    sequence: float
    cached: float
    floor: float
    start: float
    token: float
    pair: float

    def time(self, decoding: int, read: int, chunk: int = 0, pairs: float = 0) -> float:
        """Return the time of a step: sequences, tokens of cache they read, chunk and pairs."""
        if not chunk:
            return self.fixed + self.sequence * decoding + self.cached * read
        work = max(self.floor, self.start + self.token * (decoding + chunk))
        return work + self.cached * read + self.pair * pairs


# --8<-- [end:model]


def pairs_of(chunk: int, before: int = 0) -> float:
    """Return how many (query, key) pairs a chunk has that follows `before` tokens."""
    return chunk * before + chunk * (chunk + 1) / 2


def points(name: str, launch: str | None = None) -> list[dict[str, float]]:
    """Return the measured points of one result for the shape."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    rows = next(one["points"] for one in record["results"] if one["id"] == name)
    return [
        row for row in rows if row["shape"] == SHAPE and (launch is None or row["launch"] == launch)
    ]


def solve(rows: list[list[float]], times: list[float]) -> list[float]:
    """Return the constants with the least squared relative error."""
    matrix = np.array(rows) / np.array(times)[:, None]
    found = np.linalg.lstsq(matrix, np.ones(len(times)), rcond=None)[0]
    return [float(f"{value:.4g}") for value in found]


@cache
def fit() -> Steps:
    """Return the constants that fit the measured steps."""
    alone = points("decode", "graph")
    fixed, sequence, cached = solve(
        [[1, row["batch"], row["batch"] * row["context"]] for row in alone],
        [row["value"] for row in alone],
    )
    sequences, context = MIXED
    work = [(row["chunk"], row["chunk"], row["value"]) for row in points("prefill", "calls")]
    read = cached * sequences * context
    work += [(sequences + r["chunk"], r["chunk"], r["value"] - read) for r in points("mixed")]
    floor = min(time for *_, time in work)
    large = [row for row in work if row[1] >= 512]
    start, token, pair = solve(
        [[1, tokens, pairs_of(int(chunk))] for tokens, chunk, _ in large],
        [time for *_, time in large],
    )
    return Steps(fixed, sequence, cached, float(f"{floor:.4g}"), start, token, pair)


def errors() -> list[tuple[str, float, float]]:
    """Return each measured step: its name, its time and the relative error of the model."""
    steps, (sequences, context) = fit(), MIXED
    out = []
    for row in points("decode", "graph"):
        batch, read = int(row["batch"]), int(row["batch"] * row["context"])
        out.append((f"decode {batch} x {row['context']}", row["value"], steps.time(batch, read)))
    for row in points("prefill", "calls"):
        chunk = int(row["chunk"])
        out.append((f"prefill {chunk}", row["value"], steps.time(0, 0, chunk, pairs_of(chunk))))
    for row in points("mixed"):
        chunk = int(row["chunk"])
        time = steps.time(sequences, sequences * context, chunk, pairs_of(chunk))
        out.append((f"mixed {chunk}", row["value"], time))
    return [(name, measured, time / measured - 1) for name, measured, time in out]


def main() -> None:
    """Print the constants and the errors."""
    steps = fit()
    print(f"decode only   {1e3 * steps.fixed:.2f} ms + {1e6 * steps.sequence:.1f} us a sequence")
    print(f"with a chunk  {1e3 * steps.start:.2f} ms + {1e6 * steps.token:.1f} us a token,")
    print(f"              at least {1e3 * steps.floor:.2f} ms; {1e9 * steps.pair:.2f} ns a pair")
    print(f"cache         {1e9 * steps.cached:.1f} ns a token read")
    for kind in ("decode", "prefill", "mixed"):
        found = [(abs(error), name) for name, _, error in errors() if name.startswith(kind)]
        worst, name = max(found)
        mean = sum(error for error, _ in found) / len(found)
        print(f"{kind:<8}{len(found):>3} steps: error {mean:.1%} on average, {worst:.1%} at {name}")


if __name__ == "__main__":
    main()
