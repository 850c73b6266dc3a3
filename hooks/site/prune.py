"""Take out of a finished site what no page asks for: source maps, other engines, drawn diagrams."""

from __future__ import annotations

import contextlib
import shutil
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

_UNASKED: Final = (
    "**/*.map",
    "assets/diagrams",  # they stand in the pages
    "assets/images/favicon.png",
    # Material's own search engine and the languages it could stem: ours takes their place.
    "assets/javascripts/lunr",
    "assets/javascripts/workers/search.*.min.js",
    "assets/vendor/vendor.json",
)
_MERMAID: Final = ("assets/javascripts/diagrams.js", "assets/vendor/mermaid/mermaid.min.js")
"""What draws a diagram that has no drawing yet."""


def prune(site: Path) -> None:
    """Delete what no page asks for."""
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
