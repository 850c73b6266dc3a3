"""Build this handbook and tell how much of the time its checks take.

Run in a process of its own: `python -m bench.share SITE_DIR` prints a line of JSON with the
processor time of the building process, that of the checks in it, and that of the process which
parses diagrams beside it. What the build waits for that process counts as the checks' time.
"""

from __future__ import annotations

import functools
import json
import logging
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, ClassVar

from hooks import handbook
from hooks.data import load
from hooks.links import assets, digest, safety
from hooks.links import check as source_check
from hooks.notes import catalogue, navigation, twins
from hooks.pages import fences
from hooks.pages.values import values
from hooks.site import check

CHECKS = (
    (digest, "of_all"),
    (source_check, "check_sources"),
    (twins, "check_pairs"),
    (navigation, "check_navigation"),
    (assets, "orphans"),
    (handbook, "_check_data"),
    (check, "check_site"),
    (safety, "check_rendered"),
)
"""What a build could leave out: reading the notes, the data and the navigation is not among it,
since pages are made from them."""
READING = ((catalogue, "load"), (load, "load_facts"), (navigation, "read_navigation"))
"""What pages are made from, for comparison. Reading the data compares its equations, too."""


SHARED = (
    (fences.DataFences, "_rendered", "_render"),
    (fences.DataFences, "_chart", "_read_chart"),
    (values.Resolver, "resolve", "_resolve"),
)
"""Where a check and the pages share work: what asks, and what makes what is not there yet. What a
check has made counts as the pages' where a page asks for it too; else it is the check's."""


def _clock() -> float:
    """Return the processor time of this process."""
    return time.process_time()


def _beside() -> float:
    """Return the processor time of the processes that this one has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Pool(ThreadPoolExecutor):
    """Adds up how long anybody waits for what runs beside the checks, and what that takes."""

    waited_s: ClassVar[float] = 0.0
    cpu_s: ClassVar[float] = 0.0

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run the function beside; its result is waited for with a clock in hand."""
        before = _beside()
        future = super().submit(function, *arguments, **named)
        result = future.result

        def timed(timeout: float | None = None) -> Any:
            start = time.perf_counter()
            try:
                return result(timeout)
            finally:
                _Pool.waited_s += time.perf_counter() - start
                _Pool.cpu_s += _beside() - before

        future.result = timed  # type: ignore[method-assign]
        return future


@dataclass
class Watch:
    """Adds up the processor time of functions."""

    spent: dict[str, float] = field(default_factory=dict)
    """Seconds of each check, without what it has made for the pages too."""
    made: dict[str, tuple[str, float]] = field(default_factory=dict)
    """The check that made a shared thing, and the seconds it took."""
    taken: set[str] = field(default_factory=set)
    """Shared things that pages have asked for."""
    running: list[str] = field(default_factory=list)

    def add(self, name: str, seconds: float) -> None:
        """Count seconds for a check."""
        self.spent[name] = self.spent.get(name, 0.0) + seconds

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with its time added up under its name."""
        name = function.__name__

        @functools.wraps(function)
        def wrapper(*arguments: Any, **named: Any) -> Any:
            start = _clock()
            self.running.append(name)
            try:
                return function(*arguments, **named)
            finally:
                self.running.pop()
                self.add(name, _clock() - start)

        return wrapper

    def apart(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, whose time is taken off the check that first asks for it."""

        @functools.wraps(function)
        def wrapper(*arguments: Any, **named: Any) -> Any:
            start = _clock()
            try:
                return function(*arguments, **named)
            finally:
                if self.running:
                    self.add(self.running[-1], start - _clock())

        return wrapper

    def asking(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method, which notes what pages ask for."""

        @functools.wraps(function)
        def wrapper(one: Any, *arguments: Any) -> Any:
            if not self.running:
                self.taken.add(repr(arguments))
            return function(one, *arguments)

        return wrapper

    def making(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the method, whose time is taken off the check that it runs in."""

        @functools.wraps(function)
        def wrapper(one: Any, *arguments: Any) -> Any:
            start = _clock()
            try:
                return function(one, *arguments)
            finally:
                if self.running:
                    spent = _clock() - start
                    self.made[repr(arguments)] = (self.running[-1], spent)
                    self.add(self.running[-1], -spent)

        return wrapper

    def settle(self) -> float:
        """Give checks back what no page has asked for; return the seconds that were shared."""
        for key in self.made.keys() - self.taken:
            self.add(*self.made.pop(key))
        return sum(spent for _, spent in self.made.values())


def main(site_dir: str) -> None:
    """Build, and print what was measured."""
    watch = Watch()
    for module, name in CHECKS:
        setattr(module, name, watch.timed(getattr(module, name)))
    reading = Watch()
    for module, name in READING:
        setattr(module, name, watch.apart(reading.timed(getattr(module, name))))
    for owner, asks, makes in SHARED:
        setattr(owner, asks, watch.asking(getattr(owner, asks)))
        setattr(owner, makes, watch.making(getattr(owner, makes)))
    handbook.ThreadPoolExecutor = _Pool  # type: ignore[attr-defined]
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    logging.disable(logging.CRITICAL)
    start = _clock()
    config = load_config("mkdocs.yml", site_dir=site_dir)
    config.plugins.on_startup(command="build", dirty=False)
    build(config)
    whole = _clock() - start + _Pool.waited_s
    shared = watch.settle()
    found = {
        "build_s": round(whole, 3),
        "shared_s": round(shared, 3),
        "checks_s": round(sum(watch.spent.values()) + _Pool.waited_s, 3),
        "waited_s": round(_Pool.waited_s, 3),
        "beside_cpu_s": round(_Pool.cpu_s, 3),
        "parts": {name: round(spent, 3) for name, spent in sorted(watch.spent.items())},
        "reading": {name: round(spent, 3) for name, spent in sorted(reading.spent.items())},
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
