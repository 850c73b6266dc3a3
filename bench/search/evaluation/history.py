"""Records of benchmark runs: a line a run over time, and the latest of each collection in full."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FORMAT = 2
"""Number of the format of both files."""

LINES = "bench/results/search.jsonl"
"""A line a run, oldest first: what each engine got, and how we wait beside the stock search."""

LATEST = "bench/results/search.json"
"""By collection, the latest `quality` and the latest `speed`, each with the `run` it is of."""

ENGINES = ("own", "stock", "minisearch", "flexsearch")
"""Engines in the order of tables; a run may lack some."""

_RUN = ("time", "date", "commit", "command", "machine", "versions")


def write(root: Path, record: dict[str, Any]) -> None:
    """Keep a run: append its line, and put its collections in the place of earlier ones."""
    lines, latest = root / LINES, root / LATEST
    lines.parent.mkdir(parents=True, exist_ok=True)
    with lines.open("a", encoding="utf-8") as file:
        file.write(_dump(line(record)) + "\n")
    kept = load_latest(root)
    for name, collection in record["collections"].items():
        run = {field: record[field] for field in _RUN}
        place = kept.setdefault(name, {})
        place["quality"] = {"run": run} | {k: v for k, v in collection.items() if k != "browser"}
        if "browser" in collection:
            measured = {field: collection[field] for field in ("browser", "bytes", "engines")}
            measured["engines"] = {
                engine: {"version": numbers["version"]}
                for engine, numbers in collection["engines"].items()
                if "version" in numbers
            }
            place["speed"] = {"run": run} | measured
    # A line for each part, so that a run changes few of them.
    parts = [
        f' "{name}": {{\n'
        + ",\n".join(f'  "{part}": {_dump(place[part])}' for part in sorted(place))
        + "\n }"
        for name, place in sorted(kept.items())
    ]
    text = f'{{\n"format": {FORMAT},\n"collections": {{\n' + ",\n".join(parts) + "\n}\n}\n"
    latest.write_text(text, encoding="utf-8")


def _dump(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, sort_keys=True)


def load_lines(root: Path) -> list[dict[str, Any]]:
    """Return the lines of all runs, oldest first; none when there is no file."""
    path = root / LINES
    if not path.is_file():
        return []
    return [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]


def load_latest(root: Path) -> dict[str, dict[str, Any]]:
    """Return, by collection, the parts that were measured last; none when there is no file."""
    path = root / LATEST
    if not path.is_file():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["collections"]
    return found


def ratio(own: float | None, stock: float | None) -> float | None:
    """Return own / stock; None when either is missing or not positive.

    Memory that a garbage collection gave back can outweigh what a small index takes.
    """
    if own is None or stock is None or own <= 0 or stock <= 0:
        return None
    return own / stock


def speed_ratios(collection: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    """Return, by scheme, our waiting times and memory over those of the stock search."""
    found = {}
    browser = collection.get("browser", {})
    # Without a baseline, http was measured after the stock search had warmed up by itself.
    for scheme in ("file", "http") if "baseline" in browser else ("file",):
        measured = browser.get(scheme)
        if not measured:
            continue
        own, stock = measured.get("own", {}), measured.get("stock", {})
        found[scheme] = {
            name: ratio(own.get(name), stock.get(name))
            for name in ("first_ms", "key_median_ms", "key_p95_ms", "memory_mb")
        }
    return found


def index_share(collection: dict[str, Any]) -> float | None:
    """Return the bytes of our index, compressed, over those of the Markdown."""
    sizes = collection.get("bytes", {})
    own = sizes.get("own", {}).get("index_gzip")
    return ratio(own, sizes.get("markdown"))


def line(record: dict[str, Any]) -> dict[str, Any]:
    """Return a run as one line keeps it."""
    collections = {}
    for name, collection in record["collections"].items():
        engines = {}
        for engine in ENGINES:
            numbers = collection["engines"].get(engine, {})
            if "judged" not in numbers:
                continue
            judged = numbers["judged"]["all"]
            engines[engine] = {
                "mrr": judged["mrr"],
                "success_5": judged["success_5"],
                "page_success_5": judged["page_success_5"],
                "test": numbers["test"]["all"]["mrr"],
                "known": numbers["known"]["all"]["mrr"],
            }
            if "own_against_it" in numbers:
                gain = numbers["own_against_it"]
                engines[engine]["ahead"] = {"by": gain["difference"], "p": gain["p"]}
        collections[name] = {
            "sections": collection["sections"],
            "engines": engines,
            "ratios": {
                scheme: {key: _short(value) for key, value in ratios.items()}
                for scheme, ratios in speed_ratios(collection).items()
            },
            "index_share": _short(index_share(collection)),
        }
    return {field: record[field] for field in _RUN} | {"collections": collections}


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _lines(run: dict[str, Any]) -> Iterator[str]:
    for name, collection in run["collections"].items():
        yield f"{name}: {collection['sections']} sections"
        yield (
            f"  {'':12} {'MRR@10':>7} {'S@5':>6} {'page S@5':>8}  {'test half':>9} "
            f"{'known':>6}  {'ours better by':>14}"
        )
        for engine, numbers in collection["engines"].items():
            ahead = numbers.get("ahead")
            better = f"{ahead['by']:+.3f} (p {ahead['p']:.4f})" if ahead else ""
            yield (
                f"  {engine:12} {numbers['mrr']:7.3f} {numbers['success_5']:6.2f} "
                f"{numbers['page_success_5']:8.2f}  {numbers['test']:9.3f} "
                f"{numbers['known']:6.3f}  {better:>14}"
            )
        for scheme, ratios in collection["ratios"].items():
            words = ", ".join(
                f"{key} {value:.2f}" if value is not None else f"{key} -"
                for key, value in ratios.items()
            )
            yield f"  {scheme}: ours over stock: {words}"
        if collection["index_share"] is not None:
            yield f"  index, compressed, over the Markdown's bytes: {collection['index_share']:.2f}"


def summary(record: dict[str, Any]) -> str:
    """Return a run in a few lines of text."""
    return "\n".join(_lines(line(record)))
