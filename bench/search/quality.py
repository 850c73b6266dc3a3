"""Every engine on every set of queries, compared with ours query by query."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.search import libraries, sites, stock
from bench.search.notes import Collection
from hooks.search.evaluation import known_items, metrics, queries
from hooks.search.evaluation.compare import compare
from hooks.search.evaluation.engines import Engine, ask, own_engine
from hooks.search.evaluation.metrics import Answer
from hooks.search.evaluation.sections import Sections, read

KNOWN = 60
"""Known items of each kind."""


def engines(
    collection: Collection, site: Path, cache: Path, asked: Sequence[queries.Query]
) -> tuple[dict[str, Engine], dict[str, Any]]:
    """Return the engines by name, and what is to be said about them."""
    index = sites.stock_index(site)
    languages = ("zh", "en") if (site / "en").is_dir() else ("zh",)
    found: dict[str, Engine] = {
        "own": own_engine(collection.docs, collection.terms),
        "repaired": stock.Repaired(sites.repaired_index(index), languages),
        "stock": stock.stock(index),
    }
    about: dict[str, Any] = {}
    for name in libraries.NAMES:
        try:
            found[name], about[name] = libraries.answers(name, cache, index, asked)
        except libraries.LibraryError as error:
            print(f"search: {error}", file=sys.stderr)
            about[name] = {"left_out": str(error)}
    return found, about


def measure(collection: Collection, site: Path, cache: Path) -> dict[str, Any]:
    """Return the quality of every engine on a collection, for the record."""
    sections = read(collection.docs)
    judged = queries.load(collection.queries)
    halves = {
        path.suffixes[0].lstrip("."): {query.id for query in queries.load_set(path).queries}
        for path in collection.queries
    }
    known = known_items.make(sections, each=KNOWN)
    found, about = engines(collection, site, cache, [*judged, *known])
    answers = {name: _ask(engine, judged, known, sections) for name, engine in found.items()}
    record: dict[str, Any] = {
        "source": collection.source,
        "sections": len(sections),
        "queries": {half: len(ids) for half, ids in halves.items()},
        "engines": {},
    }
    for name, (on_judged, on_known) in answers.items():
        record["engines"][name] = {
            **about.get(name, {}),
            "judged": metrics.as_record(on_judged),
            **{
                half: metrics.as_record([one for one in on_judged if one.query.id in ids])
                for half, ids in halves.items()
            },
            "known": metrics.as_record(on_known),
        }
        if name != "own":
            record["engines"][name]["own_against_it"] = compare(
                on_judged, answers["own"][0]
            ).as_dict()
    return record


def _ask(
    engine: Engine,
    judged: Sequence[queries.Query],
    known: Sequence[queries.Query],
    sections: Sections,
) -> tuple[list[Answer], list[Answer]]:
    return ask(engine, judged, sections), ask(engine, known, sections)
