"""Somebody else's folder of notes: which generator, which rules, which languages."""
