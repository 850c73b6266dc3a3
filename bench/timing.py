"""Run a command and say what it cost; write what a part of the benchmark measured."""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"


@dataclass(frozen=True, slots=True)
class Run:
    """What a command cost and said."""

    wall_s: float
    cpu_s: float
    """Processor time of the command and all that it started, in seconds."""
    peak_mb: float
    """Largest resident memory of one process, in 10^6 bytes."""
    status: int
    output: str
    errors: str

    @property
    def cost(self) -> dict[str, float]:
        """Times and memory as a record holds them."""
        return {
            "wall_s": round(self.wall_s, 3),
            "cpu_s": round(self.cpu_s, 3),
            "peak_mb": round(self.peak_mb, 1),
        }


def run(
    command: Sequence[str], *, cwd: Path = ROOT, timeout_s: float = 1800, **environment: str
) -> Run:
    """Run a command to its end.

    Raises:
        subprocess.TimeoutExpired: It took longer than `timeout_s`.
    """
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    env.pop("PYTHONDONTWRITEBYTECODE", None)  # compiled once, as on anybody's machine
    script = (
        "import json,resource,subprocess,sys,time\n"
        "start=time.perf_counter()\n"
        "done=subprocess.run(sys.argv[2:],capture_output=True,check=False)\n"
        "wall=time.perf_counter()-start\n"
        "used=resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "json.dump([wall,used.ru_utime+used.ru_stime,used.ru_maxrss,done.returncode,"
        "done.stdout.decode('utf-8','replace'),done.stderr.decode('utf-8','replace')],"
        "open(sys.argv[1],'w'))\n"
    )
    # A process of its own for each command: the resources of children add up in their parent.
    report = Path(env.get("TMPDIR", "/tmp")) / f"bench-{os.getpid()}-{time.monotonic_ns()}.json"
    try:
        subprocess.run(
            [sys.executable, "-c", script, str(report), *command],
            cwd=cwd,
            env=env | environment,
            check=True,
            timeout=timeout_s,
        )
        wall, cpu, peak, status, output, errors = json.loads(report.read_text(encoding="utf-8"))
    finally:
        report.unlink(missing_ok=True)
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kibibytes elsewhere
    return Run(wall, cpu, peak * unit / 1e6, status, output, errors)


def median(runs: Sequence[Run]) -> Run:
    """Return the run with the median processor time."""
    return sorted(runs, key=lambda one: one.cpu_s)[len(runs) // 2]


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in text.splitlines() if "model name" in line]
    return names[0] if names else platform.machine()


def record(part: str, libraries: Sequence[str], found: Mapping[str, Any]) -> Path:
    """Write what a part found, with the machine, the versions and the day; return the file."""
    versions = {name: metadata.version(name) for name in libraries}
    data = {
        "part": part,
        "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
        "command": f"make bench BENCH={part}",
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "system": f"{platform.system()} {platform.release()}",
        },
        "versions": {"Python": platform.python_version(), **versions},
        **found,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    file = RESULTS / f"{part}.json"
    text = json.dumps(data, ensure_ascii=False, indent=2)
    file.write_text(text + "\n", encoding="utf-8")
    return file
