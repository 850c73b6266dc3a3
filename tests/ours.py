"""What the handbook itself holds, for tests that look at all of it: read once in a process."""

from __future__ import annotations

import functools
from pathlib import Path

from hooks import cache
from hooks.data.facts import FactBase
from hooks.data.load import load_facts
from hooks.notes import catalogue
from hooks.notes.note import Catalogue

ROOT = Path(__file__).resolve().parent.parent


@functools.cache
def facts() -> FactBase:
    """Return the facts, of which nothing may be changed; calculators that share them share V8."""
    return load_facts(ROOT / "docs/data")[0]


@functools.cache
def notes() -> Catalogue:
    """Return the notes, most of them as the last run has left them."""
    return catalogue.load(ROOT / "docs", ROOT, cache.Cache(ROOT / cache.FOLDER))[0]
