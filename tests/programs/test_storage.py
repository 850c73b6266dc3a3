"""The programs of the storage volume: what is read once, restored whole, and how fast."""

from __future__ import annotations

import itertools
import os
import random
from pathlib import Path

import pytest

from tests.programs import printed
from tools.figures.files import ROOT

block, shard, sharding, loader, striping, calls, costs = printed.load(
    "storage/code",
    *("block_io", "shard_save", "sharding", "loader", "striping", "count_calls", "call_costs"),
)


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


def test_every_shard_is_read_once_and_in_another_order_each_epoch() -> None:
    shards = list(range(37))
    epochs = [[sharding.share(shards, 3, epoch, at, 8) for at in range(8)] for epoch in (0, 1)]
    for shares in epochs:
        assert sorted(itertools.chain(*shares)) == shards
    assert epochs[0] != epochs[1]


@pytest.mark.parametrize("size", [1, 7, 5000])
def test_a_shuffle_buffer_loses_nothing(size: int) -> None:
    order = list(sharding.buffered(range(1000), size, random.Random(2)))
    assert sorted(order) == list(range(1000))
    assert (order == sorted(order)) == (size == 1)


def test_files_and_shards_hold_the_same_samples(tmp_path: Path) -> None:
    loader.make(tmp_path, samples=20)
    files = sorted((tmp_path / "files").rglob("*.bin"))
    shards = sorted((tmp_path / "shards").glob("*.tar"))
    loader.drop(files)
    assert len(files) == 20
    assert list(loader.samples(files)) == list(loader.samples(shards))


def test_a_file_has_the_rate_of_its_slowest_target_times_its_stripes() -> None:
    rates = ([3.0] * 4, [3.0] * 3 + [0.75], [3.0] * 100)
    assert [striping.bandwidth(one) for one in rates] == [12.0, 3.0, striping.NETWORK]
    # the share of slowed files is the chance to draw a slow target
    slowed = sum(got < 24 for got in striping.one_file(8, 2)) / striping.DRAWS
    assert abs(slowed - (1 - (120 * 119) / (128 * 127))) < 0.02
    assert abs(striping.many_clients(256, 128) - 384) < 1e-6
    assert striping.many_clients(256, 1) < striping.many_clients(256, 64)


def test_calls_are_counted_by_kind_and_name() -> None:
    counted, names = calls.count(
        [
            '7 openat(AT_FDCWD</work>, "a.py", O_RDONLY) = -1 ENOENT (No such file or directory)',
            '7 newfstatat(3</work/b>, "", {st_mode=S_IFREG}, AT_EMPTY_PATH) = 0',
            '7 newfstatat(AT_FDCWD</work>, "/lib/x", {st_mode=S_IFREG}, 0) = 0',
            '7 stat("/proc/self", {st_mode=S_IFDIR}) = 0',
            "7 getdents64(4</work/d>, 0x1 /* 3 entries */, 32768) = 80",
            '8 statx(AT_FDCWD</work>, "c",  <unfinished ...>',
            "8 <... statx resumed>0x7f) = -1 ENOENT (No such file or directory)",
            '7 rename("c", "/work/e") = 0',
        ],
        "/work",
    )
    assert counted == {"open": 1, "missing": 2, "look up": 2, "list": 1, "change": 1}
    assert names == {"/work/a.py", "/lib/x", "/work/d", "/work/c"}


def test_the_counts_that_are_priced_are_those_of_the_record() -> None:
    record = (ROOT / "docs/storage/traces/count_calls.txt").read_text("utf-8")
    for command, (looks, opens, lists, names) in costs.COUNTED.items():
        if command != "pip install numpy":
            assert f"look up {looks}  open {opens}  list {lists}" in record, command
        assert f"different names {names}" in record, command


def test_asking_once_is_never_dearer_than_asking_always() -> None:
    for latency in costs.LATENCY.values():
        once, every = costs.cost(costs.COUNTED["import torch"], latency)
        assert 0 < once < every
    assert costs.cost((1000, 0, 0, 1000), (1.0, 2.0)) == (1.0, 1.0)
