"""The folders of notes that are searched: this handbook's, and a public wiki's."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
QUERIES = Path(__file__).parent / "queries"

OI_WIKI = "https://github.com/OI-wiki/OI-wiki"
OI_WIKI_COMMIT = "76fa67c1ef16613519ec6c1a4c58857eba8b2a96"


@dataclass(frozen=True, slots=True)
class Collection:
    """A folder of notes and the queries judged over it."""

    name: str
    docs: Path
    terms: Path | None = None
    source: dict[str, Any] = field(default_factory=dict)
    """Where the notes come from, for the record."""

    @property
    def queries(self) -> list[Path]:
        """The files of judged queries, both halves."""
        return sorted(QUERIES.glob(f"{self.name}.*.yml"))

    def markdown_bytes(self) -> int:
        """Return the size of all notes."""
        return sum(path.stat().st_size for path in self.docs.rglob("*.md"))


def handbook() -> Collection:
    """Return this handbook's notes."""
    commit = _git("rev-parse", "HEAD", cwd=ROOT)
    terms = ROOT / "docs/terms.yml"
    source = {"commit": commit, "notes": len(list((ROOT / "docs").rglob("*.md")))}
    return Collection("handbook", ROOT / "docs", terms if terms.is_file() else None, source)


def oi_wiki(cache: Path) -> Collection:
    """Return OI-wiki's notes at the commit that its queries were judged on.

    Its repository is fetched once into the cache; OI_WIKI names a local copy instead. Raises
    subprocess.CalledProcessError when it cannot be had.
    """
    docs = cache / "oi-wiki" / OI_WIKI_COMMIT[:12]
    if not (docs / "index.md").is_file():
        repository = os.environ.get("OI_WIKI") or _clone(cache / "oi-wiki/repository")
        _export(Path(repository), docs)
    source = {
        "address": OI_WIKI,
        "commit": OI_WIKI_COMMIT,
        "notes": len(list(docs.rglob("*.md"))),
        "changed": "titles of the navigation written as headings, included programs left out",
    }
    return Collection("oi-wiki", docs, None, source)


def _git(*arguments: str, cwd: Path) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True
    ).stdout.strip()


def _clone(folder: Path) -> Path:
    if not (folder / "HEAD").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        _git("init", "--bare", "--quiet", ".", cwd=folder)
    _git("fetch", "--quiet", "--depth", "1", OI_WIKI, OI_WIKI_COMMIT, cwd=folder)
    return folder


class _AnyTag(yaml.SafeLoader):
    """Reads mkdocs.yml without running what its tags name."""


_AnyTag.add_multi_constructor("", lambda loader, suffix, node: None)

_META = re.compile(r"\A(?:(?:author|disqus|title):.*\n)+")
_INCLUDE = re.compile(r"^[ \t]*--8<--.*\n", re.MULTILINE)


def _export(repository: Path, docs: Path) -> None:
    """Write the notes with their titles, which OI-wiki has in mkdocs.yml only."""
    config = _git("show", f"{OI_WIKI_COMMIT}:mkdocs.yml", cwd=repository)
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
    archive = subprocess.Popen(
        ["git", "archive", OI_WIKI_COMMIT, "docs"], cwd=repository, stdout=subprocess.PIPE
    )
    assert archive.stdout is not None
    with tarfile.open(fileobj=archive.stdout, mode="r|") as tar:
        for member in tar:
            name = member.name.removeprefix("docs/")
            if not member.isfile() or not name.endswith(".md"):
                continue
            data = tar.extractfile(member)
            assert data is not None
            text = _INCLUDE.sub("", _META.sub("", data.read().decode("utf-8")))
            if not text.lstrip().startswith("# "):
                text = f"# {titles.get(name, Path(name).stem)}\n\n" + text.lstrip("\n")
            file = docs / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    if archive.wait():
        raise subprocess.CalledProcessError(archive.returncode, "git archive")
