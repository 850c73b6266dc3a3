"""The parts of the benchmark, by name: `python -m bench PART`."""

from __future__ import annotations

import importlib
import sys

PARTS = {"search": "bench.search.command", "speed": "bench.speed", "pages": "bench.pages"}
"""Name and module of each part; a module has `main(arguments) -> exit status`."""


def main(arguments: list[str]) -> int:
    """Run the part that is named first; return the exit status."""
    if not arguments or arguments[0] not in PARTS:
        named = arguments[0] if arguments else ""
        print(f"bench: no part '{named}'; there are: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    return int(importlib.import_module(PARTS[arguments[0]]).main(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
