"""Take the comments and the indentation out of the site's own scripts and style sheets.

They are written for whoever changes the file and are a quarter of what a first visit would
transfer. Read with Pygments, which Material needs anyway, so that strings and regular expressions
stay what they are. Files that came minified, of the theme and of libraries, are left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pygments.lexers.css import CssLexer
from pygments.lexers.javascript import JavascriptLexer
from pygments.token import Comment, Text

if TYPE_CHECKING:
    from pathlib import Path

_FOLDERS: Final = ("assets/javascripts", "assets/javascripts/workers", "assets/stylesheets")
_LEXERS: Final = {".js": JavascriptLexer, ".css": CssLexer}


def without_comments(text: str, suffix: str) -> str:
    """Return a script (`.js`) or a style sheet (`.css`) that does the same with fewer bytes.

    Comments that begin with `/*!` stay: licences stand in them.
    """
    parts: list[str] = []
    gap = ""
    for kind, value in _LEXERS[suffix](stripnl=False, ensurenl=False).get_tokens(text):
        if not value:
            continue
        is_comment = kind in Comment and kind not in Comment.Preproc
        if (is_comment and not value.startswith("/*!")) or (kind in Text and value.isspace()):
            gap += value if kind in Text else " " + "\n" * value.count("\n")
            continue
        if gap and parts:  # a line break may end a statement, and a space may join selectors
            parts.append("\n" if "\n" in gap else " ")
        parts.append(value)
        gap = ""
    return "".join(parts) + "\n"


def remove(site: Path) -> None:
    """Rewrite the scripts and style sheets that pages of a finished site share."""
    for folder in _FOLDERS:
        for path in (site / folder).glob("*.*"):
            if path.suffix in _LEXERS and ".min." not in path.name:
                text = path.read_text(encoding="utf-8")
                short = without_comments(text, path.suffix)
                path.write_text(short, encoding="utf-8", newline="\n")
