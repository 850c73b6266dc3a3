"""What lies below the docs folder, found by exact path, and by path in any letter case."""

from __future__ import annotations

import posixpath
import re
import unicodedata
from functools import cached_property
from pathlib import PurePosixPath
from urllib.parse import quote

from hooks.findings import nearest
from hooks.notes import Catalogue


def relative(path: str, holder: str) -> str:
    """Return the way from the file `holder` to `path`, both below the docs folder, as a target.

    What would end or change it in Markdown is percent-encoded.
    """
    way = posixpath.relpath(path, posixpath.dirname(holder) or ".")
    return re.sub(r'[ #?%()<>\\"]', lambda risky: quote(risky.group()), way)


def _folded(path: str) -> str:
    """Return a path in the form in which case-forgiving file systems compare it."""
    return unicodedata.normalize("NFC", path).casefold()


class Files:
    """Every path below a docs folder."""

    def __init__(self, catalogue: Catalogue) -> None:
        """Index the paths of a catalogue."""
        self.all = sorted([*catalogue.notes, *catalogue.other_files])
        self._known = frozenset(self.all)

    def __contains__(self, path: str) -> bool:
        """Tell whether a file lies at exactly this path."""
        return path in self._known

    @cached_property
    def _folders(self) -> set[str]:
        return {str(folder) for path in self.all for folder in PurePosixPath(path).parents}

    @cached_property
    def _by_fold(self) -> dict[str, str]:
        folders = {_folded(f"{folder}/"): folder for folder in self._folders}
        return folders | {_folded(path): path for path in self.all}

    def is_folder(self, path: str) -> bool:
        """Tell whether files lie below this path."""
        return (path.strip("/") or ".") in self._folders

    def index_of(self, folder: str) -> str:
        """Return the index page of a folder, or an empty string when it has none."""
        index = posixpath.normpath(posixpath.join(folder, "index.md"))
        return index if index in self else ""

    def otherwise_written(self, path: str) -> str:
        """Return the path that differs only in letter case or Unicode form, or an empty string."""
        as_folder = self._by_fold.get(_folded(f"{path.rstrip('/')}/"), "")
        return self._by_fold.get(_folded(path), as_folder)

    def nearest(self, path: str, holder: str) -> str:
        """Return the way from `holder` to the existing file most like `path`."""
        name = path.rpartition("/")[2]
        kind = name.rpartition(".")[2]
        alike = [known for known in self.all if known.endswith(f".{kind}")]
        same_name = [known for known in alike if known.rpartition("/")[2] == name]
        found = nearest(path, same_name, 0.0) if same_name else nearest(path, alike, 0.7)
        return relative(found, holder) if found else ""
