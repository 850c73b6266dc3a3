"""What no page asks for leaves the finished site, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.site import publish
from tests.samples import lay

KEPT = (
    "assets/javascripts/a.js",
    "assets/javascripts/workers/search.handbook.zh.js",
    "assets/images/x.svg",
    "assets/vendor/mermaid/LICENSE",
    "search/search_index.json",
    "code/p2p.cu",
)
GONE = (
    "assets/javascripts/a.js.map",
    "assets/javascripts/lunr/min/lunr.fr.min.js",
    "assets/javascripts/workers/search.a7633da7.min.js",
    "assets/diagrams/0.svg",
    "assets/vendor/vendor.json",
)
MERMAID = ("assets/javascripts/diagrams.js", "assets/vendor/mermaid/mermaid.min.js")


@pytest.mark.parametrize(
    ("page", "kept"),
    [("<p>x</p>", KEPT), ('<script src="assets/javascripts/diagrams.js">', (*KEPT, *MERMAID))],
)
def test_only_what_is_asked_for_stays(tmp_path: Path, page: str, kept: tuple[str, ...]) -> None:
    lay(tmp_path, dict.fromkeys((*KEPT, *GONE, *MERMAID, "index.html"), page))
    publish.prune(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {*kept, "index.html"}
    assert not (tmp_path / "assets/javascripts/lunr").exists()
