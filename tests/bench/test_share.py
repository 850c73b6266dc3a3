"""What the benchmark counts as a check: not what the pages need as well."""

from __future__ import annotations

import pytest

from bench import share


class Shop:
    """Makes a thing when it is asked for the first time; making takes ten seconds."""

    def __init__(self, clock: list[float]) -> None:
        self.clock = clock
        self.made: set[str] = set()

    def ask(self, what: str) -> None:
        if what not in self.made:
            self.make(what)

    def make(self, what: str) -> None:
        self.clock[0] += 10
        self.made.add(what)


@pytest.mark.parametrize(
    ("checked", "shown", "check", "shared"),
    [
        ([], ["a"], 1, 0),
        (["a"], [], 11, 0),
        (["a"], ["a"], 1, 10),
        (["a", "a", "b"], ["a", "c", "a"], 11, 10),
        (["a", "b"], ["b", "a"], 1, 20),
    ],
)
def test_work_for_pages_is_not_a_check_s(
    monkeypatch: pytest.MonkeyPatch,
    checked: list[str],
    shown: list[str],
    check: float,
    shared: float,
) -> None:
    clock = [100.0]
    monkeypatch.setattr(share, "_clock", lambda: clock[0])
    watch = share.Watch()
    monkeypatch.setattr(Shop, "ask", watch.asking(Shop.ask))
    monkeypatch.setattr(Shop, "make", watch.making(Shop.make))
    shop = Shop(clock)

    def one_check() -> None:
        clock[0] += 1
        for what in checked:
            shop.ask(what)

    watch.timed(one_check)()
    for what in shown:
        shop.ask(what)
    assert watch.settle() == shared
    assert watch.spent == {"one_check": check}
