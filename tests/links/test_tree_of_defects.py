"""One tree with a planted defect of every kind, and as many tricky forms that are right.

All defects must be found at their line, and nothing else may be said.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks import handbook
from hooks.findings import Finding
from tests.planted import DEFECTS, PLANTED, VALID, write

# Good on the site; on GitHub these ids do not exist.
ONE_VIEW = [
    "## 标题 { #own-id }\n\n[x](#own-id)",
    "text\n{: #para }\n\n[x](#para)",
    "a[^n] [x](#fn:n)\n\n[^n]: text",
    '=== "A"\n\n    ## Inside\n\n[x](#inside)',
]


BARE = frozenset({"front-matter", "untranslated"})
"""Said of every planted note: they have neither fields nor twins."""


def check(root: Path) -> list[Finding]:
    """Check the tree as this handbook's is checked."""
    repo_url, site_url = "https://github.com/o/r", "https://h.example/base/"
    found = handbook.read_tree(root, repo_url=repo_url, site_url=site_url).findings
    return [one for one in found if one.rule not in BARE]


@pytest.fixture(scope="module")
def tree(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[dict[str, tuple[str, int]], list[Finding]]:
    """What is planted in the tree, and what is said of it."""
    root = tmp_path_factory.mktemp("tree")
    return write(root), check(root)


def said(found: list[Finding], file: str) -> list[tuple[str, int]]:
    return [(one.rule, one.line) for one in found if one.file == file]


@pytest.mark.parametrize("number", range(len(DEFECTS)), ids=[one[0] for one in DEFECTS])
def test_defect_is_found_at_its_line(
    number: int, tree: tuple[dict[str, tuple[str, int]], list[Finding]]
) -> None:
    file = f"docs/defect-{number:02}.md"
    assert said(tree[1], file) == [tree[0][file]]


@pytest.mark.parametrize("number", range(len(VALID)))
def test_valid_form_is_not_reported(
    number: int, tree: tuple[dict[str, tuple[str, int]], list[Finding]]
) -> None:
    assert said(tree[1], f"docs/valid-{number:02}.md") == []


def test_defects_of_files_and_configuration(
    tree: tuple[dict[str, tuple[str, int]], list[Finding]],
) -> None:
    others = {
        (one.file, one.line, one.rule)
        for one in tree[1]
        if not one.file.startswith(("docs/defect-", "docs/valid-"))
    }
    assert others == PLANTED


def test_what_only_the_site_has_is_reported(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number, body in enumerate(ONE_VIEW):
        (docs / f"{number}.md").write_text(f"# T\n\n{body}\n", encoding="utf-8")
    found = check(tmp_path)
    assert [(one.file, one.rule) for one in found] == [
        (f"docs/{number}.md", "view-difference") for number in range(len(ONE_VIEW))
    ]
    assert all("breaks on GitHub" in one.message for one in found)
