"""Requests of the serving simulation: what is asked, and traces of them that are made."""

from __future__ import annotations

import random
from collections.abc import Hashable
from dataclasses import dataclass, field

PAGE = 16
"""Tokens of a page of the cache."""


@dataclass(eq=False)
class Request:
    """What is asked, and what has become of it. A lower priority is served earlier."""

    number: int
    arrival: float
    prompt: int
    output: int
    priority: int = 0
    prefix: tuple[Hashable, int] = (None, 0)  # name and tokens of a start shared with others
    stream: Hashable = None  # a conversation, whose later prompts start with the earlier ones
    computed: int = 0
    hit: int = 0
    started: float | None = None  # when it was first scheduled
    lost: int = 0  # tokens that pre-emption took away
    times: list[float] = field(default_factory=list)  # when each token was there
    table: list[int] = field(default_factory=list)

    @property
    def tokens(self) -> int:
        """Tokens known so far: the prompt and what was made."""
        return self.prompt + len(self.times)

    def key(self, page: int) -> Hashable:
        """Return the key of a full page: shared with others, or this stream's own."""
        name, shared = self.prefix
        if (page + 1) * PAGE <= shared:
            return name, page
        return self.number if self.stream is None else self.stream, page, "own"

    @property
    def ttft(self) -> float:
        """Seconds from arrival to the first token."""
        return self.times[0] - self.arrival

    @property
    def tpot(self) -> float | None:
        """Mean seconds per token after the first; a single token has none."""
        if len(self.times) < 2:
            return None
        return (self.times[-1] - self.times[0]) / (len(self.times) - 1)


# --8<-- [start:trace]
def trace(
    rate: float, count: int, seed: int = 1, prompt: float = 512, output: float = 128
) -> list[Request]:
    """Return requests of a Poisson process; log-normal lengths with these medians."""
    draw, now, made = random.Random(seed), 0.0, []
    for number in range(count):
        now += draw.expovariate(rate)
        long = min(8192, max(16, round(draw.lognormvariate(0, 1.0) * prompt)))
        made.append(
            Request(
                number, now, long, min(1024, max(2, round(draw.lognormvariate(0, 0.8) * output)))
            )
        )
    return made


# --8<-- [end:trace]
