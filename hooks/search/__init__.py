"""From pages to an index, an engine, answers in the browser and in the terminal."""
