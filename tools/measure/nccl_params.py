"""List NCCL's environment variables out of its source: name, default, places, first tag.

    python -m tools.measure.nccl_params GIT_DIR TAG > docs/ccl/nccl/params.json

GIT_DIR is a clone of https://github.com/NVIDIA/nccl with its tags. A default is the expression in
the source (`-2` mostly means "decided later"), or null where the code asks for a string. The first
tag is the first release of NCCL 2 up to TAG whose `src` holds the name as a literal of its own, at
whatever default and meaning it had then; they begin at v2.3.5-5, so what is older shows as 2.3.5.
"""

from __future__ import annotations

import argparse
import io
import json
import re
import subprocess
import tarfile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_INTEGER = re.compile(
    r'^[ \t]*NCCL_PARAM\(\s*\w+\s*,\s*"(?P<name>\w+)"\s*,\s*(?P<default>[^;\n]+?)\s*\)\s*;?'
    r"[ \t]*(?://[^\n]*|/\*[^\n]*)?$",
    re.MULTILINE,
)
_TYPED = re.compile(
    r"^DEFINE_NCCL_PARAM\(\s*\w+,\s*[\w* ]+,\s*(?P<name>NCCL_\w+),\s*(?P<default>[^,]+),",
    re.MULTILINE,
)
_TEXT = re.compile(r'(?:ncclGetEnv|getenv)\(\s*"(?P<name>NCCL_\w+)"\s*\)')
_LEVEL = re.compile(r"ncclGetLevel\([^)]*\)")
_LITERAL = re.compile(
    r'"(?P<whole>NCCL_[A-Z0-9_]+)"|NCCL_PARAM\(\s*\w+,\s*"(?P<short>\w+)"'
    r"|DEFINE_NCCL_PARAM\(\s*\w+,[^,]+,\s*(?P<typed>NCCL_\w+)"
)
_RELEASE = re.compile(r"v2\.\d+\.\d+-\d+\Z")
_SOURCES = (".h", ".cc", ".cu")


def _git(folder: str, *words: str) -> bytes:
    return subprocess.run(["git", "-C", folder, *words], check=True, stdout=subprocess.PIPE).stdout


def sources(folder: str, tag: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of the source files of one tag."""
    with tarfile.open(fileobj=io.BytesIO(_git(folder, "archive", tag, "src"))) as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member) if member.name.endswith(_SOURCES) else None
            if file is not None:
                yield member.name, file.read().decode("utf-8", "replace")


def variables(path: str, text: str) -> Iterator[tuple[str, str | None, str]]:
    """Yield name, default and place of the variables that one file reads."""
    if path.startswith("src/include/"):  # the macros themselves
        return
    for pattern, prefix in ((_INTEGER, "NCCL_"), (_TYPED, ""), (_TEXT, "")):
        for match in pattern.finditer(text):
            line = text.count("\n", 0, match.start("name")) + 1
            default = match.groupdict().get("default")
            yield prefix + match["name"], default, f"{path}#L{line}"
    for call in _LEVEL.finditer(text):
        line = text.count("\n", 0, call.start()) + 1
        for name in re.findall(r'"(NCCL_\w+)"', call[0]):
            yield name, None, f"{path}#L{line}"


def literals(text: str) -> set[str]:
    """Return the names that stand in a file as literals of their own."""
    return {
        match["whole"] or match["typed"] or f"NCCL_{match['short']}"
        for match in _LITERAL.finditer(text)
    }


def table(folder: str, tag: str) -> dict[str, dict[str, Any]]:
    """Return what the variables of a tag are."""
    found: dict[str, dict[str, Any]] = {}
    for path, text in sources(folder, tag):
        for name, default, place in variables(path, text):
            one = found.setdefault(name, {"default": None, "where": [], "first": tag})
            one["default"] = one["default"] or default
            one["where"].append(place)
    tags = [name for name in _git(folder, "tag").decode().split() if _RELEASE.match(name)]
    tags.sort(key=lambda name: [int(part) for part in re.findall(r"\d+", name)])
    waiting = set(found)
    for release in tags[: tags.index(tag) + 1]:
        here = set().union(*(literals(text) for _, text in sources(folder, release)))
        for name in waiting & here:
            found[name]["first"] = release
        waiting -= here
    return dict(sorted(found.items()))


def main() -> None:
    """Print the table as JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", help="a clone of NVIDIA/nccl")
    parser.add_argument("tag", help="such as v2.30.7-1")
    given = parser.parse_args()
    rows = table(given.folder, given.tag).items()
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows)
    print(f'{{"tag": {json.dumps(given.tag)}, "variables": {{\n{lines}\n}}}}')


if __name__ == "__main__":
    main()
