"""One pseudo channel of an HBM3 stack, command by command: what share of its rate is left for data.

python docs/chip/code/hbm_channel.py

Rows are opened and closed, groups of banks take turns, reads and writes change places, refresh
stops everything. Times in nanoseconds are those of Ramulator 2's model of HBM3, which carries over
what DRAMSim3 has for HBM2: makers publish none. The controller is ours: of the requests that wait
it takes the one whose data can come first.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

BURST = 32  # bytes: 32 pins x 8 transfers
ROW = 1024  # bytes of one row of a pseudo channel
GROUPS, BANKS = 4, 4  # groups of banks, banks in each
# --8<-- [start:times]
ACTIVATE = 14.4  # from opening a row to its first read or write (tRCD)
PRECHARGE = 14.4  # closing it (tRP)
OPEN = 34.4  # a row stays open at least so long (tRAS)
FOUR = 30.0  # at most four rows are opened in this time (tFAW)
TO_CLOSE, WRITE_TO_CLOSE = 4.4, 16.3  # after a read (tRTP), after a write's data (tWR)
WRITE_TO_READ, READ_TO_WRITE = 6.3, 10.0  # the bus turns round
REFRESH, EVERY = 350.0, 3900.0  # all banks stop so long, so often (8 Gb a channel)
# --8<-- [end:times]


@dataclass(slots=True)
class Request:
    """One burst."""

    row: int
    bank: int
    is_write: bool = False

    @property
    def group(self) -> int:
        return self.bank % GROUPS


@dataclass(slots=True)
class Bank:
    """A bank and what it waits for."""

    row: int = -1
    opened: float = -1e9
    can_close: float = -1e9


@dataclass(slots=True)
class Channel:
    """A pseudo channel at a rate per pin in Gb/s; `ranks`: groups of layers that take turns."""

    rate: float
    ranks: int = 1
    refresh: bool = True
    now: float = 0.0
    last: Request | None = None
    next_refresh: float = EVERY
    opened: int = 0
    banks: list[Bank] = field(default_factory=list)
    groups: dict[int, float] = field(default_factory=dict)
    acts: list[deque[float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begin with all rows closed."""
        self.banks = [Bank() for _ in range(self.ranks * GROUPS * BANKS)]
        self.acts = [deque([-1e9] * 4, maxlen=4) for _ in range(self.ranks)]

    @property
    def burst(self) -> float:
        """The time of one burst on the pins."""
        return BURST * 8 / (32 * self.rate)

    # --8<-- [start:when]
    def _open_at(self, one: Request, since: float) -> float:
        """Return when the row of a request can be opened."""
        bank, acts = self.banks[one.bank], self.acts[one.bank // (GROUPS * BANKS)]
        closed = (
            max(bank.can_close, bank.opened + OPEN) + PRECHARGE if bank.row >= 0 else bank.opened
        )
        return max(closed, acts[0] + FOUR, acts[-1] + self.burst, since)

    def data_at(self, one: Request, since: float) -> float:
        """Return when the burst of a request can begin."""
        start = max(self.now, self.groups.get(one.group, -1e9) + 2 * self.burst)
        if self.last is not None and self.last.is_write != one.is_write:
            start = max(start, self.now + (WRITE_TO_READ if self.last.is_write else READ_TO_WRITE))
        if self.banks[one.bank].row != one.row:
            start = max(start, self._open_at(one, since) + ACTIVATE)
        return start

    # --8<-- [end:when]

    def serve(self, one: Request, since: float) -> None:
        """Move the burst of a request."""
        start = self.data_at(one, since)
        bank = self.banks[one.bank]
        if bank.row != one.row:
            bank.row, bank.opened = one.row, self._open_at(one, since)
            self.acts[one.bank // (GROUPS * BANKS)].append(bank.opened)
            self.opened += 1
        self.groups[one.group] = start
        self.now = start + self.burst
        bank.can_close = self.now + WRITE_TO_CLOSE if one.is_write else start + TO_CLOSE
        self.last = one
        if self.refresh and self.now >= self.next_refresh:
            self.now += REFRESH
            self.next_refresh += EVERY
            for each in self.banks:
                each.row, each.opened = -1, self.now


def share(channel: Channel, requests: Iterable[Request], window: int = 32) -> float:
    """Return the share of the rate at which requests are served, `window` of them waiting."""
    source = iter(requests)
    waiting = [(one, 0.0) for one in islice(source, window)]
    served = 0
    while waiting:
        times = [channel.data_at(one, since) for one, since in waiting]
        chosen = times.index(min(times))
        channel.serve(*waiting.pop(chosen))
        served += 1
        waiting += [(one, channel.now) for one in islice(source, 1)]
    return served * channel.burst / channel.now


def at(address: int, channel: Channel, *, is_write: bool = False) -> Request:
    """Return the burst at an address: the lowest bits choose the burst of a 64-byte piece, then
    come the group, the place in the row, the bank, the row.
    """
    piece = address // 64
    group, piece = piece % GROUPS, piece // GROUPS
    piece //= ROW // 64
    count = BANKS * channel.ranks
    bank, row = piece % count, piece // count
    return Request(row, bank * GROUPS + group, is_write)


def in_order(channel: Channel, bursts: int, *, batch: int = 0) -> Iterator[Request]:
    """Yield bursts one after the other; with `batch`, as many reads, then writes far from them."""
    for number in range(bursts):
        writes = bool(batch) and number // batch % 2 == 1
        place = number if not batch else number // (2 * batch) * batch + number % batch
        yield at(place * BURST + (1 << 30 if writes else 0), channel, is_write=writes)


def scattered(channel: Channel, bursts: int, chunk: int) -> Iterator[Request]:
    """Yield chunks of so many bytes from places all over."""
    rng = random.Random(5)
    for _ in range(bursts * BURST // chunk):
        start = rng.randrange(1 << 20) * max(chunk, 64)
        for place in range(start, start + chunk, BURST):
            yield at(place, channel)


def main() -> None:
    bursts, rate = 3000, 5.238  # the rate of an H100 SXM
    print(f"{rate} Gb/s a pin: of the rate for data, rows opened")
    print(f"{'':<44} share  per 1000 bursts")

    def line(name: str, channel: Channel, source: Iterable[Request]) -> None:
        found = share(channel, source)
        print(f"{name:<42}{found:>8.1%}{channel.opened * 1000 // bursts:>17}")

    still = Channel(rate, refresh=False)
    line("in order, never refreshed", still, in_order(still, bursts))
    for batch in (0, 16, 64, 256):
        channel = Channel(rate)
        name = f"in order, {batch} reads, then {batch} writes" if batch else "in order"
        line(name, channel, in_order(channel, bursts, batch=batch))
    for chunk in (32, 64, 256, 512, 1024):
        channel = Channel(rate)
        line(f"{chunk} bytes from anywhere", channel, scattered(channel, bursts, chunk))
    for chunk in (32, 64):
        channel = Channel(rate, ranks=2)
        name = f"{chunk} bytes from anywhere, two ranks"
        line(name, channel, scattered(channel, bursts, chunk))


if __name__ == "__main__":
    main()
