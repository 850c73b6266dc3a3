"""Put a finished build in place in one step, without what no page asks for, and pack it."""

from __future__ import annotations

import contextlib
import shutil
import zipfile
from collections.abc import Mapping
from pathlib import Path

_UNASKED = (
    "**/*.map",
    "assets/diagrams",  # they stand in the pages
    "assets/images/favicon.png",
    # Material's own search engine and the languages it could stem: ours takes their place.
    "assets/javascripts/lunr",
    "assets/javascripts/workers/search.*.min.js",
    "assets/vendor/vendor.json",
)
_MERMAID = ("assets/javascripts/diagrams.js", "assets/vendor/mermaid/mermaid.min.js")
"""What draws a diagram that has no drawing yet."""


def staging_dir(site: Path) -> Path:
    """Return the folder a build writes to before it is known to be good."""
    return site.with_name(f".{site.name}-next")


def _old_dir(site: Path) -> Path:
    return site.with_name(f".{site.name}-old")


def recover(site: Path) -> None:
    """Undo a swap that was interrupted between its two renames, and clear leftovers."""
    old = _old_dir(site)
    if old.exists():
        if site.exists():
            shutil.rmtree(old)
        else:
            old.rename(site)
    shutil.rmtree(staging_dir(site), ignore_errors=True)


def swap(staged: Path, site: Path) -> None:
    """Make `staged` the site. The former site stays whole until the new one is complete."""
    old = _old_dir(site)
    if site.exists():
        site.rename(old)
    staged.rename(site)
    shutil.rmtree(old, ignore_errors=True)


def add_licences(root: Path, site: Path) -> None:
    """Put the licence texts into the site: copies of it must carry them."""
    target = site / "licences"
    target.mkdir(exist_ok=True)
    for path in (root / "LICENSE", root / "NOTICE", *sorted((root / "LICENSES").glob("*.txt"))):
        if path.is_file():
            shutil.copyfile(path, target / path.name)


def add_files(site: Path, files: Mapping[str, str | bytes]) -> None:
    """Write texts and other files below the site, by their paths in it."""
    for name, content in files.items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def prune(site: Path) -> None:
    """Delete what no page asks for: source maps, other engines, drawn diagrams."""
    name = _MERMAID[0].encode()
    is_asked = any(name in page.read_bytes() for page in site.rglob("*.html"))
    for pattern in _UNASKED if is_asked else (*_UNASKED, *_MERMAID):
        for path in list(site.glob(pattern)):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
                with contextlib.suppress(OSError):  # unless it was alone there
                    path.parent.rmdir()


def pack(site: Path, archive: Path, top: str) -> int:
    """Write the site as a zip whose files all lie below the folder `top`.

    The bytes depend on the site only (fixed times, sorted names), so that equal sites give equal
    archives. Returns the number of files.
    """
    files = sorted(path for path in site.rglob("*") if path.is_file())
    archive.parent.mkdir(parents=True, exist_ok=True)
    unfinished = archive.with_suffix(".part")
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as pack_file:
        for path in files:
            name = f"{top}/{path.relative_to(site).as_posix()}"
            entry = zipfile.ZipInfo(name, date_time=(2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            pack_file.writestr(entry, path.read_bytes())
    unfinished.replace(archive)
    return len(files)
