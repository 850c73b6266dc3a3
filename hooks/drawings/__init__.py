"""Figures, diagrams and charts: checked, and drawn as SVG."""

from __future__ import annotations

from hooks.drawings.charts.spec import Chart, Point

__all__ = ["Chart", "Point"]
