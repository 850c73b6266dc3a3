"""Data fences: a page shows what its check has rendered, and nothing meant for others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hooks.calc import engine
from hooks.data import measured
from hooks.data.facts import FactBase
from hooks.data.options import BlockError
from hooks.drawings.charts import spec
from hooks.pages import calculator, facts_table, measured_table
from hooks.pages.data import ERRORS, KINDS, DataFences
from tests import ours
from tests.data.test_measured import RECORD
from tests.samples import note, tree

SAID = "description: {zh: 说明, en: what it shows}\n"
GOOD = {
    "facts": "table: nvlink\ncolumns: [year, gpu_uni]\n",
    "measured": "file: t/measured/p2p.json\n",
    "chart": f"table: nvlink\ny: gpu_uni\n{SAID}",
    "calc": "units\n",
}
BAD = {
    "facts": "table: nvlnk\n",
    "measured": "file: t/measured/p2q.json\n",
    "chart": f"table: nvlnk\ny: gpu_uni\n{SAID}",
    "calc": "unitz\n",
}
RENDERS: dict[str, tuple[Any, str]] = {
    "facts": (facts_table, "render"),
    "measured": (measured_table, "render"),
    "chart": (spec, "read"),
    "calc": (calculator, "render"),
}


@pytest.fixture(scope="module")
def base() -> FactBase:
    """The facts of the handbook, which its calculators choose from."""
    return ours.facts()


Make = Callable[[dict[str, str]], DataFences]


@pytest.fixture
def make(tmp_path: Path, base: FactBase) -> Make:
    """Lay out a repository of notes, beside a measured record, and read it."""

    def made(files: dict[str, str]) -> DataFences:
        notes, findings = tree(tmp_path, {**files, "t/measured/p2p.json": json.dumps(RECORD)})
        assert findings == []
        return DataFences(base, tmp_path / "docs", tmp_path, notes)

    return made


def fenced(kind: str, text: str, before: str = "") -> str:
    lines = [f"```{kind}", *text.splitlines(), "```"]
    return "".join(f"{before}{line}\n" for line in lines)


def check(fences: DataFences) -> None:
    """Check every fence of every note."""
    for one in fences.notes.notes.values():
        for fence in one.source.fences:
            fences.check(fence.info.split(" ")[0], fence, one)


def show(fences: DataFences, path: str, language: str, page_dir: str) -> str:
    """Return the data fences of a note as its page shows them."""
    places = fences.notes.notes[path].rendered.html.places
    return "".join(fences.show(*place, language, page_dir).html for place in places)


def counted(monkeypatch: pytest.MonkeyPatch, kind: str) -> list[str]:
    """Return a list that grows by the text of each fence that is really rendered."""
    owner, name = RENDERS[kind]
    whole, calls = getattr(owner, name), []

    def spy(source: str, *rest: Any, **named: Any) -> Any:
        calls.append(source)
        return whole(source, *rest, **named)

    monkeypatch.setattr(owner, name, spy)
    return calls


@pytest.mark.parametrize("before", ["", "    "], ids=["plain", "in a list"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_page_shows_what_the_check_has_rendered(
    make: Make, monkeypatch: pytest.MonkeyPatch, kind: str, before: str
) -> None:
    body = ("- x\n\n" if before else "") + fenced(kind, GOOD[kind], before)
    fences = make({"t/a.md": note(body, "甲"), "t/a.en.md": note(body, "A")})
    calls = counted(monkeypatch, kind)
    check(fences)
    assert len(calls) == 2, "once for each language"
    pages = [show(fences, "t/a.md", "zh", "t"), show(fences, "t/a.en.md", "en", "en/t")]
    assert len(calls) == 2, "the pages show what is there"
    fences = make({"t/a.md": note(body, "甲"), "t/a.en.md": note(body, "A")})
    assert pages == [show(fences, "t/a.md", "zh", "t"), show(fences, "t/a.en.md", "en", "en/t")]
    assert all(f'class="{kind}' in one for one in pages)


@pytest.mark.parametrize(
    ("path", "page_dir", "address"),
    [
        ("t/a.md", "t", "../data/nvlink.csv"),
        ("b.md", ".", "data/nvlink.csv"),
        ("u/v/c.md", "u/v", "../../data/nvlink.csv"),
    ],
)
def test_links_start_at_the_page_that_shows_them(
    make: Make, path: str, page_dir: str, address: str
) -> None:
    body = fenced("facts", GOOD["facts"])
    fences = make({path: note(body)})
    assert f'href="{address}"' in show(fences, path, "zh", page_dir)


def test_a_page_in_the_other_language_speaks_it(make: Make) -> None:
    """A note without a twin is shown on the pages of the other language too."""
    fences = make({"t/a.md": note(fenced("facts", GOOD["facts"]))})
    assert "来源与阅读日期" in show(fences, "t/a.md", "zh", "t")
    assert "Sources and when they were read" in show(fences, "t/a.md", "en", "en/t")


@pytest.mark.parametrize("kind", KINDS)
def test_a_bad_fence_is_bad_each_time(make: Make, kind: str) -> None:
    fences = make({"t/a.md": note(fenced(kind, BAD[kind]))})
    for _ in range(2):
        with pytest.raises(ERRORS, match="did you mean"):
            check(fences)
    with pytest.raises(ERRORS, match="did you mean"):
        fences.show(kind, BAD[kind].rstrip("\n"), "zh", "t")


def test_a_calculator_links_to_the_notes_there_are(make: Make, base: FactBase) -> None:
    noted = engine.default(base).record("units")["note"]
    files = {"t/a.md": note(fenced("calc", GOOD["calc"]))}
    fences = make(files | {f"{noted}.md": note("x\n", "讲解笔记")})
    assert "讲解笔记" in show(fences, "t/a.md", "zh", "t")


def test_a_record_is_read_anew_when_its_text_changes(make: Make) -> None:
    fences = make({"t/a.md": note(fenced("measured", GOOD["measured"]))})
    check(fences)
    path = fences.docs / "t/measured/p2p.json"
    first = measured.load_record("t/measured/p2p.json", fences.docs)
    assert measured.load_record("t/measured/p2p.json", fences.docs) is first
    path.write_text(json.dumps(RECORD | {"command": "another"}), encoding="utf-8")
    again = measured.load_record("t/measured/p2p.json", fences.docs)
    assert (first.command, again.command) == (RECORD["command"], "another")
    path.write_text("{", encoding="utf-8")
    with pytest.raises(BlockError, match="no valid record"):
        measured.load_record("t/measured/p2p.json", fences.docs)
