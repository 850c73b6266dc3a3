"""From pages to an index, an engine, answers in the browser and in the terminal."""

from __future__ import annotations

from hooks.search.words.terms import load_terms

__all__ = [
    "load_terms",
]
