"""Who rings the doorbell: one put, a burst of puts, and where the time goes.

Units: us = 10^-6 s, M msg/s = 10^6 messages a second, GB/s = 10^9 byte/s, one direction.

Model: every message passes three stages in order, each serving one message at a
time: submit (one or more queues side by side), NIC, link. Deterministic: no network
contention, no retransmission, no waiting for a batch to fill. A submitter serves one
message in 1 / its message rate.

Inputs: measured by Baydamirli et al. (arXiv 2610.01380, tables 3, 5 and 9 and section
4.2) on a pair of H200 nodes with ConnectX-7 at 200 Gb/s InfiniBand. "cold" and "warm"
are the clock states of the proxy's CPU core. What the program prints beyond those
inputs is computed, not measured.

Usage
    python docs/link/gpudirect/code/ibgda_timeline.py              # timeline and bursts
    python docs/link/gpudirect/code/ibgda_timeline.py --bursts     # bursts alone
    python docs/link/gpudirect/code/ibgda_timeline.py --questions  # answers of the note
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

LINK_GB = 24.8
"""GB/s that the authors' 200 Gb/s port carries, one direction."""
NIC_MMSG = 260.0
"""M msg/s ceiling of the NIC for 8 B writes."""


# --8<-- [start:model]
@dataclass(frozen=True)
class Path:
    """One way from a GPU thread to the NIC."""

    name: str
    enqueue_us: float
    """Time a GPU thread spends handing a request to a CPU; 0 when the GPU submits itself."""
    queues: int
    """Submitters working side by side."""
    mmsg: float
    """Rate of one submitter, M msg/s."""
    put_us: float
    """One 8 B put until its completion is seen, us."""

    @property
    def submit_us(self) -> float:
        """Service time of one submitter for one message, us."""
        return 1 / self.mmsg

    @property
    def flight_us(self) -> float:
        """From the doorbell to the completion, us: what is left of a single put."""
        return self.put_us - self.enqueue_us - self.submit_us


@dataclass(frozen=True)
class Message:
    """Times of one message in us: submission starts and ends, last byte leaves the NIC."""

    start: float
    doorbell: float
    sent: float


def burst(path: Path, count: int, size: int) -> list[Message]:
    """Send `count` messages of `size` bytes that all become ready at time 0."""
    free = [path.enqueue_us] * path.queues  # when each submitter can take the next one
    nic = link = 0.0
    messages = []
    for i in range(count):
        queue = i % path.queues
        start = free[queue]
        free[queue] = start + path.submit_us
        nic = max(nic, free[queue]) + 1 / NIC_MMSG
        link = max(link, nic) + size / LINK_GB / 1e3
        messages.append(Message(start, free[queue], link))
    return sorted(messages, key=lambda m: m.start)


# --8<-- [end:model]


PATHS = (
    Path("CPU proxy, cold", 0.99, 1, 1.9, 6.40),
    Path("CPU proxy, warm", 0.99, 1, 3.8, 6.30),
    Path("GPU, 1 queue, lock per put", 0.0, 1, 1.27, 4.03),
    Path("GPU, 1 queue, warp of 32", 0.0, 1, 21.6, 4.03),
    Path("GPU, 16 queues", 0.0, 16, 1.74, 4.03),
    Path("GPU, 64 queues, batch 16", 0.0, 64, NIC_MMSG / 64, 4.03),
)


def limit(path: Path, size: int) -> str:
    """The slowest of the three stages for a long run of messages."""
    stages = {
        "link": size / LINK_GB / 1e3,
        "NIC": 1 / NIC_MMSG,
        "submit": path.submit_us / path.queues,
    }
    return max(stages, key=lambda s: stages[s])


def timeline(path: Path, count: int, size: int, step: float = 0.25) -> str:
    """Draw a burst as text, one line a message, one character for `step` us."""
    lines = [f"{path.name}"]
    for i, m in enumerate(burst(path, count, size)):
        done = m.sent + path.flight_us
        row = ""
        for k in range(round(done / step + 0.5)):
            t = (k + 0.5) * step
            if t < path.enqueue_us:
                row += "e"
            elif t < m.start:
                row += "."
            elif t < m.doorbell:
                row += "S"
            else:
                row += "-"
        lines.append(f"  put {i}  |{row}|  {done:5.2f} us")
    return "\n".join(lines)


def fill_size(mmsg: float) -> float:
    """Bytes a message must have for so many M msg/s to fill the link."""
    return LINK_GB * 1e3 / mmsg


def report() -> str:
    """Timeline of six puts, then bursts of two message sizes."""
    parts = [
        "six 8 B puts ready at the same moment; one character = 0.25 us",
        "e enqueue to the CPU   . wait for the submitter   S submit   - doorbell to completion",
    ]
    parts += [timeline(PATHS[i], 6, 8) for i in (0, 2, 4)]
    return "\n".join([*parts, "", bursts()])


def bursts() -> str:
    """How long 1024 messages of two sizes take on each path, and what limits them."""
    parts: list[str] = []
    for size in (8, 7168):
        if parts:
            parts.append("")
        parts.append(f"1024 puts of {size} B")
        parts.append("path                          all sent us    M msg/s     GB/s  limit")
        for p in PATHS:
            last = max(m.sent for m in burst(p, 1024, size))
            parts.append(
                f"{p.name:<28}{last:13.2f}{1024 / last:11.2f}{1024 * size / last / 1e3:9.3f}"
                f"  {limit(p, size)}"
            )
    return "\n".join(parts)


def questions() -> str:
    """The numbers that the note's questions ask for."""
    cold, warm = PATHS[0], PATHS[1]
    tokens, experts, hidden, ranks = 128, 8, 7168, 64
    volume = tokens * experts * hidden
    return "\n".join(
        (
            f"Q1 payload that fills {LINK_GB} GB/s: proxy cold {fill_size(cold.mmsg):.0f} B, "
            f"warm {fill_size(warm.mmsg):.0f} B, 250 M msg/s {fill_size(250):.0f} B",
            f"Q2 {tokens} tokens to {experts} experts: {tokens * experts} messages, "
            f"{volume / 1e6:.2f} MB; submit alone: proxy cold "
            f"{tokens * experts * cold.submit_us:.0f} us, warm "
            f"{tokens * experts * warm.submit_us:.0f} us, 250 M msg/s "
            f"{tokens * experts / 250:.1f} us; link at {LINK_GB} GB/s "
            f"{volume / LINK_GB / 1e3:.0f} us",
            f"Q3 16 queues to each of {ranks - 1} peers: {16 * (ranks - 1)} connections; "
            f"to each of 127: {16 * 127}",
        )
    )


def main() -> None:
    """Print the report, or with --questions the answers."""
    parser = argparse.ArgumentParser(description="CPU proxy against GPU submission, as a timeline")
    parser.add_argument("--bursts", action="store_true", help="print the bursts alone")
    parser.add_argument("--questions", action="store_true", help="print the answers of the note")
    args = parser.parse_args()
    print(questions() if args.questions else bursts() if args.bursts else report())


if __name__ == "__main__":
    main()
