"""The parts of `make bench`, by name."""

from __future__ import annotations

import importlib
import sys

PARTS = {
    "check": "bench.check",
    "hostile": "bench.hostile",
    "trees": "bench.elsewhere",
    "search": "bench.search.run",
}
"""Name and module of each part; a module has `main(arguments) -> exit status`."""


def main(arguments: list[str]) -> int:
    """Run the parts that are named, or all of them; return the exit status."""
    names = [one for one in arguments if not one.startswith("-")] or list(PARTS)
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"bench: no part '{unknown[0]}'; there are: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    options = [one for one in arguments if one.startswith("-")]
    return max(int(importlib.import_module(PARTS[name]).main(options)) for name in names)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
