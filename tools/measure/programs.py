"""Records of programs that print JSON lines, described by a YAML file each.

    python -m tools.measure.programs RUN_FOLDER [--check]

`tools/measure/records/<topic>/<program>.yml` says what the lines of `<program>.jsonl` mean:

    program: docs/hpc/cuda/code/chase.cu
    title: {zh: …, en: …}
    notes: {zh: …, en: …}          # how it was measured; what is odd, what was not explained
    arguments: ""                  # of the command, optional
    lines: NAME                    # of the lines and the record, if not the program's
    specification:                 # optional: what results are compared with
      - {id: hbm, value: 4800, unit: GB/s, per: GPU, source: "docs/data/facts/accelerators.yml: …"}
    results:
      - {id: latency, title: {zh: …, en: …}, axes: [bytes, {name: stride, title: {zh: …, en: …}}]}
      - {id: far, result: latency, where: {stride: 128}, title: {zh: …, en: …}, axes: [bytes]}
      - {id: time, result: all_reduce, of: time_us, unit: us, title: {zh: …, en: …}, axes: [bytes]}
    summary:
      - {result: latency, where: {bytes: 1024}, title: {zh: …, en: …}}
      - {result: time, line: all_reduce, of: time_us, unit: us, title: {zh: …, en: …}}

`unit` without `of` says the unit where the program prints none: `none` for a bare number.

The run folder holds `<program>.jsonl`, `nvidia_smi.txt`, `machine.txt` and `programs.sha256`.
Records go to `measured/` beside the program's folder; a record of a second card of the same
program is `<program>_<suffix>.json` (`--suffix h100`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from tools.measure.compute.lines import ROOT, Line, Run, label, where
from tools.measure.compute.records import finish
from tools.measure.topo.model import MeasureError, Point, Result, Row
from tools.measure.topo.record import Draft, build_and_run, row
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

SPECS = ROOT / "tools/measure/records"


def draft(said: dict[str, Any], run: Run, suffix: str = "") -> Draft:
    """Return the record that a description makes of a run; MeasureError without its lines."""
    stem = said.get("lines", PurePosixPath(said["program"]).stem)
    lines = [line for line in run.lines(f"{stem}.jsonl") if "result" in line]
    promised = {one["id"]: {"direction": None} | one for one in said.get("specification", ())}
    results = [_result(one, lines) for one in said["results"]]
    arguments = f" {said['arguments']}" if said.get("arguments") else ""
    return Draft(
        stem + suffix,
        said["title"],
        said["program"],
        said.get("command") or build_and_run(said["program"], arguments),
        said["notes"],
        results=results,
        summary=[_row(one, lines, promised) for one in said["summary"]],
        specification=list(promised.values()),
    )


def _result(said: dict[str, Any], lines: Sequence[Line]) -> Result:
    found = _figures(where(lines, said.get("result", said["id"]), **said.get("where", {})), said)
    axes = said.get("axes", [])
    names = [axis if isinstance(axis, str) else axis["name"] for axis in axes]
    points: list[Point] = []
    for line in found:
        point: Point = {name: label(line[name]) for name in names}
        point["value"] = digits(line["median"])
        if line["n"] > 1:
            point |= {key: digits(line[key]) for key in ("p5", "p95")}
        points.append(point)
    out: Result = {
        "id": said["id"],
        "title": said["title"],
        "unit": found[0]["unit"],
        "direction": said.get("direction"),
        "per": said.get("per"),
        "statistic": "median",
        "n": min(line["n"] for line in found),
        "axes": axes,
        "points": points,
    }
    if said.get("spec"):
        out["spec"] = said["spec"]
    return out


def _figures(lines: Sequence[Line], said: dict[str, Any]) -> Sequence[Line]:
    """Return lines with the figure that `of` names at the top, and the unit that is said."""
    if "of" not in said:
        return [line | {"unit": said.get("unit", line["unit"])} for line in lines]
    return [line | line[said["of"]] | {"unit": said["unit"]} for line in lines]


def _row(said: dict[str, Any], lines: Sequence[Line], promised: dict[str, Any]) -> Row:
    named = said.get("line", said["result"])
    found = _figures(where(lines, named, **said.get("where", {})), said)
    count = int(found[0]["n"])
    return row(
        said["title"],
        [line["median"] for line in found],
        found[0]["unit"],
        both(f"{count} 次的中位数", f"median of {count}"),
        direction=said.get("direction"),
        per=said.get("per"),
        spec=promised[said["spec"]] if said.get("spec") else None,
        result=said["result"],
    )


def described(run: Run) -> Iterator[dict[str, Any]]:
    """Yield the description of each program that the run has lines of."""
    for path in sorted(SPECS.rglob("*.yml")):
        if (run.folder / f"{path.stem}.jsonl").is_file():
            try:
                yield yaml.safe_load(path.read_text("utf-8"))
            except yaml.YAMLError as error:
                raise MeasureError(f"{path.relative_to(ROOT)}: {error}") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the records of a run; return 0, 1 (with --check: some are stale) or 2 (an error)."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.programs", description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--suffix", default="", help="of the records' names: a second card")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; name what would change"
    )
    options = parser.parse_args(arguments)
    run = Run(options.run.resolve(), both("SXM", "SXM"))
    suffix = f"_{options.suffix}" if options.suffix else ""
    stale = 0
    try:
        for said in described(run):
            record = finish(draft(said, run, suffix), run, ROOT)
            name = f"measured/{record['id']}.json"
            path = ROOT / PurePosixPath(said["program"]).parents[1] / name
            text = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
            if path.is_file() and path.read_text("utf-8") == text:
                continue
            stale += 1
            print(path.relative_to(ROOT))
            if not options.check:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, "utf-8")
    except (MeasureError, KeyError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
