"""The page of the field kit: its files, and what readers measured, apart from our own figures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hooks.pages.markers import Page


def render(page: Page) -> str:
    """Return a table of the records by kind of GPU; of figures that all GPUs have, the first."""
    words, rows = page.words("records"), list[str]()
    for path in (page.data.docs / "data/records").glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        machine, who = record["machine"], f"{record['by'] or words['reader']}, {record['date']}"
        measured = (one for one in record["figures"][::-1] if one["key"] and one["value"])
        for one in {one["key"]: one for one in measured}.values():
            shown = f"{one['value']:.4g} {one['unit']} | {one['reference'] or words['none']}"
            kind = f"{machine['count']} × {machine['gpu']}"
            rows.append(f"| {kind} | {one['what']} | {shown} | {who} |")
    head = [f"| {words['head']} |", "| --- | --- | ---: | ---: | --- |"]
    return "\n".join([*head, *sorted(rows)] if rows else [words["empty"]])


def downloads(page: Page) -> str:
    """Return links to the files of the kit, which only the site has."""
    names = sorted(path.name for path in (page.data.docs / "kit/code").glob("*.py"))
    way = "" if page.language == "zh" else "../../kit/"
    shown = ["handbook-kit.tar.gz", *(name for name in names if name != "common.py")]
    return " · ".join(f"[{name}]({way}{name})" for name in shown)
