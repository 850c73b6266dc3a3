"""Name the CUDA and NCCL programs of the notes that no record shows to have been compiled so.

python -m tools.unrun   # their paths, one a line

A record holds the hashes of the program that was compiled and started, and of its headers, and
`make check` refuses a file that differs from its record: what is not named needs no compiler in CI.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from hooks.data.measured import parse_record, sha256


def unrun(docs: Path) -> list[str]:
    """Return the .cu files below folders `code`, and NCCL's .cc files, that no record proves.

    A record proves a program if records hold its hash and that of each file it includes in quotes.
    """
    known: set[str] = set()
    for path in docs.glob("**/measured/*.json"):
        for one in parse_record(path.read_text("utf-8")).all_programs:
            known.update([one.sha256, *one.same])

    def is_proven(path: Path) -> bool:
        included = re.findall(r'#include "(.+?)"', path.read_text("utf-8"))
        files = [path, *(path.parent / name for name in included)]
        return all(sha256(file) in known for file in files if file.is_file())

    programs = sorted([*docs.glob("**/code/*.cu"), *docs.glob("ccl/nccl/code/*.cc")])
    return [str(path) for path in programs if not is_proven(path)]


if __name__ == "__main__":
    sys.stdout.writelines(f"{path}\n" for path in unrun(Path("docs")))
