"""Check the built pages: the ids and links that browsers will really see.

Nothing is slugified here. A fragment is compared with the ids that stand in the page it names, in
every language, also for links that templates, hooks and raw HTML put there.
"""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache as remembered
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from hooks.cache import Cache, digest
from hooks.findings import Finding, nearest
from hooks.links import Target, resolve
from hooks.markdown import html_tags

_LOADED = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "iframe": ("src",),
    "embed": ("src",),
    "object": ("data",),
}
_LOADING_RELS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect"}
_REFRESH = re.compile(r"""\burl\s*=\s*["']?(?P<url>[^"']+)""", re.IGNORECASE)
_CSS_URL = re.compile(r"""url\(\s*(?P<quote>["']?)(?P<url>[^"')]+)(?P=quote)\s*\)""")
# In the `src` of a font, browsers take the first format they know: later ones are spares.
_CSS_SPARES = re.compile(r"(?P<first>\bsrc\s*:\s*url\([^)]*\)[^,;}]*)(?:,[^;}]*)+")
_CSS_IMPORT = re.compile(r"""@import\s+(?P<quote>["'])(?P<url>[^"']+)(?P=quote)""")


@dataclass(frozen=True, slots=True)
class Page:
    """What a built page offers and asks for."""

    path: str
    """Path below the site folder."""
    ids: frozenset[str]
    repeated_ids: tuple[str, ...]
    links: tuple[str, ...]
    """Where the page leads: `href` of anchors, and where it sends the reader by itself."""
    loads: tuple[str, ...]
    """What the page fetches by itself: scripts, styles, images."""


def read_page(path: str, html: str) -> Page:
    """Parse a built page as a browser would (HTML5)."""
    tree = LexborHTMLParser(html)
    ids: Counter[str] = Counter()
    # Whether a name repeats an id depends on which comes first, where it is not the element's own.
    named = any(node.id != node.attributes.get("name") for node in tree.css("a[name]"))
    for node in tree.css("*" if named else "[id]"):
        if node.id:
            ids[node.id] += 1
        if named and node.tag == "a" and (name := node.attributes.get("name")):
            ids[name] |= 1
    # Selectors that no element meets twice: selectolax would return it twice. To them, an
    # `xlink:href` of a drawing is a `href` too; to browsers' links and to us it is not.
    anchors = tree.css("a[href], area[href]")
    links = [one for node in anchors if (one := node.attributes.get("href"))]
    loads: list[str] = []
    for node in tree.css("link[href]"):
        attributes = node.attributes
        if address := attributes.get("href"):
            rels = set((attributes.get("rel") or "").split())
            (loads if rels & _LOADING_RELS else links).append(address)
    for node in tree.css(",".join(_LOADED)):
        attributes = node.attributes
        for name in _LOADED[node.tag or ""]:
            value = attributes.get(name) or ""
            if name == "srcset":
                loads.extend(html_tags.srcset(value))
            elif value:
                loads.append(value)
    for node in tree.css("meta[http-equiv]"):
        if (node.attributes.get("http-equiv") or "").lower() == "refresh":
            match = _REFRESH.search(node.attributes.get("content") or "")
            links += [match["url"].strip()] if match else []
    repeated = tuple(name for name, count in ids.items() if count > 1)
    return Page(path, frozenset(ids), repeated, tuple(links), tuple(loads))


Find = Callable[[str, str], tuple[Target, str]]
"""Tells what an address in a file names, and the file that a server answers with, if any."""


def check_site(
    site: Path, *, site_url: str = "", name: str = "site", cache: Cache | None = None
) -> list[Finding]:
    """Check every page and style sheet below `site`.

    Args:
        site: The folder of built pages.
        site_url: The published address; links to it count as links within the site.
        name: How messages call the folder.
        cache: Knows what stood in pages that were read before.
    """
    there = (path for path in sorted(site.rglob("*")) if path.is_file())
    files = {path.relative_to(site).as_posix(): path for path in there}
    paths = [path for path in files if path.endswith(".html")]
    keys = [(path, digest(files[path].read_bytes())) for path in paths]
    read = (cache or Cache()).recall_all("built", keys, partial(_read, site))
    pages, find = dict(zip(paths, read, strict=True)), _finder(site_url, files)
    findings: list[Finding] = []
    for page in read:
        file = f"{name}/{page.path}"
        for repeated in page.repeated_ids:
            message = f"id '{repeated}' stands more than once on the page"
            findings.append(Finding(file, 0, 0, "duplicate-id", message))
        findings += _check_links(file, page, pages, files, find)
        targets = {address: find(address, page.path)[0] for address in page.loads}
        findings += _check_loads(file, "page", targets, files)
    for path in files:
        if path.endswith(".css"):
            asked = _style_loads(files[path].read_text(encoding="utf-8", errors="replace"))
            targets = {address: find(address, path)[0] for address in asked}
            findings += _check_loads(f"{name}/{path}", "style sheet", targets, files)
    return sorted(set(findings))


def _read(site: Path, key: tuple[str, str]) -> Page:
    return read_page(key[0], (site / key[0]).read_bytes().decode("utf-8", "replace"))


def _finder(site_url: str, files: Collection[str]) -> Find:
    bases = [base for base in (site_url, urlsplit(site_url).path) if base]

    @remembered
    def find(address: str, holder: str) -> tuple[Target, str]:
        base = next((one for one in bases if address.startswith(one)), None)
        target = resolve(address if base is None else f"/{address.removeprefix(base)}", holder)
        path = target.path or ""
        index = posixpath.normpath(f"{path}/index.html")
        return target, index if path not in files and index in files else path

    def find_once(address: str, holder: str) -> tuple[Target, str]:
        is_own = address.startswith(("#", "?"))  # else the files of a folder share it
        return find(address, holder if is_own else posixpath.join(posixpath.dirname(holder), "-"))

    return find_once


def _check_links(
    file: str, page: Page, pages: Mapping[str, Page], files: Collection[str], find: Find
) -> Iterator[Finding]:
    for address in dict.fromkeys(page.links):
        if address.startswith("#") and address[1:] in page.ids and "%" not in address:
            continue  # most links of a page: its contents, its lines of code
        target, path = find(address, page.path)
        if target.path is None:
            continue
        if path not in files:
            message = f"the page links to '{address}', which the site does not hold"
            hint = nearest(path, files, cutoff=0.8)
            yield Finding(file, 0, 0, "built-dead-link", message, address, hint)
        elif path in pages and target.fragment not in pages[path].ids | {"", "top"}:
            message = f"the page links to '{address}', but '{path}' has no id '{target.fragment}'"
            hint = nearest(target.fragment, pages[path].ids)
            yield Finding(file, 0, 0, "built-dead-anchor", message, address, hint)


def _style_loads(text: str) -> Iterable[str]:
    text = _CSS_SPARES.sub(r"\g<first>", text)
    return (
        match["url"].strip()
        for pattern in (_CSS_URL, _CSS_IMPORT)
        for match in pattern.finditer(text)
    )


def _check_loads(
    file: str, what: str, targets: Mapping[str, Target], files: Collection[str]
) -> Iterator[Finding]:
    """Check what a page or a style sheet fetches by itself, by its address."""
    for address, target in targets.items():
        if address.startswith("data:"):
            continue
        if target.path is None:
            message = f"the {what} would fetch '{address}' from a third party"
            yield Finding(file, 0, 0, "third-party", message, target=address)
        elif target.path not in files:
            message = f"the {what} loads '{address}', which the site does not hold"
            yield Finding(file, 0, 0, "built-dead-link", message, target=address)
