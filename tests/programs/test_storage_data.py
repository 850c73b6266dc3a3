"""The programs of the notes on reading data and on striping: their parts against rules."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

from tools.figures.files import load_program

sharding, loader, striping = (
    load_program(f"storage/code/{name}.py") for name in ("sharding", "loader", "striping")
)


def test_every_shard_is_read_once_and_in_another_order_each_epoch() -> None:
    shards = list(range(37))
    epochs = []
    for epoch in (0, 1):
        shares = [sharding.share(shards, 3, epoch, place, 8) for place in range(8)]
        assert sorted(itertools.chain(*shares)) == shards
        epochs.append(shares)
    assert epochs[0] != epochs[1]


def test_a_shuffle_buffer_loses_nothing() -> None:
    for size in (1, 7, 5000):
        order = list(sharding.buffered(range(1000), size, random.Random(2)))
        assert sorted(order) == list(range(1000))
        assert size > 1 or order == list(range(1000))


def test_files_and_shards_hold_the_same_samples(tmp_path: Path) -> None:
    loader.make(tmp_path, samples=20)
    files = sorted((tmp_path / "files").rglob("*.bin"))
    shards = sorted((tmp_path / "shards").glob("*.tar"))
    loader.drop(files)
    assert len(files) == 20
    assert list(loader.samples(files)) == list(loader.samples(shards))


def test_a_file_has_the_rate_of_its_slowest_target_times_its_stripes() -> None:
    assert striping.bandwidth([3.0] * 4) == 12.0
    assert striping.bandwidth([3.0] * 3 + [0.75]) == 3.0
    assert striping.bandwidth([3.0] * 100) == striping.NETWORK


def test_the_share_of_slowed_files_is_the_chance_to_draw_a_slow_target() -> None:
    slowed = sum(got < 24 for got in striping.one_file(8, 2)) / striping.DRAWS
    chance = 1 - (120 * 119) / (128 * 127)
    assert abs(slowed - chance) < 0.02


def test_many_clients_over_all_targets_get_all_of_them() -> None:
    assert abs(striping.many_clients(256, 128) - 384) < 1e-6
    assert striping.many_clients(256, 1) < striping.many_clients(256, 64)
