"""Watch a running job from beside it: stalls, slow ranks, Xid and ECC, power and clocks.

    python3 watch_job.py --log 'logs/rank*.log' --out events.jsonl --pid 4242
    python3 watch_job.py --heartbeat '/shared/beat.*' --seconds 600

A line of a log counts as a step where it has "step 120" or "iteration 120"; with "compute=0.412"
(seconds, or "compute_ms=412") in it, slow ranks are named. The first number in the name of a file
is the rank. A heartbeat is a file that each rank touches, or writes such a line into.
"""

from __future__ import annotations

import glob
import json
import os
import re
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from common import Report, main_of, parser, quantile, run

NEEDS = "Runs until the job ends, for --seconds, or until Ctrl-C; needs a few MB and no GPU memory."
STEP = r"(?:step|iter(?:ation)?)\b\W{0,3}(\d+)"
COMPUTE = re.compile(r"compute(?P<ms>_ms)?\W{1,3}(?P<value>\d+(?:\.\d+)?)", re.I)
FIELDS = """index power.draw enforced.power.limit clocks.sm clocks.max.sm temperature.gpu
utilization.gpu clocks_throttle_reasons.active ecc.errors.corrected.volatile.total
ecc.errors.uncorrected.volatile.total""".split()
# Bits of the throttle reasons that cost speed (nvml.h); idle, user's clocks and sync boost do not.
REASONS = {0x4: "power cap", 0x8: "hardware slowdown", 0x20: "software thermal"}
REASONS.update({0x40: "hardware thermal", 0x80: "power brake"})
KERNEL = re.compile(r"NVRM: (?:Xid \((?P<gpu>[^)]*)\): (?P<xid>\d+)|.*fallen off the bus)")


def gpus_of(text: str) -> list[dict[str, float | None]]:
    """The rows of nvidia-smi --format=csv,noheader,nounits; None where it has no value."""

    def number(cell: str) -> float | None:
        try:
            return float(int(cell, 16)) if cell.startswith("0x") else float(cell)
        except ValueError:
            return None

    rows = [[number(cell.strip()) for cell in line.split(",")] for line in text.splitlines()]
    return [dict(zip(FIELDS, row)) for row in rows if len(row) == len(FIELDS)]


def why_slow(gpu: dict[str, float | None]) -> list[str]:
    """The reasons of a lower clock that cost speed."""
    bits = int(gpu["clocks_throttle_reasons.active"] or 0)
    return [name for bit, name in REASONS.items() if bits & bit]


def slow_ranks(steps: dict[int, dict[int, float]], over: float) -> dict[int, str]:
    """Ranks whose compute time lies over the median of their step: always, or now and then."""
    shares: dict[int, list[float]] = defaultdict(list)
    for times in steps.values():
        if len(times) > 1:
            middle = quantile(list(times.values()))
            for rank, value in times.items():
                shares[rank].append(value / middle - 1 if middle else 0.0)
    found = {}
    for rank, values in sorted(shares.items()):
        late = sum(one > 0.15 for one in values)
        if quantile(values) > over:
            found[rank] = f"always, {quantile(values):+.1%}"
        elif late > 1:
            found[rank] = f"{late} of {len(values)} steps, up to {max(values):+.0%}"
    return found


class Job:
    """What is known of the job, and the events that were told."""

    def __init__(self, args: Any) -> None:
        self.args, self.step = args, re.compile(args.step, re.I)
        self.out = Path(args.out).open("a", encoding="utf-8") if args.out else None  # noqa: SIM115
        self.places: dict[str, int] = {}
        self.last: dict[str, float] = {}
        self.gaps: dict[str, list[float]] = defaultdict(list)
        self.count: dict[str, int] = defaultdict(int)
        self.compute: dict[int, dict[int, float]] = defaultdict(dict)
        self.stalled: set[str] = set()
        self.first_gpus: list[dict[str, float | None]] = []
        self.samples: list[list[dict[str, float | None]]] = []
        self.kernel: set[str] | None = None
        self.events: list[dict[str, Any]] = []
        self.known: set[tuple[Any, ...]] = set()

    def tell(self, kind: str, **what: Any) -> None:
        """An event as a line of JSON, on the screen and in the file."""
        event = {"time": time.strftime("%Y-%m-%dT%H:%M:%S"), "event": kind, **what}
        self.events.append(event)
        line = json.dumps(event)
        print(line, flush=True)
        if self.out:
            self.out.write(line + "\n")
            self.out.flush()

    def once(self, kind: str, **what: Any) -> None:
        """The same, but an event that was told before is not repeated."""
        key = (kind, *what.values())
        if key not in self.known:
            self.known.add(key)
            self.tell(kind, **what)

    def stepped(self, name: str, now: float, number: int | None) -> None:
        """A rank has made a step."""
        if name in self.last:
            self.gaps[name].append(now - self.last[name])
        if name in self.stalled:
            self.stalled.discard(name)
            self.tell("resumed", rank=rank_of(name), after=round(now - self.last[name], 1))
        self.last[name], self.count[name] = now, self.count[name] + 1

    def line(self, name: str, text: str, now: float) -> None:
        """A line of a log."""
        if found := self.step.search(text):
            self.stepped(name, now, int(found[1]))
            if took := COMPUTE.search(text):
                value = float(took["value"]) * (1e-3 if took["ms"] else 1.0)
                self.compute[int(found[1])][rank_of(name)] = value

    def logs(self, now: float) -> None:
        """New lines of all logs; a heartbeat without lines counts by its time."""
        for name in sorted(glob.glob(self.args.log or self.args.heartbeat or "")):
            size = os.stat(name).st_size
            if name not in self.places:
                self.places[name], self.last[name] = (size if self.args.log else 0), now
            if self.args.heartbeat and not size:
                beat = os.stat(name).st_mtime
                if beat > self.places[name]:
                    self.places[name] = beat
                    self.stepped(name, now, None)
                continue
            if size < self.places[name]:
                self.places[name] = 0  # begun anew
            with Path(name).open("rb") as log:
                log.seek(self.places[name])
                data = log.read()
            whole = data.rfind(b"\n") + 1
            self.places[name] += whole
            for text in data[:whole].decode("utf-8", "replace").splitlines():
                self.line(name, text, now)

    def stalls(self, now: float) -> None:
        """Ranks without a step for `--times` the median, but at least `--least` seconds."""
        for name, last in self.last.items():
            middle = quantile(self.gaps[name]) if self.gaps[name] else 0.0
            limit = max(self.args.least, self.args.times * middle)
            if now - last > limit and name not in self.stalled:
                self.stalled.add(name)
                self.tell(
                    "stall",
                    rank=rank_of(name),
                    seconds=round(now - last, 1),
                    median=round(middle, 3),
                    steps=self.count[name],
                    gpus=self.busy(),
                )

    def busy(self) -> str:
        """What the GPUs do during a stall, by their last sample."""
        if not self.samples:
            return "unknown"
        return ", ".join(
            f"{g['index']:.0f}: {g['utilization.gpu']}% {g['power.draw']} W"
            for g in self.samples[-1]
        )

    def gpus(self) -> None:
        """A sample of all GPUs: errors that are new, clocks that are low for a reason."""
        query = [f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]
        rows = gpus_of(run("nvidia-smi", *query, timeout=30) or "")
        if not rows:
            self.once("no sample of the GPUs")
            return
        self.first_gpus = self.first_gpus or rows
        self.samples.append(rows)
        for row, before in zip(rows, self.first_gpus):
            index = int(row["index"] or 0)
            for kind in ("corrected", "uncorrected"):
                field = f"ecc.errors.{kind}.volatile.total"
                new = (row[field] or 0) - (before[field] or 0)
                if new > 0:
                    self.once("ECC", gpu=index, kind=kind, new=int(new))
            for reason in why_slow(row):
                self.once("slowdown", gpu=index, reason=reason)

    def log_of_kernel(self) -> None:
        """Lines of the driver that are new since the start."""
        text = run("dmesg", timeout=30)
        if text is None:
            self.once("kernel log not readable: Xids are not seen")
            return
        lines = {line for line in text.splitlines() if KERNEL.search(line)}
        for line in sorted(lines - (self.kernel if self.kernel is not None else lines)):
            found = KERNEL.search(line)
            self.tell("Xid", xid=found["xid"], gpu=found["gpu"], line=line.strip()[-160:])
        self.kernel = lines

    def look(self, now: float) -> None:
        """One round."""
        self.logs(now)
        self.gpus()
        self.log_of_kernel()
        self.stalls(now)
        for rank, how in slow_ranks(self.compute, self.args.over).items():
            if len(self.compute) >= 20:
                self.once("slow rank", rank=rank, how=how.partition(",")[0])

    def summary(self, report: Report) -> int:
        """The figures of the whole watch."""
        report.section("summary")

        def state(what: str, bad: Any, note: str, then: str) -> None:
            report.add(what, str(bad or "none"), good=not bad, rule="none", note=note, then=then)

        gaps = [one for some in self.gaps.values() for one in some]
        report.add("steps that were seen", sum(self.count.values()), "")
        if gaps:
            report.add("time between steps, median", quantile(gaps), "s")
            report.add("time between steps, longest", max(gaps), "s")
            stalls = [e for e in self.events if e["event"] == "stall"]
            ranks = sorted({e["rank"] for e in stalls})
            state("ranks that stalled", ranks, "ccl/nccl/night-shift/", "Take stacks with py-spy")
        else:
            report.missing("time between steps", "no step was seen: give --log and --step")
        if self.compute:
            slow = slow_ranks(self.compute, self.args.over)
            said = "; ".join(f"rank {rank} {how}" for rank, how in slow.items())
            state("slow ranks", said, "eng/debug-distributed/", "Run check_node on their nodes")
        else:
            print("  The log has no compute times, so slow ranks cannot be named.")
        if self.kernel is not None:
            lines = sorted(
                {f"{e['xid'] or 'off the bus'}" for e in self.events if e["event"] == "Xid"}
            )
            state("Xids", lines, "eng/gpu-health/", "Look up the first one")
        if self.samples:
            self.cards(report, state)
        return report.finish("No stall, no slow rank, no error: profile one rank if it is slow.")

    def cards(self, report: Report, state: Any) -> None:
        """What the samples of the GPUs say."""
        ecc = [e for e in self.events if e["event"] == "ECC" and e["kind"] == "uncorrected"]
        state(
            "GPUs with uncorrected ECC errors",
            sorted({e["gpu"] for e in ecc}),
            "eng/gpu-health/",
            "Drain the node",
        )
        bad = [e for e in self.events if e["event"] == "slowdown" and e["reason"] != "power cap"]
        said = "; ".join(f"GPU {e['gpu']} {e['reason']}" for e in bad)
        state("GPUs slowed down", said, "eng/gpu-health/", "Look at cooling and power supply")
        for field, unit in (("power.draw", "W"), ("clocks.sm", "MHz"), ("utilization.gpu", "%")):
            means = {}
            for rows in zip(*self.samples):
                values = [row[field] for row in rows if row[field] is not None]
                if values:
                    means[int(rows[0]["index"] or 0)] = sum(values) / len(values)
            if means:
                low = min(means, key=lambda index: means[index])
                report.add(f"{field}, mean of all GPUs", quantile(list(means.values())), unit)
                report.add(f"{field}, lowest, GPU {low}", means[low], unit)


def rank_of(name: str) -> int:
    """The rank by the name of a file: its first number."""
    found = re.search(r"\d+", Path(name).name)
    return int(found[0]) if found else 0


def main() -> int:
    made = parser(__doc__.splitlines()[0], NEEDS)
    made.add_argument("--log", help="pattern of logs, one for each rank")
    made.add_argument("--heartbeat", help="pattern of files that ranks touch or write a line into")
    made.add_argument("--step", default=STEP, help="regular expression; group 1 is the step")
    made.add_argument("--out", help="file for the events, a line of JSON each")
    made.add_argument("--pid", type=int, help="end when this process has ended")
    made.add_argument("--seconds", type=float, default=1e9, help="end after so long")
    made.add_argument("--every", type=float, default=5, help="seconds between two looks")
    made.add_argument("--times", type=float, default=5, help="a stall is so many median steps")
    made.add_argument("--least", type=float, default=30, help="and at least so many seconds")
    made.add_argument(
        "--over", type=float, default=0.03, help="share over the median of slow ranks"
    )
    args = made.parse_args()
    report, job = Report("watch_job", args), Job(args)
    until = time.monotonic() + args.seconds
    try:
        while time.monotonic() < until:
            job.look(time.time())
            if args.pid and not Path(f"/proc/{args.pid}").exists():
                job.tell("process ended", pid=args.pid)
                break
            time.sleep(args.every)
    except KeyboardInterrupt:
        print("interrupted")
    return job.summary(report)


if __name__ == "__main__":
    main_of(main)
