"""Seven wrong C++ programs and what finds them; owners across Python and C++; two libraries.

python docs/eng/code/cpp_lab.py [bugs | border | twins | order]...

Builds the programs in docs/eng/code/cpp with g++ in a folder of its own, runs them, and prints
what each way of building says. Needs Linux, g++ 12 or newer with its sanitizers, and, for
"border", the headers of this Python.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

CPP = Path(__file__).parent / "cpp"
GXX = ["g++", "-std=c++20", "-pthread"]

# --8<-- [start:bugs]
BUGS = {
    "index32": "32-bit index",
    "alias": "float read as int",
    "view": "view of a temporary",
    "span": "span, vector grew",
    "past": "one past the end",
    "flag": "plain bool as flag",
    "relaxed": "relaxed flag",
}
WAYS = {
    "-O0": ["-O0"],
    "-O2": ["-O2"],
    "-Wall": ["-O2", "-Wall", "-Wextra"],
    "asserts": ["-O2", "-D_GLIBCXX_ASSERTIONS"],
    "asan+ubsan": ["-g", "-fsanitize=address,undefined"],
    "tsan": ["-g", "-fsanitize=thread"],
}
# --8<-- [end:bugs]
REPORT = re.compile(r"ERROR: AddressSanitizer|runtime error:|WARNING: ThreadSanitizer|Assertion")


def build(source: str, into: Path, *options: str) -> str:
    """Compile one program of the folder and return the compiler's warnings."""
    command = [*GXX, *options, "-o", str(into), str(CPP / source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return done.stderr


def run(*command: str) -> tuple[int, str]:
    """Run a program for a minute at most; return its status and all it says."""
    for _ in range(10):
        try:
            done = subprocess.run(command, capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return 124, ""
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if "unexpected memory mapping" not in said:  # TSan, by chance: addresses are random
            break
    return done.returncode, said


def verdict(name: str, way: str, program: Path) -> str:
    """What one way of building says of one program."""
    warnings = build(f"{name}.cpp", program, *WAYS[way])
    if way == "-Wall":
        return "warns" if warnings else "-"
    status, said = run(str(program))
    if REPORT.search(said):
        return "found"
    if way not in {"-O0", "-O2"}:
        return "-"
    return "right" if status == 0 else "hangs" if status == 124 else "wrong"


def bugs(folder: Path) -> Iterator[str]:
    """A table: the bugs, and what each way says of them."""
    yield f"{'':20}" + "".join(f"{way:>11}" for way in WAYS)
    for name, title in BUGS.items():
        row = [verdict(name, way, folder / name) for way in WAYS]
        yield f"{title:20}" + "".join(f"{cell:>11}" for cell in row)


OWNERS = """
import border
batch = border.Batch()
view = memoryview(batch).cast("f")
print("a view, then del batch", flush=True)
del batch
print(" ", view[0], flush=True)
del view
batch = border.Batch()
at = batch.address()
print("an address, then del batch", flush=True)
del batch
"""
THREAD = """
import border
class Held:
    def __del__(self):
        print("  gone", flush=True)
border.keep(Held(), {lock})
border.drop()
"""


def border(folder: Path) -> Iterator[str]:
    """Who frees the floats, and what becomes of a Python object that a C++ thread drops."""
    headers = f"-I{sysconfig.get_path('include')}"
    build("border.cpp", folder / "border.so", "-O2", "-fPIC", "-shared", headers)

    def python(code: str) -> tuple[int, str]:
        path = f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        return run(sys.executable, "-c", path + code)

    yield from python(OWNERS)[1].splitlines()
    for lock, title in ((1, "with the GIL"), (0, "without it")):
        yield f"a C++ thread drops the last reference, {title}"
        status, said = python(THREAD.format(lock=lock))
        yield "  gone" if (status, said) == (0, "  gone\n") else f"  killed by signal {-status}"


TWINS = """
import ctypes
print(*[ctypes.CDLL(f"./v{n}.so").version() for n in (1, 2)])
"""


def twins(folder: Path) -> Iterator[str]:
    """Two versions of one header: in libraries that Python loads, and in one program."""
    for option in ("-O2", "-fno-gnu-unique", "-fvisibility=hidden"):
        for number in (1, 2):
            out = folder / f"v{number}.so"
            build("count.cpp", out, "-O2", "-fPIC", "-shared", option, f"-DVERSION={number}")
        code = f"import os; os.chdir({str(folder)!r})\n{TWINS}"
        yield f"{option:20} {run(sys.executable, '-c', code)[1].strip()}"
    for option in ("-O2", "-flto"):
        objects = [folder / f"part{number}.o" for number in (1, 2)]
        for number, part in enumerate(objects, 1):
            build("layout.cpp", part, "-O2", "-c", option, f"-DPART={number}")
        link = ["g++", "-O2", option, *map(str, objects), "-o", str(folder / "layout")]
        done = subprocess.run(link, capture_output=True, text=True, check=True)
        says = "warns" if "-Wodr" in done.stderr else "links without a word"
        result = "right" if run(str(folder / "layout"))[0] == 0 else "wrong"
        yield f"one program, {option:7} {says}, result {result}"


def order(folder: Path) -> Iterator[str]:
    """Whether release and acquire change the code of the program with the relaxed flag."""
    code = []
    for write, read in (("relaxed", "relaxed"), ("release", "acquire")):
        out = folder / "order.s"
        names = [f"-DWRITE=std::memory_order_{write}", f"-DREAD=std::memory_order_{read}"]
        build("relaxed.cpp", out, "-O2", "-S", *names)
        code.append(out.read_text("utf-8"))
        out = folder / "order"
        build("relaxed.cpp", out, "-g", "-fsanitize=thread", *names)
        found = REPORT.search(run(str(out))[1])
        yield f"{write}, {read}: tsan {'found a race' if found else 'finds nothing'}"
    yield f"the same code: {code[0] == code[1]}"


PARTS = {"bugs": bugs, "border": border, "twins": twins, "order": order}


def main(chosen: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="cpp-") as folder:
        for name, part in PARTS.items():
            if not chosen or name in chosen:
                print(name)
                for line in part(Path(folder)):
                    print(line.rstrip())
                print()


if __name__ == "__main__":
    main(sys.argv[1:])
