"""Which version of a program was run: hashes taken at the run, and later versions that equal it.

    python -m tools.measure.versions FOLDER COMMIT

`run_topo.sh` writes FOLDER/programs.sha256 before it starts anything. When a Python program is
only laid out anew afterwards, this command compares its syntax tree, without docstrings, with
that of COMMIT (which must be the version that ran), and notes the new hash in
FOLDER/reformatted.sha256: records then are not stale. Other changes need another measurement.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RAN = "programs.sha256"
REFORMATTED = "reformatted.sha256"


def read(text: str) -> list[tuple[str, str]]:
    """Return hash and path of each line of sha256sum's output."""
    pairs = (line.split(maxsplit=1) for line in text.splitlines() if line.strip())
    return [(digest, path.lstrip("*")) for digest, path in pairs]


def does_the_same(old: str, new: str) -> bool:
    """Tell whether two Python programs differ in layout, comments and docstrings only."""
    try:
        return _bare(old) == _bare(new)
    except SyntaxError:
        return False


def _bare(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and ast.get_docstring(node, clean=False) is not None
        ):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def main(folder: Path, commit: str) -> int:
    """Note what was only laid out anew; return 1 when a program does something else now."""
    done = 0
    lines = []
    for digest, path in read((folder / RAN).read_text("utf-8")):
        now = (ROOT / path).read_bytes() if (ROOT / path).is_file() else b""
        if _digest(now) == digest:
            continue
        shown = subprocess.run(
            ["git", "show", f"{commit}:{path}"], cwd=ROOT, capture_output=True, check=False
        ).stdout
        if _digest(shown) != digest:
            print(f"{path}: {commit} does not hold the version that ran", file=sys.stderr)
            done = 1
        elif path.endswith(".py") and does_the_same(shown.decode(), now.decode()):
            lines.append(f"{_digest(now)}  {path}\n")
        else:
            print(f"{path}: changed since it ran; measure again", file=sys.stderr)
            done = 1
    (folder / REFORMATTED).write_text("".join(lines), "utf-8")
    return done


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2]))
