"""An evaluation as text: a table a reader can take in, and what went wrong."""

from __future__ import annotations

from collections.abc import Sequence

from bench.search.evaluation.compare import Change, Comparison
from bench.search.evaluation.metrics import Answer, by_class, false_hits, score
from bench.search.evaluation.queries import NO_ANSWER

_HEAD = (
    f"{'':12} {'queries':>7} {'MRR@10':>7} {'S@1':>6} {'S@5':>6} {'nDCG':>6} "
    f"{'page S@5':>8} {'empty':>6}"
)


def table(answers: Sequence[Answer]) -> str:
    """Return the scores over all queries and by class, as lines of equal columns."""
    lines = [_HEAD]
    for name, scores in {"all": score(answers), **by_class(answers)}.items():
        lines.append(
            f"{name:12} {scores.queries:7} {scores.mrr:7.3f} {scores.success_1:6.2f} "
            f"{scores.success_5:6.2f} {scores.ndcg:6.3f} {scores.page_success_5:8.2f} "
            f"{scores.empty:6.2f}"
        )
    none = false_hits(answers)
    if none.queries:
        lines.append(
            f"{NO_ANSWER:12} {none.queries:7}  {none.with_hits:.0%} of them were given sections, "
            f"{none.hits:.1f} on average"
        )
    return "\n".join(lines)


def failures(answers: Sequence[Answer], *, worse_than: int = 1) -> str:
    """Return the queries whose first right section has a worse rank, with what came first."""
    lines = []
    for answer in answers:
        query = answer.query
        if query.kind == NO_ANSWER:
            if answer.keys:
                lines.append(f"{query.id} [{query.language}] {query.text}: listed, not expected:")
                lines += [f"    {key}" for key in answer.keys[:3]]
            continue
        if 1 <= answer.rank <= worse_than:
            continue
        place = f"rank {answer.rank}" if answer.rank else "not among the first ten"
        lines.append(f"{query.id} [{query.language}] {query.text}: {place}")
        lines += [f"    got   {key}" for key in answer.keys[: max(answer.rank - 1, 3)]]
        best = sorted(query.right.items(), key=lambda pair: -pair[1])[:3]
        lines += [f"    right {key} ({grade})" for key, grade in best]
    return "\n".join(lines)


def comparison(result: Comparison, first: str, second: str, *, listed: int = 20) -> str:
    """Return a comparison in words, with the queries that moved most."""

    def moved(changes: Sequence[Change]) -> list[str]:
        shown = [
            f"    {change.id:14} {change.before or '-':>3} -> {change.after or '-':>3}  "
            f"{change.text}"
            for change in changes[:listed]
        ]
        rest = len(changes) - listed
        return shown + ([f"    … and {rest} more"] if rest > 0 else [])

    verdict = "likely chance" if result.p > 0.05 else "not likely chance"
    return "\n".join(
        [
            f"{second} against {first}, {result.queries} queries: MRR@10 "
            f"{result.difference:+.3f} (95 %: {result.low:+.3f} to {result.high:+.3f}), "
            f"p = {result.p:.4f}: {verdict}",
            f"  better: {len(result.wins)}",
            *moved(result.wins),
            f"  worse: {len(result.losses)}",
            *moved(result.losses),
        ]
    )
