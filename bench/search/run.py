"""`make bench BENCH=search`: quality, waiting times, memory and bytes, kept as one record."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bench.search import quality, sites
from bench.search.evaluation import history
from bench.search.notes import PUBLIC, ROOT, Collection, handbook, missing, public
from hooks.search.material import MATERIAL_VERSION

TYPED = {
    "handbook": ["nvlink", "cudaMemcpyAsync", "对分带宽", "bisection bandwidth", "虚拟机里的拓扑"],
    "oi-wiki": ["dijkstra", "nth_element", "线段树合并", "suffix automaton", "怎么判断有负环"],
    "pingcap": ["tidb", "tidb_mem_quota_query", "备份恢复", "slow query log", "怎么回收磁盘空间"],
    "llm-action": ["nccl", "gpu_memory_utilization", "张量并行", "flash attention", "显存不够用"],
    "llm-note": ["llama", "torch_dtype", "键值缓存", "flash attention", "推理为什么慢"],
    "llm-interview": ["bert", "max_length", "位置编码", "mixture of experts", "怎么防止遗忘"],
    "ai-infra-hpc": ["nvlink", "ibv_post_send", "内存对齐", "completion queue", "怎么注册内存"],
}
"""What is typed in the browser, the first one cold: a name, an identifier, a Chinese term, two
English words, words of a question."""
PAGES = {
    "handbook": "link/topo/nvswitch.html",
    "oi-wiki": "ds/dsu.html",
    "pingcap": "overview.html",
    "llm-action": "llm-alignment/DPO.html",
    "llm-note": "index.html",
    "llm-interview": "index.html",
    "ai-infra-hpc": "index.html",
}
ROUNDS = {"handbook": 3}
"""How often the browser measures; other collections twice."""


def _machine() -> dict[str, Any]:
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.is_file():
        names = [
            line.partition(":")[2].strip()
            for line in info.read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ]
        cpu = names[0] if names else cpu
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "system": platform.platform(terse=True),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
    }


def _commit() -> str:
    run = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout.strip()


def run(collection: Collection, cache: Path, *, rounds: int) -> dict[str, Any]:
    """Measure everything on one collection; in the browser so many rounds, 0 for not at all."""
    print(f"search: {collection.name}: site", flush=True)
    site = sites.build(collection, cache / "sites")
    variants = sites.make(site, collection)
    print(f"search: {collection.name}: quality", flush=True)
    record = quality.measure(collection, site, cache)
    record["bytes"] = {
        "markdown": collection.markdown_bytes(),
        **sites.index_sizes(variants),
    }
    if rounds:
        from bench.search import browser  # needs a browser, which quality does not

        print(f"search: {collection.name}: browser", flush=True)
        record["browser"] = browser.measure(
            variants,
            PAGES[collection.name],
            TYPED[collection.name],
            rounds=rounds,
        )
    return record


def check(collections: Iterable[Collection]) -> int:
    """Print the judged sections that the notes lack; return 1 when there are any, else 0."""
    status = 0
    for collection in collections:
        absent = missing(collection)
        print(f"search: {collection.name}: {collection.docs}: {len(absent)} judged sections absent")
        for line in absent:
            print(f"  {line}")
            status = 1
    return status


def main(given: list[str]) -> int:
    """Run the benchmark, keep its record, return the exit status."""
    parser = argparse.ArgumentParser(prog="bench.search", description=__doc__)
    parser.add_argument("--only", choices=sorted(PAGES), help="measure one collection")
    parser.add_argument("--rounds", type=int, default=0, help="how often the browser measures")
    parser.add_argument("--no-browser", action="store_true", help="measure quality and bytes only")
    parser.add_argument("--no-record", action="store_true", help="print, keep nothing")
    parser.add_argument(
        "--check",
        action="store_true",
        help="run no engine; see whether every judged section exists, and where the notes lie",
    )
    arguments = parser.parse_args(given)
    cache = ROOT / ".cache/bench"
    cache.mkdir(parents=True, exist_ok=True)
    names = [arguments.only] if arguments.only else ["handbook", *PUBLIC]
    # One after the other: each is written to the cache when its turn comes.
    chosen = (public(name, cache) if name in PUBLIC else handbook() for name in names)
    if arguments.check:
        return check(chosen)
    now = datetime.datetime.now(datetime.UTC)
    record: dict[str, Any] = {
        "date": now.date().isoformat(),
        "time": now.isoformat(timespec="seconds"),
        "commit": _commit(),
        "command": " ".join(["python -m bench.search", *given]),
        "machine": _machine(),
        "versions": {
            "python": platform.python_version(),
            "material": MATERIAL_VERSION,
        },
        "collections": {},
    }
    for collection in chosen:
        rounds = 0 if arguments.no_browser else arguments.rounds or ROUNDS.get(collection.name, 2)
        record["collections"][collection.name] = run(collection, cache, rounds=rounds)
    print(history.summary(record))
    if not arguments.no_record:
        history.write(ROOT, record)
        print(f"search: record kept in {history.LINES} and {history.LATEST}")
    print("bench: search done.")
    return 0
