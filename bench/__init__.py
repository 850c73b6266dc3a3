"""How fast and how good: parts that compare this handbook's tools with others in one run.

`python -m bench PART` (or `make bench BENCH=PART`) prints ratios and writes a record, such as
`bench/results/check.json`, with machine, versions, command and date. Ratios come from one run on
one machine, side by side, in processor time, so that whatever else the machine does counts little.

Each run then writes what docs/about/ shows of the records; `python -m bench pages --check` says
whether that is stale. `python -m bench search-eval` measures the search alone.
"""
