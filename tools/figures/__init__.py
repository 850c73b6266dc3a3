"""Figures of notes that programs draw: a module for each group, and what they draw with.

`python -m tools.figures [NAME ...]` writes those of all modules, or of the named ones; with
`--check` it only says which differ from the committed files.
"""
