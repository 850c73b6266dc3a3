"""Read YAML and hold it against a model: every mistake is a finding at its line and column.

Only YAML is read on the way of most checks: pydantic is loaded when a model is asked for.
"""

from __future__ import annotations

import datetime
import reprlib
from dataclasses import dataclass
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin

import yaml
from yaml.composer import Composer
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.resolver import Resolver

from hooks.findings.finding import Finding, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pydantic import ValidationError

    Fast = yaml.SafeLoader
elif yaml.__with_libyaml__:
    from yaml.cyaml import CParser

    class Fast(Composer, CParser, SafeConstructor, Resolver):
        """Scans in C, ten times as fast, and composes in Python.

        libyaml's own composer overflows C's stack: ten thousand brackets end the process there,
        and are a RecursionError here.
        """

        def __init__(self, stream: str) -> None:
            """Open a text."""
            CParser.__init__(self, stream)
            Composer.__init__(self)
            SafeConstructor.__init__(self)
            Resolver.__init__(self)

else:
    Fast = yaml.SafeLoader

T = TypeVar("T")
Path = tuple[str | int, ...]
"""The keys and numbers of items that lead to a value."""
_LINES = "must be 'field: value' lines"
_DETAILS = {"model_type": _LINES, "dict_type": _LINES, "list_type": "must be a list"}
"""By pydantic's type of error, where its own words speak of Python."""
_SHORT = reprlib.Repr()
"""Shows a wrong value, however long or deep, in a line."""
_SHORT.maxlevel, _SHORT.maxstring, _SHORT.maxother = 2, 80, 80


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


class _Loader(Fast):
    """The safe loader, with floats that remember their text and mistakes that have a place."""


def _float(loader: SafeConstructor, node: yaml.ScalarNode) -> float:
    value = WrittenFloat(loader.construct_yaml_float(node))
    value.written = str(node.value)
    return value


def _placed(construct: Callable[[Any, Any], object]) -> Callable[[Any, Any], object]:
    def placed(loader: SafeConstructor, node: yaml.ScalarNode) -> object:
        try:
            return construct(loader, node)
        except ValueError as error:  # as of the 40th of a 13th month
            raise ConstructorError(None, None, str(error), node.start_mark) from error

    return placed


for _tag, _construct in (
    ("float", _float),
    ("int", SafeConstructor.construct_yaml_int),
    ("timestamp", SafeConstructor.construct_yaml_timestamp),
):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _placed(_construct))


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed text: its data, and the nodes that tell the places."""

    data: Any
    node: yaml.Node | None
    file: str = ""
    """What findings call the file."""
    what: str = "the file"
    """What messages call the whole of it."""

    def place(self, path: Sequence[str | int], *, of_value: bool = False) -> tuple[int, int]:
        """Return line and column of the key or item that a path leads to, as far as it exists.

        Parts of the path that are no keys (as of a validator's own making) are skipped. With
        `of_value`, a text or number stands where it is written itself, not at its key.
        """
        node, mark = self.node, self.node.start_mark if self.node else None
        if steps := list(self._steps(path)):
            _, mark, node = steps[-1]
        if of_value and isinstance(node, yaml.ScalarNode) and _is_written(node):
            mark = node.start_mark
        return _line_column(mark)

    def _steps(self, path: Sequence[str | int]) -> Iterator[tuple[str | int, yaml.Mark, yaml.Node]]:
        """Yield each part of a path that exists: a key or the number of an item; place; value."""
        node = self.node
        for part in path:
            if isinstance(node, yaml.MappingNode):
                for key, value in node.value:
                    if key.value == str(part):
                        node = value
                        yield key.value, key.start_mark, value
                        break
            elif isinstance(node, yaml.SequenceNode) and part in range(len(node.value)):
                node = node.value[int(part)]
                yield part, node.start_mark, node

    def finding(
        self,
        rule: str,
        path: Path,
        message: str,
        target: str = "",
        hint: str = "",
        *,
        severity: str = "",
        of_value: bool = False,
    ) -> Finding:
        """Return a finding at the key or item that a path leads to, or at its value."""
        place = self.place(path, of_value=of_value)
        return Finding(self.file, *place, rule, message, target, hint, severity)

    def repeated_keys(self) -> Iterator[tuple[str, int, int]]:
        """Yield each key that stands twice in one mapping, with the place of the second."""
        todo = [self.node] if self.node else []
        known = set()  # an alias may lead back to where it stands
        while todo:
            node = todo.pop()
            if id(node) in known:
                continue
            known.add(id(node))
            if isinstance(node, yaml.MappingNode):
                seen: set[str] = set()
                for key, value in node.value:
                    if key.value in seen:
                        yield str(key.value), *_line_column(key.start_mark)
                    seen.add(key.value)
                    todo.append(value)
            elif isinstance(node, yaml.SequenceNode):
                todo.extend(node.value)

    def explain(
        self, error: ValidationError, kind: object, rule: str, at: Path = ()
    ) -> list[Finding]:
        """Return what a validator of `kind` says of the value at a path, a finding each."""
        items = error.errors(include_url=False)
        return [self._mistake(item, kind, rule, at) for item in items]

    def _mistake(self, item: Any, kind: object, rule: str, at: Path) -> Finding:
        path: Path = (*at, *item["loc"])
        # Parts that do not exist are a validator's own, but for the last of what is missing.
        there = [part for part, *_ in self._steps(path)]
        there += path[-1:] if item["type"] == "missing" else ()
        names = [part for part in there if isinstance(part, str)]
        name, where = (names or [""])[-1], ".".join(names[:-1])
        inside = f" in '{where}'" if where else ""
        if item["type"] == "extra_forbidden":
            known = _fields(kind, item["loc"][:-1])
            message = f"unknown field '{name}'{inside}; known fields: {', '.join(known)}"
            return self.finding(rule, path, message, name, nearest(name, known))
        if item["type"] == "missing":
            # What the whole file lacks stands nowhere: line 1.
            place = self.place(path) if path[1:] else (1, 1)
            return Finding(self.file, *place, rule, f"field '{name}' is missing{inside}", name)
        subject = f"'{name}'{inside}" if name else "an entry" if path else self.what
        detail = _DETAILS.get(item["type"]) or str(item["msg"]).removeprefix("Value error, ")
        colon = "" if detail.startswith("must ") else ":"
        message = f"{subject}{colon} {detail} (found {_SHORT.repr(item['input'])})"
        target = "" if isinstance(item["input"], list | dict) else str(item["input"])
        is_key = path[-1:] == ("[key]",)
        return self.finding(rule, path, message, target, of_value=not is_key)


def _is_written(node: yaml.ScalarNode) -> bool:
    """Tell whether there is anything to point at: `title:` alone has an empty value."""
    return bool(node.start_mark.index < node.end_mark.index)


def _line_column(mark: yaml.Mark | None) -> tuple[int, int]:
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _fields(kind: object, path: Sequence[str | int]) -> list[str]:
    """Return the names of the fields that a mapping may have, at a path into what `kind` is."""
    fields = getattr(kind, "model_fields", None)
    if fields is not None:
        known = {field.alias or name: field.annotation for name, field in fields.items()}
        if not path:
            return list(known)
        return _fields(known[str(path[0])], path[1:]) if str(path[0]) in known else []
    rest = path[1:] if get_origin(kind) in (list, tuple, dict) else path
    return next((found for one in get_args(kind)[::-1] if (found := _fields(one, rest))), [])


def read(text: str, file: str = "", what: str = "the file") -> Document:
    """Parse one YAML document; YamlError if it is none, or holds tags other than YAML's own."""
    try:
        node = yaml.compose(text, Loader=_Loader)
        # Merging keys (`<<`) changes the nodes: their places would be those of what is merged.
        again = yaml.compose(text, Loader=_Loader) if "<<" in text else node
        data = None if again is None else _Loader("").construct_document(again)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        problem = getattr(error, "problem", None) or str(error)
        place = _line_column(getattr(error, "problem_mark", None))
        raise YamlError(f"{what} is not YAML: {problem}", *place) from error
    return Document(data, node, file, what)


def load(
    text: str, file: str, rule: str, what: str = "the file"
) -> tuple[Document | None, list[Finding]]:
    """Parse one YAML document; return it, if it is one, and a finding for each repeated key."""
    try:
        document = read(text, file, what)
    except YamlError as error:
        return None, [Finding(file, error.line, error.column, rule, str(error))]
    return document, [
        Finding(file, line, column, rule, f"key '{key}' stands twice; keep one", key)
        for key, line, column in document.repeated_keys()
    ]


def validate(
    kind: type[T], document: Document, rule: str, at: Path = ()
) -> tuple[T | None, list[Finding]]:
    """Return the record of a type at a path of a document; or None, and every mistake in it."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_python(reduce(getitem, at, document.data)), []
    except ValidationError as error:
        return None, document.explain(error, kind, rule, at)


def load_model(
    kind: type[T], text: str, file: str, rule: str, what: str = "the file"
) -> tuple[T | None, list[Finding]]:
    """Return what a text holds, as a record of a type; or None, and every mistake in it."""
    document, findings = load(text, file, rule, what)
    if document is None:
        return None, findings
    record, mistakes = validate(kind, document, rule)
    return (None if findings else record), findings + mistakes


def past_day(value: object) -> datetime.date:
    """Return a date that is not in the future; ValueError of anything else, texts too."""
    # YAML reads `2026-11-21` as a date and `2026-11-21 10:00` as a time: refuse the latter.
    if isinstance(value, datetime.datetime) or not isinstance(value, datetime.date):
        raise ValueError("must be a date such as 2026-11-21, without quotes")
    # One day of grace: the author may be east of the machine that checks.
    if value > datetime.datetime.now(tz=datetime.UTC).date() + datetime.timedelta(days=1):
        raise ValueError(f"lies in the future: {value.isoformat()}")
    return value
