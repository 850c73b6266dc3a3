"""Trees that others wrote: what their generators forgive is not reported, what they do not is."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.links.elsewhere.folder import check_folder

MKDOCS = "site_name: x\nsite_url: https://s.example\nrepo_url: https://github.com/o/r\n"
SNIPPETS = MKDOCS + "markdown_extensions: [pymdownx.snippets]\n"
IN_PARTS = MKDOCS + "markdown_extensions:\n  - pymdownx.snippets: {base_path: [parts, docs/in]}\n"
FLAT = MKDOCS + "use_directory_urls: false\n"
VITE = ".vitepress/config.ts"

CASES: dict[str, tuple[dict[str, str], list[str]]] = {
    "includes begin at the project": (
        {"mkdocs.yml": SNIPPETS, "docs/a.md": '--8<-- "docs/b.txt"', "docs/b.txt": "b"},
        [],
    ),
    "includes from the docs folder": (
        {"mkdocs.yml": SNIPPETS, "docs/a.md": '--8<-- "b.txt"', "docs/b.txt": "b"},
        ["include"],
    ),
    "includes beside the docs folder": (
        {"mkdocs.yml": SNIPPETS, "docs/a.md": '--8<-- "b.txt"', "b.txt": "[x](gone.md)"},
        ["dead-link"],
    ),
    "includes from listed folders": (
        {
            "mkdocs.yml": IN_PARTS,
            "docs/a.md": '--8<-- "b.txt"\n--8<-- "c.txt"\n--8<-- "d.txt"',
            "parts/b.txt": "b",
            "docs/in/c.txt": "c",
        },
        ["include"],
    ),
    "raw HTML starts at the page": (
        {"mkdocs.yml": MKDOCS, "docs/t/a.md": '<img src="../p.png" alt="x">', "docs/t/p.png": ""},
        [],
    ),
    "raw HTML starts at the file": (
        {"mkdocs.yml": FLAT, "docs/t/a.md": '<img src="../p.png" alt="x">', "docs/t/p.png": ""},
        ["dead-image", "orphan-asset"],
    ),
    "raw HTML leads nowhere": (
        {"mkdocs.yml": MKDOCS, "docs/t/a.md": '<img src="../q.png" alt="x">'},
        ["dead-image"],
    ),
    "what only GitHub shows": (
        {
            "mkdocs.yml": MKDOCS,
            "docs/a.md": "[x](https://github.com/o/r/blame/main/docs/b.md#L3) "
            "[x](https://github.com/o/r/blob/main/docs/b.md?plain=1) "
            "[x](https://github.com/o/r/tree/main/docs) "
            "[x](https://github.com/o/r/tree/main/docs/t) "
            "[x](https://github.com/o/r/blob/main/docs/t/x.py) <https://s.example>",
            "docs/b.md": "b",
            "docs/t/x.py": "x",
        },
        [],
    ),
    "what GitHub shows no more": (
        {"mkdocs.yml": MKDOCS, "docs/a.md": "[x](https://github.com/o/r/blame/main/docs/b.md#L3)"},
        ["dead-link"],
    ),
    "a page by its address": (
        {"mkdocs.yml": MKDOCS, "docs/a.md": "<https://s.example/b.html>", "docs/b.md": "b"},
        ["own-address"],
    ),
    "headings alike with ids of their own": (
        {VITE: "", "docs/a.md": "## A {#a}\n\n## A {#a-1}\n\n[x](#a-1)"},
        [],
    ),
    "headings alike": ({VITE: "", "docs/a.md": "## A\n\n## A"}, ["duplicate-heading"]),
    "scripts of components": ({VITE: "", "docs/a.md": "<script setup>\nlet a\n</script>"}, []),
    "scripts": ({"docs/a.md": "<script>\nlet a\n</script>"}, ["unsafe-html"]),
    "public files that components name": ({VITE: "", "docs/a.md": "", "docs/public/p.png": ""}, []),
    "files that nobody names": (
        {VITE: "", "docs/a.md": "", "docs/img/p.png": ""},
        ["orphan-asset"],
    ),
    "variants of a picture": (
        {"docs/a.md": "![x](p.svg)", "docs/p.svg": "", "docs/p.printable.svg": ""},
        [],
    ),
    "variants of nothing": (
        {"docs/a.md": "", "docs/p.svg": "", "docs/p.printable.svg": ""},
        ["orphan-asset", "orphan-asset"],
    ),
    "parts of a drawing": ({"docs/a.md": "", "docs/g/x.graffle/image1.png": ""}, []),
    "a slash in a tree that is all": (
        {"docs/a.md": "[x](/t/b.md#b) [x](/t)", "docs/t/b.md": "# B"},
        [],
    ),
    "a slash before nothing": (
        {"docs/a.md": "[x](/t/c.md) [x](/t/b.md#c)", "docs/t/b.md": "# B"},
        ["dead-anchor", "dead-link"],
    ),
    "blanks in a target": ({"docs/a.md": "[x](b c.md)", "docs/b c.md": ""}, ["view-difference"]),
    "blanks where the generator takes them": (
        {"mkdocs.yml": MKDOCS, "docs/a.md": "[x](b c.md)", "docs/b c.md": ""},
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_elsewhere(tmp_path: Path, name: str) -> None:
    files, rules = CASES[name]
    for path, text in files.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert sorted(one.rule for one in check_folder(tmp_path / "docs")[1]) == rules
