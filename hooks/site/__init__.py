"""The finished site: staged, checked, completed, put in place, packed, offline."""

from __future__ import annotations

from hooks.site.kept import Kept

__all__ = ["Kept"]
