"""What is kept of earlier runs: made once, made again when anything it depends on has changed."""

from __future__ import annotations

import itertools
import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hooks import cache
from hooks.cache import Cache, digest, of_files


@pytest.mark.parametrize(
    ("step", "key", "stamp", "is_known"),
    [
        ("page", ("a", 1), "code", True),
        ("page", ("a", 2), "code", False),
        ("page", ("a", "1"), "code", False),
        ("page", ("a1",), "code", False),
        ("page", ("a", 1), "other code", False),
        ("chart", ("a", 1), "code", False),
    ],
)
def test_a_result_is_found_by_its_step_key_and_stamp(
    tmp_path: Path, step: str, key: object, stamp: str, is_known: bool
) -> None:
    made = itertools.count()
    assert Cache(tmp_path).recall("page", ("a", 1), made.__next__, "code") == 0
    assert Cache(tmp_path).recall(step, key, made.__next__, stamp) == (0 if is_known else 1)


def _lengths(offset: int, key: tuple[str, int]) -> tuple[int, int]:
    return os.getpid() if key[1] % 7 else 0, len(key[0]) * key[1] + offset


@pytest.mark.parametrize("count", [0, 3, 40])
def test_many_results_come_in_order_and_only_what_is_missing_is_made(
    tmp_path: Path, count: int
) -> None:
    keys = [("note", number) for number in range(count)]
    known = Cache(tmp_path).recall_all("lengths", keys[::2], partial(_lengths, 5), "code")
    found = Cache(tmp_path).recall_all("lengths", keys, partial(_lengths, 5), "code")
    assert [one[1] for one in found] == [4 * number + 5 for number in range(count)]
    assert found[::2] == known
    assert len(list(tmp_path.glob("lengths/*"))) == count
    if count > 20 and (os.cpu_count() or 1) > 1:
        assert os.getpid() not in {one[0] for one in known}, "made in processes of their own"


def _fails(key: int) -> int:
    if key == 30:
        raise ValueError("bad note")
    return key


def test_an_error_is_the_callers_and_what_was_made_before_is_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="bad note"):
        Cache(tmp_path).recall_all("numbers", range(40), _fails, "code")
    assert list(tmp_path.glob("numbers/*"))


@pytest.mark.parametrize("damage", [b"", b"nothing of ours", None])
def test_what_is_not_whole_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    made, kept = itertools.count(), Cache(tmp_path)
    kept.recall("page", "a", made.__next__, "code")
    (file,) = tmp_path.glob("page/*")
    file.write_bytes(file.read_bytes()[:-3] if damage is None else damage)
    assert [kept.recall("page", "a", made.__next__, "code") for _ in range(2)] == [1, 1]


def test_without_a_place_everything_is_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for one in (Cache(), Cache(tmp_path / "file")):
        made = itertools.count()
        assert [one.recall("page", "a", made.__next__, "code") for _ in range(2)] == [0, 1]
        one.prune()


def test_what_nobody_asks_for_goes_after_thirty_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Cache(tmp_path)

    def was_there(age: int) -> bool:
        return kept.recall("page", age, lambda: 0, "code") == -1

    for age in (0, 20, 29, 31):
        kept.recall("page", age, lambda: -1, "code")
        newest = max(tmp_path.glob("page/*"), key=lambda one: one.stat().st_mtime)
        os.utime(newest, (time.time() - age * 86_400,) * 2)
    assert was_there(29)  # asked for: it is of use again
    kept.prune()
    files = list(tmp_path.glob("page/*"))
    assert len(files) == 3
    monkeypatch.setattr(cache, "_LARGEST", sum(one.stat().st_size for one in files) - 1)
    kept.prune()
    assert [was_there(age) for age in (0, 29, 20)] == [True, True, False], "the oldest is gone"


@pytest.mark.parametrize(
    ("change", "is_same"),
    [
        (lambda root: None, True),
        (lambda root: (root / "a/__pycache__/x.pyc").write_text("other"), True),
        (lambda root: (root / "a/x.yml").write_text("other"), False),
        (lambda root: (root / "a/x.yml").rename(root / "a/y.yml"), False),
        (lambda root: (root / "a/new").touch(), False),
    ],
)
def test_a_stamp_of_files_tells_their_names_and_contents(
    tmp_path: Path, change: Any, is_same: bool
) -> None:
    (tmp_path / "a/__pycache__").mkdir(parents=True)
    for name in ("a/x.yml", "a/__pycache__/x.pyc", "b.yml"):
        (tmp_path / name).write_text(name)
    before = of_files([tmp_path / "a", tmp_path / "b.yml"], tmp_path)
    change(tmp_path)
    assert (of_files([tmp_path / "a", tmp_path / "b.yml"], tmp_path) == before) is is_same


def test_hashes_tell_where_parts_end_and_of_what_kind_they_are() -> None:
    parts: list[tuple[object, ...]] = [("ab", "c"), ("a", "bc"), ("abc",), (b"abc",), ("'abc'",)]
    parts += [("1",), (1,), (True,), (("a", "b"),), (["a", "b"],), ("a", "b"), ()]
    assert len({digest(*one) for one in parts}) == len(parts)
