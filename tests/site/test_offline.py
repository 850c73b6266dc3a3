"""What the service worker is told about a site."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest

from hooks.site import offline
from tests.conftest import ROOT, Project

HOME = """<!doctype html><html><head><link rel="stylesheet" href="{up}assets/a.css"></head><body>
<script id="__config" type="application/json">{{"search":
"{up}assets/javascripts/workers/{worker}"}}</script>
<script src="{up}assets/bundle.js"></script><img src="data:image/png;base64,AA=="></body></html>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site as a build leaves it, with what no reader needs among it."""
    files = {
        "index.html": HOME.format(up="", worker="search.handbook.zh.js"),
        "en/index.html": HOME.format(up="../", worker="search.handbook.en.js"),
        "link/带宽 1.html": "<p>页</p>",
        "link/code/p2p.cu": "int main",
        "404.html": "404",
        "assets/a.css": "a {}",
        "assets/bundle.js": "1",
        "assets/bundle.js.map": "{}",
        "assets/javascripts/lunr/tinyseg.js": "2",
        "assets/javascripts/workers/search.a7633da7.min.js": "3",
        "assets/javascripts/workers/search.handbook.zh.js": "4",
        "assets/javascripts/workers/search.handbook.en.js": "5",
        "search/search_index.json": "{}",
        "search/search_index.js": "var __index = {}",
        "search/engine.js": "6",
        "search/handbook.zh.0.js": "7",
        "search/facets.js": "var __search_facets = {}",
        "sitemap.xml": "<x/>",
        "sitemap.xml.gz": "z",
        ".nojekyll": "",
    }
    for name in (*offline.WORKBOX, offline.WORKBOX_WINDOW):
        files[name] = (ROOT / "docs" / name).read_text(encoding="utf-8")
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def listed(site: Path) -> dict[str, Any]:
    """Install the worker and return what it is told."""
    version = offline.install(site)
    (path,) = (site / "assets/offline").iterdir()
    assert path.name == f"files.{version}.js"
    assert f'"assets/offline/{path.name}");' in (site / "sw.js").read_text(encoding="utf-8")
    text = path.read_text(encoding="utf-8")
    record: dict[str, Any] = json.loads(text.removeprefix("self.HANDBOOK_FILES = ").rstrip(";\n"))
    assert record["version"] == version
    return record


def test_shell_is_what_pages_need_and_not_the_index(site: Path) -> None:
    record = listed(site)
    assert sorted(record["shell"]) == [
        "assets/a.css",
        "assets/bundle.js",
        "assets/javascripts/workers/search.handbook.en.js",
        "assets/javascripts/workers/search.handbook.zh.js",
        offline.WORKBOX_WINDOW,
        "search/facets.js",
        "search/search_index.json",
    ]
    assert record["homes"] == ["index.html", "en/index.html"]


def test_every_file_of_a_reader_is_listed_and_nothing_else(site: Path) -> None:
    assert sorted(listed(site)["files"]) == [
        "404.html",
        "en/index.html",
        "index.html",
        "link/code/p2p.cu",
        "link/带宽 1.html",
        "search/engine.js",
        "search/handbook.zh.0.js",
    ]


def test_sizes_are_bytes(site: Path) -> None:
    record = listed(site)
    assert record["files"]["link/带宽 1.html"][1] == len("<p>页</p>".encode())
    assert record["shell"]["assets/a.css"][1] == 4


@pytest.mark.parametrize(
    ("name", "text", "changes"),
    [
        ("link/带宽 1.html", "<p>另一页</p>", True),
        ("link/new.html", "<p>页</p>", True),
        ("assets/a.css", "b {}", True),
        ("search/search_index.json", "[]", True),
        ("sitemap.xml", "<y/>", False),
        ("assets/bundle.js.map", "[]", False),
    ],
    ids=["page", "new-page", "style", "index", "sitemap", "map"],
)
def test_version_is_that_of_the_content(site: Path, name: str, text: str, changes: bool) -> None:
    before = offline.install(site)
    assert offline.install(site) == before
    (site / name).write_text(text, encoding="utf-8")
    assert (offline.install(site) != before) == changes


def test_a_page_that_moved_changes_the_version(site: Path) -> None:
    before = offline.install(site)
    (site / "link/code/p2p.cu").rename(site / "link/code/p2q.cu")
    assert offline.install(site) != before


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda site: (site / "assets/a.css").unlink(), "index.html: 'assets/a.css' is not in"),
        (lambda site: (site / offline.WORKBOX[0]).unlink(), f"'{offline.WORKBOX[0]}' is not in"),
        (
            lambda site: (site / "index.html").write_text("<p>bare</p>", encoding="utf-8"),
            "index.html: no '<script id=\"__config\"'",
        ),
    ],
    ids=["missing-style", "missing-library", "other-theme"],
)
def test_a_site_the_worker_does_not_fit(site: Path, damage: Any, said: str) -> None:
    damage(site)
    with pytest.raises(offline.OfflineError, match="^" + said.replace(".", r"\.")):
        offline.install(site)


def test_serving_takes_copies_away_and_makes_none(project: Project) -> None:
    """`mkdocs serve` renders into a temporary folder with a name of its own, as here."""
    served = Path(tempfile.mkdtemp(prefix="mkdocs_"))
    try:
        run = project.build("--site-dir", str(served))
        assert run.returncode == 0, run.stdout + run.stderr
        assert (served / "sw.js").read_text(encoding="utf-8") == offline.KILL_SWITCH
        assert not (served / "assets/offline").exists()
        assert "offline.js" not in (served / "index.html").read_text(encoding="utf-8")
    finally:
        shutil.rmtree(served)


@pytest.mark.slow
def test_equal_notes_give_equal_versions(project: Project) -> None:
    """Nobody is told of a new version because the same notes were built again."""
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for step in (["init", "-q"], ["add", "docs"], ["commit", "-qm", "Notes"]):
        subprocess.run([*git, *step], cwd=project.root, check=True)
    versions = []
    for _ in range(2):
        run = project.build()
        assert run.returncode == 0, run.stdout + run.stderr
        (path,) = (project.site / "assets/offline").iterdir()
        versions.append(path.name)
    assert versions[0] == versions[1]
