"""Counts what a command asks of its file systems, and runs it again with every call delayed.

Run:  python docs/storage/code/count_calls.py [--delay US ...] -- COMMAND ...
      python docs/storage/code/count_calls.py --make DIR     (10,000 files of 4 KiB, 10 shards)

Needs strace 5 or newer; Linux only. Counted are system calls that name a path, and getdents64:
each may become a request to a metadata server, and those that the client can answer from its
cache do not. fstat of an open file is not counted. With --delay the kernel waits that many
microseconds before each of these calls (strace's fault injection), so the time that is printed is
the one of a client without any cache. strace itself slows calls down: see the row "delay 0".
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

KINDS = {
    "look up": "stat lstat newfstatat statx access faccessat faccessat2 readlink readlinkat"
    " getxattr lgetxattr listxattr llistxattr statfs",
    "open": "open openat openat2 creat execve",
    "list": "getdents64",
    "change": "mkdir mkdirat rename renameat renameat2 unlink unlinkat rmdir link linkat symlink"
    " symlinkat chmod fchmodat chown fchownat utime utimensat truncate",
}
KIND = {call: kind for kind, calls in KINDS.items() for call in calls.split()}
LOCAL = ("/proc", "/sys", "/dev")
LINE = re.compile(r"^\d+\s+(?:<\.\.\. )?(?P<call>\w+)(?P<rest>.*)$")
FIRST = re.compile(r'^\((?:(?:AT_FDCWD|\d+)(?:<(?P<at>[^>]*)>)?,?\s*)?(?:"(?P<name>[^"]*)")?')


# --8<-- [start:count]
def count(lines: list[str], cwd: str = "/") -> tuple[collections.Counter[str], set[str]]:
    """Return the calls by kind, with "missing" for names that do not exist, and all the names."""
    calls: collections.Counter[str] = collections.Counter()
    names: set[str] = set()
    for line in lines:
        found = LINE.match(line)
        if not found or found["call"] not in KIND:
            continue
        missing = "ENOENT" in found["rest"]
        if found["rest"].startswith(" resumed"):  # the first half was counted when it began
            calls["missing"] += missing
            continue
        first = FIRST.match(found["rest"])
        at, name = (first["at"] or "", first["name"] or "") if first else ("", "")
        path = os.path.normpath(Path(at or cwd) / name)
        if path.startswith(LOCAL) or (not name and found["call"] != "getdents64"):
            continue  # kernel's own files, or an fstat in disguise
        calls[KIND[found["call"]]] += 1
        calls["missing"] += missing
        names.add(path)
    return calls, names


# --8<-- [end:count]


def strace(command: list[str], *options: str) -> float:
    """Run a command under strace, without its output, and return the seconds."""
    began = time.perf_counter()
    subprocess.run(
        ["strace", "-f", "-qq", *options, *command], check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - began


def make(root: Path, files: int = 10_000, shards: int = 10, size: int = 4096) -> None:
    """Write the same bytes as many files in one directory and as a few shards in another."""
    one = bytes(size)
    for folder in ("files", "shards"):
        (root / folder).mkdir(parents=True)
    for i in range(files):
        (root / "files" / f"{i:06d}.bin").write_bytes(one)
    for i in range(shards):
        (root / "shards" / f"{i:04d}.bin").write_bytes(one * (files // shards))


def main(argv: list[str] | None = None) -> None:
    """Count, then delay."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--make", type=Path)
    parser.add_argument("--delay", type=int, nargs="*", default=[])
    argv = sys.argv[1:] if argv is None else argv
    split = argv.index("--") if "--" in argv else len(argv)
    options, command = parser.parse_args(argv[:split]), argv[split + 1 :]
    if options.make:
        make(options.make)
        return
    chosen = ",".join("?" + call for call in KIND)
    with tempfile.NamedTemporaryFile("r", suffix=".strace") as log:
        strace(command, "-y", "-s", "4096", "-e", f"trace={chosen}", "-o", log.name)
        calls, names = count(log.read().splitlines(), str(Path.cwd()))
    total = sum(calls[kind] for kind in KINDS)
    print("  ".join(f"{kind} {calls[kind]}" for kind in (*KINDS, "missing")))
    print(f"calls {total}, different names {len(names)}")
    for delay in options.delay:
        inject = ["-e", f"inject={chosen}:delay_enter={delay}"] if delay else []
        took = strace(command, "-e", f"trace={chosen}", *inject, "-o", "/dev/null")
        print(f"delay {delay} us: {took:.2f} s")


if __name__ == "__main__":
    main()
