"""How people ask: words that say little, and words that ask for the same, in any collection.

`everyday.yml` beside this module holds them. Terms of the trade are in `docs/data/terms`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Final

import yaml

FILE: Final = Path(__file__).with_name("everyday.yml")


@cache
def table() -> dict[str, Any]:
    """Return the words as the core reads them: `light` ones, and those that ask for the `same`."""
    found: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return found
