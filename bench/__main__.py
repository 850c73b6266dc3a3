"""The parts of `make bench`, by name."""

from __future__ import annotations

import importlib
import sys

PARTS = {
    "build": "bench.build",
    "check": "bench.check",
    "save": "bench.save",
    "search": "bench.search.run",
}
"""Name and module of each part; a module has `main(arguments) -> exit status`."""
PAGES = "pages"
"""The part that writes what the site shows of the records; it comes after the others."""


def main(arguments: list[str]) -> int:
    """Run the parts that are named, or all of them, then `pages`; return the exit status.

    `search-eval` is a command by itself, with arguments of its own.
    """
    if arguments[:1] == ["search-eval"]:
        from bench.search.evaluation.command import search_eval

        search_eval(arguments[1:], prog_name="python -m bench search-eval")
    names = [one for one in arguments if not one.startswith("-")] or list(PARTS)
    unknown = [name for name in names if name not in PARTS and name != PAGES]
    if unknown:
        known = ", ".join([*PARTS, PAGES, "search-eval"])
        print(f"bench: no part '{unknown[0]}'; there are: {known}", file=sys.stderr)
        return 2
    options = [one for one in arguments if one.startswith("-")]
    modules = [PARTS[name] for name in names if name != PAGES] + ["bench.pages"]
    return max(int(importlib.import_module(module).main(options)) for module in modules)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
