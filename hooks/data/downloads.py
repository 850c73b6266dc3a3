"""The data of a family as files to download: every cell with its terms and its source."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from hooks.data.wording import Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from hooks.data.facts import FactBase, Family

FOLDER = "data"
"""Below the folder of the site."""
_COLUMNS = (
    *("row", "row_zh", "row_en", "column", "column_zh", "column_en"),
    *("value", "value_zh", "unit", "direction", "density", "per", "confidence", "status"),
    *("note_zh", "note_en", "source", "publisher", "source_title", "url", "read"),
)


def files(base: FactBase) -> dict[str, str]:
    """Return path below the site and text of every file to download."""
    families = base.families.items()
    return {f"{FOLDER}/{name}.csv": as_csv(_COLUMNS, _rows(one, base)) for name, one in families}


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as CSV that spreadsheets read: UTF-8 with its mark, lines end in CR LF."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(columns)
    writer.writerows(rows)
    return "\ufeff" + out.getvalue()


def _rows(family: Family, base: FactBase) -> Iterable[list[object]]:
    for row_name, row in family.rows.items():
        for name, cell in row.cells.items():
            column, source = family.columns[name], base.sources.get(cell.source)
            is_text = isinstance(cell.value, Text)
            yield [
                *(row_name, row.title.zh, row.title.en, name, column.title.zh, column.title.en),
                cell.value.en if isinstance(cell.value, Text) else cell.value,
                cell.value.zh if isinstance(cell.value, Text) else "",
                "" if is_text else column.unit or "",
                *(column.direction or "", column.density or ""),
                column.per.en if column.per else "",
                *(cell.confidence, cell.status or row.status or ""),
                *((cell.note.zh, cell.note.en) if cell.note else ("", "")),
                cell.source,
                *((source.publisher.en, source.title.en, source.url) if source else ("", "", "")),
                cell.read.isoformat(),
            ]
