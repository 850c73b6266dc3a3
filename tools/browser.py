"""Find the browser for the browser tests, and install what is missing.

Debian and its kin get the distribution's packages (with fonts for Chinese): Chromium without its
windows and toolbars where there is a package of that (it takes half the time). Elsewhere
Playwright's own Chromium is fetched. `find()` is what the tests call.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

_SHELL = "chromium-headless-shell"
_NAMES = (_SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_MAC = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
NOT_INSTALLED = Path(__file__).resolve().parent.parent / ".cache/browsers-not-installed.txt"
"""Names the browsers that `main` could not install, one a line; delete it to try again."""
_CJK_FONTS = Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc")


def find() -> str | None:
    """Return the path of an installed browser; None means Playwright's own, if any."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named
    for name in _NAMES:
        path = shutil.which(name)
        if path:
            return path
    return str(_MAC) if _MAC.exists() else None


def installable() -> bool:
    """Return whether `main` can install what is missing: Debian or its kin, by an administrator."""
    return bool(shutil.which("apt-get")) and (os.geteuid() == 0 or bool(shutil.which("sudo")))


def _has_own() -> bool:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return Path(playwright.chromium.executable_path).exists()


def _apt(*packages: str) -> bool:
    if not installable():
        return False
    prefix = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    steps = (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-qq", "-y", "--no-install-recommends", *packages],
    )
    for step in steps:
        run = subprocess.run(
            [*prefix, *step], env=environment, stdout=subprocess.DEVNULL, check=False
        )
        if run.returncode:
            return False
    return True


def _tried() -> set[str]:
    """Return the names of what could not be installed."""
    return set(NOT_INSTALLED.read_text("utf-8").split()) if NOT_INSTALLED.is_file() else set()


def _note_tried(names: set[str]) -> None:
    NOT_INSTALLED.parent.mkdir(exist_ok=True)
    NOT_INSTALLED.write_text("\n".join(sorted(names)), encoding="utf-8")


def _is_debian() -> bool:
    try:
        return platform.freedesktop_os_release().get("ID") == "debian"
    except OSError:
        return False


def _shell() -> None:
    """Install the Chromium that has no window, where Debian has it and that was not in vain."""
    wanted = _is_debian() and installable() and not os.environ.get("CHROMIUM")
    if not wanted or shutil.which(_SHELL) or _SHELL in _tried():
        return
    print(f"browser: installing {_SHELL}, in which the tests take half the time …", flush=True)
    if not _apt(_SHELL):
        _note_tried(_tried() | {_SHELL})


def main() -> int:
    """Make sure Chromium is there; return the status."""
    _shell()
    on_debian = Path("/etc/debian_version").exists()
    if find() and not (on_debian and not _CJK_FONTS.exists()):
        print(f"browser: {find()}")
        return 0
    if not find() and _has_own():
        print("browser: Playwright's own Chromium")
        return 0
    print("browser: none found (or no Chinese fonts); installing one …", flush=True)
    if _apt(*([] if find() else ["chromium"]), "fonts-noto-cjk") and find():
        print(f"browser: {find()}")
        return 0
    if find():
        print(f"browser: {find()} (Chinese fonts could not be installed)")
        return 0
    run = subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    if run.returncode:
        print("browser: could not be installed; install Chromium and run again", file=sys.stderr)
    return run.returncode


if __name__ == "__main__":
    sys.exit(main())
