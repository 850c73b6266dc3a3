"""Build this handbook and tell how much of the processor time its checks take.

Run in a process of its own: `python -m bench.share SITE_DIR` prints a line of JSON with the
seconds of the whole build and those of the checks in it.
"""

from __future__ import annotations

import functools
import json
import logging
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hooks import (
    addresses,
    checks,
    content_safety,
    navigation,
    pairing,
    site_check,
    source_check,
    values,
)
from hooks.links import assets, digest
from hooks.search import terms

CHECKS = (
    (digest, "of_all"),
    (source_check, "check_sources"),
    (pairing, "check_pairs"),
    (navigation, "check_navigation"),
    (assets, "orphans"),
    (terms, "check_file"),
    (addresses, "check_aliases"),
    (addresses, "check_register"),
    (checks, "_check_blocks"),
    (values, "check_notes"),
    (site_check, "check_site"),
    (content_safety, "check_rendered"),
)
"""What a build could leave out: reading the notes, the data and the navigation is not among it,
since pages are made from them."""


@dataclass
class Watch:
    """Adds up the processor time of functions."""

    spent: dict[str, float] = field(default_factory=dict)

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time added up under its name."""

        @functools.wraps(function)
        def wrapper(*arguments: Any, **named: Any) -> Any:
            start = time.process_time()
            try:
                return function(*arguments, **named)
            finally:
                name = function.__name__
                self.spent[name] = self.spent.get(name, 0.0) + time.process_time() - start

        return wrapper


def main(site_dir: str) -> None:
    """Build, and print what was measured."""
    watch = Watch()
    for module, name in CHECKS:
        setattr(module, name, watch.timed(getattr(module, name)))
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    logging.disable(logging.CRITICAL)
    start = time.process_time()
    config = load_config("mkdocs.yml", site_dir=site_dir)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    whole = time.process_time() - start
    found = {
        "build_cpu_s": round(whole, 3),
        "checks_cpu_s": round(sum(watch.spent.values()), 3),
        "parts": {name: round(spent, 3) for name, spent in sorted(watch.spent.items())},
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
