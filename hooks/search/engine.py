"""The search engine in Python: the core that browsers run, in V8 (mini-racer)."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

from py_mini_racer import MiniRacer

from hooks.search.index import Index

CORE: Final = Path(__file__).parent / "browser"

_GLUE: Final = """
var engine = HandbookSearch.create();
function answer(query, language, limit) {
  return JSON.stringify(engine.search(query, { language: language, limit: limit }).hits);
}
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A section that answers a query."""

    location: str
    """Address relative to the site, such as `link/topo/nvswitch.html#measured`."""
    title: str
    page_title: str
    breadcrumb: tuple[str, ...]
    """Names above the section, outermost first: navigation, page, headings."""
    excerpt_html: str
    """A sentence of the section, safe HTML with the query's words in `<mark>`."""
    score: float
    weak: bool
    """Whether it was found only by repairing what was typed."""
    language: str
    terms: tuple[str, ...] = ()
    """The query's words as they stand in the section."""
    tags: tuple[str, ...] = ()
    kind: str = ""
    mark: str = ""
    """What it is, where it is not just a section: Term, Resource, …"""


def core_source() -> str:
    """Return the engine's JavaScript: the numbered files of `browser/` in order."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted(CORE.glob("[0-9]_*.js")))


class Engine(AbstractContextManager["Engine"]):
    """An index that answers queries, to be used in a `with` statement."""

    def __init__(self, index: Index) -> None:
        """Load an index."""
        self._context = MiniRacer()
        self._context.eval(core_source() + _GLUE)
        self._do(f"engine.tables({_literal(index.tables)})")
        for parts in index.parts.values():
            for part in parts:
                self._do(f"engine.add({_literal(part)})")
        self._do("engine.close()")

    def _do(self, code: str) -> None:
        self._context.eval(code + ";0")

    def search(self, query: str, language: str = "zh", limit: int = 10) -> list[Hit]:
        """Return the sections that answer a query, best first, never a section twice.

        Args:
            query: As typed; anything goes.
            language: The reader's language: results are in it where the section has it.
            limit: The most sections to return.
        """
        arguments = ", ".join(map(_literal, (query, language, limit)))
        found: list[dict[str, Any]] = json.loads(str(self._context.eval(f"answer({arguments})")))
        for hit in found:
            hit.update({key: tuple(one) for key, one in hit.items() if isinstance(one, list)})
        return [Hit(**{one.name: hit[one.name] for one in fields(Hit)}) for hit in found]

    def __exit__(self, *_: object) -> None:
        """Free the engine; it answers no more."""
        self._context.close()


def _literal(value: object) -> str:
    # JSON.parse of a string is several times faster than reading the same as a program.
    if isinstance(value, dict):
        return f"JSON.parse({json.dumps(json.dumps(value))})"
    return json.dumps(value)
