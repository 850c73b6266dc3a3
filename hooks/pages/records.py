"""The page of the field kit: its files, and what readers measured, apart from our own figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hooks.pages.view import escape

if TYPE_CHECKING:
    from hooks.pages.markers import Page


def render(page: Page) -> str:
    """Return a table of the records by kind of GPU; of figures that all GPUs have, the first."""
    words, rows = page.words("records"), list[str]()
    for sent in page.data.kit[0].records:
        kind = f"{sent.machine['count']} × {sent.machine['gpu']}"
        who = f"{sent.by or words['reader']}, {sent.date}"
        found = {one.key: one for one in sent.figures[::-1] if one.key and one.value}
        for one in found.values():
            shown = f"{one.value:.4g} {one.unit}", str(one.reference or words["none"])
            rows.append(" | ".join(map(escape, (kind, one.what, *shown, who))))
    head = [f"| {words['head']} |", "| --- | --- | ---: | ---: | --- |"]
    return "\n".join([*head, *(f"| {row} |" for row in sorted(rows))] if rows else [words["empty"]])


def downloads(page: Page) -> str:
    """Return links to the files of the kit, which only the site has."""
    names = sorted(path.name for path in (page.data.docs / "kit/code").glob("*.py"))
    way = "" if page.language == "zh" else "../../kit/"
    shown = ["handbook-kit.tar.gz", *(name for name in names if name != "common.py")]
    return " · ".join(f"[{name}]({way}{name})" for name in shown)
