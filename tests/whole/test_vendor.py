"""Vendored libraries are what `vendor.json` says, and no page asks another host for anything."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import material
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


PACKAGES: list[dict[str, Any]] = json.loads((VENDOR / "vendor.json").read_text("utf-8"))["packages"]


def test_vendored_files_are_those_of_the_packages() -> None:
    listed = {file["path"]: file for package in PACKAGES for file in package["files"]}
    there = {path.relative_to(VENDOR).as_posix() for path in VENDOR.rglob("*") if path.is_file()}
    assert there - {"vendor.json"} == set(listed)
    for path, file in listed.items():
        assert file["origin"], path
        assert hashlib.sha256((VENDOR / path).read_bytes()).hexdigest() == file["sha256"], path
    for package in PACKAGES:
        assert package["licence_file"] in listed, package["name"]
        assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"]), package["name"]


def test_libraries_say_the_version_that_is_recorded() -> None:
    versions = {package["name"]: package["version"] for package in PACKAGES}
    for name in ("mermaid", "katex"):
        library = (VENDOR / name / f"{name}.min.js").read_text(encoding="utf-8")
        assert f'"{versions[name]}"' in library, name
    templates = Path(str(material.__file__)).parent / "templates/assets/javascripts"
    bundle = next(templates.glob("bundle*")).read_text(encoding="utf-8")
    wanted = re.search(r"unpkg\.com/mermaid@(\d+)/", bundle)
    assert wanted, "Material no longer loads mermaid itself: see how it does now"
    assert versions["mermaid"].split(".")[0] == wanted[1]


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
    ("text", "fetches"),
    [
        ('<script src="https://cdn.example/x.js">', True),
        ("<link rel=stylesheet href=//cdn.example/x.css>", True),
        ('<img alt="" src="http://cdn.example/x.png">', True),
        ("a { background: url(https://cdn.example/x.png) }", True),
        ('@import "https://cdn.example/x.css";', True),
        ('fetch("https://api.example/x")', True),
        ('image.src = "//cdn.example/x.png"', True),
        ('<a href="https://example.org/">', False),
        ('<link rel="canonical" href="https://example.org/x">', False),
    ],
)
def test_a_fetch_from_another_host_is_seen_and_a_link_is_none(text: str, fetches: bool) -> None:
    assert bool(FETCHES.search(text)) is fetches


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
