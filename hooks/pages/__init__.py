"""What a page shows beside its prose: tables, charts, calculators, values, contents."""

from __future__ import annotations

from hooks.pages.data import Data, DataFences
from hooks.pages.page import Effects, Place, Shared
from hooks.pages.view import Item, Said, View

__all__ = ["Data", "DataFences", "Effects", "Item", "Place", "Said", "Shared", "View"]
