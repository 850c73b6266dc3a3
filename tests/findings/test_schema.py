"""A mistake in a data file is a finding at its line and column, with the value and the repair."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from hooks.findings import schema
from tests.samples import read_yaml

CASES = read_yaml(Path(__file__).with_name("schema.yml"))


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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["text"])
def test_mistakes_and_their_places(case: dict[str, Any]) -> None:
    assert said(case["text"]) == case["said"]


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
