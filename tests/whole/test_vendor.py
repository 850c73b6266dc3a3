"""Vendored libraries are what `vendor.json` says, and no page asks another host for anything."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "docs" / "assets"
VENDOR = ASSETS / "vendor"
OVERRIDES = ROOT / "overrides"

OWN_FILES = sorted(
    path
    for folder in (ASSETS / "javascripts", ASSETS / "stylesheets", OVERRIDES)
    for path in folder.rglob("*")
    if path.suffix in {".js", ".css", ".html", ".xml"}
)

# What makes a browser fetch: not <a href>, which only leads somewhere when it is clicked.
FETCHES = re.compile(
    r"""
      <(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc\s*=\s*["']?(?:https?:)?//
    | <link\b(?![^>]*\brel=["']?(?:canonical|alternate))[^>]*\bhref\s*=\s*["']?(?:https?:)?//
    | url\(\s*["']?(?:https?:)?//
    | @import\s+["']?(?:url\(\s*["']?)?(?:https?:)?//
    | \b(?:fetch|importScripts|Worker|open)\s*\(\s*[^)]*["'](?:https?:)?//
    | \.src\s*=\s*["'](?:https?:)?//
    """,
    re.VERBOSE | re.IGNORECASE,
)


def check_vendor(folder: Path) -> list[str]:
    """Return what differs between the files below `folder` and its `vendor.json`."""
    record: dict[str, Any] = json.loads((folder / "vendor.json").read_text(encoding="utf-8"))
    problems: list[str] = []
    listed: dict[str, str] = {}
    for package in record["packages"]:
        files = {file["path"]: file for file in package["files"]}
        listed |= {path: file["sha256"] for path, file in files.items()}
        if package["licence_file"] not in files:
            problems.append(f"{package['name']}: its licence is not among its files")
        if not re.fullmatch(r"\d+\.\d+\.\d+", package["version"]):
            problems.append(f"{package['name']}: '{package['version']}' is not an exact version")
        problems += [f"{path}: no origin" for path, file in files.items() if not file["origin"]]
    present = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "vendor.json"
    }
    problems += [f"{path}: listed but missing" for path in sorted(set(listed) - present)]
    problems += [f"{path}: present but not listed" for path in sorted(present - set(listed))]
    for path in sorted(present & set(listed)):
        if hashlib.sha256((folder / path).read_bytes()).hexdigest() != listed[path]:
            problems.append(f"{path}: differs from the file of the package")
    return problems


def test_vendored_files_are_those_of_the_packages() -> None:
    assert check_vendor(VENDOR) == []


def _edit(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).open("ab").write(b"\n")


def _unlist_licence(folder: Path) -> None:
    path = folder / "vendor.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["packages"][0]["licence_file"] = "mermaid/COPYING"
    path.write_text(json.dumps(record), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (_edit("katex/katex.min.js"), "katex/katex.min.js: differs from the file of the package"),
        (lambda folder: (folder / "katex/LICENSE").unlink(), "katex/LICENSE: listed but missing"),
        (
            lambda folder: (folder / "katex/extra.js").write_text("x", encoding="utf-8"),
            "katex/extra.js: present but not listed",
        ),
        (_unlist_licence, "mermaid: its licence is not among its files"),
    ],
    ids=["edited", "removed", "added", "without-licence"],
)
def test_each_kind_of_damage_is_seen(
    damage: Callable[[Path], object], expected: str, tmp_path: Path
) -> None:
    folder = tmp_path / "vendor"
    shutil.copytree(VENDOR, folder)
    damage(folder)
    assert check_vendor(folder) == [expected]


@pytest.mark.parametrize(
    ("name", "file"),
    [("mermaid", "mermaid/mermaid.min.js"), ("katex", "katex/katex.min.js")],
)
def test_library_says_the_version_that_is_recorded(name: str, file: str) -> None:
    record = json.loads((VENDOR / "vendor.json").read_text(encoding="utf-8"))
    version = next(p["version"] for p in record["packages"] if p["name"] == name)
    assert f'"{version}"' in (VENDOR / file).read_text(encoding="utf-8")


def test_mermaid_is_the_major_version_material_is_written_for() -> None:
    import material

    bundle = next((Path(material.__file__).parent / "templates/assets/javascripts").glob("bundle*"))
    wanted = re.search(r"unpkg\.com/mermaid@(\d+)/", bundle.read_text(encoding="utf-8"))
    assert wanted, "Material no longer loads mermaid itself: see how it does now"
    record = json.loads((VENDOR / "vendor.json").read_text(encoding="utf-8"))
    version = next(p["version"] for p in record["packages"] if p["name"] == "mermaid")
    assert version.split(".")[0] == wanted[1]


def test_the_first_font_of_each_face_is_there() -> None:
    css = (VENDOR / "katex" / "katex.min.css").read_text(encoding="utf-8")
    faces = re.findall(r"@font-face\{[^}]*?src:url\(([^)]+)\)", css)
    assert len(faces) > 10
    # Browsers take the first format they know; the others the package lists are left out.
    assert [face for face in faces if not (VENDOR / "katex" / face).is_file()] == []


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_is_fetched_from_another_host(path: Path) -> None:
    assert FETCHES.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/x.js">',
        "<link rel=stylesheet href=//cdn.example/x.css>",
        '<img alt="" src="http://cdn.example/x.png">',
        "a { background: url(https://cdn.example/x.png) }",
        '@import "https://cdn.example/x.css";',
        'fetch("https://api.example/x")',
        'image.src = "//cdn.example/x.png"',
    ],
)
def test_a_fetch_from_another_host_is_seen(text: str) -> None:
    assert FETCHES.search(text)


@pytest.mark.parametrize(
    "text",
    ['<a href="https://example.org/">', '<link rel="canonical" href="https://example.org/x">'],
)
def test_a_link_is_not_a_fetch(text: str) -> None:
    assert not FETCHES.search(text)


@pytest.mark.parametrize("path", OWN_FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_assets_that_templates_name_exist(path: Path) -> None:
    named = re.findall(r"""['"](assets/[\w./-]+\.(?:js|css|svg))['"]""", path.read_text("utf-8"))
    assert [name for name in named if not (ROOT / "docs" / name).is_file()] == []


@pytest.mark.parametrize(
    "name", ["partials/source.html", "partials/head-links.html", "partials/alternate.html"]
)
def test_templates_that_keep_material_from_fetching(name: str) -> None:
    """Material's own versions of these ask api.github.com, or for sitemaps that do not exist."""
    text = re.sub(r"\{#.*?#\}", "", (OVERRIDES / name).read_text("utf-8"), flags=re.DOTALL)
    assert 'data-md-component="source"' not in text
    assert 'rel="alternate"' not in text
