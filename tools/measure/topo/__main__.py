"""Write, or check, the records and captures under docs/link/{topo,gpudirect}/measured/."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.measure.topo.model import MeasureError
from tools.measure.topo.raw import Raw
from tools.measure.topo.records import files

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "docs/data/raw/2026-11-21-4x-h200"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    0: written, or with --check all files are as they would be written. 1: with --check some are
    not. 2: a captured file does not hold what a record needs.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.measure.topo",
        description="Make the records that notes draw from what tools/measure/run_topo.sh kept.",
    )
    parser.add_argument(
        "folder", nargs="?", type=Path, default=FOLDER, help="what run_topo.sh filled"
    )
    parser.add_argument(
        "--into", type=Path, default=ROOT, help="write below this folder (default: the repository)"
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; name the files that would change"
    )
    options = parser.parse_args(arguments)
    try:
        found = files(Raw(options.folder), ROOT)
    except MeasureError as error:
        print(error, file=sys.stderr)
        return 2
    stale = [name for name, content in found.items() if not _holds(options.into / name, content)]
    if options.check:
        for name in stale:
            print(f"{name}: not what {options.folder} gives; run python -m tools.measure.topo")
        return 1 if stale else 0
    for name in stale:
        path = options.into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(found[name])
        print(name)
    print(f"{len(stale)} of {len(found)} files written, the others already so.")
    return 0


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


if __name__ == "__main__":
    sys.exit(main())
