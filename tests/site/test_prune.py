"""What no page asks for leaves the finished site, and nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.site import prune

FILES = {
    "index.html": '<script src="assets/javascripts/a.js"></script><link href="assets/s/m.css">',
    "en/page.html": '<img src="../assets/images/x.svg">',
    "assets/javascripts/a.js": 'load("javascripts/b.js")',
    "assets/javascripts/b.js": "//# sourceMappingURL=b.js.map",
    "assets/javascripts/b.js.map": "{}",
    "assets/javascripts/alone.js": 'load("javascripts/with.js")',
    "assets/javascripts/with.js": "only alone.js asks for it",
    "assets/javascripts/lunr/min/lunr.fr.min.js": "",
    "assets/s/m.css": "@font-face{src:url(fonts/f.woff2)}",
    "assets/s/fonts/f.woff2": "",
    "assets/s/fonts/g.woff2": "",
    "assets/images/x.svg": "<svg/>",
    "assets/vendor/lib/LICENSE": "kept with the code",
    "search/search_index.json": "{}",
    "data/facts.json": "readers fetch it",
    "code/p2p.cu": "",
}
GONE = [
    "assets/javascripts/alone.js",
    "assets/javascripts/b.js.map",
    "assets/javascripts/lunr/min/lunr.fr.min.js",
    "assets/javascripts/with.js",
    "assets/s/fonts/g.woff2",
]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def test_only_what_is_asked_for_stays(made: Path) -> None:
    assert prune.prune(made) == GONE
    left = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert left == FILES.keys() - set(GONE)
    assert not (made / "assets/javascripts/lunr").exists()
