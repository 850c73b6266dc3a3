"""Five ways in which a compiled program fails before or while it runs, and what names the cause.

python docs/eng/code/native_lab.py [1 to 5]...

Builds small C++ programs in a folder of its own with g++, breaks each in one way, and prints what
the loader or the debugger says. Needs Linux, g++ and binutils; the last case also gdb.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# --8<-- [start:sources]
WORK = """
#include <string>
std::string work(const std::string& name) { return "%s works for " + name; }
"""
APP = """
#include <cstdio>
#include <string>
std::string work(const std::string& name);
int main() { std::puts(work("you").c_str()); }
"""
CRASH = """
struct Batch { int* rows; };
int sum(const Batch& batch, int n) { int s = 0; while (n--) s += batch.rows[n]; return s; }
int main() { Batch empty{}; return sum(empty, 4); }
"""
# --8<-- [end:sources]
LINK = "g++ -o app app.cpp -Llib -lwork"
VERSIONS = "WORK_%d { global: *; };"


class Lab:
    """A folder with commands that run in it."""

    def __init__(self, folder: Path) -> None:
        """Take an empty folder."""
        self.folder = folder

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, command: str, **more: str) -> str:
        """Run a command line; return what it says, output and errors together."""
        env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        done = subprocess.run(
            command,
            shell=True,  # the lines are those that a reader types
            cwd=self.folder,
            env=env | {"LC_ALL": "C"} | more,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.stdout.rstrip()

    def build(self, command: str) -> None:
        said = self.run(command)
        if said:
            raise SystemExit(f"{command}\n{said}")

    def library(self, folder: str, name: str, options: str = "") -> None:
        """Build `folder/libwork.so`, whose function says a name."""
        self.write(f"{folder}/work.cpp", WORK % name)
        self.build(f"g++ -shared -fPIC {options} -o {folder}/libwork.so {folder}/work.cpp")


def cases(lab: Lab) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each case and the lines of a session with it."""
    lab.write("app.cpp", APP)
    lab.library("lib", "lib")

    def told(*commands: str) -> list[str]:
        return [line for one in commands for line in (f"$ {one}", *lab.run(one).splitlines())]

    lab.build(LINK)
    missing = told("./app", "readelf -d app | grep -o 'NEEDED.*work.*'", "ldd app | grep work")
    lab.build(f"{LINK} -Wl,-rpath,'$ORIGIN/lib'")
    yield "not found", [*missing, *told("./app  # linked again with -Wl,-rpath,'$ORIGIN/lib'")]

    lab.library("other", "other")
    lines = told("LD_LIBRARY_PATH=other ./app")
    asked = "LD_LIBRARY_PATH=other LD_DEBUG=libs ./app 2>&1"
    lines.append(f"$ {asked} | grep 'calling init.*work'")
    lines += re.findall(r"calling init: \S*work\S*", lab.run(asked))
    lab.build(f"{LINK} -Wl,--disable-new-dtags,-rpath,'$ORIGIN/lib'")
    again = told("LD_LIBRARY_PATH=other ./app  # RPATH instead of RUNPATH")
    yield "another one found first", [*lines, *again]

    lab.library("old", "old", "-D_GLIBCXX_USE_CXX11_ABI=0")
    lab.build(f"{LINK} -Wl,-rpath,'$ORIGIN/lib'")
    yield (
        "undefined symbol",
        told(
            "LD_LIBRARY_PATH=old ./app",
            "nm -DC app | grep -o 'U work.*'",
            "nm -DC old/libwork.so | grep -o 'T work.*'",
        ),
    )

    for number in (1, 2):
        lab.write("map", VERSIONS % number)
        lab.library(f"v{number}", f"v{number}", "-Wl,--version-script=map")
    lab.build("g++ -o app app.cpp -Lv2 -lwork")
    yield (
        "version not found",
        told(
            "LD_LIBRARY_PATH=v1 ./app",
            "objdump -T app | grep -o 'WORK_.*'",
            "objdump -T v1/libwork.so | grep -o 'WORK_. .*work.*'",
        ),
    )

    lab.write("crash.cpp", CRASH)
    lab.build("g++ -g -o crash crash.cpp")
    if shutil.which("gdb"):
        asked = "gdb -batch -ex run -ex bt -ex 'print batch' ./crash"
        lines = [re.sub(r"0x[0-9a-f]{6,}", "0x…", one) for one in lab.run(asked).splitlines()]
        wanted = ("Program received", "#0", "#1", "$1")
        yield "crash", [f"$ {asked}", *(one for one in lines if one.startswith(wanted))]


def main(chosen: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="native-") as folder:
        for number, (name, lines) in enumerate(cases(Lab(Path(folder))), 1):
            if not chosen or str(number) in chosen:
                print(f"{number} {name}", *lines, "", sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
