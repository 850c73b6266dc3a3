"""What the service worker is told about a site."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from hooks.site import offline
from tests.samples import lay

READ = ("index.html", "link/带宽 1.html", "assets/a.css", "search/search_index.json")
"""Files that readers open and pages load."""
UNREAD = ("link/带宽 1.md", "search/search_index.js", "sitemap.xml.gz", ".nojekyll")


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site as a build leaves it, with what no reader needs among it."""
    return lay(tmp_path, {name: name for name in (*READ, *UNREAD)})


def test_every_file_of_a_reader_is_listed_and_nothing_else(site: Path) -> None:
    version = offline.install(site)
    (path,) = (site / "assets/offline").iterdir()
    assert path.name == f"files.{version}.js"
    assert f'"assets/offline/{path.name}");' in (site / "sw.js").read_text(encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    record: dict[str, Any] = json.loads(text.removeprefix("self.HANDBOOK = ").rstrip(";\n"))
    assert record["version"] == version
    assert record["files"] == {
        name: hashlib.sha256(name.encode()).hexdigest()[:16] for name in READ
    }


@pytest.mark.parametrize(
    ("name", "changes"),
    [*((name, True) for name in (*READ, "link/new.html")), ("sitemap.xml.gz", False)],
)
def test_version_is_that_of_the_content(site: Path, name: str, changes: bool) -> None:
    before = offline.install(site)
    assert offline.install(site) == before
    (site / name).write_text("changed", encoding="utf-8")
    assert (offline.install(site) != before) == changes
