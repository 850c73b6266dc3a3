"""How well a search finds the right section: judged queries, known items, two engines compared.

Works on any folder of notes and on any engine with
`search(query, language, limit)` that returns hits with a `location`. Where to look:

- `queries`: sets of judged queries, read and checked.
- `sections`: the sections of a folder, by the addresses that engines answer with.
- `known_items`: queries made from a folder's own text, for folders nobody judged.
- `metrics`: reciprocal rank and its kin, by class of query.
- `compare`: whether one engine is better than another, or was lucky.
- `engines`: this handbook's own engine, and recorded answers of others.
- `report`: all of it as a table and as JSON.
- `command`: `python -m bench search-eval`.
- `history`: records of benchmark runs; `page`: the page of the site that shows them.
"""
