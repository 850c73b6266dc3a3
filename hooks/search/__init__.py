"""The handbook's own search: documents, index, engine and what the site needs of them.

- `documents`: pages cut into sections, out of built HTML or out of plain Markdown.
- `markdown`: the Markdown side of `documents`, for any folder of notes.
- `terms`: the data file of synonyms and translations.
- `everyday` with `everyday.yml`: words that ask for the same in any collection, and words that
  say little.
- `held`: which of many words stand in texts.
- `characters` with `regional.txt`: tables for traditional forms, pinyin and what Taiwan calls
  things, made for the characters and words of an index.
- `index`: the files a browser loads; texts and tables, no postings.
- `core/`: the engine, ES5, joined to one file: reading queries, ranking, repair, excerpts.
- `worker.js`: the core behind Material's search box.
- `engine`: the same core in Python, by V8.
- `terminal`: `python -m hooks search`.
- `install`: what a build writes into the site; `material`: what of Material's files it mends.

How a query is answered: README.md beside this file. How well, and why an engine of our own:
`bench/search`, `python -m bench search-eval`.
"""
