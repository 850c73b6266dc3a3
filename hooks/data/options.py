"""What the fences that show data have in common: their options, and how they fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import yaml

from hooks.findings import Fast, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

T = TypeVar("T")


class BlockError(ValueError):
    """A fence asks for what is not there; the message offers the nearest name."""


def read_options(text: str, known: tuple[str, ...], block: str) -> dict[str, Any]:
    """Return the fields of a fence; BlockError if it is no YAML mapping or has an unknown field."""
    try:
        options = yaml.load(text, Loader=Fast)
    except (yaml.YAMLError, ValueError) as error:
        problem = getattr(error, "problem", None) or str(error)
        raise BlockError(f"the {block} block is not YAML: {problem}") from error
    if not isinstance(options, dict):
        raise BlockError(f"a {block} block holds lines such as '{known[0]}: NAME'")
    pick([str(key) for key in options], dict.fromkeys(known), f"field of a {block} block")
    return options


def names(options: Mapping[str, Any], key: str) -> list[str] | None:
    """Return an optional list of names; BlockError if it is not a list, or empty."""
    chosen = options.get(key)
    if chosen is None:
        return None
    if not isinstance(chosen, list) or not chosen:
        raise BlockError(f"'{key}' must be a list such as [first, second]")
    return [str(name) for name in chosen]


def pick(chosen: Iterable[str] | None, known: Mapping[str, T], what: str) -> dict[str, T]:
    """Return the chosen entries in the order chosen, or all; BlockError if one is not known."""
    if chosen is None:
        return dict(known)
    picked = {}
    for name in chosen:
        if name not in known:
            hint = nearest(name, known)
            end = f"did you mean '{hint}'?" if hint else f"there are: {', '.join(known)}"
            raise BlockError(f"there is no {what} '{name}'; {end}")
        picked[name] = known[name]
    return picked
