"""Two builds of the same sources are the same bytes, wherever, whenever and by whom."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hooks.site import publish
from tests.conftest import Project
from tests.whole.test_build import fingerprint


@pytest.mark.slow
def test_same_site_and_zip_in_another_folder(tmp_path: Path) -> None:
    sites, archives = [], []
    for number, folder in enumerate(("one", "a/deeper/two")):
        root = tmp_path / folder
        root.mkdir(parents=True)
        project = Project(root)
        project.fill()
        if number:  # files that another day wrote
            for file in (root / "docs").rglob("*.md"):
                os.utime(file, (0, time.time() - 90_000))
        here = {"TZ": ("UTC", "Asia/Tokyo")[number], "PYTHONHASHSEED": str(number)}
        run = project.build(SITE_URL="https://h.example/x/", **here)
        assert run.returncode == 0, run.stderr
        publish.pack(project.site, root / "dist" / "site.zip", "site")
        sites.append(fingerprint(project.site))
        archives.append((root / "dist" / "site.zip").read_bytes())
    assert sites[0] == sites[1]
    assert archives[0] == archives[1]
