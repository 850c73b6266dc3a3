"""Where comments, tags and declarations end in inline Markdown, as the site's renderer has them.

Source: markdown/inlinepatterns.py 3.11, `HTML_RE` and what it is made of.
"""

from __future__ import annotations

import re

_TAG = re.compile(
    r"""</?+(?P<name>[a-zA-Z][^\s"'<>@]*+)
    (?:\s+[^\s"'=<>]++(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s"'=<>]++))?+)*+\s*+/?>""",
    re.VERBOSE,
)
_DECLARATION = re.compile(
    r"<\?(?:(?!<\?|\?>).)*\?>|<!\[CDATA\[(?:(?!<!\[CDATA\[|\]\]>).)*\]\]>", re.DOTALL
)
_LONGEST = 8192
"""A tag longer than this is none: nobody writes one, and hostile ones cost time."""


def comment_end(text: str, at: int, last: int) -> int:
    """Return where the comment at an offset ends; 0 where none begins.

    Args:
        text: The run.
        at: Where a `<` stands.
        last: Where the last `-->` of the run stands, or -1.
    """
    if not text.startswith("<!--", at) or last < at + 4:
        return 0
    close = text.find("-->", at + 4)
    return 0 if text.find("<!--", at + 4, close) >= 0 else close + 3


def tag_end(text: str, at: int) -> tuple[int, str]:
    """Return where the tag or declaration at an offset ends, 0 where none begins, and its name.

    The name is that of a start tag as it is written; blank for anything else.
    """
    if text.startswith(("<?", "<!["), at):
        declaration = _DECLARATION.match(text, at, at + _LONGEST)
        return declaration.end() if declaration else 0, ""
    match = _TAG.match(text, at, at + _LONGEST)
    if match is None:
        return 0, ""
    return match.end(), "" if text.startswith("</", at) else match["name"]
