"""The scenarios: each sets two hosts up, lets time pass, and leaves a trace.

A scenario also says what each side's completion queue holds at the end, so that tests and
notes can quote it.
"""

from __future__ import annotations

from collections.abc import Callable

from ..lab import Lab
from . import faults, messages, onesided, setup

Scenario = Callable[[], Lab]

SCENARIOS: dict[str, tuple[Scenario, str, str]] = {
    **setup.SCENARIOS,
    **messages.SCENARIOS,
    **onesided.SCENARIOS,
    **faults.SCENARIOS,
}


def trace(name: str) -> dict[str, object]:
    """Run a scenario and return its trace."""
    scenario, zh, en = SCENARIOS[name]
    return scenario().trace((zh, en), name)
