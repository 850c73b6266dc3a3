"""The deck for Anki: every question once, under a lasting id, readable away from the site."""

from __future__ import annotations

import io
import sqlite3
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from hooks.notes.questions import Card
from hooks.site import anki

CARD = Card(
    key="i/q#how",
    subject="Q",
    page="q.html",
    anchor="how",
    question="How <much>",
    level=2,
    asks="estimate",
    short='<details class="s"><summary>S</summary>'
    '<p>Half<sup id="r"><a class="footnote-ref" href="#fn:x">1</a></sup></p></details>',
    long='<p>Long <a href="../b.html#c">B</a> <!-- calc x --></p>',
    read='<p><a href="https://a.example/">A</a></p>',
)

pytestmark = pytest.mark.skipif(not anki.is_available(), reason="genanki is not installed")


def rows(package: bytes, tmp_path: Path) -> list[tuple[str, str]]:
    file = tmp_path / "c.anki2"
    with zipfile.ZipFile(io.BytesIO(package)) as archive:
        file.write_bytes(archive.read("collection.anki2"))
    with sqlite3.connect(file) as base:
        return base.execute("select guid, flds from notes order by guid").fetchall()


def test_a_question_is_a_note_with_a_lasting_id(tmp_path: Path) -> None:
    ((guid, fields),) = rows(anki.deck([CARD], "en", "", ["f"]), tmp_path)
    changed = replace(CARD, question="Other", short="Other")
    ((again, _),) = rows(anki.deck([changed], "en", "", ["f"]), tmp_path)
    ((other, _),) = rows(anki.deck([CARD], "zh", "", ["f"]), tmp_path)
    assert guid == again != other
    assert "How &lt;much&gt;" in fields and "<details open " in fields


@pytest.mark.parametrize(
    ("base", "link"),
    [("", "Long B "), ("https://h.example/i/", '<a href="https://h.example/b.html#c">B</a>')],
)
def test_links_are_complete_or_only_text(tmp_path: Path, base: str, link: str) -> None:
    ((_, fields),) = rows(anki.deck([CARD], "en", base, ["f"]), tmp_path)
    assert link in fields and "footnote-ref" not in fields and "calc x" not in fields
    assert 'href="https://a.example/"' in fields


def test_equal_questions_give_equal_bytes() -> None:
    assert anki.deck([CARD], "en", "", ["f"]) == anki.deck([CARD], "en", "", ["f"])
