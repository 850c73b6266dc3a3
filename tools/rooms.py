"""The lists of modules in hooks/README.md, made from their first lines.

python -m tools.rooms [--write]

What the page says of a room is the first line of the room's `__init__.py`, and of a module its own
first line, so that it cannot fall behind. What stands above "The rooms" is written by hand. Without
`--write` the command fails when the page is stale.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "hooks/README.md"
ROOMS = "pages site search links calc drawings notes data markdown findings".split()
"""From the face down."""
_HEADING = "## The rooms\n"


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring, without its full stop."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return said.split("\n")[0].rstrip(".")


def _rows(folder: Path, pattern: str) -> str:
    rows = []
    for path in sorted(folder.glob(pattern)):
        name = path.relative_to(folder).as_posix()
        if not path.name.startswith("__") or "/" in name:
            rows.append(f"- `{name.removesuffix('__init__.py')}`: {first_line(path)}")
    return "\n".join(rows) + "\n"


def page() -> str:
    """Return the text of the page."""
    head, heading, _ = PAGE.read_text(encoding="utf-8").partition(_HEADING)
    parts = [head + heading, _rows(ROOT / "hooks", "*.py")]
    for room in ROOMS:
        folder = ROOT / "hooks" / room
        parts.append(f"### {room}\n\n{first_line(folder / '__init__.py')}.\n")
        parts.append(_rows(folder, "**/*.py"))
    return "\n".join(parts)


def main(arguments: list[str]) -> int:
    """Write the page, or tell whether it is stale; return the exit status."""
    fresh = page()
    if "--write" in arguments:
        PAGE.write_text(fresh, encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != fresh:
        print("hooks/README.md is stale; run: python -m tools.rooms --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
