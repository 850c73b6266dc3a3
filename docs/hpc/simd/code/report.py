"""What GCC says of each loop of loops.c under several sets of options.

A number is the widest vector in bytes, `*` a check at run time whether arrays overlap,
`-` a loop left scalar.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

LOOPS = Path(__file__).with_name("loops.c")
OPTIONS = {
    "-O2": ["-O2"],
    "-O3": ["-O3"],
    "v3": ["-O3", "-march=x86-64-v3"],
    "v3 fast": ["-O3", "-march=x86-64-v3", "-ffast-math"],
    "v4": ["-O3", "-march=x86-64-v4"],
    "icelake": ["-O3", "-march=icelake-server"],
}
SAID = re.compile(
    r"loops\.c:(\d+):\d+: optimized: +loop (?:vectorized using (\d+) byte|versioned for vec)"
)


def functions() -> dict[int, str]:
    """Return the function that each line belongs to."""
    name, found = "", {}
    for number, line in enumerate(LOOPS.read_text("utf-8").splitlines(), 1):
        match = re.search(r"NAME\((\w+)\)\(", line)
        name = match[1] if match else name
        found[number] = name
    return found


def report(options: list[str]) -> dict[str, str]:
    """Return what the compiler did to each function's loop."""
    command = [
        "gcc",
        "-std=gnu17",
        "-fopenmp-simd",
        "-DBUILD=x",
        *options,
        "-fopt-info-vec-optimized",
    ]
    run = subprocess.run(
        [*command, "-c", str(LOOPS), "-o", "/dev/null"], capture_output=True, text=True, check=True
    )
    where, widest, checked = functions(), {}, set()
    for line, width in SAID.findall(run.stderr):
        name = where[int(line)]
        if width:
            widest[name] = max(widest.get(name, 0), int(width))
        else:
            checked.add(name)
    return {name: f"{width}{'*' if name in checked else ' '}" for name, width in widest.items()}


if __name__ == "__main__":
    said = {title: report(options) for title, options in OPTIONS.items()}
    print(f"{'':<16}" + "".join(f"{title:>9}" for title in said))
    for name in dict.fromkeys(functions().values()):
        if name:
            cells = "".join(f"{one.get(name, '- '):>9}" for one in said.values())
            print(f"{name:<16}{cells}".rstrip())
