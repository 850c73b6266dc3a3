"""One stopwatch: how long a check, a build and a save take, in one run on one machine.

Everything runs in a clone of the last commit, so that the sources stay as they are. Each row has
the time on the clock, the processor time and both as a share of the first build, because a busy
machine slows everything down by turns.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import record

NOTE = "chip/roofline"
LIMIT_S = 900.0
CHECK = [sys.executable, "-m", "hooks", "check"]
BUILD = [sys.executable, "-m", "mkdocs", "build", "--strict"]
SERVE = [sys.executable, "-m", "mkdocs", "serve", "--no-strict", "--livereload", "--quiet"]


def main(options: list[str]) -> int:
    """Measure and print; with `--record` keep the record. Return the exit status."""
    with tempfile.TemporaryDirectory(prefix="bench-speed-") as folder:
        tree = Path(folder) / "handbook"
        clone = ["git", "clone", "--quiet", "--shared", str(record.ROOT), str(tree)]
        subprocess.run(clone, check=True)
        rows = measure(tree)
    whole = rows["build_cold"]
    for name, row in rows.items():
        unit = "cpu_s" if "cpu_s" in row else "wall_s"
        row["ratio"] = round(row[unit] / whole[unit], 2)
        print(f"{name:14} {row['wall_s']:7.2f} s {row['ratio']:6.2f}")
    if "--record" in options:
        pages = len(list((record.ROOT / "docs").rglob("*.md")))
        print(record.write("speed", {"pages": pages, "rows": rows}))
    return 0


def measure(tree: Path) -> dict[str, dict[str, float]]:
    """Return the seconds of each row, in the order in which they were measured."""
    rows = {"build_cold": _run(tree, BUILD), "build_same": _run(tree, BUILD)}
    _change(tree, "一")
    rows["build_changed"] = _run(tree, BUILD)
    with _served(tree) as address:
        rows["preview"] = _wait(lambda: "</html>" in _page(address))
        time.sleep(5)  # the build that follows the first page
        _change(tree, "二")
        rows["save"] = _wait(lambda: "第二次改动" in _page(address))
    shutil.rmtree(tree / ".cache")
    rows["check_cold"] = _run(tree, CHECK)
    rows["check_same"] = _run(tree, CHECK)
    _change(tree, "三")
    rows["check_changed"] = _run(tree, CHECK)
    return rows


def _change(tree: Path, number: str) -> None:
    file = tree / "docs" / f"{NOTE}.md"
    text = file.read_text(encoding="utf-8")
    file.write_text(f"{text}\n第{number}次改动。\n", encoding="utf-8")


def _environment() -> dict[str, str]:
    return os.environ | {"SITE_URL": "", "REPO_URL": "", "NO_MKDOCS_2_WARNING": "1"}


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(tree: Path, command: list[str]) -> dict[str, float]:
    """Run a command to its end; return what it cost. An error ends the measurement."""
    start, before = time.perf_counter(), _children_s()
    done = subprocess.run(
        command,
        cwd=tree,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"bench: {' '.join(command[1:])} failed:\n{done.stderr[-2000:]}")
    wall, cpu = time.perf_counter() - start, _children_s() - before
    return {"wall_s": round(wall, 2), "cpu_s": round(cpu, 2)}


@contextlib.contextmanager
def _served(tree: Path) -> Iterator[str]:
    """Serve the tree as `make serve` does; yield the address of the note."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [*SERVE, "--dev-addr", f"127.0.0.1:{port}"],
        cwd=tree,
        env=_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}/{NOTE}.html"
    finally:
        process.terminate()
        process.wait()


def _page(address: str) -> str:
    try:
        with urllib.request.urlopen(address, timeout=60) as answer:
            return str(answer.read().decode("utf-8"))
    except OSError:
        return ""


def _wait(is_there: Callable[[], bool]) -> dict[str, float]:
    """Return the seconds until something is there; of these only the clock is known."""
    start = time.perf_counter()
    while not is_there():
        if time.perf_counter() - start > LIMIT_S:
            raise SystemExit("bench: the preview does not answer")
        time.sleep(0.1)
    return {"wall_s": round(time.perf_counter() - start, 2)}
