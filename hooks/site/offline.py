"""Let a hosted copy of the handbook be read with the network off.

A service worker (``offline_worker.js`` on Workbox, served as ``sw.js`` at the root of the site)
answers the browser's requests from what was stored on the reader's machine. What it needs to
know about the site is written here when the site is complete: every file's address, hash and
size, which of them are the shell (what every page needs, stored at the first visit), and one
version, which is a hash of all of it.

From an unzipped folder (``file://``) none of this is used: browsers have no service workers there.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from hooks.links import resolve
from hooks.site.check import read_page

WORKER: Final = "sw.js"
"""Address of the service worker. At the root, because its folder is the part it may answer for."""

SOURCE: Final = Path(__file__).with_name("offline_worker.js")
LIST_FOLDER: Final = "assets/offline"
WORKBOX: Final = tuple(
    f"assets/vendor/workbox/workbox-{part}.prod.js"
    for part in ("core", "routing", "strategies", "precaching")  # each needs those before it
)

WITH_SEARCH: Final = ("search/engine.js", "search/handbook.*")
"""What only a search needs: stored when it is first used, not by whoever opens one page."""

WORKBOX_WINDOW: Final = "assets/vendor/workbox/workbox-window.prod.umd.js"
"""What pages start the worker with; offline.js loads it, so it stands in no page."""

LEFT_OUT: Final = (
    WORKER,
    f"{LIST_FOLDER}/*",
    "assets/cards/*",  # for other sites that show a link to this one
    *WORKBOX,  # kept by the browser together with the worker
    "*.map",
    "*.md",  # the pages again, for machines and for carrying away
    "llms.txt",
    "*/llms.txt",
    "*feed-*.xml",
    "sitemap.xml*",
    "robots.txt",
    "CNAME",
    ".*",
    # Material's own search engine and the languages it could stem: ours takes their place. The
    # shell has it all the same where a page names it.
    "assets/javascripts/lunr/*",
    "assets/javascripts/workers/search.*.min.js",
)
"""Files that no reader opens and no page loads."""

KILL_SWITCH: Final = """\
/* Takes an earlier offline copy of the site off the reader's machine. */
self.addEventListener("install", function () { self.skipWaiting(); });
self.addEventListener("activate", function (event) {
  event.waitUntil(self.caches.keys().then(function (names) {
    return Promise.all(names.filter(function (name) {
      return name.indexOf("handbook-") === 0 && name.slice(-self.registration.scope.length) ===
        self.registration.scope;
    }).map(function (name) { return self.caches.delete(name); }));
  }).then(function () { return self.registration.unregister(); })
    .then(function () { return self.clients.matchAll({ type: "window" }); })
    .then(function (pages) { pages.forEach(function (page) { page.navigate(page.url); }); }));
});
"""
"""A worker that removes itself. Served while notes are being written (an offline copy of an
earlier build at the same address would hide every change), and fit for a site that gives up
offline copies: publish it as `sw.js`."""

_CONFIG_RE: Final = re.compile(
    r'<script id="__config" type="application/json">(?P<json>.*?)</script>', re.DOTALL
)


class OfflineError(ValueError):
    """The site is not what the service worker was written for."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of the site as a browser would keep it."""

    address: str
    """Below the root of the site, not percent-encoded."""
    digest: bytes
    """SHA-256 of the content."""
    size: int
    """Bytes, not compressed."""


def site_files(site: Path) -> list[StoredFile]:
    """Return every file worth keeping on a reader's machine, by address."""
    files = []
    for path in sorted(site.rglob("*")):
        address = path.relative_to(site).as_posix()
        if path.is_file() and not any(fnmatchcase(address, pattern) for pattern in LEFT_OUT):
            files.append(_stored(site, address))
    return files


def _stored(site: Path, address: str) -> StoredFile:
    content = (site / address).read_bytes()
    return StoredFile(address, hashlib.sha256(content).digest(), len(content))


def home_pages(site: Path) -> list[str]:
    """Return the addresses of the home pages: `index.html` and one a language, `en/index.html`."""
    folders = sorted(path.parent.name for path in site.glob("??/index.html"))
    return ["index.html", *(f"{folder}/index.html" for folder in folders)]


def shell(site: Path) -> list[str]:
    """Return the addresses of what pages need, apart from pages themselves.

    That is what the home pages load, the search worker they name, and what the search box shows
    when it is opened. The second copy of Material's index, in a script for `file://`, is left out
    where there is a JSON one.

    Raises OfflineError for a home page without Material's configuration or with a file it loads
    missing.
    """
    found = {WORKBOX_WINDOW: None}
    for home in home_pages(site):
        html = (site / home).read_text(encoding="utf-8")
        config = _CONFIG_RE.search(html)
        if config is None:
            raise OfflineError(f"{home}: no '<script id=\"__config\"', which Material 9.8.1 writes")
        for load in (*read_page(home, html).loads, json.loads(config["json"])["search"]):
            target = resolve(load, home).path
            if target is None or load.startswith("data:"):
                continue
            if not (site / target).is_file():
                raise OfflineError(f"{home}: '{load}' is not in the site")
            found[target] = None
    for path in sorted((site / "search").rglob("*")):
        address = path.relative_to(site).as_posix()
        if any(fnmatchcase(address, pattern) for pattern in WITH_SEARCH):
            continue
        if path.is_file() and not (path.suffix == ".js" and path.with_suffix(".json").exists()):
            found[address] = None
    return sorted(found)


def version_of(files: list[StoredFile], code: str = "") -> str:
    """Return the version of a site: 12 hexadecimal digits from all addresses, contents and code."""
    total = hashlib.sha256(code.encode())
    for file in files:
        total.update(f"{file.address}\n{file.size}\n".encode() + file.digest)
    return total.hexdigest()[:12]


def file_list(site: Path) -> tuple[str, str]:
    """Return the version of a built site, and the script that tells the worker its files.

    The shell goes with whole hashes, which the browser compares when it fetches; the other files
    with 16 hexadecimal digits, which the worker compares.
    """
    in_shell = {address: _stored(site, address) for address in shell(site)}
    others = [
        file
        for file in site_files(site)
        if file.address not in in_shell and not _is_file_only(site, file.address)
    ]
    version = version_of([*in_shell.values(), *others], SOURCE.read_text(encoding="utf-8"))
    record = {
        "version": version,
        "homes": home_pages(site),
        "shell": {
            file.address: [base64.b64encode(file.digest).decode(), file.size]
            for file in in_shell.values()
        },
        "files": {file.address: [file.digest.hex()[:16], file.size] for file in others},
    }
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    return version, f"self.HANDBOOK_FILES = {text};\n"


def _is_file_only(site: Path, address: str) -> bool:
    """Whether this is the copy of a search file that only pages on `file://` read."""
    path = PurePosixPath(address)
    return (
        path.parts[0] == "search"
        and path.suffix == ".js"
        and (site / path.with_suffix(".json")).exists()
    )


def install(site: Path) -> str:
    """Write the service worker and its list of files into a complete site; return its version.

    Calling it again after a change of the site gives the new version and removes the old list.
    Raises OfflineError for a site the worker does not fit, and OSError.
    """
    folder = site / LIST_FOLDER
    if folder.is_dir():
        for path in folder.iterdir():
            path.unlink()
    (site / WORKER).unlink(missing_ok=True)
    missing = [address for address in (*WORKBOX, WORKBOX_WINDOW) if not (site / address).is_file()]
    if missing:
        raise OfflineError(f"'{missing[0]}' is not in the site; docs/assets/vendor holds it")
    version, text = file_list(site)
    folder.mkdir(parents=True, exist_ok=True)
    # The version is in the name: an HTTP cache may hold a former list when the worker is new.
    listed = f"{LIST_FOLDER}/files.{version}.js"
    (site / listed).write_text(text, encoding="utf-8")
    imports = ", ".join(json.dumps(address) for address in (*WORKBOX, listed))
    code = SOURCE.read_text(encoding="utf-8")
    (site / WORKER).write_text(f"importScripts({imports});\n{code}", encoding="utf-8")
    return version


def switch_off(site: Path) -> None:
    """Write a service worker that removes earlier offline copies of this address."""
    (site / WORKER).write_text(KILL_SWITCH, encoding="utf-8")
