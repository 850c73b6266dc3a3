"""One tree with a planted defect of every kind, and as many tricky forms that are right.

All defects must be found at their line, with their repair, and nothing else may be said.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks import handbook
from hooks.findings import Finding
from tests.samples import read_yaml, tree

DATA = read_yaml(Path(__file__).with_name("planted.yml"))
DEFECTS, VALID = DATA["defects"], DATA["valid"]
# Good on the site; on GitHub these ids do not exist.
ONE_VIEW = [
    "## 标题 { #own-id }\n\n[x](#own-id)",
    "text\n{: #para }\n\n[x](#para)",
    "a[^n] [x](#fn:n)\n\n[^n]: text",
    '=== "A"\n\n    ## Inside\n\n[x](#inside)',
]
BYTES: dict[str, str | bytes] = {
    **dict.fromkeys(("img/used.png", "img/used.en.png", "img/orphan.png"), b""),
    "code/latin.py": b"# caf\xe9\n",
    "bom.md": b"\xef\xbb\xbf# Mark\n",
    "latin.md": b"# L\n\ncaf\xe9\n",
}
CONFIG = """\
site_name: x
hooks: [hooks/adapter.py]
nav:
  - nothing.md
"""
# What the files themselves hold: (file, line, rule)
PLANTED = {
    ("docs/bom.md", 1, "encoding"),
    ("docs/latin.md", 3, "encoding"),
    ("docs/deep/includes.md", 3, "include"),
    ("docs/img/orphan.png", 0, "orphan-asset"),
    ("mkdocs.yml", 4, "nav-missing"),
    ("docs/absent.md", 1, "nav-absent"),
}
BARE = frozenset({"front-matter", "untranslated"})
"""Said of every planted note: they have neither fields nor twins."""


def text_of(number: int) -> str:
    """Return the text of the note with a defect."""
    return f"# T\n\n{DEFECTS[number]['text']}\n".replace("{name}", f"defect-{number:02}.md")


def check(root: Path) -> list[Finding]:
    """Check the tree as this handbook's is checked."""
    repo_url, site_url = "https://github.com/o/r", "https://h.example/base/"
    found = handbook.read_tree(root, repo_url=repo_url, site_url=site_url).findings
    return [one for one in found if one.rule not in BARE]


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> list[Finding]:
    """What is said of the tree."""
    root = tmp_path_factory.mktemp("tree")
    (root / "README.md").write_text("# R\n", encoding="utf-8")
    files = {f"defect-{number:02}.md": text_of(number) for number in range(len(DEFECTS))}
    files |= {f"valid-{number:02}.md": f"# T\n\n{text}\n" for number, text in enumerate(VALID)}
    files |= DATA["files"]
    pages = sorted(path for path in (*files, *BYTES) if path.endswith(".md"))
    nav = "".join(f"  - {path}\n" for path in pages)
    (root / "mkdocs.yml").write_text(CONFIG + nav, encoding="utf-8")
    tree(root, {**files, **BYTES, "absent.md": "# Absent\n"})
    return check(root)


@pytest.mark.parametrize("number", range(len(DEFECTS)), ids=[one["name"] for one in DEFECTS])
def test_defect_is_found_at_its_line(number: int, findings: list[Finding]) -> None:
    defect, lines = DEFECTS[number], text_of(number).split("\n")
    needle = defect.get("at", "").replace("{name}", f"defect-{number:02}.md")
    row = next(n for n, line in enumerate(lines) if needle in line) if needle else len(lines) - 4
    (found,) = (one for one in findings if one.file == f"docs/defect-{number:02}.md")
    assert (found.rule, found.line) == (defect["rule"], row + 1)
    assert found.suggestion == defect.get("repair", "")


@pytest.mark.parametrize("number", range(len(VALID)))
def test_valid_form_is_not_reported(number: int, findings: list[Finding]) -> None:
    assert [one for one in findings if one.file == f"docs/valid-{number:02}.md"] == []


def test_defects_of_files_and_configuration(findings: list[Finding]) -> None:
    notes = ("docs/defect-", "docs/valid-")
    found = {(one.file, one.line, one.rule) for one in findings if not one.file.startswith(notes)}
    assert found == PLANTED


def test_what_only_the_site_has_is_reported(tmp_path: Path) -> None:
    notes = {f"{number}.md": f"# T\n\n{body}\n" for number, body in enumerate(ONE_VIEW)}
    tree(tmp_path, {**notes})
    found = check(tmp_path)
    assert [(one.file, one.rule) for one in found] == [
        (f"docs/{name}", "view-difference") for name in notes
    ]
    assert all("breaks on GitHub" in one.message for one in found)
