"""The two timers of a reliable connection, in microseconds.

Local ACK timeout: 4.096 us x 2^t, 0 is never (Linux rxe_qp.c). An adapter may wait longer
than it says; the simulator waits exactly that long. RNR codes: the names of `enum
ib_rnr_timeout` in Linux ib_verbs.h, in hundredths of a millisecond; rxe_comp.c has 61.41 ms
for code 25, which the name (061_44) and the table of qib_ruc.c show to be a slip.
"""

from __future__ import annotations

NEVER_COUNTED = 7  # rnr_retry 7 means "again and again"; retry_cnt 7 means seven times

RNR_HUNDREDTHS_MS = (
    *(65536, 1, 2, 3, 4, 6, 8, 12),
    *(16, 24, 32, 48, 64, 96, 128, 192),
    *(256, 384, 512, 768, 1024, 1536, 2048, 3072),
    *(4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152),
)


def rnr_delay(code: int) -> float:
    """Return the pause that the receiver's min_rnr_timer asks for."""
    return RNR_HUNDREDTHS_MS[code] * 10.0


def ack_timeout(exponent: int) -> float | None:
    """Return the local ACK timeout, or None for never."""
    return None if exponent == 0 else 4.096 * 2**exponent
