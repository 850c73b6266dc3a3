"""The part `save`: when an open browser shows a saved note, and `make serve` its first page.

`--sizes=500,2000` names the sizes of the trees in pages. The caches are those of an earlier
preview, as on the second day of work.
"""

from __future__ import annotations

import contextlib
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import Page, sync_playwright

from bench.build import builders
from bench.timing import RESULTS, ROOT, record
from tools import browser

SIZES = (500,)
SAVES = 7
_NOTE = "chip/roofline"
_LIMIT_S = 1800.0
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]


def main(options: list[str]) -> int:
    """Run the part; return the exit status."""
    given = dict(one.lstrip("-").partition("=")[::2] for one in options)
    sizes = [int(one) for one in given["sizes"].split(",")] if "sizes" in given else [*SIZES]
    rows = []
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="bench-save-") as folder:
            rows.append(measure(Path(folder) / "tree", size))
        print(f"bench: {rows[-1]}", flush=True)
        record(
            "save", ["mkdocs", "mkdocs-material", "playwright"], {"options": options, "rows": rows}
        )
    print(f"bench: {(RESULTS / 'save.json').relative_to(ROOT)} written")
    return 0


def measure(root: Path, size: int) -> dict[str, Any]:
    """Serve a tree twice, the second time with a browser; return seconds."""
    copies = builders.lay_out(root, size)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser.find(), args=_FLAGS)
        page = chromium.new_page()
        port = _free_port()  # one for both: pages know their address
        with served(root, port) as (address, process):
            cold = _first(page, address, process)
        with served(root, port) as (address, process):
            warm = _first(page, address, process)
            saves_s = [_save(page, root / "docs" / f"{_NOTE}.md", mark) for mark in range(SAVES)]
        chromium.close()
    return {
        "pages": 2 * len(copies),
        "first_cold": cold,
        "first_warm": warm,
        "save_s": round(statistics.median(saves_s), 2),
        "save_most_s": round(max(saves_s), 2),
        "load": round(os.getloadavg()[0], 1),
    }


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextlib.contextmanager
def served(root: Path, port: int) -> Iterator[tuple[str, psutil.Process]]:
    """Serve a tree as `make serve` does; yield its address and the process at once."""
    command = [sys.executable, "-m", "mkdocs", "serve", "--no-strict", "--livereload", "--quiet"]
    process = subprocess.Popen(
        [*command, "--dev-addr", f"127.0.0.1:{port}"],
        cwd=root,
        env=os.environ | {"SITE_URL": "", "REPO_URL": "", "NO_MKDOCS_2_WARNING": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{port}/", psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait()


def _first(page: Page, address: str, process: psutil.Process) -> dict[str, float]:
    """Return the seconds until a browser that asks again and again has the page."""
    began = time.perf_counter()
    port = int(address.rstrip("/").rpartition(":")[2])
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            break
        if time.perf_counter() - began > _LIMIT_S:
            raise SystemExit("bench: nothing is served")
        time.sleep(0.05)
    page.goto(f"{address}{_NOTE}.html")
    wall = time.perf_counter() - began
    return {"wall_s": round(wall, 2), "cpu_s": round(sum(process.cpu_times()[:4]), 2)}


def _save(page: Page, file: Path, number: int) -> float:
    """Return the seconds from a save to the moment at which the open page shows it."""
    time.sleep(1)  # somebody reads, and types
    mark = f"第 {number} 次保存"
    text = file.read_text(encoding="utf-8")
    began = time.perf_counter()
    file.write_text(f"{text}\n{mark}。\n", encoding="utf-8")
    page.get_by_text(mark).first.wait_for(timeout=_LIMIT_S * 1000)
    return time.perf_counter() - began
