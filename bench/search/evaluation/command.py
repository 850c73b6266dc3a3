"""`python -m bench search-eval`: how well the search finds the right section."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from bench.search.evaluation import compare, known_items, metrics, queries, report
from bench.search.evaluation.engines import ask, own_engine
from bench.search.evaluation.metrics import Answer
from bench.search.evaluation.sections import read

ROOT = Path(__file__).resolve().parents[3]
QUERIES = ROOT / "bench/search/queries"


@click.command("search-eval")
@click.option(
    "--docs",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=ROOT / "docs",
    help="The folder of notes, whoever wrote them (default: this handbook's).",
)
@click.option(
    "--queries",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Files of judged queries; may be given again (default: this handbook's, dev half).",
)
@click.option(
    "--terms",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder of terms, such as docs/data/terms.",
)
@click.option("--known-items", is_flag=True, help="Ask for the folder's own text instead.")
@click.option("--each", default=60, show_default=True, help="Known items of each kind.")
@click.option("--seed", default=1, show_default=True, help="Chooses the known items.")
@click.option("--failures", is_flag=True, help="List what was not found at once.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON record.")
@click.option(
    "--save", type=click.Path(dir_okay=False, path_type=Path), help="Keep the answers in a file."
)
@click.option(
    "--against",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Compare with the answers kept in a file.",
)
def search_eval(
    docs: Path,
    files: tuple[Path, ...],
    terms: Path | None,
    known_items: bool,
    each: int,
    seed: int,
    failures: bool,
    as_json: bool,
    save: Path | None,
    against: Path | None,
) -> None:
    """Measure how well the search finds the right section.

    Exit status: 0 measured, 2 could not run.
    """
    try:
        chosen = _chosen(docs, files, known_items, each, seed)
        sections = read(docs)
        unknown = sorted({key for query in chosen for key in query.right if key not in sections})
        if unknown:
            raise queries.QueryError(f"no such section in {docs}: {', '.join(unknown[:5])}")
        answers = ask(own_engine(docs, terms), chosen, sections)
        earlier = _recorded(against, chosen) if against else None
    except (queries.QueryError, OSError, KeyError) as error:
        click.echo(f"search-eval: could not run: {error}", err=True)
        sys.exit(2)
    if save:
        _save(save, answers)
    result = compare.compare(earlier, answers) if earlier else None
    if as_json:
        record = metrics.as_record(answers)
        if result:
            record["comparison"] = result.as_dict()
        click.echo(json.dumps(record, ensure_ascii=False, indent=1))
        return
    click.echo(report.table(answers))
    if result:
        click.echo()
        click.echo(report.comparison(result, str(against), "now"))
    if failures:
        click.echo()
        click.echo(report.failures(answers))


def _chosen(
    docs: Path, files: tuple[Path, ...], known: bool, each: int, seed: int
) -> list[queries.Query]:
    if known:
        return known_items.make(read(docs), each=each, seed=seed)
    if not files and docs.resolve() != ROOT / "docs":
        raise queries.QueryError(f"{docs} has no judged queries; give --queries or --known-items")
    return queries.load(files or [QUERIES / "handbook.dev.yml"])


def _save(path: Path, answers: list[Answer]) -> None:
    rows = [
        {"language": one.query.language, "text": one.query.text, "sections": list(one.keys)}
        for one in answers
    ]
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")


def _recorded(path: Path, chosen: list[queries.Query]) -> list[Answer]:
    rows = json.loads(path.read_text(encoding="utf-8"))
    kept = {(row["language"], row["text"]): tuple(row["sections"]) for row in rows}
    missing = [query.text for query in chosen if (query.language, query.text) not in kept]
    if missing:
        raise queries.QueryError(f"{path} has no answer to '{missing[0]}'")
    return [Answer(query, kept[query.language, query.text]) for query in chosen]
