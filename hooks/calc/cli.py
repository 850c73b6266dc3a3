"""The command `python -m hooks calc`: the calculators of the pages, in a terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from hooks.calc import engine

LANGUAGES = ("zh", "en")


@click.command()
@click.argument("name", required=False)
@click.argument("entries", nargs=-1, metavar="[KEY=VALUE]…")
@click.option("--json", "as_json", is_flag=True, help="Print the outputs as JSON, in base units.")
@click.option("--lang", type=click.Choice(LANGUAGES), default="en", help="The language of words.")
@click.option("--inputs", "list_inputs", is_flag=True, help="List the inputs of NAME.")
def calc(
    name: str | None, entries: tuple[str, ...], as_json: bool, lang: str, list_inputs: bool
) -> None:
    """Answer with calculator NAME; without a name, list the calculators.

    Inputs that are not given take the values of the page. Numbers may end in k, M, G, B, T, Ki,
    Mi, Gi: layers=80 parameters=70B.

    Exit status: 0 an answer, 2 an entry that makes no sense.
    """
    calculators = engine.default()
    try:
        if name is None:
            click.echo(_listing(calculators, lang))
        elif list_inputs:
            click.echo(_inputs(calculators, name, lang))
        else:
            given = _given(entries)
            outputs = calculators.run(name, given)
            if as_json:
                click.echo(json.dumps(outputs, ensure_ascii=False, indent=2))
            else:
                click.echo(_answer(calculators, name, given, lang))
    except engine.CalcError as error:
        click.echo(f"calc: {error}", err=True)
        if name is not None and name in calculators.records and not list_inputs:
            click.echo(f"calc: 'python -m hooks calc {name} --inputs' lists the inputs", err=True)
        sys.exit(2)


def _given(entries: tuple[str, ...]) -> dict[str, str]:
    given = {}
    for entry in entries:
        key, equals, value = entry.partition("=")
        if not equals:
            raise engine.CalcError(f"'{entry}' is not of the form key=value")
        given[key.strip()] = value.strip()
    return given


def _listing(calculators: engine.Engine, lang: str) -> str:
    width = max(len(name) for name in calculators.records)
    return "\n".join(
        f"{name:<{width}}  {record['title'][lang]}" for name, record in calculators.records.items()
    )


def _inputs(calculators: engine.Engine, name: str, lang: str) -> str:
    record = calculators.record(name)
    values = calculators.show(name, {}, lang)["inputs"]
    lines = [f"{record['title'][lang]} — {record['about'][lang]}", ""]
    for entry in record["inputs"]:
        lines.append(f"{entry['key']}={_value(values.get(entry['key']))}  {_meaning(entry, lang)}")
        if entry["choices"]:
            choices = [choice["value"] or '""' for choice in entry["choices"]]
            lines.append(f"    {', '.join(choices)}")
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None:
        return "?"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def _meaning(entry: dict[str, Any], lang: str) -> str:
    label = _say(entry["label"], lang)
    unit = _say(entry.get("unit", ""), lang)
    bounds = f" {entry['min']:g}…{entry['max']:g}" if "min" in entry else ""
    return f"{label}{f' [{unit}]' if unit else ''}{bounds}"


def _say(text: Any, lang: str) -> str:
    return str(text[lang]) if isinstance(text, dict) else str(text)


def _answer(calculators: engine.Engine, name: str, given: dict[str, str], lang: str) -> str:
    shown = calculators.show(name, given, lang)
    width = max((len(row["key"]) for row in shown["rows"]), default=0)
    lines = [f"{row['key']:<{width}}  {row['text']}  ({row['label']})" for row in shown["rows"]]
    for table in shown["tables"]:
        lines += ["", table["caption"], " | ".join(table["head"])]
        lines += [" | ".join(row["cells"]) for row in table["rows"]]
    if shown["remarks"]:
        lines += ["", *(f"* {remark}" for remark in shown["remarks"])]
    return "\n".join(lines)
