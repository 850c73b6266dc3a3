"""What lies below the docs folder, found by exact path, and by path in any letter case."""

from __future__ import annotations

import posixpath
import unicodedata
from functools import cached_property
from urllib.parse import quote

from hooks.findings import nearest
from hooks.notes import Catalogue


def folded(path: str) -> str:
    """Return a path in the form in which case-forgiving file systems compare it."""
    return unicodedata.normalize("NFC", path).casefold()


def relative(path: str, holder: str) -> str:
    """Return the way from the file `holder` to `path`, both below the docs folder."""
    return posixpath.relpath(path, posixpath.dirname(holder) or ".")


def encoded(path: str) -> str:
    """Return a path as a Markdown target: what would end or change it is percent-encoded."""
    return quote(path, safe="/-._~!$&'*+,;=:@", encoding="utf-8") if _is_risky(path) else path


def _is_risky(path: str) -> bool:
    return any(char in ' #?%()<>\\"' for char in path)


class Files:
    """Every path below a docs folder."""

    def __init__(self, catalogue: Catalogue) -> None:
        """Index the paths of a catalogue."""
        self.notes = catalogue.notes
        self.others = catalogue.other_files

    def __contains__(self, path: str) -> bool:
        """Tell whether a file lies at exactly this path."""
        return path in self.notes or path in self.others

    @cached_property
    def all(self) -> list[str]:
        """Every path, sorted."""
        return sorted([*self.notes, *self.others])

    @cached_property
    def _by_fold(self) -> dict[str, str]:
        return {folded(path): path for path in self.all}

    @cached_property
    def _folders(self) -> dict[str, str]:
        folders: dict[str, str] = {"": ""}
        for path in self.all:
            while path := path.rpartition("/")[0]:
                if path in folders:
                    break
                folders[path] = path
        return folders

    @cached_property
    def _folders_by_fold(self) -> dict[str, str]:
        return {folded(path): path for path in self._folders}

    def is_folder(self, path: str) -> bool:
        """Tell whether files lie below this path."""
        return path.strip("/").removeprefix(".") in self._folders

    def index_of(self, folder: str) -> str:
        """Return the index page of a folder, or an empty string when it has none."""
        folder = folder.strip("/").removeprefix(".")
        prefix = f"{folder}/" if folder else ""
        names = ("index.md", "README.md", "_index.md", "readme.md", "index.mdx", "index.html")
        return next((prefix + name for name in names if prefix + name in self), "")

    def otherwise_written(self, path: str) -> str:
        """Return the path that differs only in letter case or Unicode form, or an empty string."""
        found = self._by_fold.get(folded(path), "")
        if not found and folded(path.rstrip("/")) in self._folders_by_fold:
            found = self._folders_by_fold[folded(path.rstrip("/"))]
        return found

    def nearest(self, path: str, holder: str) -> str:
        """Return the way from `holder` to the existing file most like `path`."""
        name = path.rpartition("/")[2]
        kind = name.rpartition(".")[2]
        alike = [known for known in self.all if known.endswith(f".{kind}")]
        same_name = [known for known in alike if known.rpartition("/")[2] == name]
        found = nearest(path, same_name, 0.0) if same_name else nearest(path, alike, 0.7)
        return encoded(relative(found, holder)) if found else ""
