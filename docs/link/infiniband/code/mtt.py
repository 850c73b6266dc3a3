"""How many address translations a registered region needs, by the size of its pages.

    python docs/link/infiniband/code/mtt.py --gib 64

An adapter translates the addresses of a memory region through a table with one entry a page. The
driver may use the largest page into which the whole region divides; contiguous or huge pages make
the table short. An entry of mlx5 has 8 bytes (`struct mlx5_mtt`).
"""

from __future__ import annotations

import argparse

ENTRY_BYTES = 8
PAGES = {"4 KiB": 2**12, "64 KiB": 2**16, "2 MiB": 2**21, "1 GiB": 2**30}


def entries(length: int, page: int, offset: int = 0) -> int:
    """Return the pages that a region touches; `offset` is its start within the first page."""
    return -(-(offset % page + length) // page)


def main() -> None:
    """Print entries and size of the table."""
    parser = argparse.ArgumentParser(description="Entries of a translation table.")
    parser.add_argument("--gib", type=float, default=64, help="size of the region")
    options = parser.parse_args()
    length = int(options.gib * 2**30)
    print(f"region of {options.gib:g} GiB")
    print(f"{'page':8} {'entries':>10} {'table':>14}")
    for name, page in PAGES.items():
        number = entries(length, page)
        size = number * ENTRY_BYTES
        unit, scale = ("KiB", 2**10) if size >= 2**10 else ("B", 1)
        print(f"{name:8} {number:10d} {size / scale:10g} {unit}")


if __name__ == "__main__":
    main()
