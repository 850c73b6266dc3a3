"""The programs of the storage volume."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tools.figures.files import load_program

block = load_program("storage/code/block_io.py")
shard = load_program("storage/code/shard_save.py")


@pytest.mark.parametrize("depth", [1, 4])
def test_requests_in_flight_are_the_threads(tmp_path: Path, depth: int) -> None:
    """Little's law: rate times mean latency cannot exceed the threads that wait."""
    path = tmp_path / "file"
    path.write_bytes(os.urandom(4 << 20))
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_DIRECT))
    except (AttributeError, OSError):
        pytest.skip("no O_DIRECT here")
    rate, mean, median, tail = block.run(str(path), 4096, depth, 0.2)
    assert 0 < rate * mean <= depth * 1.01
    assert 0 < median <= tail


@pytest.mark.parametrize("saved", [1, 2, 5, 12])
@pytest.mark.parametrize("restored", [1, 3, 4, 12])
def test_any_number_of_ranks_restores(tmp_path: Path, saved: int, restored: int) -> None:
    shard.save(tmp_path, 7, saved)
    folder = shard.newest(tmp_path)
    found = [x for rank in range(restored) for x in shard.restore(folder, rank, restored)[0]]
    assert found == [7000.0 + row for row in range(shard.ROWS)]


@pytest.mark.parametrize("where", ["last shard", "index", "rename"])
def test_a_crash_leaves_the_older_one(tmp_path: Path, where: str) -> None:
    shard.save(tmp_path, 1, 4)
    shard.save(tmp_path, 2, 4, dies_before=where)
    assert shard.newest(tmp_path).name == "step-1"
