"""What must be read first: alike in both languages, and without circles."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.notes.prerequisites import check_prerequisites, needed
from tests.samples import note, said, tree


def notes_with(wanted: dict[str, str]) -> dict[str, str | bytes]:
    """Return files, each of which names others as its prerequisites."""
    return {
        name: note("x\n", name).replace("kind: note\n", f"kind: note\nprerequisites: [{ids}]\n")
        for name, ids in wanted.items()
    }


CASES = {
    "none": ({"t/a.md": "", "t/b.md": "t/a"}, [], ""),
    "two ways to one note": (
        {"t/a.md": "", "t/b.md": "t/a", "t/c.md": "t/a", "t/d.md": "t/b, t/c"},
        [],
        "",
    ),
    "itself": ({"t/a.md": "t/a"}, [("prerequisites", 5, "t/a", "")], "in a circle: t/a needs t/a;"),
    "two in a circle, told once": (
        {"t/a.md": "t/b", "t/b.md": "t/a"},
        [("prerequisites", 5, "t/b", "")],
        "in a circle: t/a needs t/b needs t/a;",
    ),
    "two circles, each told by its shortest way": (
        {"t/a.md": "t/b, t/c", "t/b.md": "t/c", "t/c.md": "t/a"},
        [("prerequisites", 5, "t/c", ""), ("prerequisites", 5, "t/c", "")],
        "needs t/c needs t/a",
    ),
    "a circle that others lead into": (
        {"t/a.md": "t/b", "t/b.md": "t/c", "t/c.md": "t/b"},
        [("prerequisites", 5, "t/c", "")],
        "in a circle: t/b needs t/c needs t/b;",
    ),
    "a note that does not exist is for another rule": ({"t/a.md": "t/none"}, [], ""),
    "the same in both languages": ({"t/a.md": "", "t/b.md": "t/a", "t/b.en.md": "t/a"}, [], ""),
    "languages that differ": (
        {"t/a.md": "", "t/b.md": "t/a", "t/b.en.md": ""},
        [("prerequisites", 5, "", "")],
        "prerequisites [] differ from those of docs/t/b.md: ['t/a']",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_circles_and_differences(tmp_path: Path, case: str) -> None:
    wanted, expected, message = CASES[case]
    catalogue, problems = tree(tmp_path, notes_with(wanted))
    assert problems == []
    findings = check_prerequisites(catalogue)
    assert said(findings) == expected
    assert all(message in one.message for one in findings)


def test_all_that_is_needed_however_far_back(tmp_path: Path) -> None:
    wanted = {"t/a.md": "", "t/b.md": "t/a", "t/c.md": "t/b", "t/d.md": "t/c, t/d"}
    by_id = needed(tree(tmp_path, notes_with(wanted))[0])
    assert by_id["t/c"] == ("t/b",)
