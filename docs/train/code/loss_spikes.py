"""Find spikes, level shifts, drift and NaN in the log of a training run.

Run:  python docs/train/code/loss_spikes.py demo|masking
      python docs/train/code/loss_spikes.py FILE [COLUMN]

FILE is a CSV with a header, or a log of Megatron's kind ("iteration 7000/ ... | lm loss: 6.4E+00 |
..."); COLUMN names what to watch, "lm loss" unless told. Median and MAD (median absolute
deviation) instead of mean and standard deviation: one spike does not hide the next one.
"""

from __future__ import annotations

import csv
import math
import re
import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median, stdev

MEGATRON = re.compile(r"iteration\s+(?P<step>\d+)/")
FIELD = re.compile(r"\|\s*(?P<name>[a-z][a-z \-]*[a-z])\s*(?:\([a-z]+\))?:\s*(?P<value>\S+)")


@dataclass
class Event:
    """From `first` to `last` step, at most `height` above the median `base` before it.

    `after` is the median of the window behind it, less `base`: near 0 or below if all is as it was.
    """

    kind: str
    first: int
    last: int
    base: float
    height: float = math.nan
    sigmas: float = math.nan
    after: float = math.nan


# --8<-- [start:watch]
def spread(values: list[float]) -> tuple[float, float]:
    """Median, and 1.4826 * MAD: equal to the standard deviation if values are normal."""
    middle = median(values)
    return middle, max(1.4826 * median(abs(v - middle) for v in values), 1e-12)


def watch(
    log: list[tuple[int, float]],
    window: int = 128,
    limit: float = 8.0,
    calm: int = 10,
    drift: float = 2.0,
) -> list[Event]:
    """Return the events of a log of (step, value).

    The base is the last `window` ordinary values: what stands out is not let in. An event ends
    before `calm` ordinary values in a row; if `window` values have stood out before that, they are
    the new base. Drift: the median of the base rises `drift` sigmas above the lowest one since the
    last event.
    """
    base: deque[float] = deque(maxlen=window)
    events: list[Event] = []
    spike: Event | None = None
    high: list[float] = []
    broken: Event | None = None
    lowest, since, quiet = math.inf, 0, 0
    for step, value in log:
        if not math.isfinite(value):
            if broken is None:
                broken = Event("not a number", step, step, math.nan)
                events.append(broken)
            broken.last = step
            continue
        broken = None
        if len(base) < window:
            base.append(value)
            continue
        middle, sigma = spread(list(base))
        if value > middle + limit * sigma:
            if spike is None or quiet >= calm:
                spike, high = Event("spike", step, step, middle, 0.0), []
                events.append(spike)
            spike.last, spike.height = step, max(spike.height, value - spike.base)
            spike.sigmas = spike.height / sigma
            quiet = since = 0
            lowest = math.inf
            high.append(value)
            if len(high) == window:
                base.extend(high)
                spike = None
            continue
        base.append(value)
        quiet, since = quiet + 1, since + 1
        if since < window:
            continue
        lowest = min(lowest, middle)
        if middle > lowest + drift * sigma:
            events.append(Event("drift", step, step, lowest, middle - lowest))
            events[-1].sigmas = events[-1].height / sigma
            lowest = math.inf
            since = 0
    odd = {step for e in events for step in range(e.first, e.last + 1)}
    for event in events:
        behind = [v for step, v in log if step > event.last and step not in odd][:window]
        if len(behind) == window and math.isfinite(event.base):
            event.after = median(behind) - event.base
    return events


# --8<-- [end:watch]


def rule_of_std(
    log: list[tuple[int, float]], window: int = 128, limit: float = 6.0
) -> list[tuple[int, int]]:
    """Return runs of steps above mean + `limit` standard deviations of the last `window` values.

    Every value enters the window, flagged or not.
    """
    seen: deque[float] = deque(maxlen=window)
    runs: list[tuple[int, int]] = []
    for step, value in log:
        if not math.isfinite(value):
            continue
        if len(seen) == window and value > fmean(seen) + limit * stdev(seen):
            if runs and step - runs[-1][1] <= 10:
                runs[-1] = (runs[-1][0], step)
            else:
                runs.append((step, step))
        seen.append(value)
    return runs


def example() -> list[tuple[int, float]]:
    """Return an invented log of 3000 steps with six planted events; the same on every run."""
    state, log = 1, []
    for step in range(3000):
        noise = 0.0
        for _ in range(4):
            state = state * 1103515245 + 12345 & 0x7FFFFFFF
            noise += state / 0x7FFFFFFF - 0.5
        loss = 2.0 + 8.0 / (step + 30) ** 0.5 + 0.03 * noise
        if step == 600:
            loss += 1.2  # one bad batch
        if step >= 1000:
            loss += 3.0 * math.exp(-(step - 1000) / 10)  # a spike that decays
        if step >= 1090:
            loss += 1.2 * math.exp(-(step - 1090) / 10)  # a smaller one soon after
        if step >= 1600:
            loss += 0.5 * math.exp(-(step - 1600) / 20) + 0.15  # one that leaves a step behind
        if step >= 2300:
            loss += 0.0004 * (step - 2300)  # slow drift
        log.append((step, math.nan if step == 2950 else loss))
    return log


def read(path: Path, column: str = "lm loss") -> list[tuple[int, float]]:
    """Return (step, value) of a CSV with a header, or of a log of Megatron's kind.

    Lines without the column are left out. Raises ValueError, naming the columns that there are.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    rows: list[dict[str, str]] = []
    for line in text.splitlines():
        if found := MEGATRON.search(line):
            rows.append({m["name"]: m["value"] for m in FIELD.finditer(line)})
            rows[-1]["step"] = found["step"]
    if not rows:
        rows = list(csv.DictReader(text.splitlines()))
    names = sorted({name for row in rows for name in row if name})
    if column not in names:
        raise ValueError(f"{path}: no column {column!r}; there are: {', '.join(names)}")
    place = next((n for n in ("step", "iteration", "global_step") if n in names), None)
    return [
        (int(float(row[place])) if place else number, float(row[column]))
        for number, row in enumerate(rows)
        if row.get(column)
    ]


def show(events: list[Event]) -> None:
    """Print events as a table."""
    print(f"{'kind':<14} {'first':>6} {'last':>6} {'above':>7} {'sigmas':>7} {'afterwards':>11}")
    for e in events:
        numbers = f"{e.height:>7.2f} {e.sigmas:>7.1f} {e.after:>+11.3f}".replace("+nan", " nan")
        print(f"{e.kind:<14} {e.first:>6} {e.last:>6} {numbers.replace('nan', '  -')}")


def show_demo() -> None:
    """Both rules on the invented log."""
    log = example()
    print("median and MAD, 128 ordinary steps, 8 sigmas")
    show(watch(log))
    runs = " ".join(f"{a}-{b}" if b > a else str(a) for a, b in rule_of_std(log))
    print(f"mean and standard deviation, 128 steps, 6 sigmas: {runs}")


def show_masking() -> None:
    """How high a second spike must be to show within the window of a first one of height 1."""
    print("one value 1 among zeros in the window: the next must exceed")
    for window in (32, 64, 128, 256, 512):
        values = [1.0] + [0.0] * (window - 1)
        print(f"{window:>4} steps: {fmean(values) + 6 * stdev(values):.3f}")


if __name__ == "__main__":
    words = sys.argv[1:] or ["demo"]
    if words[0] == "demo":
        show_demo()
    elif words[0] == "masking":
        show_masking()
    else:
        try:
            show(watch(read(Path(words[0]), *words[1:2])))
        except (OSError, ValueError) as error:
            sys.exit(str(error))
