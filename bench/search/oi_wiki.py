"""OI-wiki, a public Chinese encyclopedia of algorithms.

Its text is not kept here: it is read from a copy of its repository, at the commit that its queries
were judged on, with the titles that it has in mkdocs.yml only.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import yaml

from bench.search.repository import archived, git

ADDRESS = "https://github.com/OI-wiki/OI-wiki"
COMMIT = "76fa67c1ef16613519ec6c1a4c58857eba8b2a96"
VARIABLE = "OI_WIKI"
"""The environment variable that names a local copy."""
CHANGED = "titles of the navigation written as headings, included programs left out"


class _AnyTag(yaml.SafeLoader):
    """Reads mkdocs.yml without running what its tags name."""


_AnyTag.add_multi_constructor("", lambda loader, suffix, node: None)

_META = re.compile(r"\A(?:(?:author|disqus|title):.*\n)+")
_INCLUDE = re.compile(r"^[ \t]*--8<--.*\n", re.MULTILINE)


def export(repository: Path, docs: Path) -> None:
    """Write notes and titles. Raises subprocess.CalledProcessError without the commit."""
    config = git("show", f"{COMMIT}:mkdocs.yml", cwd=repository)
    titles: dict[str, str] = {}

    def collect(entries: list[Any]) -> None:
        for entry in entries:
            for title, target in entry.items() if isinstance(entry, dict) else ():
                if isinstance(target, str):
                    titles[target] = str(title)
                else:
                    collect(target)

    collect(yaml.load(config, _AnyTag)["nav"])
    shutil.rmtree(docs, ignore_errors=True)
    docs.mkdir(parents=True)
    for path, data in archived(repository, COMMIT, "docs/*.md"):
        name = path.removeprefix("docs/")
        text = _INCLUDE.sub("", _META.sub("", data.decode("utf-8")))
        if not text.lstrip().startswith("# "):
            text = f"# {titles.get(name, Path(name).stem)}\n\n" + text.lstrip("\n")
        file = docs / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
