"""Numbers in prose: their markers, what they stand for, their links."""
