"""A simulator of verbs: queue pairs, keys, packets and completions, by SimPy.

One module, one concern: `states` (states and attributes), `memory` (regions, windows, keys),
`work` (requests, completions, queues), `psn`, `timers`, `packet`, `build`, `wire` (delay and
loss), `host` (an adapter), `qp` (posting, completing, failing), `requester` and `responder` (RC),
`unreliable` (UC and UD), `trace` and `rules` (what is recorded, and why), `lab` (two hosts,
ready to use). Times are chosen so that a diagram can be read; no result is a measurement.

What an adapter may do otherwise: acknowledge many messages by one ACK (here each by itself); give
credits in ACKs, so that a requester stops before an RNR NAK; wait longer than the ACK timer says,
or by timers of its own; place packets out of order instead of going back N; let the first packets
of a message leave before a bad range behind them is found; take a send before RTS without EINVAL.
Left out: XRC, FLUSH and ATOMIC_WRITE, migration, P_Keys, congestion control, SQ_DRAINED and
COMM_EST events. Where Linux's rxe differs, `requester`, `responder` and `unreliable` say so.
"""
