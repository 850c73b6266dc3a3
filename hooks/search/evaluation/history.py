"""Records of benchmark runs, one JSON file a run: quality and speed over time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

FORMAT = 1
"""Number of the records' format; others are left out."""

FOLDER = "bench/results/search"
"""Where records are kept, relative to the repository."""

ENGINES = ("own", "stock", "minisearch", "flexsearch")
"""Engines in the order of tables; a record may lack some."""


def write(folder: Path, record: dict[str, Any]) -> Path:
    """Write a run's record, named by its time, and return the file."""
    folder.mkdir(parents=True, exist_ok=True)
    name = record["time"].replace(":", "").replace("+0000", "Z")
    path = folder / f"{name}.json"
    path.write_text(
        json.dumps(record, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8"
    )
    return path


def load(folder: Path) -> list[dict[str, Any]]:
    """Return the records of a folder, oldest first; none when there is no folder."""
    found = []
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record.get("format") == FORMAT:
            found.append(record)
    return sorted(found, key=lambda record: str(record["time"]))


def newest(records: Sequence[dict[str, Any]], part: str = "") -> dict[str, dict[str, Any]]:
    """Return, by collection, the latest record that measured it, or that part of it."""
    found: dict[str, dict[str, Any]] = {}
    for record in records:
        for name, collection in record["collections"].items():
            if not part or part in collection:
                found[name] = record
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


def _lines(record: dict[str, Any]) -> Iterator[str]:
    for name, collection in record["collections"].items():
        yield f"{name}: {collection['sections']} sections"
        yield (
            f"  {'':12} {'MRR@10':>7} {'S@5':>6} {'page S@5':>8}  {'test half':>9} "
            f"{'known':>6}  {'ours better by':>14}"
        )
        for engine in ENGINES:
            numbers = collection["engines"].get(engine, {})
            if "judged" not in numbers:
                continue
            judged = numbers["judged"]["all"]
            gain = numbers.get("own_against_it")
            better = f"{gain['difference']:+.3f} (p {gain['p']:.4f})" if gain else ""
            yield (
                f"  {engine:12} {judged['mrr']:7.3f} {judged['success_5']:6.2f} "
                f"{judged['page_success_5']:8.2f}  {numbers['test']['all']['mrr']:9.3f} "
                f"{numbers['known']['all']['mrr']:6.3f}  {better:>14}"
            )
        for scheme, ratios in speed_ratios(collection).items():
            words = ", ".join(
                f"{key} {value:.2f}" if value is not None else f"{key} -"
                for key, value in ratios.items()
            )
            yield f"  {scheme}: ours over stock: {words}"
        share = index_share(collection)
        if share is not None:
            yield f"  index, compressed, over the Markdown's bytes: {share:.2f}"


def summary(record: dict[str, Any]) -> str:
    """Return a record in a few lines."""
    return "\n".join(_lines(record))
