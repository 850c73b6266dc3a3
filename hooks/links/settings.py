"""What the checks of links must know beside the notes: the addresses of repository and site."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """The addresses by which the handbook is known, and where it lies."""

    repo_url: str = ""
    """Address of the repository, such as `https://github.com/owner/name`; empty when unknown."""
    site_url: str = ""
    """Address the site is published at, with a slash at its end; empty when unknown."""
    docs_prefix: str = "docs"
    """Path of the docs folder from the repository root."""
    root: Path | None = None
    """The repository root, to see what lies beside the docs folder; None: nothing is looked up."""


HANDBOOK = Settings()
