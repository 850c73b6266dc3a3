"""Finds the planted faults of three_faults.c one after the other, with the tools of Linux.

python docs/hpc/perf/code/three_faults.py            the four sessions, as the note shows them
python docs/hpc/perf/code/three_faults.py times      seconds of each stage, in turn, five times
python docs/hpc/perf/code/three_faults.py overhead   how much each tool slows the program down
perf script -i DATA | python .../three_faults.py fold N    sums samples by their N outermost frames

Needs Linux, gcc and perf, and the right to use it; what bpftrace says is left out where it is
missing. Numbers differ from run to run and from machine to machine.
"""

from __future__ import annotations

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = "gcc -O2 -g -fno-omit-frame-pointer -pthread -o three_faults three_faults.c"
FOLD = "perf script -i x.data 2>/dev/null | python three_faults.py fold"
BLOCKED = "perf record -q -e sched:sched_switch --filter 'prev_state != 0'"
READS = "tracepoint:syscalls:sys_exit_read /pid == cpid/ { @bytes = hist(args->ret); }"
TOOLS = {
    "perf stat": ("perf stat -o x.txt ./three_faults 2", 7),
    "perf record, 999 Hz, frame pointers": (
        "perf record -q -F 999 -g -o x.data ./three_faults 2",
        7,
    ),
    "perf record, 999 Hz, dwarf": (
        "perf record -q -F 999 --call-graph dwarf -o x.data ./three_faults 2",
        7,
    ),
    "bpftrace, histogram of reads": (f"bpftrace -q -o x.txt -e '{READS}' -c './three_faults 2'", 7),
    "strace -f -c": ("strace -f -c -o x.txt ./three_faults 2", 1),
    "perf trace -s": ("perf trace -s -o x.txt ./three_faults 2", 1),
}


# --8<-- [start:fold]
def fold(lines: Iterable[str], depth: int) -> list[tuple[float, str]]:
    """Return share and stack, commonest first, of samples as `perf script` prints them."""
    stacks: Counter[str] = Counter()
    frames: list[str] = []
    for line in [*lines, ""]:
        if not line.strip() and frames:  # an empty line ends a sample; its innermost frame is first
            stacks[";".join(frames[::-1][:depth])] += 1
            frames = []
        elif line[:1] in " \t" and (found := re.match(r"\s+[0-9a-f]+ ([^+]+)", line)):
            frames.append(found[1].split(" (")[0])
    return [(count / stacks.total(), stack) for stack, count in stacks.most_common()]


# --8<-- [end:fold]


def run(command: str, folder: Path) -> str:
    """Run a command line in the folder; return what it says, output and errors together."""
    done = subprocess.run(
        command,
        shell=True,  # the lines are those that a reader types
        cwd=folder,
        env=os.environ | {"LC_ALL": "C"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout.replace("\t", " ")


def sessions(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each session and its lines: commands, and what matters of their output."""

    def told(command: str, keep: str = r".*\S.*", most: int = 99) -> list[str]:
        lines = [one.rstrip() for one in run(command, folder).splitlines()]
        return [f"$ {command}", *[one for one in lines if re.fullmatch(keep, one)][:most]]

    times = r".*(task-clock|context-sw|elapsed|repaired).*|.* (user|sys)"
    shares = r" +\d.*"
    folded = r" *\d+\.\d% .*"
    yield "first", told("perf stat ./three_faults 0")
    yield (
        "waiting",
        [
            *told(f"{BLOCKED} -g -o x.data ./three_faults 0", "nothing"),
            *told(f"{FOLD} 3", folded, 3),
            *told(f"{BLOCKED} --call-graph dwarf -o x.data ./three_faults 0", "nothing"),
            *told(f"{FOLD} 5", folded, 3),
        ],
    )
    yield (
        "computing",
        [
            *told("perf stat ./three_faults 1", times),
            *told("perf record -q -F 499 -g -o x.data ./three_faults 1", "nothing"),
            *told("perf report -i x.data --stdio --no-children -g none", shares, 3),
        ],
    )
    lines = [
        *told("perf stat ./three_faults 2", times),
        *told("perf record -q -F 499 -g -o x.data ./three_faults 2", "nothing"),
        *told("perf report -i x.data --stdio --children -g none", shares, 6),
    ]
    if shutil.which("bpftrace"):
        lines += told(f"bpftrace -c './three_faults 2' -e '{READS}'", r"\[.*[1-9] \|.*")
    yield "in the kernel", lines
    yield "repaired", told("perf stat ./three_faults 3", times)


def seconds_of(command: str, folder: Path) -> float:
    """Run a command line with the program in it; return the seconds that the program prints."""
    return float(re.findall(r"repaired: ([\d.]+) s", run(command, folder))[0])


def times(folder: Path) -> Iterator[str]:
    """Yield a line for each stage: least and middle of five runs, which take turns."""
    rounds = [
        [seconds_of(f"./three_faults {stage}", folder) for stage in range(4)] for _ in range(5)
    ]
    for stage, found in enumerate(zip(*rounds, strict=True)):
        middle = statistics.median(found)
        yield f"{stage} repaired   least {min(found):>5.2f} s   median {middle:>5.2f} s"


def overhead(folder: Path) -> Iterator[str]:
    """Yield a line for each tool: how many times as long as without it, just before and after."""
    for name, (command, runs) in TOOLS.items():
        if shutil.which(command.split()[0]) is None:
            continue
        ratios = []
        for _ in range(runs):
            bare = seconds_of("./three_faults 2", folder)
            watched = seconds_of(command, folder)
            ratios.append(2 * watched / (bare + seconds_of("./three_faults 2", folder)))
        yield f"{name:<38}{statistics.median(ratios):>6.2f} times"


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["fold"]:
        for share, stack in fold(sys.stdin, int(arguments[1])):
            print(f"{share:>6.1%} {stack}")
        return
    with tempfile.TemporaryDirectory(prefix="faults-") as name:
        folder = Path(name)
        for one in ("three_faults.c", "three_faults.py"):
            shutil.copy(HERE / one, folder)
        if problem := run(f"{BUILD} 2>&1 | grep error", folder):
            raise SystemExit(problem)
        if arguments:
            for line in {"overhead": overhead, "times": times}[arguments[0]](folder):
                print(line, flush=True)
            return
        for title, lines in sessions(folder):
            print(f"# {title}", *lines, "", sep="\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
