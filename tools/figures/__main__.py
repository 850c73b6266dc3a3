"""`python -m tools.figures`."""

from __future__ import annotations

import importlib
import pkgutil
import sys

from tools import figures

NAMES = sorted({one.name for one in pkgutil.iter_modules(figures.__path__)})
GROUPS = [name for name in NAMES if name not in ("__main__", "draw", "files")]
"""The modules that have a FOLDER and, by file name, FIGURES that are drawn into it."""


def main(arguments: list[str]) -> int:
    """Write or compare; return 1 when figures differ that were only to be checked."""
    is_check = "--check" in arguments
    stale = 0
    for name in [one for one in arguments if one != "--check"] or GROUPS:
        group = importlib.import_module(f"tools.figures.{name}")
        for file, draw in group.FIGURES.items():
            path, wanted = group.FOLDER / file, draw()
            if path.exists() and path.read_text(encoding="utf-8") == wanted:
                continue
            stale += 1
            print(f"{file} {'differs' if is_check else 'written'}")
            if not is_check:
                path.write_text(wanted, encoding="utf-8")
    return int(is_check and stale > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
