"""`python -m bench search`: how often the right section comes first.

Without options it asks every judged query and the known items, and prints two tables. `--failures`
lists what was not found at once, `--dev` asks only the half that an engine may be tuned on,
`--record` keeps the scores for the page about search.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench import record
from bench.search import known_items, metrics, queries
from bench.search.metrics import DEPTH, Answer, by_class, false_hits, score
from bench.search.queries import NO_ANSWER, Query
from bench.search.sections import Sections, read
from hooks.data import Layout
from hooks.search.engine import Engine
from hooks.search.index import build_index

QUERIES = Path(__file__).parent / "queries"
_HEAD = f"{'':12} {'queries':>7} {'MRR@10':>7} {'S@1':>6} {'S@5':>6} {'nDCG':>6} {'page S@5':>8}"


def main(options: list[str]) -> int:
    """Ask, and print what came of it. Return 2 where a judged section is in no note."""
    docs = record.ROOT / "docs"
    sections = read(docs)
    judged = queries.load(sorted(QUERIES.glob("*.dev.yml" if "--dev" in options else "*.yml")))
    unknown = sorted({key for query in judged for key in query.right if key not in sections})
    if unknown:
        print(f"bench: no such section: {', '.join(unknown[:5])}", file=sys.stderr)
        return 2
    with Engine(build_index(docs, Layout(docs).terms)) as engine:
        found = ask(engine, judged, sections)
        known = ask(engine, known_items.make(sections), sections)
    print(table(found), table(known), sep="\n\n")
    if "--failures" in options:
        print(failures(found))
    if "--record" in options:
        scores = {"judged": metrics.as_record(found), "known": metrics.as_record(known)}
        print(record.write("search", scores))
    return 0


def ask(engine: Engine, asked: Iterable[Query], sections: Sections) -> list[Answer]:
    """Ask an engine every query and look up the sections it answers with."""
    answers = []
    for query in asked:
        hits = engine.search(query.text, query.language, DEPTH)
        answers.append(Answer(query, tuple(sections.key(hit.location) for hit in hits)))
    return answers


def table(answers: Sequence[Answer]) -> str:
    """Return the scores over all queries and by class, as lines of equal columns."""
    lines = [_HEAD]
    for name, one in {"all": score(answers), **by_class(answers)}.items():
        lines.append(
            f"{name:12} {one.queries:7} {one.mrr:7.3f} {one.success_1:6.2f} {one.success_5:6.2f} "
            f"{one.ndcg:6.3f} {one.page_success_5:8.2f}"
        )
    none = false_hits(answers)
    if none.queries:
        lines.append(f"{NO_ANSWER:12} {none.queries:7} {none.with_hits:.0%} were given sections")
    return "\n".join(lines)


def failures(answers: Sequence[Answer]) -> str:
    """Return the queries whose first section is not a right one, with what came first."""
    lines = []
    for answer in answers:
        query = answer.query
        if answer.rank == 1 or (query.kind == NO_ANSWER and not answer.keys):
            continue
        lines.append(f"{query.id} [{query.language}] {query.text}: rank {answer.rank or '-'}")
        lines += [f"    got   {key}" for key in answer.keys[: max(answer.rank - 1, 3)]]
        best = sorted(query.right.items(), key=lambda pair: -pair[1])[:3]
        lines += [f"    right {key} ({grade})" for key, grade in best]
    return "\n".join(lines)
