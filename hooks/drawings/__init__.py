"""Figures, diagrams and charts: checked, and drawn as SVG."""

from __future__ import annotations

from hooks.drawings.charts.chart import Chart, Point
