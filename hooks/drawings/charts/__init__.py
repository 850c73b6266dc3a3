"""A chart: what it shows, its lines, its Vega-Lite, its SVG."""
