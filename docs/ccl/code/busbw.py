"""From a measured time to algorithm and bus bandwidth, and to what a rank sent at least.

    python docs/ccl/code/busbw.py all-reduce 4 4GiB 17770

Operation, ranks, size as nccl-tests prints it, microseconds. The factors are those of nccl-tests
(doc/PERFORMANCE.md and GetBw in src/*.cu): GB are 10^9 bytes.
"""

from __future__ import annotations

import sys

FACTORS = {
    "all-reduce": lambda n: 2 * (n - 1) / n,
    "all-gather": lambda n: (n - 1) / n,
    "reduce-scatter": lambda n: (n - 1) / n,
    "all-to-all": lambda n: (n - 1) / n,
    "gather": lambda n: (n - 1) / n,
    "scatter": lambda n: (n - 1) / n,
    "broadcast": lambda n: 1.0,
    "reduce": lambda n: 1.0,
    "send-recv": lambda n: 1.0,
}
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "KB": 10**3, "MB": 10**6, "GB": 10**9}


def in_bytes(size: str) -> int:
    """Return a size such as 4GiB or 4096 in bytes."""
    for name, unit in UNITS.items():
        if size.endswith(name):
            return int(size.removesuffix(name)) * unit
    return int(size)


def bandwidths(operation: str, ranks: int, size: int, seconds: float) -> tuple[float, float]:
    """Return algbw and busbw in GB/s."""
    algbw = size / seconds / 1e9
    return algbw, algbw * FACTORS[operation](ranks)


def main() -> None:
    """Print one conversion."""
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    operation, ranks, size, microseconds = sys.argv[1:]
    n, total = int(ranks), in_bytes(size)
    algbw, busbw = bandwidths(operation, n, total, float(microseconds) * 1e-6)
    print(f"{operation}, {n} ranks, {total} B in {microseconds} us")
    print(f"algbw {algbw:.1f} GB/s x {FACTORS[operation](n):.3f} = busbw {busbw:.1f} GB/s")
    wrong = total / 2**30 / (float(microseconds) * 1e-6) * FACTORS[operation](n)
    print(f"the same in GiB/s {wrong:.1f}: do not mix")


if __name__ == "__main__":
    main()
