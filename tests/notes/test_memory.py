"""What earlier runs found never changes a verdict: cold, warm, damaged, half-written or foreign."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hooks.findings.finding import Finding
from hooks.handbook import read_tree
from hooks.notes import cache as memory
from tests.planted import DEFECTS, FILES, VALID
from tests.planted import write as write_defects
from tests.samples import note

REPO = "https://github.com/o/r"


def ours(root: Path) -> list[Finding]:
    """Check a tree as this handbook's is checked."""
    return read_tree(root, repo_url=REPO).findings


def cold(root: Path) -> list[Finding]:
    """Check without a memory, and put the one that was there back."""
    kept, aside = root / ".cache", root / ".aside"
    if kept.exists():
        kept.rename(aside)
    found = ours(root)
    shutil.rmtree(kept, ignore_errors=True)
    if aside.exists():
        aside.rename(kept)
    return found


def shards(root: Path) -> list[Path]:
    return sorted(path for path in (root / memory.FOLDER).rglob("*") if path.is_file())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Every planted defect and every tricky valid form, with fields of this handbook's own."""
    write_defects(tmp_path)
    files = {
        "own/a.md": note("## One\n\n[b](b.md#two) ![](p.png)\n", "A"),
        "own/a.en.md": note("## Eins\n\n[b](b.md#two)\n", "A"),
        "own/b.md": note("## Two\n\n[a](a.md#one)\n", "B").replace(
            "kind: note\n", "kind: note\nprerequisites: [own/a, own/none]\n"
        ),
        "own/late.md": note("x\n", "Late").replace("2026-01-02", "2999-01-01"),
        "data/facts/x.yml": "a: [",
    }
    for path, text in files.items():
        file = tmp_path / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    published = "own/a\nown/a#one\nown/gone\nown/b#gone\n"
    (tmp_path / "docs/data/published.txt").write_text(published, encoding="utf-8")
    return tmp_path


def cut(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) * 2 // 3] ^= 1
    file.write_bytes(data)


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGE: dict[str, Callable[[Path], object]] = {
    "cut": cut,
    "one bit": flip,
    "empty": lambda file: file.write_bytes(b""),
    "zeros": lambda file: file.write_bytes(bytes(4096)),
    "text": lambda file: file.write_text("hello\nworld\n"),
    "foreign JSON": lambda file: file.write_text('{"a": 1}\n[1]\n[]\n'),
    "well-formed, foreign": lambda file: memory._write(file, {"k": [[]], "l": None}),
    "a folder": folder,
}


def test_warm_says_what_cold_says(tree: Path) -> None:
    first = ours(tree)
    assert shards(tree)
    assert len(first) > 40
    assert ours(tree) == first == cold(tree)


def test_damage_changes_nothing(tree: Path) -> None:
    """Damage after damage: what is written after one is whole again, and damaged by the next."""
    first = ours(tree)
    for name, damage in DAMAGE.items():
        files = shards(tree)
        assert files, name
        for file in files:
            damage(file)
        assert ours(tree) == first, name
    assert ours(tree) == first


@pytest.mark.parametrize("spoilt", [None, "x", 3, [[1]], {}, [{"title": 3}, [[1]], []], [[1], 2]])
def test_values_that_are_something_else_change_nothing(tree: Path, spoilt: object) -> None:
    first = ours(tree)
    for file in shards(tree):
        memory._write(file, dict.fromkeys(memory._read(file), spoilt))
    assert ours(tree) == first


def test_edits_elsewhere_are_seen(tree: Path) -> None:
    ours(tree)
    docs = tree / "docs"
    steps: list[Callable[[], object]] = [
        lambda: (docs / "target.md").write_text("# Target\n\n## Renamed\n", encoding="utf-8"),
        (docs / "target.md").unlink,
        lambda: (docs / "gone.md").write_text("# Gone\n\n## T\n", encoding="utf-8"),
        (docs / "img/used.png").unlink,
        lambda: (docs / "img/gone.png").write_bytes(b""),
        lambda: (docs / "parts/snippet.md").write_text("[z](nowhere.md)\n", encoding="utf-8"),
        lambda: (docs / "code/x.py").write_text("x\n", encoding="utf-8"),
        lambda: (docs / "data/facts/x.yml").write_text("a: 1\n", encoding="utf-8"),
        lambda: (docs / "data/published.txt").write_text("own/lost\n", "utf-8"),
        lambda: (tree / "mkdocs.yml").write_text("site_name: x\n", encoding="utf-8"),
        lambda: (docs / "own/a.md").rename(docs / "own/c.md"),
        lambda: (docs / "own/none.md").write_text(note("x\n", "None"), encoding="utf-8"),
    ]
    before = ours(tree)
    changes = 0
    for step in steps:
        step()
        after = ours(tree)
        assert after == cold(tree)
        changes += after != before
        before = after
    assert changes >= 8


SHOWN = """\
HBM3e: 4800 GB/s <!-- fact speeds/one/rate -->

```facts
family: speeds
columns: [rate]
```

```measured
file: own/measured/r.json
```

```calc
units
value: 400
```

![p](own/figures/f.svg)
"""


TERMS = (
    "title: {zh: 词, en: Words}\nterms:\n"
    "  - {id: multicast, zh: [组播], en: [multicast], says: {zh: 一对多。, en: One to many.}}\n"
)


def test_ids_that_a_build_makes_are_remembered(tree: Path) -> None:
    """A page of terms, to one of which a note links; then the term goes, then the page."""
    docs = tree / "docs"
    terms = docs / "data/terms/t.yml"
    made = {
        "data/terms/t.yml": TERMS,
        "own/words.md": note("<!-- glossary -->\n\n[组播](#term-multicast)\n", "Words"),
        "own/words.en.md": note("<!-- glossary -->\n\n[it](#term-multicast)\n", "Words"),
    }
    for path, text in made.items():
        (docs / path).parent.mkdir(parents=True, exist_ok=True)
        (docs / path).write_text(text, encoding="utf-8")

    def dead() -> set[str]:
        found = ours(tree)
        assert found == cold(tree) == ours(tree)
        return {one.file for one in found if one.target == "#term-multicast"}

    assert not dead()
    terms.write_text(TERMS.replace("multicast", "broadcast"), encoding="utf-8")
    assert dead() == {"docs/own/words.md", "docs/own/words.en.md"}
    terms.write_text(TERMS, encoding="utf-8")
    assert not dead()


def test_edits_of_data_are_seen(tree: Path) -> None:
    """Verdicts on numbers, terms and figures rest on other files: each is edited in turn."""
    docs = tree / "docs"
    family = (
        "family: speeds\ntitle: {zh: 速, en: Speeds}\nsubject: {zh: 物, en: Thing}\ncolumns:\n"
        "  rate: {title: {zh: 率, en: Rate}, unit: GB/s, direction: none}\nrows:\n"
        "  one: {title: {zh: 一, en: One}, cells: {rate: {value: 4800, source: s}}}\n"
    )
    source = "s: {title: T, publisher: P, url: 'https://a.example/', retrieved: 2026-01-02}\n"
    files = {
        "data/facts/speeds.yml": family,
        "data/sources/s.yml": source,
        "data/facts/x.yml": "",
        "own/figures/f.svg": "<svg/>",
        "own/measured/r.json": "{}",
        "own/code/p.py": "x",
        "data/terms/t.yml": "terms: []\n",
        "own/shown.md": note(SHOWN, "Shown"),
        "own/shown.en.md": note(SHOWN.replace("4800", "4801"), "Shown"),
    }
    for path, text in files.items():
        (docs / path).parent.mkdir(parents=True, exist_ok=True)
        (docs / path).write_text(text, encoding="utf-8")
    said = {one.rule for one in ours(tree)}
    steps: dict[str, str | None] = {
        "data/facts/speeds.yml": family.replace("4800", "4801"),
        "data/sources/s.yml": source.replace("s:", "t:", 1),
        "own/figures/f.svg": "<svg viewBox='0 0 1 1'><script/></svg>",
        "own/measured/r.json": '{"id": 3}',
        "data/terms/t.yml": "terms: [{zh: [组播], avoid: [多播]}]\n",
        "own/shown.en.md": note("多播\n", "Shown"),
        "own/shown.md": note(SHOWN + "\n多播\n\n```calc\nno-such\n```\n", "Shown"),
        "own/a.md": note("## Renamed\n\n多播\n", "A"),
        "data/facts/x.yml": None,
        "own/measured/r.json ": None,
    }
    for path, changed in steps.items():
        file = docs / path.strip()
        if changed is None:
            file.unlink()
        else:
            file.write_text(changed, encoding="utf-8")
        warm = ours(tree)
        assert warm == cold(tree), path
        said |= {one.rule for one in warm}
    assert {rule.partition("-")[0] for rule in said} >= {"facts", "value", "calc", "figure"}


@pytest.mark.parametrize("edits", [2, pytest.param(6, marks=pytest.mark.slow)])
def test_any_series_of_edits(tree: Path, edits: int) -> None:
    chance = random.Random(4)
    bodies = [body for _, _, body, _ in DEFECTS] + VALID
    paths = sorted(path for path in FILES if path.endswith(".md"))
    for _ in range(edits):
        for path in chance.sample(paths, 3):
            file = tree / "docs" / path
            if file.exists() and chance.random() < 0.3:
                file.unlink()
            else:
                text = f"# T\n\n{chance.choice(bodies)}\n\n## {chance.choice('ABC')}\n"
                file.write_text(text.replace("{name}", file.name), encoding="utf-8")
        assert ours(tree) == cold(tree)


def test_other_code_and_other_settings_remember_nothing_of_each_other(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = {one.rule for one in read_tree(tree).findings}
    assert {one.rule for one in ours(tree)} - alone == {"own-address"}
    seen: list[int] = []
    monkeypatch.setattr(memory, "fingerprint", lambda: b"another version")
    monkeypatch.setattr(memory, "_write", lambda file, values: seen.append(len(values)))
    ours(tree)
    assert sum(seen) > 100, "every note is read anew by other code"
