"""Calculators: one JavaScript formula each, run in the page and, through V8, here."""
