"""Facts and measured records with their units; nothing here knows HTML."""

from __future__ import annotations

from hooks.data.coverage import Coverage, Origin, Question, load_coverage
from hooks.data.facts import Cell, Column, FactBase, Row, Source
from hooks.data.load import load_facts
from hooks.data.measured import (
    Known,
    Record,
    Result,
    Specification,
    Summary,
    axis_title,
    load_record,
    stale_programs,
)
from hooks.data.options import BlockError, names, pick, read_options
from hooks.data.paths import LearningPath, Step, load_paths
from hooks.data.rows import conditions, select
from hooks.data.wording import Text, caption, label, number, statistic, terms

__all__ = [
    "BlockError",
    "Cell",
    "Column",
    "Coverage",
    "FactBase",
    "Known",
    "LearningPath",
    "Origin",
    "Question",
    "Record",
    "Result",
    "Row",
    "Source",
    "Specification",
    "Step",
    "Summary",
    "Text",
    "axis_title",
    "caption",
    "conditions",
    "label",
    "load_coverage",
    "load_facts",
    "load_paths",
    "load_record",
    "names",
    "number",
    "pick",
    "read_options",
    "select",
    "stale_programs",
    "statistic",
    "terms",
]
