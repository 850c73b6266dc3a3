"""Let a hosted copy of the handbook be read with the network off.

A service worker (``offline_worker.js``, served as ``sw.js`` at the root of the site) answers the
browser's requests from what was stored on the reader's machine. What it needs to know about the
site is written here when the site is complete: every file's address and hash, and one version,
which is a hash of all of it.

From an unzipped folder (``file://``) none of this is used: browsers have no service workers there.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

WORKER: Final = "sw.js"
"""Address of the service worker. At the root, because its folder is the part it may answer for."""
SOURCE: Final = Path(__file__).with_name("offline_worker.js")
LIST_FOLDER: Final = "assets/offline"
LEFT_OUT: Final = (
    WORKER,
    f"{LIST_FOLDER}/*",
    "*.md",  # the pages again, for machines and for carrying away
    "llms.txt",
    "*/llms.txt",
    "sitemap.xml*",
    "robots.txt",
    "CNAME",
    ".*",
    "search/search_index.js",  # only pages on `file://` read it; its JSON is the same
)
"""Files that no reader opens and no page loads, of those that `publish.prune` leaves."""
GONE: Final = SOURCE.with_name("offline_gone.js")
"""A worker that removes itself. Served while notes are being written (an offline copy of an
earlier build at the same address would hide every change), and fit for a site that gives up
offline copies: publish it as `sw.js`."""


def site_files(site: Path) -> dict[str, str]:
    """Return the hash of every file worth keeping on a reader's machine, by its address.

    Addresses start at the root of the site and are not percent-encoded; a hash is the first 16
    hexadecimal digits of SHA-256, which the worker compares.
    """
    found = {}
    for path in sorted(site.rglob("*")):
        address = path.relative_to(site).as_posix()
        if path.is_file() and not any(fnmatchcase(address, pattern) for pattern in LEFT_OUT):
            found[address] = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    return found


def install(site: Path) -> str:
    """Write the service worker and its list of files into a complete site; return its version."""
    (site / LIST_FOLDER).mkdir(parents=True, exist_ok=True)
    code = SOURCE.read_text(encoding="utf-8")
    files = site_files(site)
    listed = json.dumps(files, ensure_ascii=False, separators=(",", ":"))
    version = hashlib.sha256(f"{listed}\n{code}".encode()).hexdigest()[:12]
    # The version is in the name: an HTTP cache may hold a former list when the worker is new.
    name = f"{LIST_FOLDER}/files.{version}.js"
    text = f'self.HANDBOOK = {{"version":"{version}","files":{listed}}};\n'
    (site / name).write_text(text, encoding="utf-8")
    (site / WORKER).write_text(f'importScripts("{name}");\n{code}', encoding="utf-8")
    return version


def switch_off(site: Path) -> None:
    """Write a service worker that removes earlier offline copies of this address."""
    shutil.copyfile(GONE, site / WORKER)
