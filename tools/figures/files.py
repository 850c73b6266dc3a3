"""Write drawings to their files, or tell which differ; load the programs that they rest on."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def load_program(path: str) -> Any:
    """Return a program of a note as a module; `path` is the file's path below `docs/`."""
    file = ROOT / "docs" / path
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def write(folder: Path, figures: Mapping[str, Callable[[], str]], arguments: Sequence[str]) -> int:
    """Write the figures, or with `--check` among the arguments only say which differ.

    Args:
        folder: Where the files lie.
        figures: What draws each file, by its name.
        arguments: Those of the command line.

    Returns:
        The exit status: 1 when figures differ that were only to be checked.
    """
    is_check = "--check" in arguments
    folder.mkdir(exist_ok=True)
    stale = 0
    for name, draw in figures.items():
        path, wanted = folder / name, draw()
        if path.exists() and path.read_text(encoding="utf-8") == wanted:
            continue
        stale += 1
        print(f"{name} {'differs' if is_check else 'written'}")
        if not is_check:
            path.write_text(wanted, encoding="utf-8")
    print(f"{stale} of {len(figures)} figures {'differ' if is_check else 'written'}")
    return int(is_check and stale > 0)
