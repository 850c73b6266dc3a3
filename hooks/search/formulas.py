r"""Formulas as a line of text: `\frac{a}{b+c} \le \Psi` is `a/(b+c) ≤ Ψ`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pylatexenc import latex2text

if TYPE_CHECKING:
    from collections.abc import Sequence

_DELIMITERS = (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$"))
_SIZED = re.compile(r"\\[dtc]frac\b")
_RELATION = re.compile(r" ([×·≤≥≈≪≫≠→⇒]) ?")


@lru_cache(maxsize=4096)
def plain(tex: str) -> str:
    """Return a formula, with or without its delimiters, as readable text without a command."""
    tex = tex.strip()
    for opening, closing in _DELIMITERS:
        if tex.startswith(opening) and tex.endswith(closing) and len(tex) > len(opening):
            tex = tex[len(opening) : -len(closing)]
            break
    said = " ".join(_converter().latex_to_text(_SIZED.sub(r"\\frac", tex)).split())
    return _RELATION.sub(r" \1 ", said).replace("\\", "").strip()


@lru_cache(maxsize=1)
def _converter() -> Any:
    known = latex2text.get_default_latex_context_db()
    fraction = latex2text.MacroTextSpec("frac", simplify_repl=_fraction)
    known.add_context_category("fractions", macros=[fraction], prepend=True)
    return latex2text.LatexNodes2Text(latex_context=known, math_mode="text")


def _fraction(node: Any, l2tobj: Any) -> str:
    parts: Sequence[Any] = node.nodeargd.argnlist
    above, below = (l2tobj.nodelist_to_text([part]).strip() for part in parts[-2:])
    return f"{_whole(above)}/{_whole(below)}"


def _whole(text: str) -> str:
    """Return a part of a fraction in parentheses, where it has parts itself."""
    return text if re.fullmatch(r"[\w.]+|\([^()]*\)", text) else f"({text})"
