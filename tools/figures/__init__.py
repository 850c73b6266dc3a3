"""Figures of notes that programs draw: a module for each group, and what they draw with."""
