"""Redirects that lead nowhere, in circles, or from one to the next."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from hooks.findings import Finding, nearest


def follow(start: str, steps: Mapping[str, str]) -> tuple[list[str], bool]:
    """Return the way from an address along redirects, and whether it runs in a circle."""
    way = [start]
    seen = {start}
    while way[-1] in steps:
        following = steps[way[-1]]
        way.append(following)
        if following in seen:
            return way, True
        seen.add(following)
    return way, False


def check(redirects: tuple[Redirect, ...], notes: set[str], file: str) -> Iterator[Finding]:
    """Yield what is wrong with the redirects of a MkDocs configuration.

    Args:
        redirects: The redirects.
        notes: Paths of the notes below the docs folder.
        file: The configuration, as findings name it.
    """
    steps = {one.old: posixpath.normpath(one.new.partition("#")[0]) for one in redirects}
    for one in redirects:
        if one.new.startswith(("http://", "https://", "//")):
            continue
        way, is_loop = follow(one.old, steps)
        rule, message, hint = "", "", ""
        if is_loop:
            rule = "redirect-loop"
            message = f"the redirect of '{one.old}' runs in a circle: {' -> '.join(way[:8])}"
        elif len(way) > 2:
            rule, hint = "redirect-chain", way[-1]
            message = f"the redirect of '{one.old}' leads to another: {' -> '.join(way[:8])}"
        elif way[-1] not in notes:
            rule, hint = "redirect-dead", nearest(way[-1], notes)
            message = f"the redirect of '{one.old}' leads to '{way[-1]}', which does not exist"
        if rule:
            yield Finding(file, one.line, 1, rule, message, one.new, hint)


@dataclass(frozen=True, slots=True)
class Redirect:
    """A redirect of the configuration: two paths below the docs folder, and its line."""

    old: str
    new: str
    line: int
