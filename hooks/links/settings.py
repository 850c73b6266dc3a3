"""Where the handbook lies: in its repository, and on the web."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """What links to itself are known by."""

    repo_url: str = ""
    """Address of the repository, such as `https://github.com/owner/name`; empty when unknown."""
    site_url: str = ""
    """Address the site is published at, with a slash at its end; empty when unknown."""
    root: Path | None = None
    """The repository root, to see what lies beside the docs folder; None: nothing is looked up."""
    docs: str = "docs"
    """Path of the docs folder from the repository root."""
