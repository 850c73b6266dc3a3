"""The renderer that does less gives the same HTML."""

from __future__ import annotations

import re

import pytest
from markdown import Markdown
from mkdocs.config import load_config

from hooks.markdown import renderer
from tests.conftest import ROOT

TEXTS = [
    "A plain text, and *em*, **strong**, ***both***, __that__, x^2^ and `a_b*c`.",
    "[a](b.md), ![c](d.png), [e][f], [f], [^1], <https://g.example> and <h@i.example>\n\n"
    "[f]: j.md\n\n[^1]: A *note* with `code`.",
    r"\*no\* \`no\` $a_1 * b^2$ and \(c * d\), $5 and $6",
    "++ctrl+alt+c++ &amp; &copy; a & b <b>*in*</b> a  \nb *c  \nd*",
    "*[GPU]: processor\n\nThe GPU, *a GPU*.\n\n| a | b |\n|---|---|\n| `x|y` | *z* [t](u.md) |",
    '```python title="a"\nx = 1\n```\n\n~~~bash\nls\n~~~\n\n`#!python y`\n\n```none-such\nz\n```',
]


@pytest.mark.parametrize("text", TEXTS)
def test_same_html(text: str) -> None:
    config = load_config(str(ROOT / "mkdocs.yml"), plugins=[], hooks=[])
    rendered = [
        Markdown(
            extensions=[*config.markdown_extensions, *more], extension_configs=config.mdx_configs
        ).convert(text)
        for more in ([], [renderer.RendererExtension()])
    ]
    assert rendered[0] == rendered[1]
    assert "<" in rendered[0]


@pytest.mark.parametrize(
    ("pattern", "signs"),
    [
        (r"\*|_", "*_"),
        (r"(?<!\\)((?:\\{2})+)(?=`+)|(?<!\\)`", "\\`"),
        (r"(a?)(?:b|cd)+", "bc"),
        (r"^(.*?)<([^<]*)>(.*)$", "<"),
        ("a*", ""),
        ("[ab]c?", "ab"),
        ("[^ab]c?", ""),
        ("[a-c]", ""),
        ("(?i)a", ""),
    ],
)
def test_signs_that_every_match_holds(pattern: str, signs: str) -> None:
    assert "".join(renderer.signs(re.compile(pattern))) == signs


def test_versions_are_known() -> None:
    """After an update: read what the module replaces, then name the new version there."""
    assert renderer.unknown() == []
