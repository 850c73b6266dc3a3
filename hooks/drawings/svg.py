"""A small tree of an SVG file, with the line and column of each element.

Document types are refused, and with them entities and everything they can do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from xml.parsers import expat
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMESPACE = "http://www.w3.org/2000/svg"


class SvgError(ValueError):
    """The text is no SVG that this project reads; `line` and `column` are 1-based."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


@dataclass(slots=True)
class Element:
    """An element as written, prefixes included."""

    name: str
    attributes: dict[str, str]
    line: int
    column: int
    children: list[Element | str] = field(default_factory=list)

    @property
    def elements(self) -> list[Element]:
        """The children that are elements."""
        return [child for child in self.children if isinstance(child, Element)]

    @property
    def text(self) -> str:
        """All text inside, without markup."""
        return "".join(c if isinstance(c, str) else c.text for c in self.children)

    def walk(self) -> Iterator[Element]:
        """This element and all inside it, in document order."""
        yield self
        for child in self.elements:
            yield from child.walk()


def parse(data: bytes) -> Element:
    """Return the root element; comments and processing instructions are left out.

    SvgError if the bytes are no XML, have a document type, or the root is not `svg` in the
    namespace of SVG.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    root: list[Element] = []
    stack: list[Element] = []

    def place() -> tuple[int, int]:
        return parser.CurrentLineNumber, parser.CurrentColumnNumber + 1

    def start(name: str, attributes: dict[str, str]) -> None:
        element = Element(name, attributes, *place())
        (stack[-1].children if stack else root).append(element)
        stack.append(element)

    def characters(text: str) -> None:
        if stack:
            stack[-1].children.append(text)

    def doctype(*_: object) -> None:
        raise SvgError("has a document type; remove the <!DOCTYPE …> line", *place())

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: stack.pop()
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        message = f"is not well-formed XML: {expat.ErrorString(error.code)}"
        raise SvgError(message, error.lineno, error.offset + 1) from error
    if root[0].name != "svg" or root[0].attributes.get("xmlns") != NAMESPACE:
        message = f'must have the root <svg xmlns="{NAMESPACE}">'
        raise SvgError(message, root[0].line, root[0].column)
    return root[0]


def serialise(element: Element) -> str:
    """Return the element as markup that XML and HTML both read."""
    attributes = "".join(
        f' {key}="{escape(text, {chr(34): "&quot;"})}"' for key, text in element.attributes.items()
    )
    inside = "".join(
        escape(child) if isinstance(child, str) else serialise(child) for child in element.children
    )
    if not inside:
        return f"<{element.name}{attributes}/>"
    return f"<{element.name}{attributes}>{inside}</{element.name}>"
