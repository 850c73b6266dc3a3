"""A site is replaced whole or not at all."""

from __future__ import annotations

import zipfile
from pathlib import Path

from hooks.site import publish


def folder(path: Path, text: str) -> Path:
    path.mkdir(parents=True)
    (path / "index.html").write_text(text, encoding="utf-8")
    return path


def test_swap_replaces_the_site(tmp_path: Path) -> None:
    site = folder(tmp_path / "site", "old")
    publish.swap(folder(publish.staging_dir(site), "new"), site)
    assert (site / "index.html").read_text(encoding="utf-8") == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_interrupted_swap_is_undone(tmp_path: Path) -> None:
    site = folder(tmp_path / "site", "old")
    staged = folder(publish.staging_dir(site), "half")
    site.rename(tmp_path / ".site-old")  # as if killed between the two renames
    publish.recover(site)
    assert (site / "index.html").read_text(encoding="utf-8") == "old"
    assert not staged.exists()


def test_archive_unpacks_into_one_folder_and_is_reproducible(tmp_path: Path) -> None:
    site = folder(tmp_path / "site", "页面")
    (site / "子").mkdir()
    (site / "子" / "a.html").write_text("x", encoding="utf-8")
    first, second = tmp_path / "1.zip", tmp_path / "2.zip"
    assert publish.pack(site, first, "handbook") == 2
    publish.pack(site, second, "handbook")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert sorted(archive.namelist()) == ["handbook/index.html", "handbook/子/a.html"]
