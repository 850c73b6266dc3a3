"""The calculators over this handbook's data, and how often entries are drawn."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings

from hooks.calc import engine
from hooks.calc.engine import Engine
from tests import ours

few = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def calc() -> Engine:
    return engine.default(ours.facts())
