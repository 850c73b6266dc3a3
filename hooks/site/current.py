"""Whether the site in place is what a build would make again: nothing has changed since."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from hooks.site import inputs

_NAMES: Final = (
    "HANDBOOK_",
    "SITE_URL",
    "REPO_URL",
    "EDIT_URI",
    "SOURCE_DATE_EPOCH",
    "CI",
    "GITHUB_",
)
_FOLDERS: Final = ("overrides", "tools", "LICENSES")


def sources(root: Path, docs: Path, code: Path, *others: object) -> str:
    """Return a hash of all that a build reads, taken before it begins.

    Args:
        root: The repository, whose own files count.
        docs: The folder of the notes.
        code: The folder of the hooks.
        others: What else matters: configuration, history, the day.
    """
    folders = [docs, code, *(root / name for name in _FOLDERS)]
    files = [path for path in root.iterdir() if path.is_file()]
    known = sorted((key, value) for key, value in os.environ.items() if key.startswith(_NAMES))
    return inputs.digest(
        inputs.packages(), inputs.of_files([*folders, *files], root), known, others
    )


def state(site: Path) -> str:
    """Return a hash of what lies in a folder: names, sizes, times of the last change."""
    found = []
    for path in sorted(site.rglob("*")):
        if not path.is_dir():
            status = path.lstat()
            found.append((path.relative_to(site).as_posix(), status.st_size, status.st_mtime_ns))
    return inputs.digest(found)


def _mark(root: Path, site: Path) -> Path:
    return root / ".cache" / "sites" / inputs.digest(str(site.absolute()))


def is_current(root: Path, site: Path, made_from: str) -> bool:
    """Tell whether a site was made from these sources and is as it was then."""
    try:
        known = _mark(root, site).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False
    return site.is_dir() and known == f"{made_from} {state(site)}"


def remember(root: Path, site: Path, made_from: str) -> None:
    """Remember what the site in place was made from; where nothing can be written, do not."""
    mark = _mark(root, site)
    fresh = mark.with_name(f"{mark.name}.{os.getpid()}")
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(f"{made_from} {state(site)}", encoding="utf-8")
        fresh.replace(mark)
    except OSError:
        fresh.unlink(missing_ok=True)
