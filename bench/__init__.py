"""How fast and how good: what is measured of this handbook's own machinery.

`python -m bench search` asks the judged queries; `python -m bench speed` times check, build and a
save. With `--record` either keeps a record below `bench/results/`, with machine, versions and
date. `python -m bench pages` writes what docs/about/ shows of the records.
"""
