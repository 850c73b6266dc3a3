"""Sites to search: each collection is built once, then given one search after the other.

The pages of all variants are the same files, so that what differs between them is the search:

- `stock`: Material's own, in the configuration that finds most of Chinese: language zh, jieba.
- `own`: this handbook's engine.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import material

from bench.search.notes import ROOT, Collection
from hooks.data import load_terms
from hooks.search import install as search_install
from hooks.search import material as search_material
from hooks.search.from_folder import folder_pages

THEME = Path(str(material.__file__)).parent / "templates"
WORKERS = search_material.WORKERS_DIR
SHIM = ROOT / "docs/assets/vendor/iframe-worker/iframe-worker.min.js"
INDEX = "search/search_index.json"
KEPT_INDEX = "bench-stock-index.json"
"""Where a build keeps the index as Material wrote it, before anything else touched it."""

_WORKER_ADDRESS = re.compile(r"workers/search\.[\w.-]+?\.js")
_RESULT_LAYOUT = re.compile(r"^\.md-search-result__item \{\n  content-visibility: [^}]*\}\n", re.M)
_KEEP_HOOK = """\
import json
import os

from mkdocs.plugins import event_priority


@event_priority(-1)  # after the search plugin (0), before whatever finishes the index
def on_post_build(config, **kwargs):
    path = os.path.join(config["site_dir"], "search", "search_index.json")
    kept = os.path.join(config["site_dir"], "bench-stock-index.json")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as file:
        index = json.load(file)
    if os.path.exists(kept):  # the build of another language
        with open(kept, encoding="utf-8") as file:
            index["docs"] = json.load(file)["docs"] + index["docs"]
    with open(kept, "w", encoding="utf-8") as file:
        json.dump(index, file)
"""
_MINIMAL = """\
site_name: {name}
site_url: ""
docs_dir: {docs}
use_directory_urls: false
theme:
  name: material
  language: zh
  font: false
  features: [search.highlight, search.suggest]
hooks: [{keep}, {ids}]
plugins:
  - search: {{lang: zh}}
  - offline
extra:
  polyfills: [assets/vendor/iframe-worker/iframe-worker.min.js]
markdown_extensions:
  - abbr
  - admonition
  - attr_list
  - def_list
  - footnotes
  - md_in_html
  - tables
  - toc: {{permalink: true}}
  - pymdownx.arithmatex: {{generic: true}}
  - pymdownx.details
  - pymdownx.highlight
  - pymdownx.superfences
  - pymdownx.tabbed: {{alternate_style: true}}
validation:
  nav: {{omitted_files: ignore}}
  links: {{not_found: ignore, unrecognized_links: ignore}}
"""
_IDS_HOOK = '''\
import sys

sys.path.insert(0, {root!r})
from hooks.markdown.heading_ids import HeadingIdsExtension


def on_config(config, **kwargs):
    """Give headings the ids that the judged sections are named by."""
    config["markdown_extensions"].append(HeadingIdsExtension())
    return config
'''


class SiteError(RuntimeError):
    """A site could not be built or changed."""


def build(collection: Collection, folder: Path) -> Path:
    """Build a collection's site with Material's stock search (language zh, jieba) and return it.

    Kept between runs as long as the notes stay the same.
    """
    site = folder / collection.name / "site"
    stamp = folder / collection.name / "stamp.json"
    state = _state(collection)
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == state:
        return site
    shutil.rmtree(folder / collection.name, ignore_errors=True)
    site.mkdir(parents=True)
    keep = folder / collection.name / "keep_index.py"
    keep.write_text(_KEEP_HOOK, encoding="utf-8")
    own = collection.docs == ROOT / "docs"
    config = ROOT / ".bench-search.yml" if own else folder / collection.name / "mkdocs.yml"
    ids = folder / collection.name / "heading_ids_hook.py"
    ids.write_text(_IDS_HOOK.format(root=str(ROOT)), encoding="utf-8")
    text = (
        _stock_config((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), keep)
        if own
        else _MINIMAL.format(name=collection.name, docs=collection.docs, keep=keep, ids=ids)
    )
    config.write_text(text, encoding="utf-8")
    try:
        _mkdocs(config, site)
    finally:
        if own:
            config.unlink()
    shim = site / "assets/vendor/iframe-worker/iframe-worker.min.js"
    shim.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(SHIM, shim)
    if not (site / KEPT_INDEX).is_file():
        raise SiteError(f"the build of {collection.name} kept no search index")
    stamp.write_text(state, encoding="utf-8")
    return site


def _state(collection: Collection) -> str:
    files = sorted(collection.docs.rglob("*.md"))
    if collection.docs == ROOT / "docs":  # its pages are made by the hooks, its engine too
        for folder in ("hooks", "overrides", "docs"):
            files += [path for path in (ROOT / folder).rglob("*") if path.suffix != ".pyc"]
        files.append(ROOT / "mkdocs.yml")
    newest = max(path.stat().st_mtime_ns for path in files if path.is_file())
    return json.dumps([str(collection.docs), len(files), newest])


def _stock_config(text: str, keep: Path) -> str:
    """Return mkdocs.yml with the search plugin as Material documents it for Chinese."""
    text, searches = re.subn(
        r"^  - search:\n(?:^(?:      .*|\s*#.*)\n)+", "  - search: {lang: zh}\n", text, flags=re.M
    )
    text, hooks = re.subn(
        r"^hooks: \[(.*)\]$", lambda match: f"hooks: [{match[1]}, {keep}]", text, flags=re.M
    )
    if searches != 1 or hooks != 1:
        raise SiteError(f"mkdocs.yml has {searches} search plugins and {hooks} lists of hooks")
    return text


def _mkdocs(config: Path, site: Path) -> None:
    environment = {
        **os.environ,
        "DISABLE_MKDOCS_2_WARNING": "true",
        "NO_MKDOCS_2_WARNING": "1",
        "SITE_URL": "",
        "REPO_URL": "",
    }
    run = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "-f", str(config), "-d", str(site)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    if run.returncode:
        raise SiteError(f"mkdocs build failed: {run.stderr[-2000:]}")


def stock_index(site: Path) -> dict[str, Any]:
    """Return the index as Material wrote it, every section once."""
    index: dict[str, Any] = json.loads((site / KEPT_INDEX).read_text(encoding="utf-8"))
    # The translation plugin can index its first language twice; that is not Material's doing.
    index["docs"] = list({entry["location"]: entry for entry in index["docs"]}.values())
    return index


def stock_worker() -> str:
    """Return the name of Material's own worker file."""
    (path,) = (THEME / WORKERS).glob("search.*.min.js")
    return path.name


def copy_of(site: Path, variant: str) -> Path:
    """Return a copy of a site for a variant; unchanged files share their bytes."""
    target = site.parent / variant
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(site, target, copy_function=os.link)
    return target


def write(path: Path, text: str) -> None:
    """Write a file of a copy without touching the file it shares bytes with."""
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


def edit_pages(site: Path, change: Callable[[str, Path], str]) -> None:
    """Rewrite every page of a copy."""
    for page in site.rglob("*.html"):
        text = page.read_bytes().decode("utf-8")
        changed = change(text, page)
        if changed != text:
            write(page, changed)


def _use_worker(site: Path, name: Callable[[Path], str]) -> None:
    edit_pages(site, lambda text, page: _WORKER_ADDRESS.sub(f"workers/{name(page)}", text))


def _use_index(site: Path, text: str) -> None:
    write(site / INDEX, text)
    write(site / "search/search_index.js", f"var __index = {text}")


def _theme_file(site: Path, path: Path) -> None:
    write(site / path.relative_to(THEME), path.read_text(encoding="utf-8"))


def make_stock(site: Path) -> Path:
    """Return a copy of a site with Material's own search, untouched."""
    target = copy_of(site, "stock")
    _use_worker(target, lambda page: stock_worker())
    for pattern in (f"{WORKERS}/search.*.min.js", "assets/javascripts/bundle.*.min.js"):
        for path in THEME.glob(pattern):
            _theme_file(target, path)
    _use_index(target, json.dumps(stock_index(site)))  # as MkDocs writes it
    lay_out_at_once(target)
    return target


def lay_out_at_once(site: Path) -> None:
    """Take out the rule by which this handbook's results are laid out when they are seen.

    Raises SiteError when the site's style sheet for search does not have it once.
    """
    path = site / "assets/stylesheets/search.css"
    if not path.is_file():  # a public collection's site, which has Material's styles only
        return
    text, count = _RESULT_LAYOUT.subn("", path.read_text(encoding="utf-8"))
    if count != 1:
        raise SiteError(f"{path} has {count} rules for the layout of results, not one")
    write(path, text)


def make_own(site: Path, collection: Collection) -> Path:
    """Return a copy of a site with this handbook's engine."""
    target = copy_of(site, "own")
    if collection.docs == ROOT / "docs":
        return target  # that is how it was built
    pages = folder_pages(collection.docs)
    groups = load_terms(collection.terms) if collection.terms else []
    prefixes = {"zh": search_material.PREFIXES["zh"]}
    files = search_install.own_files(THEME, pages, groups, prefixes=prefixes)
    for address, text in files:
        write(target / address, text)
    _use_worker(target, lambda page: search_material.WORKER_NAME.format(language="zh"))
    _use_index(target, search_install.tiny_index((target / INDEX).read_text(encoding="utf-8")))
    return target


def make(site: Path, collection: Collection) -> dict[str, Path]:
    """Return the variants of a site by name."""
    return {"own": make_own(site, collection), "stock": make_stock(site)}


def index_sizes(variants: dict[str, Path]) -> dict[str, dict[str, int]]:
    """Return the bytes of what search loads, raw and compressed with gzip, by variant.

    Material's index is in the site twice, for http and for file://; a reader loads one.
    """
    found = {}
    for name, site in variants.items():
        own = sorted((site / "search").glob("handbook.*.js")) if name == "own" else []
        files = [site / INDEX, *own]
        worker = _WORKER_ADDRESS.search((site / "index.html").read_text(encoding="utf-8"))
        if worker is None:
            raise SiteError(f"{site}/index.html names no search worker")
        found[name] = {
            "index": sum(path.stat().st_size for path in files),
            "index_gzip": sum(len(gzip.compress(path.read_bytes(), 9, mtime=0)) for path in files),
            "worker": (site / "assets/javascripts" / worker[0]).stat().st_size,
        }
    return found
