"""What the programs of the field kit share: a report with verdicts, commands, versions, statistics.

A figure stands beside a reference (this kind of machine, measured for the handbook) and the
specification. Without a reference there is no verdict. Python 3.9, no package but PyTorch.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# What was measured, from the build of the handbook: `gpus`, `specification`, `figures`, `site`.
REFERENCE: dict = {}

OK, BELOW, ODD = "as expected", "BELOW", "above the specification"
NONE, FAILED, TOLD = "no reference", "not measured", "told"


def read(path: str | Path) -> str | None:
    """The text of a file without blanks around it; None where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def run(*command: str, timeout: float = 60) -> str | None:
    """What a command prints; None where it is missing, fails or takes too long."""
    try:
        done = subprocess.run(command, capture_output=True, timeout=timeout, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def quantile(values: Sequence[float], q: float = 0.5) -> float:
    """Linear interpolation between order statistics; the median unless told otherwise."""
    v = sorted(values)
    at = q * (len(v) - 1)
    low = int(at)
    return v[low] + (at - low) * (v[low + 1] - v[low]) if low + 1 < len(v) else v[low]


def timed(torch: Any, call: Callable[[], Any], n: int = 10, at_least: float = 0.02) -> list[float]:
    """Seconds per call, `n` times, on the current GPU; each repeats it for `at_least` seconds."""

    def seconds(repeats: int) -> float:
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(repeats):
            call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1e-3 / repeats

    seconds(2)
    repeats = max(1, min(2000, int(at_least / max(seconds(1), 1e-7)) + 1))
    return [seconds(repeats) for _ in range(n)]


def short(value: Any) -> str:
    """A figure of four digits; texts as they are."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def say(text: str) -> None:
    print(f"… {text}", file=sys.stderr, flush=True)


def the_torch() -> Any:
    """PyTorch, or None where it does not load."""
    try:
        import torch
    except (ImportError, OSError):
        return None
    return torch


def machine(torch: Any = None) -> dict[str, Any]:
    """The kind of machine: nothing that names a host, an address or a person."""
    found: dict[str, Any] = {"gpu": None, "count": 0, "driver": None}
    listed = run("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader") or ""
    rows = [line.rpartition(",") for line in listed.splitlines() if "," in line]
    if rows:
        found.update(gpu=rows[0][0].strip(), count=len(rows), driver=rows[0][2].strip())
    if torch is not None:
        found.update(torch=torch.__version__, cuda=torch.version.cuda)
        if torch.version.hip:
            found.update(hip=torch.version.hip, driver=read("/sys/module/amdgpu/version"))
        if torch.cuda.is_available():
            # What the program may use: CUDA_VISIBLE_DEVICES may hide some of the listed ones.
            found.update(gpu=torch.cuda.get_device_name(0), count=torch.cuda.device_count())
            with contextlib.suppress(AttributeError, RuntimeError):
                found["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
    name = re.search(r"model name\s*: (.*)", read("/proc/cpuinfo") or "")
    cpu = f"{name[1] if name else platform.machine()}, {os.cpu_count()} CPUs"
    return {**found, "kernel": platform.release(), "cpu": cpu}


def expected(key: str, gpu: str) -> tuple[list[Any] | None, float | None, dict[str, Any]]:
    """Reference [value, unit, where from], specification and rule (of the key's beginning)."""
    parts, rules = key.split("."), REFERENCE.get("figures", {})
    begins = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    rule = next((rules[one] for one in begins if one in rules), {})
    specified = REFERENCE.get("specification", {}).get(gpu, {}).get(rule.get("specification"))
    return REFERENCE.get("gpus", {}).get(gpu, {}).get(key), specified, rule


def judge(
    value: float | None, reference: Any, most: Any = None, share: float = 0.9, lower: Any = 0
) -> str:
    """The verdict: at least `share` of the reference, or with `lower` at most its 1 / share."""
    if value is None:
        return FAILED
    if most and not lower and value > 1.05 * most:
        return ODD  # the clock or the cache was measured
    if reference is None:
        return NONE
    return OK if (value <= reference / share if lower else value >= share * reference) else BELOW


class Report:
    """Figures as they come: printed, judged and kept for the file."""

    def __init__(self, program: str, args: argparse.Namespace, torch: Any = None) -> None:
        self.program, self.args, self.machine = program, args, machine(torch)
        self.figures: list[dict[str, Any]] = []
        self.then: list[str] = []
        if getattr(args, "against", None):
            old = json.loads(Path(args.against).read_text(encoding="utf-8"))
            mine = REFERENCE.setdefault("gpus", {}).setdefault(self.machine["gpu"] or "", {})
            known = [one for one in old["figures"] if one["key"] and one["value"] is not None]
            where = f"your run, {old['date']}"
            mine.update({one["key"]: [one["value"], one["unit"], where] for one in known})
        print(f"{program}: " + ", ".join(f"{k} {v}" for k, v in self.machine.items() if v))
        print("what: yours | reference | specification | verdict | note")

    def section(self, name: str) -> None:
        print(f"\n{name}", flush=True)

    def add(
        self,
        what: str,
        value: Any,
        unit: str = "",
        *,
        key: str = "",
        rule: str = "",
        good: bool | None = None,
        lower: bool = False,
        note: str = "",
        then: str = "",
    ) -> str:
        """Print and keep a figure; return its verdict.

        `key` finds reference, specification and note of a measured figure. A state has `good`
        and the `rule` that says what is expected; both left out, it is told without a verdict.
        `then` is what to do where the verdict is bad.
        """
        reference, specification, how = expected(key, self.machine["gpu"] or "")
        known, _, source = reference or (rule or None if good is not None else None, "", None)
        if key:
            shown = f"{short(known)} ({source})" if reference else NONE
            verdict = judge(value, known, specification, how.get("at_least", 0.9), lower)
        else:
            shown = f"expected: {known}" if known else "—"
            verdict = FAILED if value is None else TOLD if good is None else OK if good else BELOW
        page = note or how.get("note", "")
        page = REFERENCE.get("site", "") + page if page else ""
        mine = "—" if value is None else f"{short(value)} {unit}".strip()
        specified = short(specification) if specification else "—"
        line = " | ".join([mine, shown, specified, verdict, page]).rstrip(" |")
        print(f"  {what}: {line}", flush=True)
        kept = {"what": what, "key": key, "value": value, "unit": unit, "reference": known}
        kept.update(reference_from=source, specification=specification, verdict=verdict, note=page)
        self.figures.append(kept)
        if verdict in (BELOW, ODD, FAILED):
            self.then.append(f"{what}: {verdict}. {then or 'Read ' + page if then or page else ''}")
        return verdict

    def missing(self, what: str, why: str) -> None:
        self.add(what, None, then=why)

    def finish(self, good: str, **more: Any) -> int:
        """Write the file, say what to do next, return the exit status; `good`: if all is well."""
        verdicts = [one["verdict"] for one in self.figures]
        status = 1 if BELOW in verdicts else 2 if {FAILED, ODD} & set(verdicts) else 0
        status = 2 if status == 0 and OK not in verdicts else status
        if {one["verdict"] for one in self.figures if one["key"]} == {NONE}:
            good = "No rate has a reference: compare your machines; later use --against FILE."
        n, fine, under = len(verdicts), verdicts.count(OK), verdicts.count(BELOW)
        print(f"\n{n} figures, {fine} as expected, {under} below", *self.then, sep="\n- ")
        first = next((one for one in self.then if BELOW in one), (self.then or [good])[0])
        if getattr(self.args, "json", None):
            # Without options that are texts or paths: names of files may name somebody.
            given = [x for x in vars(self.args).items() if x[1] and type(x[1]) not in (str, dict)]
            shown = [f" --{k}={','.join(v) if type(v) is list else v}" for k, v in given]
            command = self.program + "".join(shown).replace("_", "-").replace("=True", "")
            record = {"kit": REFERENCE.get("kit", "source"), "program": self.program}
            record.update(command=command, date=datetime.date.today().isoformat())
            record.update(machine=self.machine, figures=self.figures, **more, next=first)
            Path(self.args.json).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(f"next: {first}", flush=True)
        return status


def parser(about: str, needs: str, sections: dict[str, str] | None = None) -> Any:
    """The options that every program has; `needs` says time and memory."""
    names = list(sections or {})
    listed = ["Sections:", *(f"  {k}: {v}" for k, v in sections.items())] if sections else []
    made = argparse.ArgumentParser(
        description="\n".join([about, "", needs, *listed]),
        epilog="Exit status: 0 as expected, 1 something is below, 2 could not measure.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )

    def section(text: str) -> list[str]:
        return [names[names.index(one)] for one in text.split(",")]

    if names:
        made.add_argument("--sections", type=section, default=names, help="A,B: only these")
    made.add_argument("--json", metavar="FILE", help="write the record of this run")
    made.add_argument("--against", metavar="FILE", help="compare with a record of this machine")
    return made


def main_of(body: Callable[[], int]) -> None:
    """End with the status of `body`; 2 where it breaks down or is interrupted."""
    try:
        sys.exit(body())
    except (KeyboardInterrupt, RuntimeError, OSError) as error:
        print(f"could not measure: {error or 'interrupted'}", file=sys.stderr)
        sys.exit(2)


# Rank and ranks, in the world and on this node. torchrun and mpirun come before srun: inside an
# allocation of Slurm they pass the variables of the batch script on.
LAUNCHERS = (
    "RANK WORLD_SIZE LOCAL_RANK LOCAL_WORLD_SIZE",
    "OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE"
    " OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_LOCAL_SIZE",
    "PMI_RANK PMI_SIZE MPI_LOCALRANKID MPI_LOCALNRANKS",
    "SLURM_PROCID SLURM_STEP_NUM_TASKS SLURM_LOCALID SLURM_STEP_TASKS_PER_NODE",
)


def place() -> dict[str, Any]:
    """Where this process stands among those that torchrun, mpirun or srun started."""
    env = os.environ
    rows = [row.split() for row in LAUNCHERS]
    names = next((row for row in rows if row[0] in env and row[1] in env), [])
    rank, world, local, here = (re.match(r"\d*", env.get(x, ""))[0] for x in names or [""] * 4)
    found = {"rank": int(rank or 0), "world": int(world or 1), "local": int(local or rank or 0)}
    found["here"] = int(here or found["world"])
    address = env.get("MASTER_ADDR") or ("127.0.0.1" if found["here"] == found["world"] else "")
    if not address:
        nodes = run("scontrol", "show", "hostnames", env.get("SLURM_STEP_NODELIST", ""))
        address = (nodes or "").partition("\n")[0]
    if not address:
        raise RuntimeError("set MASTER_ADDR to the host of rank 0, for all ranks")
    agent = env.get("TORCHELASTIC_USE_AGENT_STORE") == "True"  # torchrun holds the store then
    found.update(address=address, port=int(env.get("MASTER_PORT", "29500")))
    return {**found, "hosts": found["rank"] == 0 and not agent}
