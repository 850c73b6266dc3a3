"""What near-duplicate matching finds, and what packing wastes or cuts: made-up text, real rules.

python docs/train/code/data_prep.py            near duplicates by MinHash
python docs/train/code/data_prep.py --pack     documents into sequences
python docs/train/code/data_prep.py --sizes    what the data of a large run weigh
"""

from __future__ import annotations

import bisect
import math
import random
import sys
import zlib
from collections.abc import Sequence

PRIME = (1 << 61) - 1
BUCKETS, HASHES, GRAM = 14, 8, 5  # as FineWeb has them


# --8<-- [start:match]
def shingles(words: Sequence[str]) -> set[int]:
    """Return every run of five words as a number."""
    runs = zip(*(words[at:] for at in range(GRAM)), strict=False)
    return {zlib.crc32(" ".join(run).encode()) for run in runs}


def signature(those: set[int], functions: Sequence[tuple[int, int]]) -> list[int]:
    """Return the least value of each hash function: equal in two texts with probability J."""
    return [min((a * one + b) % PRIME for one in those) for a, b in functions]


def are_near(first: Sequence[int], second: Sequence[int]) -> bool:
    """Tell whether two signatures agree in all hashes of any bucket."""
    starts = range(0, BUCKETS * HASHES, HASHES)
    return any(first[at : at + HASHES] == second[at : at + HASHES] for at in starts)


# --8<-- [end:match]


def chance(similarity: float, buckets: int = BUCKETS, hashes: int = HASHES) -> float:
    """Return the probability that two texts of a similarity agree in some bucket."""
    return 1 - (1 - similarity**hashes) ** buckets


def similarity(changed: float) -> float:
    """Return the Jaccard similarity to expect of runs of words when a share of words changes."""
    kept = (1 - changed) ** GRAM
    return kept / (2 - kept)


def duplicates() -> None:
    rng = random.Random(3)
    functions = [(rng.randrange(1, PRIME), rng.randrange(PRIME)) for _ in range(BUCKETS * HASHES)]
    print("words changed  similarity  agree, computed  agree, of 40 pairs")
    for changed in (0.01, 0.02, 0.03, 0.05, 0.1, 0.2):
        near, alike = 0, 0.0
        for _ in range(40):
            text = [f"w{rng.randrange(5000)}" for _ in range(120)]
            other = [f"x{rng.randrange(5000)}" if rng.random() < changed else w for w in text]
            one, two = shingles(text), shingles(other)
            alike += len(one & two) / len(one | two) / 40
            near += are_near(signature(one, functions), signature(two, functions))
        computed = chance(similarity(changed))
        print(f"{changed:>12.0%} {alike:>11.2f} {computed:>16.0%} {near:>19}")
    print("agree at similarity        0.5    0.7   0.75    0.8    0.9")
    for buckets, hashes in ((14, 8), (450, 20)):
        row = "".join(f"{chance(s, buckets, hashes):>7.1%}" for s in (0.5, 0.7, 0.75, 0.8, 0.9))
        print(f"{buckets:>4} buckets of {hashes:>3}     {row}")


# --8<-- [start:fit]
def best_fit(pieces: Sequence[int], length: int) -> list[int]:
    """Return how full each sequence is when every piece, longest first, goes where it fits best."""
    rooms: list[int] = []  # of sequences that are not full, sorted
    full = 0
    for piece in sorted(pieces, reverse=True):
        at = bisect.bisect_left(rooms, piece)
        room = rooms.pop(at) if at < len(rooms) else length
        if room == piece:
            full += 1
        else:
            bisect.insort(rooms, room - piece)
    return [length] * full + [length - room for room in rooms]


# --8<-- [end:fit]


def documents(count: int) -> list[int]:
    """Return lengths in tokens: half under 500, a long tail, as of web pages (assumed)."""
    rng = random.Random(5)
    return [max(16, int(rng.lognormvariate(math.log(500), 1.2))) for _ in range(count)]


def packing() -> None:
    lengths = documents(20000)
    total = sum(lengths)
    print(f"{len(lengths)} documents, {total / len(lengths):.0f} tokens each on average")
    print("sequence  way                 padding  documents cut  own context")
    for length in (2048, 8192, 32768):
        padded = sum(math.ceil(one / length) for one in lengths) * length
        too_long = sum(one > length for one in lengths)
        cut, at, joined = 0, 0, []
        for one in lengths:
            first = min(one, length - at % length)
            joined += [first, *parts(one - first, length)]
            cut += first < one
            at += one
        pieces = [part for one in lengths for part in parts(one, length)]
        packed = len(best_fit(pieces, length)) * length
        for name, used, torn, those in (
            ("one per sequence", padded, too_long, pieces),
            ("joined, then cut", math.ceil(total / length) * length, cut, joined),
            ("best fit", packed, too_long, pieces),
        ):
            own = sum(one * one for one in those) / (length * used)
            print(
                f"{length:>8}  {name:<18}{1 - total / used:>9.1%}{torn / len(lengths):>15.1%}"
                f"{own:>13.1%}"
            )


def parts(one: int, length: int) -> list[int]:
    """Return a document in pieces of at most a sequence."""
    whole, rest = divmod(one, length)
    return [length] * whole + ([rest] if rest else [])


def sizes() -> None:
    tokens, vocabulary, hidden = 15e12, 128256, 8192
    print(
        f"15 T tokens at 4 bytes: {tokens * 4 / 1e12:.0f} TB; at 3.94 characters: "
        f"{tokens * 3.94 / 1e12:.0f} TB of English text"
    )
    print(f"the same text at 3.17 characters a token: {tokens * 3.94 / 3.17 / 1e12:.1f} T tokens")
    print(
        f"embedding and head of 128,256 x 8,192: {2 * vocabulary * hidden / 1e9:.2f} B parameters"
    )
    print(
        f"signature of a document: {BUCKETS * HASHES * 8} bytes; of 10 B documents "
        f"{BUCKETS * HASHES * 8 * 10e9 / 1e12:.1f} TB"
    )


if __name__ == "__main__":
    {"--pack": packing, "--sizes": sizes}.get(" ".join(sys.argv[1:]), duplicates)()
