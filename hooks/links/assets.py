"""Images and documents below the docs folder that nothing refers to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from urllib.parse import unquote

from hooks.findings import Finding
from hooks.links.targets import resolve
from hooks.notes import Catalogue

_KINDS = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|pdf|mp4|webm|mp3|ogg|wav|zip|tar|gz|docx?|pptx?|xlsx?)\Z",
    re.IGNORECASE,
)
# Names begin behind what no name holds and are of bounded length: long lines take linear time.
_FILE_NAME = re.compile(
    r"(?<![^\s/\\()\"'<>:,;=#?`\[\]{}])[^\s/\\()\"'<>:,;=#?`\[\]{}]{1,255}\.[A-Za-z0-9]{2,5}(?![\w-])"
)
_TEXTS = re.compile(r"\.(?:css|js|json|html?|ya?ml|toml|txt|xml)\Z")
_NOT_OURS = re.compile(r"(?:\A|/)(?:vendor|code|measured)/")
_LARGEST = 2_000_000
"""Bytes; a text larger than this names no assets by hand."""


def orphans(
    catalogue: Catalogue, docs: Path, prefix: str, beside: Iterable[Path] = ()
) -> Iterator[Finding]:
    """Yield the assets that no note, style sheet, script, template or configuration names.

    `beside` are the files outside the docs folder that may name assets.
    """
    kinds = (path for path in catalogue.other_files if _KINDS.search(path))
    left = {path for path in kinds if _NOT_OURS.search(path) is None}
    for note in catalogue.notes.values():
        left.difference_update(resolve(link.target, note.path).path for link in note.source.links)
    texts = (docs / path for path in catalogue.other_files if _TEXTS.search(path))
    files = [path for path in (*texts, *beside) if "/vendor/" not in path.as_posix()]
    fences = (one.text for note in catalogue.notes.values() for one in note.source.fences)
    small = (path for path in files if path.stat().st_size <= _LARGEST)
    contents = (path.read_text("utf-8", "replace") for path in small)
    # What is built by code names its files in many ways: a name anywhere counts as a use.
    for text in chain(map(unquote, fences), contents):
        named = set(_FILE_NAME.findall(text)) if left else ()
        left = {path for path in left if path.rpartition("/")[2] not in named}
    for path in sorted(left):
        if re.sub(r"\.(?:en|zh)(\.\w+)\Z", r"\1", path) in catalogue.other_files - left:
            continue  # what the other language shows in place of a file in use
        message = f"nothing refers to '{path}'; use it or delete it"
        yield Finding(f"{prefix}/{path}", 0, 0, "orphan-asset", message, target=path)
