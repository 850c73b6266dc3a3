"""What a page shows beside its prose: tables, charts, calculators, values, contents."""

from __future__ import annotations

from hooks.pages.fences import DataFences
from hooks.pages.items import Item, Said

__all__ = ["DataFences", "Item", "Said"]
