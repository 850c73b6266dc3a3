"""Tell in which files two built sites differ, byte by byte: `python tools/same_site.py OLD NEW`.

Names files that only one of them has, and of files in both the first line that differs. The
numbers by kind of file come last; the exit status is 1 where anything differs.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path


def files_of(site: Path) -> set[str]:
    """Return the paths of a site's files."""
    return {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}


def first_difference(one: bytes, two: bytes) -> str:
    """Return where two files part, with what follows there in each."""
    at = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), None)
    at = min(len(one), len(two)) if at is None else at
    line, start = one.count(b"\n", 0, at) + 1, max(at - 30, 0)
    shown = [part[start : at + 60].decode("utf-8", "replace") for part in (one, two)]
    return f"line {line}: {shown[0]!r} / {shown[1]!r}"


def main() -> int:
    """Compare the two folders named on the command line."""
    old, new = Path(sys.argv[1]), Path(sys.argv[2])
    before, after = files_of(old), files_of(new)
    kinds: Counter[str] = Counter()
    for sign, names in (("gone", before - after), ("new", after - before)):
        for name in sorted(names):
            print(f"{sign}: {name}")
            kinds[f"{sign} {Path(name).suffix}"] += 1
    for name in sorted(before & after):
        one, two = (old / name).read_bytes(), (new / name).read_bytes()
        if one != two:
            print(f"differs: {name}: {first_difference(one, two)}")
            kinds[f"differs {Path(name).suffix}"] += 1
    print(", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())) or "the same")
    return 1 if kinds else 0


if __name__ == "__main__":
    sys.exit(main())
