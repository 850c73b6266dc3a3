"""Every address that a note names, wherever it stands, with the place of the address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from hooks.findings import Fast
from hooks.markdown import HtmlTag, LinkKind, Source, html_tags

_LOADED = {
    "a": ("href",),
    "area": ("href",),
    "img": ("src", "srcset"),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "track": ("src",),
    "iframe": ("src",),
    "embed": ("src",),
    "object": ("data",),
    "image": ("href", "xlink:href"),
    "input": ("src",),
}
_LINKS = frozenset({"a", "area", "iframe", "object", "embed"})
_CLICK = re.compile(
    r"^[ \t]*(?:click[ \t]+[^\s\"]+[ \t]+(?:href[ \t]+)?|link[ \t]+[^\s\":]+[ \t]+)"
    r"\"(?P<target>[^\"]+)\"",
    re.MULTILINE,
)
_BLANKS = " \t\n\r\f"
"""What browsers take off the ends of an address."""
_SCHEMED = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_PATH_IN_FIELD = re.compile(
    r"(?:\.{0,2}/)?[^\s:*?\"<>|{}\[\]()]+"
    r"\.(?:md|html?|png|jpe?g|gif|svg|webp|avif|pdf|mp4|webm|zip)(?:#\S*)?\Z",
    re.IGNORECASE,
)
_LINK_IN_FIELD = re.compile(r"\]\((?P<target>[^()\s]+)\)")


class Use(NamedTuple):
    """An address as a note names it."""

    target: str
    line: int
    column: int
    text: str = ""
    """The words of the link, or what stands in their place."""
    is_image: bool = False
    """Shown as part of the page: an image, a film, its poster."""
    where: str = ""
    """`field` for front matter, `diagram` for mermaid, `html` for a tag; empty for Markdown."""
    has_spaces: bool = False


def of_source(source: Source) -> Iterator[Use]:
    """Yield the addresses of the Markdown and of its HTML, code left out."""
    for link in source.links:
        if link.kind is not LinkKind.REFERENCE:
            is_image = link.kind is LinkKind.IMAGE
            yield Use(link.target, link.line, link.column, link.text, is_image, "", link.has_spaces)
    images = {link.target.casefold() for link in source.links if link.is_image}
    for link in source.definitions:
        yield Use(link.target, link.line, link.column, f"[{link.text}]", link.text in images)
    for tag in source.tags:
        yield from of_tag(tag)


def of_text(source: Source, text: str) -> Iterator[Use]:
    """Yield the addresses of Markdown, HTML and diagrams.

    Args:
        source: The parsed text.
        text: The text itself, for the columns in diagrams.
    """
    yield from of_source(source)
    if any(fence.info.startswith(("mermaid", "{")) for fence in source.fences):
        yield from of_diagrams(source, text.split("\n"))


def of_tag(tag: HtmlTag) -> Iterator[Use]:
    """Yield the addresses that a tag names."""
    for name in _LOADED.get(tag.name, ()):
        value = tag.get(name)
        if value is None:
            continue
        line, column = html_tags.place_of(tag, name)
        addresses = html_tags.srcset(value) if name == "srcset" else [value.strip(_BLANKS)]
        for address in addresses:
            yield Use(address, line, column, tag.name, tag.name not in _LINKS, "html")


def of_diagrams(source: Source, lines: list[str]) -> Iterator[Use]:
    """Yield the addresses of `click` lines in mermaid fences.

    Args:
        source: The parsed text.
        lines: The lines of the file, for the columns.
    """
    for fence in source.fences:
        if fence.info.split(maxsplit=1)[:1] not in (["mermaid"], ["{.mermaid"], ["{mermaid}"]):
            continue
        for match in _CLICK.finditer(fence.text):
            target = match["target"]
            number = fence.line + fence.text.count("\n", 0, match.start("target"))
            raw = lines[number - 1] if number <= len(lines) else ""
            yield Use(target, number, max(raw.find(f'"{target}"'), 0) + 2, "", False, "diagram")


def of_fields(yaml_text: str | None) -> Iterator[Use]:
    """Yield what front matter names: whole values that are paths, and Markdown links in values."""
    if not yaml_text or not re.search(r"\.\w{2,4}\b|\]\(", yaml_text):
        return
    try:
        node = yaml.compose(yaml_text, Loader=Fast)
    except (yaml.YAMLError, ValueError, RecursionError):
        return  # the front matter itself is reported elsewhere
    if node is not None:
        yield from _of_node(node)


def _of_node(root: yaml.Node) -> Iterator[Use]:
    stack = [root]
    seen = 0
    while stack and seen < 10_000:  # anchors and aliases can make a tree endless
        seen += 1
        node = stack.pop()
        if isinstance(node, yaml.MappingNode):
            stack.extend(value for _, value in node.value)
        elif isinstance(node, yaml.SequenceNode):
            stack.extend(node.value)
        elif isinstance(node, yaml.ScalarNode):
            # +2: marks are 0-based, and the opening `---` is a line of its own.
            line = node.start_mark.line + 2
            column = node.start_mark.column + 1 + (node.style in ("'", '"'))
            if _PATH_IN_FIELD.match(node.value) and not _SCHEMED.match(node.value):
                yield Use(node.value, line, column, where="field")
            for match in _LINK_IN_FIELD.finditer(node.value):
                yield Use(match["target"], line, column + match.start("target"), where="field")
