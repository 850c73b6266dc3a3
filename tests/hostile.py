"""Marks that, repeated, make careless readers of Markdown slow or deep.

What the tests of the checker and the benchmark of its reader share.
"""

from __future__ import annotations

MARKS = """
[ ![ ` [a]( [a](b' <a <a" <!-- < $ $$ \\\\( * _a | `a``b```c [^a] [][ [a][b] {#a} a{#b} <? <![CDATA[
<p> <script> [[]] (" ]( \\\\ \\\\` # {: **a**{#a} <https://a &#
""".split()
LINES = [
    *[
        "# a\n",
        "a\n===\n",
        "===\n",
        "---\n",
        "> a\n",
        "- a\n",
        "- a\n    - b\n",
        "[a]: b\n",
        "[a]: \n",
    ],
    *[
        "[^1]: a\n",
        "*[a]: b\n",
        "*[a](\n",
        ": a\n",
        "a\n: b\n",
        "| a\n",
        "a|b\n",
        "```\n",
        "```a\n> ",
    ],
    *[
        "<div>\n",
        "</div>\n",
        "<div markdown>\n",
        "??? a\n    ",
        '=== "a"\n    ',
        "\n\n\n    a",
        "\t",
    ],
    *[
        "* * * ",
        "> > ",
        "1. ",
        "--8<--\n",
        '--8<-- "a"\n',
        "\u2028",
        "\r",
        "a\\\n",
        "<details>\n\n",
    ],
]
TAILS = ["", ")", "]", ">", "-->", "$", "\n\n[a]: b"]
"""What may stand behind them, and closes what they opened."""
