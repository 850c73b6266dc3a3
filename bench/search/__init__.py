"""How well the search finds the right section of this handbook: `python -m bench search`."""
