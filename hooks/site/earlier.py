"""The site that a preview built last, kept so that the next one can answer at once.

It lies in a folder named by a hash of what it was made from. It is written beside and renamed when
it is whole, and never written again.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

_UNFINISHED = ".part"


class _OverError(Exception):
    """Somebody wants to write to the site that is being copied."""


def find(folder: Path, made_from: str) -> tuple[Path | None, bool]:
    """Return the site that is kept, None where there is none, and whether it is made from this."""
    if not made_from:
        return None, False
    if (folder / made_from).is_dir():
        return folder / made_from, True
    kept = [one for one in _sites(folder) if one.suffix != _UNFINISHED]
    return (max(kept, key=lambda one: one.stat().st_mtime), False) if kept else (None, False)


def keep(folder: Path, made_from: str, site: Path, is_over: Callable[[], bool]) -> bool:
    """Copy a site in place of the one that is kept; tell whether it was.

    Args:
        folder: Where it is kept.
        made_from: A hash of what the site is made from.
        site: The site, to which nobody writes until this returns.
        is_over: Asked before each file; what has been copied is dropped when it says so.
    """
    if (folder / made_from).is_dir():
        return True
    fresh = folder / f"{made_from}.{os.getpid()}{_UNFINISHED}"

    def copy(file: str, target: str) -> None:
        if is_over():
            raise _OverError
        shutil.copyfile(file, target)

    try:
        shutil.copytree(site, fresh, copy_function=copy)
        if is_over():
            return False
        others = _sites(folder)
        fresh.rename(folder / made_from)
    except (_OverError, OSError):  # a full disk costs the next preview its start, and nothing else
        return False
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    for one in others:
        if one != fresh:
            shutil.rmtree(one, ignore_errors=True)
    return True


def _sites(folder: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return [one for one in folder.iterdir() if one.is_dir()]
    return []
