"""Records of the OpenMP programs, from a run of tools/measure/run_openmp.sh.

python -m tools.measure.openmp RUN_FOLDER [--check]
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tools.measure.compute.lines import ROOT, Line, Run, points, where
from tools.measure.compute.records import programs
from tools.measure.topo.model import MeasureError, Result, Text
from tools.measure.topo.record import Draft, finished, row
from tools.measure.topo.wording import both

CODE = "docs/hpc/openmp/code"
TITLES = {
    "way": both("构造", "construct"),
    "threads": both("线程", "threads"),
    "schedule": both("调度", "schedule"),
    "bind": both("绑定", "binding"),
    "touched": both("谁先写", "first written by"),
    "distance": both("相距字节", "bytes apart"),
    "cutoff": both("截断", "cut-off"),
    "tasks": both("任务数", "tasks"),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """One result of a record: which lines of which files, and by what its points are told apart."""

    id: str
    title: Text
    axes: tuple[str, ...]
    result: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """One record."""

    name: str
    flags: str
    title: Text
    notes: Text
    results: tuple[Wanted, ...]


BIND = "OMP_PROC_BIND=close OMP_PLACES=cores"
ONCE = ("way", "threads")
WISHES = (
    Wish(
        "overheads",
        "-O2",
        both("每种构造的代价", "What each construct costs"),
        both(
            "每点 21 次重复的中位数，每次 500 次（update：2 万到 100 万次）。update 是全组累加一个"
            "共享 long 时每次加的墙上时间。绑核 close；passive 的两个结果另设 "
            "OMP_WAIT_POLICY=passive。",
            "Median of 21 repeats of 500 (update: 20,000 to 1,000,000) each. update is the wall "
            "time of one increment of a shared long by the whole team. Bound close; the two "
            "passive results with OMP_WAIT_POLICY=passive besides.",
        ),
        (
            Wanted("once", both("一次", "one"), ONCE),
            Wanted("update", both("一次累加", "one update"), ONCE),
            Wanted(
                "once_passive",
                both("一次，passive", "one, passive"),
                ONCE,
                "once",
                ("overheads_passive",),
            ),
            Wanted(
                "update_passive",
                both("一次累加，passive", "one update, passive"),
                ONCE,
                "update",
                ("overheads_passive",),
            ),
        ),
    ),
    Wish(
        "schedules",
        "-O2",
        both("同一循环，不同调度", "The same loop under several schedules"),
        both(
            "4096 次迭代；even 每次 2000 步，growing 从 0 线性增到 4000 步；加速比相对于"
            "没有 OpenMP 的循环。tiny：2^20 次几乎无工作的迭代，每次的墙上时间。"
            "11 次重复的中位数。",
            "4096 iterations; even: 2000 steps each, growing: linearly from 0 to 4000; speed-up "
            "over the loop without OpenMP. tiny: 2^20 iterations of almost no work, wall time of "
            "one. Median of 11 repeats.",
        ),
        (
            Wanted("even", both("均匀", "even work"), ("schedule", "threads")),
            Wanted("growing", both("线性增长", "growing work"), ("schedule", "threads")),
            Wanted("tiny", both("几乎无工作", "almost no work"), ("schedule", "threads")),
        ),
    ),
    Wish(
        "scaling",
        "-O3 -march=native",
        both("计算与带宽的扩展", "How computing and bandwidth scale"),
        both(
            "compute：积分，4×10^7 步，加速比。triad：三个 512 MiB 的数组，每元素按 24 字节计"
            "（写分配未计入）；数组由一个线程或全组先写。9 次重复的中位数。",
            "compute: an integral of 4x10^7 steps, speed-up. triad: three arrays of 512 MiB, 24 "
            "bytes counted for each element (write-allocation not counted); arrays written first "
            "by one thread or by the team. Median of 9 repeats.",
        ),
        (
            Wanted("compute", both("计算", "computing"), ("threads",)),
            Wanted(
                "triad",
                both("triad", "triad"),
                ("bind", "touched", "threads"),
                files=("scaling", "scaling_spread"),
            ),
        ),
    ),
    Wish(
        "false_sharing",
        "-O2",
        both("伪共享：计数器相距多远", "False sharing: how far apart counters are"),
        both(
            "每线程对自己的 volatile long 加一百万次；每次的墙上时间；11 次重复的中位数。",
            "Each thread increments a volatile long of its own a million times; wall time of one; "
            "median of 11 repeats.",
        ),
        (Wanted("increment", both("一次加一", "one increment"), ("distance", "threads")),),
    ),
    Wish(
        "padded",
        "-O2",
        both("两个计数器，同一行或两行", "Two counters, in one line or in two"),
        both(
            "两个线程各加自己的计数器；一次的墙上时间；101 次重复、每次两万，两种距离交替；"
            "机器很忙，只看比值。",
            "Two threads, each with its own counter; wall time of one increment; 101 repeats of "
            "20,000, both distances in turn; the machine was busy, so only ratios count.",
        ),
        (Wanted("increment", both("一次加一", "one increment"), ("way", "distance")),),
    ),
    Wish(
        "simd_len",
        "-O2 -march=native",
        both("declare simd 的长度", "The length of declare simd"),
        both(
            "4096 个 float，在一级缓存里；每元素的时间；21 次重复的中位数；机器很忙，只看比值。",
            "4096 floats in the first-level cache; time of one element; median of 21 repeats; the "
            "machine was busy, so only ratios count.",
        ),
        (Wanted("call", both("调用函数", "a call"), ("way",)),),
    ),
    Wish(
        "fib",
        "-O2",
        both("任务的截断", "The cut-off of tasks"),
        both(
            "fib(36)，任务生成到 fib(截断) 为止；plain 不用任务。5 次重复的中位数。",
            "fib(36), tasks made down to fib(cut-off); plain without tasks. Median of 5 repeats.",
        ),
        (
            Wanted("plain", both("不用任务", "without tasks"), ("threads",)),
            Wanted("cutoff", both("用任务", "with tasks"), ("cutoff", "tasks", "threads")),
        ),
    ),
    Wish(
        "simd",
        "-O2 -march=native",
        both("一个核上的 simd", "simd on one core"),
        both(
            "4096 个 float，在一级缓存里；每元素的时间；21 次重复的中位数。",
            "4096 floats in the first-level cache; time of one element; median of 21 repeats.",
        ),
        (
            Wanted("sum", both("求和", "a sum"), ("way",)),
            Wanted("call", both("调用函数", "a call"), ("way",)),
        ),
    ),
)


def field(text: str, key: str) -> str:
    """Return a field of lscpu."""
    match = re.search(rf"^ *{re.escape(key)}: +(.+)$", text, re.MULTILINE)
    if match is None:
        raise MeasureError(f"machine.txt: no line '{key}:'")
    return match[1].strip()


def machine(run: Run) -> dict[str, Any]:
    """Return what the run says of its machine."""
    text = run.text("machine.txt")
    cpus, nodes, per_core = (
        field(text, k) for k in ("CPU(s)", "NUMA node(s)", "Thread(s) per core")
    )
    family, model = field(text, "CPU family"), field(text, "Model")
    virtual = "Hypervisor vendor" in text
    kind = both("虚拟机", "virtual machine") if virtual else both("机器", "machine")
    lines = text.splitlines()
    return {
        "description": both(
            f"{cpus} 个 CPU、{nodes} 个 NUMA 节点的{kind['zh']}",
            f"{kind['en']} with {cpus} CPUs and {nodes} NUMA node(s)",
        ),
        "os_kernel": lines[1],
        "cpu": f"{field(text, 'Model name')}, family {family} model {model}, "
        f"{cpus} CPUs, {per_core} per core",
        "compiler": lines[2],
    }


def result(wanted: Wanted, name: str, run: Run) -> tuple[Result, list[Line]]:
    """Return one result and the lines it was made of."""
    lines = [line for file in wanted.files or (name,) for line in run.lines(f"{file}.jsonl")]
    found = where(lines, wanted.result or wanted.id)
    seen: list[Line] = []
    for line in found:  # one team size may be listed by two runs
        if all(any(line[a] != old[a] for a in wanted.axes) for old in seen):
            seen.append(line)
    made: Result = {
        "id": wanted.id,
        "title": wanted.title,
        "unit": found[0]["unit"],
        "direction": None,
        "per": None,
        "statistic": "median",
        "n": min(line["n"] for line in seen),
        "axes": [{"name": axis, "title": TITLES[axis]} for axis in wanted.axes],
        "points": points(seen, wanted.axes),
    }
    return made, seen


def records(run: Run) -> Iterator[tuple[str, str]]:
    """Yield path and text of each record."""
    for wish in WISHES:
        if not (run.folder / f"{wish.name}.jsonl").is_file():
            continue
        made = [result(wanted, wish.name, run) for wanted in wish.results]
        program = f"{CODE}/{wish.name}.c"
        draft = Draft(
            wish.name,
            wish.title,
            program,
            f"gcc -std=c17 {wish.flags} -fopenmp -o {wish.name} {program} -lm && "
            f"{BIND} ./{wish.name}",
            wish.notes,
            results=[one for one, _ in made],
            summary=[summary(one, lines) for one, lines in made],
            specification=[],
        )
        date = run.text("machine.txt").splitlines()[0]
        record = finished(
            draft, date=date, machine=machine(run), programs=programs(run, ROOT, program)
        )
        path = PurePosixPath(CODE).parent / "measured" / f"{wish.name}.json"
        yield path.as_posix(), json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def summary(one: Result, lines: Sequence[Line]) -> Any:
    """Return the last point of a result, its largest team, as a line of the summary."""
    last = lines[-1]
    labels = ", ".join(f"{axis['name']} {last[axis['name']]}" for axis in one["axes"])  # type: ignore[index]
    title = both(f"{one['title']['zh']}（{labels}）", f"{one['title']['en']} ({labels})")
    return row(
        title,
        [last["median"]],
        last["unit"],
        both(f"{last['n']} 次的中位数", f"median of {last['n']}"),
        result=one["id"],
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the records of a run; return 0, 1 (with --check: some are stale) or 2 (an error)."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.openmp", description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; name what would change"
    )
    options = parser.parse_args(arguments)
    stale = 0
    try:
        for path, text in records(Run(options.run.resolve())):
            file = ROOT / path
            if file.is_file() and file.read_text("utf-8") == text:
                continue
            stale += 1
            print(path)
            if not options.check:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, "utf-8")
    except MeasureError as error:
        print(f"openmp: {error}", file=sys.stderr)
        return 2
    return int(options.check and stale > 0)


if __name__ == "__main__":
    sys.exit(main())
