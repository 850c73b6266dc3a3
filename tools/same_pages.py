"""Tell whether two builds of the handbook hold the same pages with the same content.

The generators sign their pages and number their builds, so what is compared is what a reader gets:
each page's text, links and ids, and the bytes of every other file. Search indexes are compared
section by section; the worker for offline copies, which lists the hashes of pages, is not.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

_HASHES = ("sw.js", "assets/offline/")


def page_content(html: str) -> tuple[str, list[str], list[str]]:
    """Return (text, links, ids) of a page."""
    tree = LexborHTMLParser(html)
    for node in tree.css("script, style"):
        node.decompose()
    text = " ".join(tree.body.text(separator=" ").split()) if tree.body else ""
    links = [node.attributes.get("href") or "" for node in tree.css("a")]
    ids = [node.attributes.get("id") or "" for node in tree.css("[id]")]
    return text, links, ids


def differences(first: Path, second: Path) -> list[str]:
    """Return a line for each file that one build lacks or holds with other content."""
    names = [
        {path.relative_to(site).as_posix() for path in site.rglob("*") if path.is_file()}
        for site in (first, second)
    ]
    names = [{name for name in some if not name.startswith(_HASHES)} for some in names]
    found = [f"only in {first}: {name}" for name in sorted(names[0] - names[1])]
    found += [f"only in {second}: {name}" for name in sorted(names[1] - names[0])]
    for name in sorted(names[0] & names[1]):
        one, two = (first / name).read_bytes(), (second / name).read_bytes()
        if name.endswith(".html"):
            is_same = page_content(one.decode()) == page_content(two.decode())
        elif name == "search/search_index.json":
            is_same = json.loads(one)["docs"] == json.loads(two)["docs"]
        elif name.startswith("sitemap.xml") or name == "search/search_index.js":
            continue  # the date of the build; the index once more
        else:
            is_same = one == two
        if not is_same:
            found.append(f"differs: {name}")
    return found


def main() -> int:
    """Compare the two folders named on the command line; exit status 1 when they differ."""
    first, second = Path(sys.argv[1]), Path(sys.argv[2])
    found = differences(first, second)
    print("\n".join(found) if found else f"same pages: {first} and {second}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
