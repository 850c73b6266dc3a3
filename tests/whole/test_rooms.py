"""The order of the code: rooms are named, modules are short, all of it has a limit."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOOKS = sorted((ROOT / "hooks").rglob("*.py"))
LONGEST = 300
ALL = 14_650
"""Lines of Python in hooks/."""
LONG: dict[str, int] = {}
"""Not yet cut: none may grow, and none may join."""
FACES = {"adapter.py", "preview.py"}
"""Who knows MkDocs."""


def room_of(path: Path) -> str:
    parts = path.relative_to(ROOT / "hooks").parts
    return parts[0] if len(parts) > 1 else ""


def imports(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.lineno, node.module
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name


def past_the_face(path: Path, text: str) -> list[str]:
    """Return the imports of a module that name a module in another room."""
    return [
        f"{path.relative_to(ROOT)}:{line}: {module}"
        for line, module in imports(text)
        if module.startswith("hooks.")
        and module.count(".") > 1
        and module.split(".")[1] != room_of(path)
        and not (ROOT / module.replace(".", "/")).is_dir()
    ]


def test_an_import_from_another_room_names_the_room() -> None:
    assert [one for path in HOOKS for one in past_the_face(path, path.read_text("utf-8"))] == []
    text = "from hooks.data.load import load_facts\nfrom hooks.data import FactBase\n"
    bad = ROOT / "hooks/pages/data.py"
    assert past_the_face(bad, text) == ["hooks/pages/data.py:1: hooks.data.load"]


def test_no_module_is_long_nor_all_of_them() -> None:
    scripts = [
        path
        for folder in ("hooks", "docs/assets/javascripts")
        for path in (ROOT / folder).rglob("*.js")
    ]
    lengths = {
        path.relative_to(ROOT).as_posix(): len(path.read_text(encoding="utf-8").splitlines())
        for path in [*HOOKS, *scripts]
    }
    assert {name: n for name, n in lengths.items() if n > LONG.get(name, LONGEST)} == {}
    assert sum(n for name, n in lengths.items() if name.endswith(".py")) <= ALL


def test_only_two_faces_know_mkdocs() -> None:
    knowing = {
        path.relative_to(ROOT / "hooks").as_posix()
        for path in HOOKS
        for _, module in imports(path.read_text("utf-8"))
        if module.split(".")[0] in ("mkdocs", "material")
    }
    assert knowing == FACES


def test_every_room_is_on_the_page_and_every_module_says_what_it_is_for() -> None:
    page = (ROOT / "hooks/README.md").read_text(encoding="utf-8")
    folders = {path.relative_to(ROOT / "hooks").parts[0] for path in HOOKS}
    for room in folders - {path.name for path in (ROOT / "hooks").glob("*.py")}:
        assert f"| `{room}` |" in page, room
    for path in HOOKS:
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert len(said.split("\n")[0]) > 15, path
