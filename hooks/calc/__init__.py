"""Calculators: the formulas of the site's scripts, run in V8 with presets from the data."""

from __future__ import annotations

from hooks.calc.engine import CalcError, Engine
