"""One direction of a PCIe link, simulated: what credits and outstanding reads leave of its rate.

    python docs/link/pcie/code/tlp_sim.py

Two machines, in SimPy. Writes: a sender may send a packet only while it holds a header credit and a
data credit for every 16 bytes; the receiver empties its buffer at its own pace and gives credits
back in batches. Reads: a requester has a number of tags; a tag is busy from the request until the
last completion. The formulas beside the results are `bound_writes` and `bound_reads`.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass

import simpy

OVERHEAD = 24  # bytes around a write's data: frame 4, header 16, LCRC 4
ANSWER = 20  # around a completion's data: its header has 12
RATE = 63.015  # bytes per ns: PCIe 5.0 x16, one direction
CREDIT = 16  # bytes of data that one data credit stands for
Events = Generator[simpy.Event, object, None]


@dataclass(frozen=True)
class Link:
    """A direction of a link and what is at its end; times in ns, sizes in bytes."""

    flight: float = 100.0  # one way, with the receiver's work
    drain: float = 100.0  # from the last byte until the buffer is free
    batch: int = 4  # packets whose credits travel back together
    payload: int = 256


# --8<-- [start:bounds]
def bound_writes(link: Link, header_credits: int, data_credits: int) -> float:
    """GB/s: the wire, or as many packets as there are credits in one round trip of a credit."""
    wire = (link.payload + OVERHEAD) / RATE
    round_trip = wire + 2 * link.flight + link.drain
    window = min(header_credits, data_credits * CREDIT // link.payload)
    return min(link.payload / wire, window * link.payload / round_trip)


def bound_reads(latency: float, tags: int, request: int, payload: int) -> float:
    """GB/s: the wire, or `tags` requests' worth of data in one latency."""
    wire = (request + math.ceil(request / payload) * ANSWER) / RATE
    return min(request / wire, tags * request / (latency + wire))


# --8<-- [end:bounds]


def simulate_writes(
    link: Link, header_credits: int, data_credits: int, packets: int = 4000
) -> float:
    """Return GB/s of `packets` posted writes through credits."""
    env = simpy.Environment()
    headers = simpy.Container(env, header_credits, header_credits)
    data = simpy.Container(env, data_credits, data_credits)
    each = math.ceil(link.payload / CREDIT)
    batch = max(1, min(link.batch, header_credits // 2, data_credits // each // 2))
    freed = [0]

    # --8<-- [start:credits]
    def sender() -> Events:
        for _ in range(packets):
            yield headers.get(1)
            yield data.get(each)
            yield env.timeout((link.payload + OVERHEAD) / RATE)
            env.process(receiver())

    def receiver() -> Events:
        yield env.timeout(link.flight + link.drain)
        freed[0] += 1
        if freed[0] % batch == 0 or freed[0] == packets:
            count = batch if freed[0] % batch == 0 else freed[0] % batch
            yield env.timeout(link.flight)  # the update travels back
            yield headers.put(count)
            yield data.put(count * each)

    # --8<-- [end:credits]

    env.process(sender())
    env.run()
    return packets * link.payload / (env.now - 2 * link.flight - link.drain)


def simulate_reads(
    latency: float, tags: int, request: int, payload: int, requests: int = 4000
) -> float:
    """Return GB/s of reads with so many tags; `latency` is from request to first byte."""
    env = simpy.Environment()
    free = simpy.Container(env, tags, tags)
    wire = simpy.Resource(env)  # the direction that carries completions

    # --8<-- [start:tags]
    def requester() -> Events:
        for _ in range(requests):
            yield free.get(1)
            env.process(answer())
            yield env.timeout(OVERHEAD / RATE)  # requests follow each other on the other direction

    def answer() -> Events:
        yield env.timeout(latency)
        left = request
        with wire.request() as turn:
            yield turn
            while left > 0:
                piece = min(payload, left)
                yield env.timeout((piece + ANSWER) / RATE)
                left -= piece
        yield free.put(1)

    # --8<-- [end:tags]

    env.process(requester())
    env.run()
    return requests * request / (env.now - latency)


def main() -> int:
    """Print simulated rates beside the formulas."""
    link = Link()
    print("writes of 256 B, PCIe 5.0 x16, simulated: a credit is back after 300 ns and the wire")
    print("  header credits  data credits  simulated  formula, GB/s")
    for headers, data in ((8, 128), (16, 256), (32, 512), (64, 1024), (128, 2048), (128, 512)):
        found = simulate_writes(link, headers, data)
        print(f"{headers:12d} {data:15d} {found:11.1f} {bound_writes(link, headers, data):9.1f}")
    print("reads, completions of 256 B, simulated: latency, tags, request size")
    print("  latency   tags  request  in flight  simulated  formula, GB/s")
    for latency, tags, request in (
        (500, 32, 512),
        (1000, 32, 512),
        (1000, 64, 512),
        (1000, 128, 512),
        (1000, 256, 512),
        (1000, 256, 128),
        (1000, 32, 4096),
        (2000, 256, 512),
    ):
        found = simulate_reads(latency, tags, request, 256)
        bound = bound_reads(latency, tags, request, 256)
        flight = f"{tags * request / 1024:.0f} KiB"
        print(f"{latency:6d} ns {tags:6d} {request:8d} {flight:>10} {found:10.1f} {bound:9.1f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
