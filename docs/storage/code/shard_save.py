"""Save a sharded checkpoint so that a crash leaves a whole one, and restore it on another number.

Run:  python docs/storage/code/shard_save.py

Each rank of the old job writes its rows of a matrix to its own file; only when all of them are on
the disk does rank 0 write the index, which says which rows lie where, and renames the folder. The
new job reads just the bytes that its own rows need. Standard library only; ranks are a loop here.
"""

from __future__ import annotations

import array
import json
import os
import tempfile
from pathlib import Path

ROWS, COLUMNS = 12, 4


def rows_of(rank: int, world: int) -> range:
    """The rows of a rank, the remainder going to the first ranks."""
    each, more = divmod(ROWS, world)
    first = rank * each + min(rank, more)
    return range(first, first + each + (rank < more))


def put(path: Path, data: bytes) -> None:
    """Write and wait until the device has it: a rename is no promise about contents."""
    with path.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())


def sync_folder(path: Path) -> None:
    """Make names in a folder durable: fsync of a file does not cover its directory entry."""
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


# --8<-- [start:save]
def save(root: Path, step: int, world: int, dies_before: str = "") -> None:
    """Write all shards, then the index, then the name; stop before one of them to play a crash."""
    draft, index = root / f"step-{step}.tmp", []
    draft.mkdir()
    for rank in range(world):  # at the same time in a real job, with a barrier behind
        rows = rows_of(rank, world)
        data = array.array("f", (step * 1000 + row for row in rows for _ in range(COLUMNS)))
        put(draft / f"rank-{rank}", data.tobytes())
        index.append({"file": f"rank-{rank}", "first": rows.start, "count": len(rows)})
        if dies_before == "last shard" and rank == world - 2:
            return
    if dies_before == "index":
        return
    put(draft / "index.json", json.dumps(index).encode())
    sync_folder(draft)
    if dies_before == "rename":
        return
    draft.rename(root / f"step-{step}")  # the one moment in which the checkpoint comes to be
    sync_folder(root)


# --8<-- [end:save]


def newest(root: Path) -> Path | None:
    """The latest folder with its final name; drafts of a job that died are not looked at."""
    whole = [p for p in root.glob("step-*") if p.suffix != ".tmp"]
    return max(whole, key=lambda p: int(p.name.split("-")[1]), default=None)


# --8<-- [start:restore]
def restore(folder: Path, rank: int, world: int) -> tuple[list[float], list[str]]:
    """Return one value per row for this rank, and which byte ranges of which files were read."""
    mine, found, reads = rows_of(rank, world), [], []
    for part in json.loads((folder / "index.json").read_text("utf-8")):
        first = max(mine.start, part["first"])
        last = min(mine.stop, part["first"] + part["count"])
        if first >= last:
            continue
        size = 4 * COLUMNS
        start, length = (first - part["first"]) * size, (last - first) * size
        with (folder / part["file"]).open("rb") as source:
            source.seek(start)
            values = array.array("f", source.read(length))
        found += values[::COLUMNS].tolist()
        reads.append(f"{part['file']}[{start}:{start + length}]")
    return found, reads


# --8<-- [end:restore]


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        save(root, 100, world=4)
        for step, where in ((200, "last shard"), (300, "index"), (400, "rename")):
            save(root, step, world=4, dies_before=where)
            left = newest(root)
            print(f"killed before {where:<10s} at step {step}: newest whole {left and left.name}")
        save(root, 500, world=4)
        folder = newest(root)
        assert folder is not None
        print(f"restore {folder.name}, saved by 4 ranks, on 3 and on 8")
        for world in (3, 8):
            for rank in range(world):
                values, reads = restore(folder, rank, world)
                assert values == [500_000.0 + row for row in rows_of(rank, world)]
                print(f"  rank {rank} of {world}: {', '.join(reads)}")


if __name__ == "__main__":
    main()
