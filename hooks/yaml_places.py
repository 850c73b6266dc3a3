"""Read YAML and remember where each key and value stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from hooks import yaml_loader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class YamlError(ValueError):
    """The text is not YAML; `line` and `column` are 1-based."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class WrittenFloat(float):
    """A number that keeps the digits it was written with: 25.000 is not 25.0 to a reader."""

    written: str

    def __str__(self) -> str:
        return self.written


class _Loader(yaml_loader.Fast):
    """The safe loader, with floats that remember their text."""


def _float(loader: _Loader, node: yaml.ScalarNode) -> float:
    value = WrittenFloat(loader.construct_yaml_float(node))
    value.written = str(node.value)
    return value


_Loader.add_constructor("tag:yaml.org,2002:float", _float)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text: its data, and the nodes that tell the places."""

    data: Any
    node: yaml.Node | None

    def place(self, path: Sequence[str | int]) -> tuple[int, int]:
        """Return line and column of the key or item that a path leads to, as far as it exists.

        Parts of the path that are no keys (as of a validator's own making) are skipped.
        """
        node, mark = self.node, self.node.start_mark if self.node else None
        for part in path:
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    if key.value == str(part):
                        node, mark = value, key.start_mark
                        break
            elif (
                isinstance(node, yaml.SequenceNode)
                and isinstance(part, int)
                and part < len(node.value)
            ):
                node = node.value[part]
                mark = node.start_mark
        return (mark.line + 1, mark.column + 1) if mark else (1, 1)

    def repeated_keys(self) -> Iterator[tuple[str, int, int]]:
        """Yield each key that stands twice in one mapping, with the place of the second."""
        todo = [self.node] if self.node else []
        while todo:
            node = todo.pop()
            if isinstance(node, yaml.MappingNode):
                seen: set[str] = set()
                for key, value in node.value:
                    if key.value in seen:
                        mark = key.start_mark
                        yield str(key.value), mark.line + 1, mark.column + 1
                    seen.add(key.value)
                    todo.append(value)
            elif isinstance(node, yaml.SequenceNode):
                todo.extend(node.value)


def read(text: str) -> Document:
    """Parse one YAML document.

    Raises:
        YamlError: The text is not YAML, or holds tags other than YAML's own.
    """
    try:
        node, data = yaml_loader.read(text, _Loader)
        return Document(data, node)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        raise YamlError(f"is not YAML: {problem}", line, column) from error
