"""Public repositories whose notes are searched but not kept here."""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path


def git(*arguments: str, cwd: Path) -> str:
    """Return what git prints. Raises subprocess.CalledProcessError."""
    return subprocess.run(
        ["git", *arguments], cwd=cwd, check=True, capture_output=True, text=True
    ).stdout.strip()


def clone(folder: Path, address: str, commit: str) -> Path:
    """Fetch one commit of a repository into a folder, once, and return the folder."""
    if not (folder / "HEAD").is_file():
        folder.mkdir(parents=True, exist_ok=True)
        git("init", "--bare", "--quiet", ".", cwd=folder)
    git("fetch", "--quiet", "--depth", "1", address, commit, cwd=folder)
    return folder


def archived(repository: Path, commit: str, pattern: str) -> Iterator[tuple[str, bytes]]:
    """Yield the path and bytes of every file of a commit whose path matches, such as `docs/*.md`.

    Raises subprocess.CalledProcessError when the repository lacks the commit.
    """
    archive = subprocess.Popen(
        ["git", "archive", commit, "--", pattern], cwd=repository, stdout=subprocess.PIPE
    )
    assert archive.stdout is not None
    try:
        with tarfile.open(fileobj=archive.stdout, mode="r|") as tar:
            for member in tar:
                if not member.isfile():
                    continue
                data = tar.extractfile(member)
                assert data is not None
                yield member.name, data.read()
    except tarfile.ReadError:
        if not archive.wait():
            raise
    if archive.wait():
        raise subprocess.CalledProcessError(archive.returncode, "git archive")
