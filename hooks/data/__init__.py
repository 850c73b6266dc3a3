"""Facts and measured records with their units; nothing here knows HTML."""

from __future__ import annotations

from hooks.data.facts import Cell, Column, FactBase, Row, Source
from hooks.data.glossary import (
    Glossary,
    Term,
    TermsError,
    check_terms,
    flat,
    load_terms,
    read_glossary,
)
from hooks.data.layout import Layout
from hooks.data.load import load_facts
from hooks.data.measured import (
    Record,
    Result,
    Specification,
    Summary,
    axis_title,
    load_record,
    stale_programs,
)
from hooks.data.messages import Messages
from hooks.data.options import BlockError, names, pick, read_options
from hooks.data.resources import GENERAL, KINDS, LEVELS, Library, Resource, load_resources
from hooks.data.rows import Condition, conditions, select
from hooks.data.wording import Text, caption, label, number, statistic, terms
