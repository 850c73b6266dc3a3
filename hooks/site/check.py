"""Check the built pages: the ids and links that browsers will really see.

Nothing is slugified here. A fragment is compared with the ids that stand in the page it names, in
every language, also for links that templates, hooks and raw HTML put there.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import unquote, urlsplit

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
    files = {
        path.relative_to(site).as_posix(): path
        for path in sorted(site.rglob("*"))
        if path.is_file()
    }
    pages = _read_pages(site, files, cache or Cache())
    findings = []
    targets = _Targets(site_url, files)
    for page in pages.values():
        for repeated in page.repeated_ids:
            message = f"id '{repeated}' stands more than once on the page"
            findings.append(Finding(f"{name}/{page.path}", 0, 0, "duplicate-id", message))
        findings.extend(_check_links(page, pages, targets, name))
        findings.extend(_check_loads(page, targets, name))
    for path, file in files.items():
        if path.endswith(".css"):
            text = file.read_text(encoding="utf-8", errors="replace")
            findings.extend(_check_style(path, text, files, name))
    return sorted(set(findings))


def _read_pages(site: Path, files: dict[str, Path], cache: Cache) -> dict[str, Page]:
    """Read all pages; never all texts at once."""
    paths = [path for path in files if path.endswith(".html")]
    keys = [(path, digest(files[path].read_bytes())) for path in paths]
    return dict(zip(paths, cache.recall_all("built", keys, partial(_read, site)), strict=True))


def _read(site: Path, key: tuple[str, str]) -> Page:
    return read_page(key[0], (site / key[0]).read_bytes().decode("utf-8", "replace"))


def _local(address: str, site_url: str) -> str:
    """Return the address without the published site's own prefix; root-absolute ones too."""
    if site_url and address.startswith(site_url):
        return "/" + address[len(site_url) :]
    base = urlsplit(site_url).path.rstrip("/") if site_url else ""
    if base and address.startswith(f"{base}/"):
        return address[len(base) :]
    return address


class _Targets:
    """Where addresses lead, remembered by folder: the pages of a folder share most of theirs."""

    def __init__(self, site_url: str, files: dict[str, Path]) -> None:
        self.site_url = site_url
        self.files = files
        self._known: dict[tuple[str, str], tuple[Target, str]] = {}

    def find(self, address: str, holder: str) -> tuple[Target, str]:
        """Return what an address on a page names, and the file a server answers with, if any."""
        if address.startswith(("#", "?")):  # the page itself
            return self._find(address, holder)
        key = (holder.rpartition("/")[0], address)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._find(address, holder)
        return found

    def _find(self, address: str, holder: str) -> tuple[Target, str]:
        target = resolve(_local(address, self.site_url), holder)
        return target, "" if target.path is None else _index(target.path, self.files)


def _check_links(page: Page, pages: dict[str, Page], targets: _Targets, name: str) -> list[Finding]:
    findings = []
    for address in dict.fromkeys(page.links):
        if address.startswith("#") and address[1:] in page.ids and "%" not in address:
            continue  # most links of a page: its contents, its lines of code
        target, path = targets.find(address, page.path)
        if target.path is None:
            continue
        file = f"{name}/{page.path}"
        if path not in targets.files:
            message = f"the page links to '{address}', which the site does not hold"
            hint = nearest(path, targets.files, cutoff=0.8)
            findings.append(Finding(file, 0, 0, "built-dead-link", message, address, hint))
        elif (
            target.fragment
            and path in pages
            and target.fragment != "top"
            and target.fragment not in pages[path].ids
        ):
            message = f"the page links to '{address}', but '{path}' has no id '{target.fragment}'"
            hint = nearest(target.fragment, pages[path].ids)
            findings.append(Finding(file, 0, 0, "built-dead-anchor", message, address, hint))
    return findings


def _index(path: str, files: dict[str, Path]) -> str:
    """Return the file a server answers with for a folder's address."""
    if path in files:
        return path
    folder = path.rstrip("/")
    index = f"{folder}/index.html" if folder not in ("", ".") else "index.html"
    return index if index in files else path


def _check_loads(page: Page, targets: _Targets, name: str) -> list[Finding]:
    findings = []
    for address in dict.fromkeys(page.loads):
        if address.startswith("data:"):
            continue
        target, _ = targets.find(address, page.path)
        file = f"{name}/{page.path}"
        if target.path is None:
            message = f"the page would fetch '{address}' from a third party"
            findings.append(Finding(file, 0, 0, "third-party", message, target=address))
        elif target.path not in targets.files:
            message = f"the page loads '{address}', which the site does not hold"
            findings.append(Finding(file, 0, 0, "built-dead-link", message, target=address))
    return findings


def _check_style(path: str, text: str, files: dict[str, Path], name: str) -> list[Finding]:
    findings = []
    text = _CSS_SPARES.sub(r"\g<first>", text)
    for match in (*_CSS_URL.finditer(text), *_CSS_IMPORT.finditer(text)):
        address = match["url"].strip()
        if address.startswith(("data:", "#")):
            continue
        target = resolve(unquote(address), path)
        if target.path is None:
            message = f"the style sheet would fetch '{address}' from a third party"
            findings.append(Finding(f"{name}/{path}", 0, 0, "third-party", message, target=address))
        elif target.path not in files:
            message = f"the style sheet loads '{address}', which the site does not hold"
            findings.append(
                Finding(f"{name}/{path}", 0, 0, "built-dead-link", message, target=address)
            )
    return findings
