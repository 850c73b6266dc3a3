"""A simulator of verbs: queue pairs, keys, packets and completions, by SimPy.

One module, one concern: `states` (states and attributes), `memory` (regions, windows, keys),
`work` (requests, completions, queues), `psn`, `timers`, `packet`, `build`, `wire` (delay and
loss), `host` (an adapter), `qp` (posting, completing, failing), `requester` and `responder` (RC),
`unreliable` (UC and UD), `trace` and `rules` (what is recorded, and why), `lab` (two hosts,
ready to use). Times are chosen so that a diagram can be read; no result is a measurement.
"""
