"""A mistake in a data file is a finding at its line and column, with the value and the repair."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from hooks.findings import schema


class Part(BaseModel):
    """What the tests read, inside."""

    model_config = ConfigDict(extra="forbid")

    name: str
    size: int | float = 0
    kind: Literal["a", "b"] = "a"


class Whole(BaseModel):
    """What the tests read."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=1)
    parts: list[Annotated[Part, BeforeValidator(lambda value: value)]] = []
    table: dict[str, Part | None] = {}
    words: list[str] = []
    day: Annotated[datetime.date, BeforeValidator(schema.past_day)] | None = None
    exempt: str = Field(default="", alias="except")


def said(text: str, kind: type[object] = Whole) -> list[str]:
    """Return place, message, target and suggestion of each finding."""
    record, findings = schema.load_model(kind, text, "d.yml", "map")
    assert (record is None) == bool(findings)
    assert {(one.file, one.rule, one.severity) for one in findings} <= {("d.yml", "map", "error")}
    return [
        f"{one.line}:{one.column} {one.message} <{one.target}> <{one.suggestion}>"
        for one in findings
    ]


CASES = [
    ("title: T\n", []),
    ("title: T\ntilte: x\n", [
        "2:1 unknown field 'tilte'; known fields: title, parts, table, words, day, except"
        " <tilte> <title>"]),
    ("title: T\nparts:\n  - name: n\n    sise: 1\n", [
        "4:5 unknown field 'sise' in 'parts'; known fields: name, size, kind <sise> <size>"]),
    ("title: T\ntable:\n  x: {name: n, kin: a}\n", [
        "3:16 unknown field 'kin' in 'table.x'; known fields: name, size, kind <kin> <kind>"]),
    ("# c\n\nwords: []\n", ["1:1 field 'title' is missing <title> <>"]),
    ("title: T\nparts:\n  - {name: n}\n  - {kind: a}\n", [
        "4:5 field 'name' is missing in 'parts' <name> <>"]),
    ("title: T\ntable: {x: {name: n, kind: c}}\n", [
        "2:28 'kind' in 'table.x': Input should be 'a' or 'b' (found 'c') <c> <>"]),
    ("title: T\nwords: [a, 2.50]\n", [
        "2:12 'words': Input should be a valid string (found 2.5) <2.50> <>"]),
    ("title: ''\n", ["1:8 'title': String should have at least 1 character (found '') <> <>"]),
    ("title:\n", ["1:1 'title': Input should be a valid string (found None) <None> <>"]),
    ("title: T\nwords:\n  a: b\n", ["2:1 'words' must be a list (found {'a': 'b'}) <> <>"]),
    ("title: T\nparts: [x]\n", ["2:9 'parts' must be 'field: value' lines (found 'x') <x> <>"]),
    ("title: T\ntable: {1: {name: n}}\n", [
        "2:9 '1' in 'table': Input should be a valid string (found 1) <1> <>"]),
    ("- a\n", ["1:1 the file must be 'field: value' lines (found ['a']) <> <>"]),
    ("title: T\nday: soon\n", [
        "2:6 'day' must be a date such as 2026-11-21, without quotes (found 'soon') <soon> <>"]),
    ("title: T\nday: 2026-01-02 10:00:00\n", [
        "2:6 'day' must be a date such as 2026-11-21, without quotes (found datetime.datetime"
        "(2026, 1, 2, 10, 0)) <2026-01-02 10:00:00> <>"]),
    ("title: T\nday: 2999-01-01\n", [
        "2:6 'day': lies in the future: 2999-01-01 (found datetime.date(2999, 1, 1))"
        " <2999-01-01> <>"]),
    # YAML itself
    ("title: T\nday: 2026-13-40\n", ["2:6 the file is not YAML: month must be in 1..12 <> <>"]),
    ("title: T\nwords: [0b_]\n", [
        "2:9 the file is not YAML: invalid literal for int() with base 2: '' <> <>"]),
    ("title: [\n", ["2:1 the file is not YAML: did not find expected node content <> <>"]),
    ("title: T\ntable:\n  x: {name: n, name: m}\n", [
        "3:16 key 'name' stands twice; keep one <name> <>"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_mistakes_and_their_places(text: str, expected: list[str]) -> None:
    assert said(text) == expected


def test_an_entry_of_a_list_is_validated_where_it_stands() -> None:
    text = "- {name: n}\n- x\n- {name: n, size: y}\n"
    assert said(text, list[Part]) == [
        "2:3 an entry must be 'field: value' lines (found 'x') <x> <>",
        "3:19 'size': Input should be a valid integer, unable to parse string as an integer"
        " (found 'y') <y> <>",
        "3:19 'size': Input should be a valid number, unable to parse string as a number"
        " (found 'y') <y> <>",
    ]
    document, findings = schema.load(text, "d.yml", "map")
    assert document is not None and findings == []
    assert schema.validate(Part, document, "map", (0,)) == (Part(name="n"), [])
    record, found = schema.validate(Part, document, "map", (2,))
    assert record is None and [one.place for one in found] == ["d.yml:3:19"] * 2


@pytest.mark.parametrize(
    "text",
    [
        "title: &a [*a]\n",
        "title: T\nwords: &a\n  x: *a\n",
        "a0: &a0 [x]\n"
        + "".join(f"a{n}: &a{n} [{f'*a{n - 1}, ' * 9}]\n" for n in range(1, 40))
        + "title: *a39\n",
        "title: " + "[" * 100_000,
        "title: " + "x" * 1_000_000 + "\nwords: " + "y" * 1_000_000,
    ],
    ids=["itself", "itself in a mapping", "doubling", "deep", "long"],
)
def test_a_text_made_to_harm_is_answered_in_short(text: str) -> None:
    found = said(text)
    assert found and all(len(one.split(" <")[0]) < 400 for one in found)


def test_numbers_keep_their_digits_and_merged_keys_their_places() -> None:
    document = schema.read("a: &a\n  x: 25.000\nb:\n  <<: *a\n  y: 1\n")
    assert str(document.data["b"]["x"]) == "25.000" and document.data["b"]["x"] == 25
    assert document.place(("b", "y")) == (5, 3) and document.place(("b", "x")) == (3, 1)
    assert document.place(("a", "x")) == (2, 3)
    assert document.place(("a", "x"), of_value=True) == (2, 6)
    assert document.place(()) == (1, 1)
