"""What is kept of earlier runs: made once, made again when anything it depends on has changed."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from hooks import cache
from hooks.cache import Cache, digest, of_files

_DAY = 86_400


def _asked(cache: Cache, made: list[object], step: str, key: object, stamp: str) -> Any:
    def make() -> object:
        made.append(key)
        return ["result", key]

    return cache.recall(step, key, make, stamp)


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
    made: list[object] = []
    first = _asked(Cache(tmp_path), made, "page", ("a", 1), "code")
    again = _asked(Cache(tmp_path), made, step, key, stamp)
    assert (len(made) == 1) is is_known
    assert again == ["result", key] and first == ["result", ("a", 1)]


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
    made: list[object] = []
    _asked(Cache(tmp_path), made, "page", "a", "code")
    (file,) = tmp_path.glob("page/*")
    file.write_bytes(file.read_bytes()[:-3] if damage is None else damage)
    assert _asked(Cache(tmp_path), made, "page", "a", "code") == ["result", "a"]
    assert _asked(Cache(tmp_path), made, "page", "a", "code") == ["result", "a"]
    assert len(made) == 2


def test_without_a_place_everything_is_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for one in (Cache(), Cache(tmp_path / "file")):
        made: list[object] = []
        assert _asked(one, made, "page", "a", "code") == ["result", "a"]
        assert _asked(one, made, "page", "a", "code") == ["result", "a"]
        assert len(made) == 2
        one.prune()


def test_what_nobody_asks_for_goes_after_thirty_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    kept = Cache(tmp_path)
    for age in (0, 20, 29, 31):
        _asked(kept, made, "page", age, "code")
        newest = max(tmp_path.glob("page/*"), key=lambda one: one.stat().st_mtime)
        os.utime(newest, (time.time() - age * _DAY,) * 2)
    _asked(kept, made, "page", 29, "code")  # asked for: it is of use again
    kept.prune()
    assert len(list(tmp_path.glob("page/*"))) == 3
    size = sum(one.stat().st_size for one in tmp_path.glob("page/*"))
    monkeypatch.setattr(cache, "_LARGEST", size - 1)
    kept.prune()
    made.clear()
    for age in (0, 29, 20):
        _asked(kept, made, "page", age, "code")
    assert made == [20], "the one that was used longest ago"


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
