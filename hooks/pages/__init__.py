"""What a page shows beside its prose: tables, charts, calculators, values, contents."""

from __future__ import annotations

from hooks.pages.data import Data
from hooks.pages.fences import DataFences
from hooks.pages.items import Item, Said
from hooks.pages.page import Effects, Place, Shared

__all__ = ["Data", "DataFences", "Effects", "Item", "Place", "Said", "Shared"]
