"""Tables of words: terms, everyday words, characters, regional forms."""
