"""CPU time of g++ for small files: what a header and what an instantiation costs.

python docs/eng/code/cpp_times.py

Compiles from standard input with -O2, three times each, and prints the least user and system
time and the size of the object. pybind11 and nanobind are measured where Python finds them.
"""

from __future__ import annotations

import importlib.util
import resource
import subprocess
import sysconfig
import tempfile
from pathlib import Path

TEMPLATE = """
#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <int N> int work(std::vector<int> v) {
    std::map<int, std::string> m;
    for (int x : v) m[x + N] = std::to_string(x);
    std::sort(v.begin(), v.end(), [](int a, int b) { return a % (N + 2) < b % (N + 2); });
    return m.size() + v[0];
}
int main() { std::vector<int> v(9); return %s; }
"""
PYBIND11 = """
#include <pybind11/pybind11.h>
int add(int a, int b) { return a + b; }
PYBIND11_MODULE(m, m) { m.def("add", &add); }
"""
NANOBIND = """
#include <nanobind/nanobind.h>
int add(int a, int b) { return a + b; }
NB_MODULE(m, m) { m.def("add", &add); }
"""


def programs() -> dict[str, tuple[str, list[str]]]:
    """Return the source of each case, and its options."""
    python = f"-I{sysconfig.get_path('include')}"
    cases: dict[str, tuple[str, list[str]]] = {}
    for header in ("cstdio", "vector", "string", "memory", "iostream", "regex", "Python.h"):
        cases[f"#include <{header}>"] = f"#include <{header}>\nint main() {{}}\n", [python]
    for count in (1, 10, 50):
        calls = " + ".join(f"work<{number}>(v)" for number in range(count))
        source = TEMPLATE.replace("%s;", f"{calls};")
        cases[f"a template with map and sort, {count} times"] = source, []
    for name, source in (("pybind11", PYBIND11), ("nanobind", NANOBIND)):
        found = importlib.util.find_spec(name)
        if found and found.origin:
            root = Path(found.origin).parent
            options = [python, "-fvisibility=hidden", f"-I{root}/include"]
            cases[f"one function with {name}"] = source, options
            if name == "nanobind":
                more = f"-I{root}/ext/robin_map/include"
                own = f'#include "{root}/src/nb_combined.cpp"\n'
                options = [*options, more, "-fno-strict-aliasing"]
                cases["nanobind's own library, once"] = own, options
    return cases


def cost(source: str, options: list[str], folder: Path) -> tuple[float, int]:
    """Return the least CPU seconds of three compilations, and the bytes of the object."""
    out = folder / "object.o"
    command = ["g++", "-std=c++20", "-O2", "-fPIC", "-c", "-x", "c++", "-", "-o", str(out)]
    spent = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([*command, *options], input=source, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(
            after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        )
    return min(spent), out.stat().st_size


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="times-") as folder:
        for name, (source, options) in programs().items():
            seconds, size = cost(source, options, Path(folder))
            print(f"{name:40} {seconds:6.2f} s {size / 1000:7.0f} kB", flush=True)


if __name__ == "__main__":
    main()
