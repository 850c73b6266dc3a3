"""What stands on a folded block: HTML, in which Markdown would be shown as it is written."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_no_title_of_a_folded_block_shows_markdown_as_text() -> None:
    wrong = [
        f"{file.relative_to(DOCS)}: {title}"
        for file in sorted(DOCS.rglob("*.md"))
        for title in re.findall(r"<summary>(.*?)</summary>", file.read_text("utf-8"))
        if re.search(r"`|\*\*|\]\(", title)
    ]
    assert wrong == []
