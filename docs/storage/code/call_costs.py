"""What counted calls cost at published latencies. Standard library only.

Run:  python docs/storage/code/call_costs.py

The counts are those that count_calls.py printed (traces/count_calls.txt). The latencies are
published by others: milliseconds of one look-up and of one open, one client with one request at a
time. "once": each name is asked for once and then cached. "all": no call is ever answered from a
cache. Both assume that requests wait for each other, as they do in a program with one thread.
Creating and renaming are priced as opens, which is too cheap: EFS creates 179 files a second.
"""

from __future__ import annotations

# look-ups, opens, listings, different names
COUNTED = {
    "ls, 10,000 files": (4, 34, 11, 37),
    "ls -l": (30_010, 44, 11, 10_048),
    "ls --color=always": (10_004, 34, 11, 10_037),
    "import numpy": (563, 208, 34, 389),
    "import torch": (16_241, 1_313, 312, 2_901),
    "pip install numpy": (9_990, 3_199 + 2_085, 208, 4_069),  # 2,085 changes, priced as opens
    "git status": (3_518, 417, 562, 3_558),
    "read 10,000 files": (19, 10_035, 11, 10_048),
    "read 10 shards": (19, 45, 2, 58),
}
# milliseconds of a look-up and of an open
LATENCY = {
    "local": (0.0024, 0.011),
    "JuiceFS": (1e3 / 5023.227, 1e3 / 3487.947),
    "NFS": (1e3 / 915.230, 1e3 / 371.012),
    "Lustre": (1.1, 2.3),
    "s3fs": (1e3 / 68.692, 1e3 / 33.931),
}


def cost(counted: tuple[int, int, int, int], latency: tuple[float, float]) -> tuple[float, float]:
    """Return the seconds if each name is asked for once, and if every call is sent."""
    looks, opens, lists, names = counted
    look, open_ = latency
    first = min(opens, names)
    once = first * open_ + (names - first) * look
    return once / 1e3, ((looks + lists) * look + opens * open_) / 1e3


def main() -> None:
    """Print one row per command."""
    print("seconds: once / all      " + "".join(f"{name:>15}" for name in LATENCY))
    for command, counted in COUNTED.items():
        pairs = (cost(counted, latency) for latency in LATENCY.values())
        print(f"{command:<25}" + "".join(f"{once:7.2f} /{every:6.1f}" for once, every in pairs))


if __name__ == "__main__":
    main()
