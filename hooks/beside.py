"""The whole site, built for a preview in a process of its own: `python -m hooks.beside`"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.commands import build as mkdocs_build
from mkdocs.config import load_config

from hooks import resume

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig


def start(first: MkDocsConfig, staged: Path) -> subprocess.Popen[bytes]:
    """Begin to build a site as it was built first, into another folder."""
    settings = {
        "config_file": first.config_file_path,
        "site_dir": str(staged),
        "strict": first.strict,
        "use_directory_urls": first.use_directory_urls,
    }
    level = logging.getLogger("mkdocs").getEffectiveLevel()  # kept results depend on it
    asked = [json.dumps(settings), first.site_url or "", str(level)]
    return subprocess.Popen(
        [sys.executable, "-m", __name__, *asked],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parent.parent)},
        start_new_session=True,  # its workers are ended with it
    )


def build(settings: str, address: str, level: str) -> None:
    """Build a site, and keep it for the next preview; says no more than what is wrong."""
    said = logging.StreamHandler()
    said.setLevel(logging.WARNING)
    logger = logging.getLogger("mkdocs")
    logger.addHandler(said)
    logger.setLevel(int(level))
    with contextlib.suppress(OSError, AttributeError):  # there is no such thing on Windows
        os.nice(10)

    def load() -> MkDocsConfig:
        config: MkDocsConfig = load_config(**json.loads(settings))
        config.site_url = address
        return config

    config = load()
    config.plugins.on_startup(command="serve", dirty=False)
    resume.begin(config)
    mkdocs_build.build(config, serve_url=address)
    resume.keep(config, load())


if __name__ == "__main__":
    build(*sys.argv[1:])
