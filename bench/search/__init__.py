"""The search against the stock one and against libraries: `make bench BENCH=search`.

- `notes`: the folders of notes that are searched.
- `oi_wiki`, `pingcap`, `llm_action`, `llm_notes`: how the folders of public notes are made;
  `repository`: whence such text comes.
- `sites`: a site of each folder, with the stock search and with our own.
- `stock`: Material's search worker outside a browser.
- `libraries`: MiniSearch and FlexSearch under Node (the folder `node`).
- `quality`: every engine on every set of queries.
- `browser`: waiting times and memory, as a reader has them.
- `run`: all of it in one run, kept in bench/results/search.jsonl and, in full, search.json.
- `evaluation`: how well a search finds the right section (`python -m bench search-eval`).
"""
