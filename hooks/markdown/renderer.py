"""A Python-Markdown extension with which the renderer does less for the same HTML.

The renderer tries each of some twenty patterns on every text of a page, and few texts hold one of
the signs that a pattern begins with. For every listing it looks a lexer up among five hundred, and
makes the same table of classes again.
"""

from __future__ import annotations

import functools
import re
from importlib import metadata
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any, Final

from markdown import treeprocessors, util
from markdown.extensions import Extension
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pymdownx import highlight  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterable

    from markdown import Markdown

KNOWN: Final = {"Markdown": "3.11.3", "Pygments": "2.21.0", "pymdown-extensions": "13.1"}
"""The versions whose own names are used here."""
_APPLY: Final = "_InlineProcessor__applyPattern"
_REPEATS: Final = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)


def unknown() -> list[str]:
    """Return what is installed in a version that is not known here."""
    found = {name: metadata.version(name) for name in KNOWN}
    return [f"{name} {one}" for name, one in found.items() if one != KNOWN[name]]


@functools.cache
def signs(pattern: re.Pattern[str]) -> tuple[str, ...]:
    """Return characters of which every match holds one; none where that is not to be seen."""
    if pattern.flags & re.IGNORECASE:
        return ()
    return tuple(sorted(_signs(parser.parse(pattern.pattern, pattern.flags))))


def _signs(items: Iterable[tuple[Any, Any]]) -> frozenset[str]:
    for kind, value in items:
        found: frozenset[str] = frozenset()
        if kind is kinds.LITERAL:
            found = frozenset(chr(value))
        elif kind is kinds.IN and all(one is kinds.LITERAL for one, _ in value):
            found = frozenset(chr(one) for _, one in value)
        elif kind is kinds.SUBPATTERN:
            found = _signs(value[-1])
        elif kind in _REPEATS and value[0] > 0:
            found = _signs(value[2])
        elif kind is kinds.BRANCH:
            each = [_signs(one) for one in value[1]]
            found = frozenset().union(*each) if all(each) else found
        if found:
            return found
    return frozenset()


class InlineProcessor(treeprocessors.InlineProcessor):
    """The renderer's own, of the same name: Python puts the name before that of its method."""

    def __init__(self, md: Markdown) -> None:
        """Take a renderer, whose patterns may change until it begins."""
        super().__init__(md)
        self._steps: list[tuple[Any, tuple[str, ...]]] = []

    def run(self, tree: Any, ancestors: list[str] | None = None) -> Any:
        """Apply the patterns to a page."""
        patterns: list[Any] = list(self.inlinePatterns)
        self._steps = [(one, signs(one.getCompiledRegExp())) for one in patterns]
        return super().run(tree, ancestors)

    def __handleInline(self, data: str, patternIndex: int = 0) -> str:  # noqa: N802, N803
        if isinstance(data, util.AtomicString):
            return data
        apply = getattr(self, _APPLY)
        for number in range(patternIndex, len(self._steps)):
            pattern, needed = self._steps[number]
            for sign in needed:
                if sign in data:
                    break
            else:
                if needed:
                    continue
            is_found, start = True, 0
            while is_found:
                data, is_found, start = apply(pattern, data, number, start)
        return data


_tables: dict[object, tuple[Any, Any]] = {}


def _create_stylesheet(self: Any) -> None:
    """Take the table of classes of a style from the formatter before, if there was one."""
    key = (self.style, self.classprefix)
    if key not in _tables:
        HtmlFormatter._create_stylesheet(self)
        _tables[key] = (self.ttype2class, self.class2style)
    self.ttype2class, self.class2style = _tables[key]


class RendererExtension(Extension):
    """Puts the processor in the place of the renderer's, and has listings share what they can."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (the library's name)
        """Replace the tree processor, at its own priority."""
        md.treeprocessors.register(InlineProcessor(md), "inline", 20)
        highlight.get_lexer_by_name = _lexer
        for one in (highlight.BlockHtmlFormatter, highlight.InlineHtmlFormatter):
            one._create_stylesheet = _create_stylesheet


_lexer = functools.cache(get_lexer_by_name)
