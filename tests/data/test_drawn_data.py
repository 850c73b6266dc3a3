"""Tables of facts and measured records, whole: what readers see, compared with `drawn/*.html`.

After a change that is meant, `python -m tests.data.test_drawn_data` writes the files anew: read
their difference before you commit it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hooks.pages import facts_table, measured_table
from hooks.pages.frame import Stock
from tests.data.test_facts import load
from tests.data.test_measured import repository

GOLDEN = Path(__file__).with_name("drawn")
VIEWS = ("", "results: [sizes]", "view: points", "view: heatmap\nresults: [pairs]")


def drawn(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and HTML of each file, an element a line."""
    base, _ = load(folder)
    root = repository(folder)
    stock = Stock(base, root / "docs", root)
    for language, place in (("zh", "t"), ("en", "en/t")):
        parts = [facts_table.render("table: gpu", base, language, place)]
        parts += [
            measured_table.render(f"file: t/{kind}/p2p.json\n{view}", stock, language, place)
            for kind, view in (*(("measured", view) for view in VIEWS), ("simulated", ""))
        ]
        yield f"{language}.html", "\n".join(parts).replace("><", ">\n<") + "\n"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_readers_see_what_they_saw(language: str, tmp_path: Path) -> None:
    name = f"{language}.html"
    assert dict(drawn(tmp_path))[name] == (GOLDEN / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        for name, html in drawn(Path(temporary)):
            (GOLDEN / name).write_text(html, encoding="utf-8")
