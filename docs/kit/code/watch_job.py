"""Watch a running job from beside it: stalls, slow ranks, Xid and ECC, power and clocks.

    python3 watch_job.py --log 'logs/rank*.log' --pid 4242 | tee watched.txt
    python3 watch_job.py --beats '/shared/beat.*' --seconds 600

A line of a log counts as a step where it has "step 120" or "iteration 120"; with "compute=0.412"
(seconds) or "compute_ms=412" in it, slow ranks are named. The first number in a file's name is the
rank. Beats are empty files that each rank touches at every step.
"""

from __future__ import annotations

import json
import re
import signal
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any

from common import Report, main_of, parser, quantile, run

NEEDS = "Runs until the job ends, for --seconds, or until Ctrl-C; needs no GPU memory and no root."
STEP = r"\b(?:step|iter(?:ation)?)\b\W{0,3}(\d+)"
COMPUTE = re.compile(r"compute(?P<ms>_ms)?\W{1,3}(?P<value>\d+(?:\.\d+)?)", re.I)
FIELDS = """index power.draw enforced.power.limit clocks.sm temperature.gpu utilization.gpu
clocks_throttle_reasons.active ecc.errors.uncorrected.volatile.total""".split()
# Bits of the throttle reasons that cost speed (nvml.h); the power cap is common under full load.
REASONS = {0x8: "hardware slowdown", 0x20: "software thermal", 0x40: "hardware thermal"}
REASONS.update({0x80: "power brake", 0x4: "power cap"})
KERNEL = re.compile(r"NVRM: (?:Xid \((?P<gpu>[^)]*)\): (?P<xid>\d+)|.*fallen off the bus)")
IDLE = "idle: the job waits for data, storage or a CPU"
SPIN = "busy at low power: a rank is awaited"
NIGHT, SLOW = "en/ccl/nccl/night-shift.html", "en/eng/debug-distributed.html"
HEALTH, LAYER = "en/eng/gpu-health.html", "en/kit/slow-job.html"
Gpu = "dict[str, float | None]"


def gpus_of(text: str) -> list[Gpu]:
    """The rows of nvidia-smi --format=csv,noheader,nounits; None where it has no value."""

    def number(cell: str) -> float | None:
        try:
            return float(int(cell, 16)) if cell.startswith("0x") else float(cell)
        except ValueError:
            return None

    rows = [[number(cell.strip()) for cell in line.split(",")] for line in text.splitlines()]
    return [dict(zip(FIELDS, row)) for row in rows if len(row) == len(FIELDS)]


def doing(gpus: list[Gpu]) -> str:
    """What the GPUs do: a kernel that only waits for another rank is busy, but draws little."""
    if not gpus:
        return "GPUs not seen"
    idle = [str(int(g["index"] or 0)) for g in gpus if (g["utilization.gpu"] or 0) < 10]
    if idle:
        late = f"GPU {', '.join(idle)} idle, the others busy: look at the rank of the idle one"
        return IDLE if len(idle) == len(gpus) else late
    low = [(g["power.draw"] or 0) < 0.5 * (g["enforced.power.limit"] or 0) for g in gpus]
    return SPIN if all(low) else "busy"


def slow_ranks(steps: dict[int, dict[int, float]], over: float) -> dict[int, str]:
    """Ranks whose compute time lies over the median of their step: always, or now and then."""
    shares: dict[int, list[float]] = defaultdict(list)
    for times in steps.values():
        middle = quantile(list(times.values()))
        for rank, value in times.items():
            if len(times) < 9:  # a few: itself does not count
                middle = quantile([t for r, t in times.items() if r != rank] or [value])
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
    def __init__(self, args: Any) -> None:
        self.args, self.step = args, re.compile(args.step, re.I)
        self.places: dict[Path, float] = {}
        self.last: dict[int, float] = {}
        self.gaps: dict[int, list[float]] = defaultdict(list)
        self.compute: dict[int, dict[int, float]] = defaultdict(dict)
        self.stalled: set[int] = set()
        self.back: dict[int, float] = {}
        self.samples: list[list[Gpu]] = []
        self.kernel: set[str] | None = None
        self.events: list[dict[str, Any]] = []

    def tell(self, kind: str, **what: Any) -> None:
        """An event as a line of JSON on the screen; the same again is not told."""
        event = {"event": kind, **what}
        if kind not in ("stall", "resumed") and event in [e["what"] for e in self.events]:
            return
        self.events.append({"what": event, **event})
        print(json.dumps({"time": time.strftime("%Y-%m-%dT%H:%M:%S"), **event}), flush=True)

    def stepped(self, rank: int, steps: int, now: float) -> None:
        took, gaps = now - self.last[rank], self.gaps[rank]
        middle = min(quantile(gaps) if gaps else took / steps, took / steps)
        gaps += [took - middle * (steps - 1)] + [middle] * (steps - 1)  # one was the long one
        self.last[rank] = now
        if rank in self.stalled:
            self.stalled.discard(rank)
            self.back[rank] = round(took, 1)

    def line(self, rank: int, text: str) -> bool:
        """Whether a line of a log tells of a step; keep its compute time."""
        found, took = self.step.search(text), COMPUTE.search(text)
        if found and took:
            value = float(took["value"]) * (1e-3 if took["ms"] else 1.0)
            self.compute[int(found[1])][rank] = value
            if len(self.compute) > 500:
                del self.compute[next(iter(self.compute))]
        return bool(found)

    def steps(self, now: float) -> None:
        """New lines of all logs, new beats of all ranks."""
        where = Path(self.args.log or self.args.beats or "nothing").absolute()
        for path in sorted(where.parent.glob(where.name)):
            number = re.search(r"\d+", path.name)
            rank, state = int(number[0]) if number else 0, path.stat()
            if path not in self.places:
                self.places[path] = state.st_size if self.args.log else state.st_mtime
                self.last[rank] = now
            elif self.args.beats:
                if state.st_mtime > self.places[path]:
                    self.places[path] = state.st_mtime
                    self.stepped(rank, 1, now)
            else:
                with path.open("rb") as log:
                    log.seek(int(self.places[path]) if state.st_size >= self.places[path] else 0)
                    data = log.read()
                    self.places[path] = log.tell() - len(data) + data.rfind(b"\n") + 1
                whole = data[: data.rfind(b"\n") + 1].decode("utf-8", "replace")
                made = sum(self.line(rank, text) for text in whole.splitlines())
                if made:
                    self.stepped(rank, made, now)

    def stalls(self, now: float) -> None:
        """Ranks without a step for `--times` the median, but at least `--least` seconds."""
        late = []
        for rank in sorted(self.last.keys() - self.stalled):
            limit = self.args.times * quantile(self.gaps[rank] or [0.0])
            if now - self.last[rank] > max(self.args.least, limit):
                late.append(rank)
        if late:
            self.stalled |= {*late}
            gpus = doing(self.samples[-1] if self.samples else [])
            seconds = round(now - min(self.last[rank] for rank in late), 1)
            self.tell("stall", ranks=late, seconds=seconds, gpus=gpus)
        if self.back:
            self.tell("resumed", ranks=sorted(self.back), after=max(self.back.values()))
            self.back = {}

    def gpus(self) -> None:
        """A sample of all GPUs: errors that are new, clocks that are low for a reason."""
        query = [f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"]
        rows = gpus_of(run("nvidia-smi", *query, timeout=30) or "")
        if not rows:
            self.tell("no sample of the GPUs")
            return
        self.samples.append(rows)
        for row, before in zip(rows, self.samples[0]):
            index, new = int(row["index"] or 0), (row[FIELDS[-1]] or 0) - (before[FIELDS[-1]] or 0)
            if new > 0:
                self.tell("ECC", gpu=index, uncorrected=int(new))
            bits = int(row["clocks_throttle_reasons.active"] or 0)
            for reason in (name for bit, name in REASONS.items() if bits & bit):
                self.tell("slowdown", gpu=index, reason=reason)

    def log_of_kernel(self) -> None:
        """Lines of the driver that are new since the start."""
        text = run("dmesg", timeout=30)
        if text is None:
            self.tell("kernel log not readable: Xids are not seen")
            return
        lines = {line for line in text.splitlines() if KERNEL.search(line)}
        for line in sorted(lines - (lines if self.kernel is None else self.kernel)):
            found = KERNEL.search(line)
            self.tell("Xid", xid=found["xid"], gpu=found["gpu"], line=line[-160:])
        self.kernel = lines

    def look(self, now: float) -> None:
        self.steps(now)
        self.gpus()
        self.log_of_kernel()
        self.stalls(now)
        if len(self.compute) >= 20:
            for rank in slow_ranks(self.compute, self.args.over):
                self.tell("slow rank", rank=rank)

    def kept(self, kind: str, *names: str) -> str:
        found = [" ".join(str(e[n]) for n in names) for e in self.events if e["event"] == kind]
        return "; ".join(dict.fromkeys(found))

    def summary(self, report: Report) -> int:
        report.section("summary")

        def state(what: str, bad: str, note: str, then: str) -> None:
            report.add(what, bad or "none", good=not bad, rule="none", note=note, then=then)

        gaps = [one for some in self.gaps.values() for one in some]
        if gaps:
            report.add("time between steps, median", quantile(gaps), "s")
            report.add("time between steps, longest", max(gaps), "s")
            stalls = self.kept("stall", "ranks", "gpus")
            state("ranks that stalled", stalls, NIGHT, "Take their stacks: py-spy dump --pid PID")
        else:
            report.missing("time between steps", "No step was seen: give --log and --step")
        if self.compute:
            found = slow_ranks(self.compute, self.args.over)
            said = "; ".join(f"rank {rank} {how}" for rank, how in found.items())
            state("slow ranks", said, SLOW, "Run check_node.py on their nodes")
        if self.kernel is not None:
            state("Xids", self.kept("Xid", "xid", "gpu"), HEALTH, "Look up the first one")
        if self.samples:
            gpus = self.kept("ECC", "gpu")
            state("GPUs with uncorrected ECC errors", gpus, HEALTH, "Drain the node")
            told = [e for e in self.kept("slowdown", "gpu", "reason").split("; ") if "cap" not in e]
            state("GPUs slowed down", "; ".join(told), HEALTH, "Look at cooling and power supply")
            for what, text in ((IDLE, "idle"), (SPIN, "busy at low power")):
                share = sum(doing(rows) == what for rows in self.samples) / len(self.samples)
                report.add(f"samples with all GPUs {text}", share * 100, "%", note=LAYER)
        for field, unit in (("power.draw", "W"), ("clocks.sm", "MHz"), ("utilization.gpu", "%")):
            for rows in zip(*self.samples):
                values = [row[field] for row in rows if row[field] is not None]
                if values:
                    name = f"GPU {rows[0]['index']:.0f}, {field}, mean"
                    report.add(name, sum(values) / len(values), unit)
        return report.finish("No stall, no slow rank, no error: profile one rank.")


def main() -> int:
    made = parser(__doc__.splitlines()[0], NEEDS)
    made.add_argument("--log", help="pattern of logs, one for each rank")
    made.add_argument("--beats", help="pattern of files, one for each rank, touched at each step")
    made.add_argument("--step", default=STEP, help="regular expression, its group the number")
    made.add_argument("--pid", type=int, help="end when this process has ended")
    made.add_argument("--seconds", type=float, default=1e9, help="end after so long")
    made.add_argument("--every", type=float, default=5, help="seconds between two looks (5)")
    made.add_argument("--times", type=float, default=5, help="a stall is so many median steps (5)")
    made.add_argument("--least", type=float, default=30, help="and at least so many seconds (30)")
    made.add_argument("--over", type=float, default=0.03, help="how far slow ranks are over (0.03)")
    args = made.parse_args()
    report, job = Report("watch_job.py", args), Job(args)
    until = time.monotonic() + args.seconds
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        while time.monotonic() < until:
            job.look(time.time())
            if args.pid and not Path(f"/proc/{args.pid}").exists():
                job.tell("the process has ended")
                break
            time.sleep(args.every)
    return job.summary(report)


if __name__ == "__main__":
    main_of(main)
