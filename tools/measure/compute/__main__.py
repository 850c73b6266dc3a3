"""Write, or check, the records under docs/{chip,train,infer}/measured/."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.measure.compute import cards, precision, precision_training
from tools.measure.compute.ddp_peak import ddp_peak
from tools.measure.compute.lines import ROOT, Run
from tools.measure.compute.recompute import recompute
from tools.measure.compute.records import files, of_chip, rendered, shared
from tools.measure.topo.model import MeasureError
from tools.measure.topo.wording import both

ALONE = ROOT / "docs/data/raw/2026-11-21-1x-h200-compute"
SEVERAL = ROOT / "docs/data/raw/2026-11-21-2x-h200-compute"
FOUR = ROOT / "docs/data/raw/2026-11-22-4x-h200-compute"
LATER = ROOT / "docs/data/raw/2026-11-22-1x-h200-recompute"
PEAK = ROOT / "docs/data/raw/2026-11-22-2x-h200-ddp"
FORMATS = ROOT / "docs/data/raw/2026-11-22-1x-h200-precision"
SMALL = ROOT / "docs/data/raw/2026-11-22-1x-h200-precision-late"
AGAIN = {
    ROOT / "docs/data/raw/2026-11-23-1x-h200-compute": cards.H200,
    ROOT / "docs/data/raw/2026-11-23-1x-h100-compute": cards.h100(),
}
"""Runs of the programs of docs/chip on another card of a kind."""
SECOND = ROOT / "docs/data/raw/2026-11-21-1x-h100-compute"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status.

    0: written, or with --check all records are as they would be written. 1: with --check some are
    not. 2: a captured file does not hold what a record needs.
    """
    parser = argparse.ArgumentParser(
        prog="python -m tools.measure.compute",
        description="Make the records that notes draw from what run_compute.sh kept.",
    )
    parser.add_argument("--alone", type=Path, default=ALONE, help="the run on one GPU")
    parser.add_argument("--several", type=Path, default=SEVERAL, help="the run on two GPUs")
    parser.add_argument("--four", type=Path, default=FOUR, help="the run on four GPUs")
    parser.add_argument("--second", type=Path, default=SECOND, help="the run on one H100")
    parser.add_argument("--into", type=Path, default=ROOT, help="write below this folder")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; name what would change"
    )
    parser.add_argument("--later", type=Path, default=LATER, help="the run of recompute_time")
    parser.add_argument("--peak", type=Path, default=PEAK, help="the run of ddp_peak")
    parser.add_argument("--formats", type=Path, default=FORMATS, help="the run of precision_*")
    parser.add_argument("--small", type=Path, default=SMALL, help="the run of precision_late")
    options = parser.parse_args(arguments)
    try:
        found = files(
            Run(options.alone), Run(options.several), Run(options.second, both("SXM", "SXM")), ROOT
        )
        found |= rendered(shared(Run(options.four)), ROOT)
        for folder, card in AGAIN.items():
            second = cards.another(card, "2026-11-23")
            found |= rendered(of_chip(Run(folder, both("SXM", "SXM")), second), ROOT)
        runs = (
            (recompute, options.later),
            (ddp_peak, options.peak),
            (precision_training.training, options.formats),
            (precision.products, options.formats),
            (precision.steps, options.formats),
            (precision_training.late, options.small),
        )
        for make, folder in runs:
            run = Run(folder)
            found |= rendered([(make(run), run)], ROOT)
    except MeasureError as error:
        print(error, file=sys.stderr)
        return 2
    stale = [
        name
        for name, content in found.items()
        if not (path := options.into / name).is_file() or path.read_bytes() != content
    ]
    if options.check:
        for name in stale:
            print(f"{name}: not what the raw files give; run python -m tools.measure.compute")
        return 1 if stale else 0
    for name in stale:
        path = options.into / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(found[name])
        print(name)
    print(f"{len(stale)} of {len(found)} records written, the others already so.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
