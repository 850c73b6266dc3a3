"""Run a scenario of the verbs simulator and print its trace, or write all traces.

Usage: verbs_trace.py            lists the scenarios
       verbs_trace.py NAME       prints what happened, one step a line; --language zh for Chinese
       verbs_trace.py NAME --json  prints the record that the figure is drawn from
       verbs_trace.py --write    writes traces/*.json; --check compares them
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from verbs.scenarios import SCENARIOS, trace
from verbs.trace import KINDS as KINDS

FOLDER = Path(__file__).resolve().parents[1] / "traces"
ARROWS = {"packet": "->", "post": "->", "cqe": "=>", "drop": "x>", "error": "!>"}


def text(name: str) -> str:
    """Return the record as it is stored."""
    return json.dumps(trace(name), ensure_ascii=False, indent=1) + "\n"


def line(event: dict[str, Any], language: str) -> str:
    """Return one step: time, kind, lanes, label."""
    lanes = event["from"]
    if event["to"]:
        lanes += f" {ARROWS.get(event['kind'], '->')} {event['to']}"
    return f"{event['t']:9.3f}  {event['kind']:6}  {lanes:14}  {event['label'][language]}"


def write() -> None:
    """Write every trace, and remove those of scenarios that are no more."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.json"):
        if old.stem not in SCENARIOS:
            old.unlink()
    for name in SCENARIOS:
        (FOLDER / f"{name}.json").write_text(text(name), encoding="utf-8")


def differing() -> list[str]:
    """Return the names whose stored trace is not what the simulator gives."""
    stored = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    return sorted(
        name
        for name in stored.keys() | SCENARIOS.keys()
        if name not in SCENARIOS or stored.get(name) != text(name)
    )


def main() -> int:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenario", nargs="?", choices=list(SCENARIOS), metavar="NAME")
    parser.add_argument("--language", choices=["zh", "en"], default="en")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.write:
        write()
    elif options.check:
        wrong = differing()
        print("\n".join(wrong) if wrong else "all traces are as the simulator gives them")
        return int(bool(wrong))
    elif options.scenario is None:
        for name, (_, zh, en) in SCENARIOS.items():
            print(f"{name:30} {zh if options.language == 'zh' else en}")
    elif options.json:
        print(text(options.scenario), end="")
    else:
        events: Any = trace(options.scenario)["events"]
        for event in events:
            print(line(event, options.language))
    return 0


if __name__ == "__main__":
    sys.exit(main())
