"""The rules of PyTorch's caching allocator on CUDA, as a model: what is reserved for what is asked.

    python docs/framework/code/allocator.py

Sizes and rules are those of c10/cuda/CUDACachingAllocator.cpp with default settings and one stream,
and of expandable segments. `allocator_real.py` makes the same requests on a GPU and compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

KIB, MIB = 1 << 10, 1 << 20
SMALLEST = 512  # every request is rounded up to a multiple of this
SMALL = 1 * MIB  # up to here a request goes to the small pool
SMALL_SEGMENT = 2 * MIB
LARGE_SEGMENT = 20 * MIB  # asked of the driver for requests below 10 MiB
OWN_SEGMENT = 10 * MIB  # from here a request gets a segment of its own size
ROUND = 2 * MIB


# --8<-- [start:rules]
def rounded(size: int) -> int:
    """Return the bytes that a request occupies."""
    return max(SMALLEST, -(-size // SMALLEST) * SMALLEST)


def segment_for(size: int) -> int:
    """Return the bytes asked of the driver when no free block fits a rounded request."""
    if size <= SMALL:
        return SMALL_SEGMENT
    return LARGE_SEGMENT if size < OWN_SEGMENT else -(-size // ROUND) * ROUND


def is_split(rest: int, small: bool) -> bool:
    """Return whether the rest of a block becomes a free block of its own."""
    return rest >= SMALLEST if small else rest > SMALL


# --8<-- [end:rules]


@dataclass(eq=False)
class Block:
    """A piece of a segment: where it begins, its bytes, and whether it is in use."""

    start: int
    size: int
    used: bool = False


@dataclass(eq=False)
class Segment:
    """What one call of the driver returned, cut into blocks that cover it in order."""

    small: bool
    blocks: list[Block]


@dataclass
class Allocator:
    """A device's allocator. `capacity` bounds what is reserved, in bytes; None is without bound."""

    capacity: int | None = None
    expandable: bool = False
    segments: list[Segment] = field(default_factory=list)
    allocated: int = 0
    peak_allocated: int = 0
    peak_reserved: int = 0

    @property
    def reserved(self) -> int:
        """Bytes taken from the driver."""
        return sum(block.size for one in self.segments for block in one.blocks)

    def malloc(self, size: int) -> Block:
        """Return a block for `size` bytes; MemoryError when neither cache nor driver has one."""
        size = rounded(size)
        small = size <= SMALL
        found = self._best_fit(size, small) or self._grow(size, small)
        if found is None:
            self.empty_cache()
            found = self._best_fit(size, small) or self._grow(size, small)
        if found is None:
            raise MemoryError(f"{size} bytes: {self.reserved - self.allocated} are free, in pieces")
        segment, block = found
        rest = block.size - size
        if rest and (is_split(rest, small) or self.expandable):
            place = segment.blocks.index(block)
            segment.blocks.insert(place + 1, Block(block.start + size, rest))
            block.size = size
        block.used = True
        self.allocated += block.size
        self.peak_allocated = max(self.peak_allocated, self.allocated)
        self.peak_reserved = max(self.peak_reserved, self.reserved)
        return block

    def free(self, block: Block) -> None:
        """Give a block back to the cache; free neighbours in a segment become one."""
        segment = next(one for one in self.segments if block in one.blocks)
        block.used = False
        self.allocated -= block.size
        merged: list[Block] = []
        for one in segment.blocks:
            if merged and not one.used and not merged[-1].used:
                merged[-1].size += one.size
            else:
                merged.append(one)
        segment.blocks = merged

    def empty_cache(self) -> None:
        """Give the driver what no block in use stands in: whole segments, or free pages."""
        if self.expandable:
            for one in self.segments:
                page = SMALL_SEGMENT if one.small else LARGE_SEGMENT
                for block in one.blocks:
                    if not block.used:  # only whole pages can go
                        block.size -= max(0, block.size - page) // page * page
        self.segments = [one for one in self.segments if any(b.used for b in one.blocks)]

    def _best_fit(self, size: int, small: bool) -> tuple[Segment, Block] | None:
        fits = [
            (block.size, number, block.start, one, block)
            for number, one in enumerate(self.segments)
            if one.small == small
            for block in one.blocks
            if not block.used and block.size >= size
        ]
        return min(fits, key=lambda fit: fit[:3])[3:] if fits else None

    def _grow(self, size: int, small: bool) -> tuple[Segment, Block] | None:
        if not self.expandable:
            block = Block(0, segment_for(size))
            if self._has_room(block.size):
                self.segments.append(Segment(small, [block]))
                return self.segments[-1], block
            return None
        own = [one for one in self.segments if one.small == small] or [Segment(small, [])]
        last = own[0].blocks[-1] if own[0].blocks else None
        tail = last.size if last and not last.used else 0
        page = SMALL_SEGMENT if small else LARGE_SEGMENT
        more = -(-(size - tail) // page) * page
        if not self._has_room(more):
            return None
        if own[0] not in self.segments:
            self.segments.append(own[0])
        if last and tail:
            last.size += more
            return own[0], last
        own[0].blocks.append(Block(last.start + last.size if last else 0, more))
        return own[0], own[0].blocks[-1]

    def _has_room(self, more: int) -> bool:
        return self.capacity is None or self.reserved + more <= self.capacity


def steps(lengths: Iterable[int], layers: int = 24) -> list[list[int]]:
    """Return the requests of each step, in bytes: per layer one and four units of width."""
    unit = 4096 * 2  # one token of width 4096 in BF16
    return [[n * unit * factor for _ in range(layers) for factor in (1, 4)] for n in lengths]


def replay(requests: Sequence[Sequence[int]], allocator: Allocator) -> Allocator:
    """Allocate each step's requests in order, then free them in reverse, as backward does."""
    for sizes in requests:
        held = [allocator.malloc(size) for size in sizes]
        for block in reversed(held):
            allocator.free(block)
    return allocator


def main() -> None:
    """Print what single requests reserve, and what growing sequence lengths do."""
    print("asked        occupies     reserved")
    for size in (4, 100 * KIB, MIB, MIB + 1, 9 * MIB, 10 * MIB, 11 * MIB):
        one = Allocator()
        one.malloc(size)
        print(f"{size / MIB:9.3f}  {one.allocated / MIB:9.3f}  {one.reserved / MIB:9.0f}   MiB")
    growing = steps(range(1000, 2001, 100))
    for title, requests in (
        ("2000 tokens, 11 steps", steps([2000] * 11)),
        ("1000 to 2000", growing),
    ):
        for expandable in (False, True):
            done = replay(requests, Allocator(expandable=expandable))
            way = "expandable" if expandable else "default"
            peak, held = done.peak_allocated / MIB, done.reserved / MIB
            print(f"{title:22} {way:10} peak allocated {peak:6.0f}, reserved {held:6.0f} MiB")


if __name__ == "__main__":
    main()
