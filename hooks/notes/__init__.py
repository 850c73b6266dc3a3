"""A note as a record, and many of them: fields, twins, budgets, navigation, questions."""

from __future__ import annotations

from hooks.notes.budgets import is_takeaway, minutes
from hooks.notes.drafts import draft_ids, published
from hooks.notes.navigation import Entry, section_title
from hooks.notes.note import DEFAULT_LANGUAGE, LANGUAGE_NAMES, LANGUAGES, Catalogue, Note
from hooks.notes.prerequisites import needed
from hooks.notes.questions import Card
