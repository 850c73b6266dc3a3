"""The folders of notes that are searched: this handbook's and public ones."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from bench.search import llm_action, llm_notes, oi_wiki, pingcap
from bench.search.evaluation import queries
from bench.search.evaluation.sections import read
from bench.search.repository import clone, git

ROOT = Path(__file__).resolve().parents[2]
QUERIES = Path(__file__).parent / "queries"


class Origin(Protocol):
    """What the module of a public collection, or an object, holds."""

    ADDRESS: str
    COMMIT: str
    VARIABLE: str
    CHANGED: str

    def export(self, repository: Path, docs: Path) -> None:
        """Write the notes below a folder."""


PUBLIC: dict[str, Origin] = {
    "oi-wiki": oi_wiki,
    "pingcap": pingcap,
    "llm-action": llm_action,
    "llm-note": llm_notes.LLM_NOTE,
    "llm-interview": llm_notes.LLM_INTERVIEW,
    "ai-infra-hpc": llm_notes.AI_INFRA_HPC,
}


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
    commit = git("rev-parse", "HEAD", cwd=ROOT)
    terms = ROOT / "docs/data/terms"
    source = {"commit": commit, "notes": len(list((ROOT / "docs").rglob("*.md")))}
    return Collection("handbook", ROOT / "docs", terms if terms.is_dir() else None, source)


def public(name: str, cache: Path) -> Collection:
    """Return a public collection at the commit that its queries were judged on.

    Its repository is fetched once into the cache; the environment variable `VARIABLE` of its module
    names a local copy instead. Raises subprocess.CalledProcessError when it cannot be had.
    """
    origin = PUBLIC[name]
    docs = cache / name / origin.COMMIT[:12]
    if not (docs / "index.md").is_file():
        repository = os.environ.get(origin.VARIABLE) or clone(
            cache / name / "repository", origin.ADDRESS, origin.COMMIT
        )
        origin.export(Path(repository), docs)
    source = {
        "address": origin.ADDRESS,
        "commit": origin.COMMIT,
        "notes": len(list(docs.rglob("*.md"))),
        "changed": origin.CHANGED,
    }
    return Collection(name, docs, None, source)


def missing(collection: Collection) -> list[str]:
    """Return the judged sections that the notes do not have, as `query: section`."""
    sections = read(collection.docs)
    return [
        f"{query.id}: {key}"
        for query in queries.load(collection.queries)
        for key in query.right
        if key not in sections
    ]
