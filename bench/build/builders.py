"""What builds a tree: this handbook's code, MkDocs with Material alone, Zensical."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from bench.build import notes
from bench.build.notes import Copy
from bench.timing import ROOT, Run, run

_SHIM = """\
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from hooks import adapter
adapter.ROOT = Path(__file__).parent
from hooks.adapter import *
"""
_PICTURES = (".svg", ".png")
_NAMES_NOTES = {"coverage.yml", "paths.yml", "topics.yml", "published.txt", "moved.yml"}
_FREE_OF_NOTES = ("facts", "sources")
"""Folders of data that a tree with other notes can use as they are."""
_OURS = ("hooks:", "extra_css:", "extra_javascript:", "  custom_dir:", "strict:", "plugins:")
_PLAIN_PLUGINS = """\
plugins:
  - search
  - i18n:
      docs_structure: suffix
      languages:
        - {locale: zh, name: 中文, build: true, default: true}
        - {locale: en, name: English, build: true}
"""
_ZENSICAL = "site_dir: site-zensical\nplugins: [search]\n"


def lay_out(root: Path, size: int) -> list[Copy]:
    """Write a tree of notes with the configurations of every builder."""
    root.mkdir(parents=True)
    for name in ("hooks", "overrides", "LICENSES", "LICENSE", "NOTICE"):
        (root / name).symlink_to(ROOT / name)
    (root / "adapter.py").write_text(_SHIM.format(root=str(ROOT)), encoding="utf-8")
    copies = notes.write(root, ROOT, size)
    _lend(root)
    pages = yaml.safe_dump({"nav": _navigation(copies)}, allow_unicode=True, sort_keys=False)
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    text = text[: text.index("\nnav:") + 1]
    ours = text.replace("hooks/adapter.py", "adapter.py")
    (root / "mkdocs.yml").write_text(ours + pages, encoding="utf-8")
    (root / "plain.yml").write_text(plain(text) + _PLAIN_PLUGINS + pages, encoding="utf-8")
    (root / "zensical.yml").write_text(plain(text) + _ZENSICAL + pages, "utf-8")
    return copies


def _lend(root: Path) -> None:
    """Copy what notes show and include, but not the data that name notes of the handbook."""
    docs = ROOT / "docs"
    said = "".join(one.read_text("utf-8") for one in sorted((root / "docs").rglob("*.md")))
    for file in sorted(docs.rglob("*")):
        path = file.relative_to(docs)
        wanted = path.parts[0] in (*notes.VOLUMES, "assets", "data", "code")
        if path.parts[0] in notes.VOLUMES and file.suffix in _PICTURES:
            wanted = f"/{path.name}" in said  # a picture that nothing shows is an error
        named = path.parts[0] == "data" and not (
            path.parts[1] in _FREE_OF_NOTES
            if len(path.parts) > 2
            else path.name not in _NAMES_NOTES
        )
        if wanted and not named and file.is_file() and file.suffix != ".md":
            target = root / "docs" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)


def _navigation(copies: Sequence[Copy]) -> list[object]:
    """Return the pages in sections: a volume, and a folder in it."""
    sections: dict[str, dict[str, list[object]]] = {}
    for one in copies[1:]:
        folders = one.id.split("/")[:-1]
        volume = sections.setdefault(folders[0], {})
        volume.setdefault("/".join(folders[1:]), []).append(f"{one.id}.md")
    found: list[object] = ["index.md"]
    for name, inner in sections.items():
        direct = inner.pop("", [])
        found.append({name: [*direct, *({folder: pages} for folder, pages in inner.items())]})
    return found


def plain(config: str) -> str:
    """Return the handbook's configuration without what is its own: hooks, styles, plugins."""
    kept, is_ours = [], False
    for line in config.split("\n"):
        if line and not line.startswith((" ", "#")):
            is_ours = line.startswith(_OURS)
        if not is_ours and not line.startswith(_OURS):
            kept.append(line)
    text = "\n".join(kept)
    return re.sub(
        r"!!python/name:mermaid2\S+", "!!python/name:pymdownx.superfences.fence_code_format", text
    )


def ours(root: Path) -> Run:
    """Build with this handbook's code; what an earlier build left is used."""
    return _succeed(_mkdocs(root, "mkdocs.yml", "site"))


def ours_cold(root: Path) -> Run:
    """Build as on a machine that never built the tree."""
    for name in (".cache", "site"):
        shutil.rmtree(root / name, ignore_errors=True)
    return ours(root)


def ours_changed(root: Path, round_: int) -> Run:
    """Build after a sentence has been added to one note."""
    file = root / "docs" / "chip" / "roofline.md"
    file.write_text(file.read_text(encoding="utf-8") + f"\n{round_}。\n", encoding="utf-8")
    return ours(root)


def plain_cold(root: Path) -> Run:
    """Build the same notes with MkDocs and Material, their search and the two languages."""
    return _succeed(_mkdocs(root, "plain.yml", "site-plain"))


def zensical() -> str | None:
    """Return the command of Zensical; None where it is not installed."""
    beside = Path(sys.executable).parent / "zensical"
    return os.environ.get("BENCH_ZENSICAL") or (
        str(beside) if beside.is_file() else shutil.which("zensical")
    )


def zensical_cold(root: Path, command: str) -> Run:
    """Build the same notes with Zensical, its cache emptied."""
    shutil.rmtree(root / ".cache-zensical", ignore_errors=True)
    options = ["build", "--clean", "--config-file", str(root / "zensical.yml")]
    return _succeed(run([command, *options], cwd=root))


def _mkdocs(root: Path, config: str, site: str) -> Run:
    command = [sys.executable, "-m", "mkdocs", "build", "-f", config, "-d", site]
    return run(command, cwd=root, timeout_s=7200, SITE_URL="", REPO_URL="")


def _succeed(done: Run) -> Run:
    if done.status != 0:
        raise SystemExit(f"bench: a build failed:\n{done.errors[-3000:]}")
    return done
