"""The page that tells the rooms of the code, made from their first lines.

python -m tools.rooms [--write]

`hooks/README.md` is the only page a newcomer needs before the code. What it says of a room is the
first line of the room's `__init__.py`, and of a module its own first line, so that it cannot fall
behind. Without `--write` the command fails when the page is stale.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "hooks/README.md"
FACES = (
    "adapter",
    "cli",
    "preview",
    "complete",
    "build",
    "handbook",
    "tree",
    "cache",
)
"""Modules above the rooms, from the face down."""
ROOMS = "pages site search links calc drawings notes data markdown findings".split()
"""From the face down."""

HEAD = """\
<!-- Written by: python -m tools.rooms --write -->
# How the code is laid out

Ten rooms. A room may import the rooms below it, never those above or beside it, and names the
room, not a module in it. `make check` refuses anything else.

```text
adapter | cli
preview
complete
build
handbook
tree
pages | site
search | links | calc | drawings
notes | data
markdown
findings | cache
```

Five sentences to remember: *findings* are the only way anything complains. *markdown* reads one
text, *notes* know many. *data* knows no HTML, *pages* make all of it. Only *adapter*
and *preview* know MkDocs. Only *cache* remembers anything from one run to the next.
"""
PATHS = """\
## The path of a note

`docs/**/*.md` → `notes.catalogue` reads it (`markdown` finds headings, links, fences with their
places; unchanged notes come from `notes.cache`) → `handbook.read_tree` asks each room what is
wrong: `notes.twins` and `notes.budgets`, `links.check`, `data.load`, `drawings`, `search.words`,
`pages.fences` and `pages.values` → `findings.report` says it; `cli` ends here → in a build
`adapter` hands each page to `build`, where `pages` fill what is generated and `search` collects;
`site` checks the finished pages and puts them in place in one step.

## The path of a bad link

`links.uses` finds it in the text → `links.targets` resolves it → `links.target_rules` compares
with files and ids, as the site and as GitHub have them → a `Finding` with file, line, column, the
exact text and the nearest right one → `findings.report`.

## Where to add

A rule: its row in `findings/rules.yml` and the check in the room that knows the subject. A fence:
`pages/fences.py`. A calculator: `docs/assets/javascripts/calc/`. A fact: `docs/data/`, and
nothing here. Tests lie in `tests/<room>/`.

## The rooms
"""


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring, without its full stop."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return said.split("\n")[0].rstrip(".")


def page() -> str:
    """Return the text of the page."""
    parts = [HEAD, PATHS]
    rows = [f"- `{name}.py`: {first_line(ROOT / 'hooks' / f'{name}.py')}" for name in FACES]
    parts.append("\n".join(rows) + "\n")
    for room in ROOMS:
        folder = ROOT / "hooks" / room
        parts.append(f"### {room}\n\n{first_line(folder / '__init__.py')}.\n")
        rows = []
        for path in sorted(folder.rglob("*.py")):
            name = path.relative_to(folder).as_posix()
            if name == "__init__.py":
                continue
            rows.append(f"- `{name.removesuffix('__init__.py')}`: {first_line(path)}")
        parts.append("\n".join(rows) + "\n")
    return "\n".join(parts)


def main() -> int:
    """Write the page, or tell whether it is stale; return the exit status."""
    fresh = page()
    if "--write" in sys.argv[1:]:
        PAGE.write_text(fresh, encoding="utf-8")
        return 0
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != fresh:
        print("hooks/README.md is stale; run: python -m tools.rooms --write", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
