"""Every engine on every set of queries, compared with ours query by query."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.search import libraries, sites, stock
from bench.search.evaluation import known_items, metrics, queries
from bench.search.evaluation.compare import compare
from bench.search.evaluation.engines import Engine, Hit, Recorded, ask, own_engine
from bench.search.evaluation.metrics import Answer
from bench.search.evaluation.sections import Sections, read
from bench.search.notes import Collection
from hooks.search.material import MATERIAL_VERSION

KNOWN = 60
"""Known items of each kind."""

ANSWERS = 1
"""Raise it when other engines are asked in another way: kept answers are then asked for anew."""


def engines(
    collection: Collection, site: Path, cache: Path, asked: Sequence[queries.Query]
) -> tuple[dict[str, Engine], dict[str, Any]]:
    """Return the engines by name, and what is to be said about them.

    Answers of the others are kept in the cache, because only ours changes between most runs.
    """
    index = sites.stock_index(site)
    key = _key(index, asked)
    found: dict[str, Engine] = {
        "own": own_engine(collection.docs, collection.terms),
        "stock": _kept(cache / f"answers/stock-{key}.json", lambda: stock.stock(index), asked),
    }
    about: dict[str, Any] = {}
    for name in libraries.NAMES:
        try:
            found[name], about[name] = _of_library(name, cache, index, asked, key)
        except libraries.LibraryError as error:
            print(f"search: {error}", file=sys.stderr)
            about[name] = {"left_out": str(error)}
    return found, about


def _key(index: dict[str, Any], asked: Sequence[queries.Query]) -> str:
    texts = sorted({f"{query.language} {query.text}" for query in asked})
    parts = [json.dumps(index, sort_keys=True), *texts, MATERIAL_VERSION, str(ANSWERS)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:20]


def _kept(path: Path, start: Callable[[], Engine], asked: Sequence[queries.Query]) -> Engine:
    if not path.is_file():
        engine = start()
        rows = [
            [query.language, query.text, [hit.location for hit in _answer(engine, query)]]
            for query in asked
        ]
        _write(path, rows)
    return _recorded(json.loads(path.read_text(encoding="utf-8")))


def _answer(engine: Engine, query: queries.Query) -> Sequence[Hit]:
    return engine.search(query.text, query.language, metrics.DEPTH)


def _recorded(rows: list[Any]) -> Recorded:
    return Recorded({(language, text): places for language, text, places in rows})


def _of_library(
    name: str, cache: Path, index: dict[str, Any], asked: Sequence[queries.Query], key: str
) -> tuple[Recorded, dict[str, Any]]:
    path = cache / f"answers/{name}-{key}.json"
    if not path.is_file():
        engine, about = libraries.answers(name, cache, index, asked)
        rows = [
            [query.language, query.text, [hit.location for hit in _answer(engine, query)]]
            for query in asked
        ]
        _write(path, {"about": about, "rows": rows})
    kept = json.loads(path.read_text(encoding="utf-8"))
    return _recorded(kept["rows"]), kept["about"]


def _write(path: Path, data: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


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
