"""Simulate reading one file that is striped over storage targets, some of them slow.

A file of so many stripes lies on distinct targets, drawn at random; the client has it when the
slowest target has sent its share, and never faster than its network. Numbers are assumptions.
"""

from __future__ import annotations

import random
import statistics

TARGETS, RATE, NETWORK = 128, 3.0, 25.0  # storage targets; GB/s of each; GB/s of a client
SLOW = 0.25  # a slow target's share of the usual rate
DRAWS = 4000


def rates(slow_targets: int) -> list[float]:
    """Return the rate of every target."""
    return [RATE * SLOW] * slow_targets + [RATE] * (TARGETS - slow_targets)


def bandwidth(targets: list[float]) -> float:
    """Return what one client gets from a file striped evenly over these targets."""
    return min(NETWORK, len(targets) * min(targets))


def one_file(count: int, slow_targets: int, seed: int = 1) -> list[float]:
    """Return the bandwidth of one file after another, each on other targets; sorted."""
    draw, all_rates = random.Random(seed), rates(slow_targets)
    return sorted(bandwidth(draw.sample(all_rates, count)) for _ in range(DRAWS))


def many_clients(clients: int, count: int, seed: int = 1) -> float:
    """Return the GB/s of all clients, each with a file of its own, all of them started at once.

    All files are equally long; a target shares its rate among the stripes on it; counted is the
    time until the last client is done.
    """
    draw, load = random.Random(seed), [0.0] * TARGETS
    for _ in range(clients):
        for target in draw.sample(range(TARGETS), count):
            load[target] += 1 / count
    return clients / max(max(load) / RATE, 1 / NETWORK)


def main() -> None:
    print(f"one client, {TARGETS} targets of {RATE:g} GB/s, network {NETWORK:g} GB/s")
    print("stripes   all well   2 of 128 at a quarter: median   worst 5 %   files slowed")
    for count in (1, 2, 4, 8, 16, 32, 64, 128):
        well, some = one_file(count, 0)[0], one_file(count, 2)
        slowed = sum(got < well for got in some) / DRAWS
        print(
            f"{count:7d}   {well:8.1f}   {statistics.median(some):29.1f}   "
            f"{some[DRAWS // 20]:9.1f}   {slowed:12.0%}"
        )
    print("256 clients, a file each, all well: GB/s until the last is done")
    for count in (1, 4, 16, 64, 128):
        mean = statistics.mean(many_clients(256, count, seed) for seed in range(50))
        print(f"{count:7d}   {mean:8.1f} of {TARGETS * RATE:g}")


if __name__ == "__main__":
    main()
