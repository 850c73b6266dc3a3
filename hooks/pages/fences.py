"""The fences that show data, each rendered once: a build's check and its pages share the result.

A fence is right when it can be rendered, so the check renders it as the page will show it; the
page then finds the HTML made already. What is kept here lives as long as one build.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field

from hooks.calc import CalcError
from hooks.data import BlockError
from hooks.drawings import Chart
from hooks.drawings.charts import spec
from hooks.links import page_address
from hooks.markdown import Fence
from hooks.notes import Note
from hooks.pages import blocks, calculator, chart, facts_table, measured_table
from hooks.pages.chart import Drawn
from hooks.pages.frame import Stock

KINDS = ("facts", "measured", "calc", "chart")
"""The first word of such a fence."""
ERRORS = (BlockError, CalcError)
"""What a fence raises that asks for what is not there."""


@dataclass(eq=False)
class DataFences(Stock):
    """Renders the data fences of one build."""

    _made: dict[tuple[str, ...], str] = field(default_factory=dict)
    _charts: dict[tuple[str, str], Chart] = field(default_factory=dict)

    def check(self, kind: str, fence: Fence, note: Note) -> None:
        """Render a fence as the page of its note will show it; charts are read, not drawn.

        Raises:
            BlockError, CalcError: The fence asks for what is not there.
        """
        if kind == "chart":
            self.chart(blocks.text_of(fence), note.language)
        else:
            folder = posixpath.dirname(page_address(note.id, note.language)) or "."
            self._html(kind, blocks.text_of(fence), note.language, folder)

    def show(self, kind: str, text: str, language: str, page_dir: str) -> Drawn:
        """Return the HTML of a fence, and the files that a chart leads to; raises as `check` does.

        `language` is that of the page's frame, `page_dir` its folder in the site: `.` at the root.
        """
        if kind != "chart":
            return Drawn(self._html(kind, text, language, page_dir))
        return chart.draw(self.chart(text, language), text, self, language, page_dir)

    def chart(self, text: str, language: str) -> Chart:
        """Return what a `chart` fence shows; BlockError as for `show`."""
        key = (text, language)
        if key not in self._charts:
            self._charts[key] = spec.read(text, self.base, self.docs, language, self.known)
        return self._charts[key]

    def _html(self, *key: str) -> str:
        if key not in self._made:
            self._made[key] = self._render(*key)
        return self._made[key]

    def _render(self, kind: str, text: str, language: str, page_dir: str) -> str:
        if kind == "facts":
            return facts_table.render(text, self.base, language, page_dir)
        draw = measured_table.render if kind == "measured" else calculator.render
        return draw(text, self, language, page_dir)
