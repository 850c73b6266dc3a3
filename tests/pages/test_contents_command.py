"""`python -m hooks contents`: tells what is stale, or mends it and is content."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from hooks import cli, handbook
from hooks.findings import Finding

STALE = [Finding("README.md", 3, 1, "stale-contents", "the contents are stale")]


@pytest.mark.parametrize(
    ("arguments", "found", "status", "said"),
    [
        ([], STALE, 1, "README.md:3:1: error[stale-contents]"),
        ([], [], 0, "contents: 0 stale"),
        (["--write"], STALE, 0, "contents: written"),
        (["--write"], [], 0, "contents: fresh already"),
    ],
)
def test_status(
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    found: list[Finding],
    status: int,
    said: str,
) -> None:
    monkeypatch.setattr(handbook, "read_tree", lambda root: None)
    monkeypatch.setattr(cli, "_contents", lambda *_, **__: found)
    result = CliRunner().invoke(cli.main, ["contents", *arguments])
    assert result.exit_code == status
    assert said in result.output
