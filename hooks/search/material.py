"""What of Material's own files search touches: the page script.

The engine is ours, the search box is Material's 9.8.1. Its page script divides and marks words of
a result's address as the stock engine would; two exact text replacements make it mark what our
engine found. Each must fit exactly once: when Material changes, `PatchError` stops the build.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MATERIAL_VERSION: Final = "9.8.1"
"""The mkdocs-material whose files the replacements below were written for."""

PREFIXES: Final[Mapping[str, str]] = {"zh": "", "en": "en/"}
"""Language -> what its addresses begin with, relative to the root of the site."""

WORKERS_DIR: Final = "assets/javascripts/workers"
# Material's file:// code looks for "/worker" in the address of the script, so the files
# made here stay in the folder of that name.
WORKER_NAME: Final = "search.handbook.{language}.js"


class PatchError(ValueError):
    """A file of Material's does not hold the text that a replacement was written for."""


class SearchIndexError(ValueError):
    """A language has no page that search could find."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """An exact text, which must occur once, and what takes its place."""

    purpose: str
    old: str
    new: str


BUNDLE_PATCHES: Final = (
    Replacement(
        "words of ?h= are divided by spaces only",
        r'n=n.replace(/[\s*+\-:~^]+/g," ").replace(/&/g,"&amp;").trim()',
        r'n=n.replace(/\s+/g," ").replace(/&/g,"&amp;").trim()',
    ),
    Replacement(
        "a word of ?h= is not divided by the separator, nor found inside a Latin word",
        r'|)(${n.replace(/[|\\{}()[\]^$+*?.-]/g,"\\$&").replace(r,"|")})',
        r'|(?<![0-9A-Za-z])|(?=[^ -~]))(${n.replace(/[|\\{}()[\]^$+*?.-]/g,"\\$&")'
        r'.replace(/ /g,"|")})',
    ),
)
"""`setupSearchHighlighter` in integrations/search/highlighter/index.ts."""


def apply(source: str, patches: Iterable[Replacement], what: str) -> str:
    """Return a text with every replacement made.

    Raises PatchError, which names `what`, unless every text to replace occurs exactly once.
    """
    for patch in patches:
        count = source.count(patch.old)
        if count != 1:
            raise PatchError(
                f"{what}: '{patch.old}' occurs {count} times, expected 1. The replacement"
                f" ({patch.purpose}) was written for mkdocs-material {MATERIAL_VERSION}."
                f" Install that version, or write the replacement anew"
            )
        source = source.replace(patch.old, patch.new)
    return source


def patch_bundle(source: str) -> str:
    """Return Material's page script with whole words marked for ?h=.

    Raises PatchError unless every text to replace occurs exactly once.
    """
    return apply(source, BUNDLE_PATCHES, "Material's page script")


def find_theme_dir(dirs: Iterable[str | Path]) -> Path:
    """Return the one of MkDocs' `config.theme.dirs` that holds Material's scripts.

    Raises PatchError when none does.
    """
    tried = [Path(directory) for directory in dirs]
    for directory in tried:
        if any((directory / WORKERS_DIR).glob("search.*.min.js")):
            return directory
    raise PatchError(
        f"no {WORKERS_DIR}/search.*.min.js in {[str(directory) for directory in tried]};"
        f" mkdocs-material {MATERIAL_VERSION} has it"
    )


def single(directory: Path, pattern: str) -> Path:
    """Return the one file of a folder that fits a pattern; raises PatchError otherwise."""
    found = sorted(directory.glob(pattern))
    if len(found) != 1:
        raise PatchError(
            f"'{pattern}' fits {[path.name for path in found]} in {directory}, expected one"
            f" file, as in mkdocs-material {MATERIAL_VERSION}"
        )
    return found[0]
