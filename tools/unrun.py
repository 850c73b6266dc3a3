"""Name the CUDA and NCCL programs of the notes that no record shows to have been compiled so.

python3 tools/unrun.py   # their paths, one a line; needs nothing but Python

A record holds the hash of the program that was compiled and started on a GPU, and `make check`
refuses a program that differs from its record: what is not named needs no compiler in CI.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path


def unrun(docs: Path) -> list[str]:
    """Return the .cu files below folders `code`, and NCCL's .cc files, whose hash no record has."""
    known: set[str] = set()
    for path in docs.glob("**/measured/*.json"):
        record = json.loads(path.read_text("utf-8"))
        for one in [record.get("program") or {}, *record.get("programs", [])]:
            known.update([one.get("sha256", ""), *one.get("same", [])])
    programs = sorted([*docs.glob("**/code/*.cu"), *docs.glob("ccl/nccl/code/*.cc")])
    return [
        str(path) for path in programs if hashlib.sha256(path.read_bytes()).hexdigest() not in known
    ]


if __name__ == "__main__":
    sys.stdout.writelines(f"{path}\n" for path in unrun(Path("docs")))
