"""Collect the external addresses of notes and data files, each with its places.

Links, definitions, autolinks and raw HTML come from the catalogue's parse. Addresses that stand
bare in the text (as in most footnotes) are looked for here, because Markdown knows no such links.
"""

from __future__ import annotations

import html
import ipaddress
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.admon import admon_plugin

from hooks.data import Layout
from hooks.links.external.records import Place, Use
from hooks.markdown import LinkKind, front_matter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from hooks.notes import Catalogue, Note

_BARE = re.compile(
    r"""(?<![A-Za-z0-9])https?://
    (?:\[[0-9A-Fa-f:.]+\]|[^\W_][\w.-]*)      # host
    (?::\d+)?
    (?:[/?\#][^\s<>"`|\\\[\]{}^
        \u2000-\u206f\u3000-\u303f\uff00-\uff65\uffe0-\uffef]*)?""",
    re.VERBOSE,
)
_HOST = re.compile(r"https?://(?:\[[^\]]*\]|[A-Za-z0-9._-]+)")
# Han, kana and Hangul belong to an address behind a separator (`/wiki/显存`), else to the sentence
# that goes on behind it (`https://host/page的说明`).
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]+")
_TRAILING = "?!.,:;*_~'"
_CODE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)*?(?<!`)(?P=ticks)(?!`)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_LINK_TEXT = re.compile(r"\[[^\[\]\n]*\](?=[(\[])")
_ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9A-Fa-f]+|[A-Za-z][A-Za-z0-9]*);")
_CLICK = re.compile(r"^\s*click\s")
_RESERVED = ("localhost", "example", "invalid", "test", "local", "internal")
_RESERVED_NAMES = ("example.com", "example.org", "example.net")
_ATTRIBUTES = ("href", "src", "poster", "data", "cite", "action")


def collect(notes: Catalogue, docs: Path, root: Path, *, local: bool = False) -> list[Use]:
    """Return every external address of the notes and data below `docs`, sorted by address.

    Args:
        notes: The notes below `docs`.
        docs: The folder of notes; its `data/**/*.yml` are read too.
        root: The folder that places are relative to.
        local: Also return addresses of reserved names and private networks, which are else
            taken for examples.
    """
    uses: list[Use] = []
    for note in notes.notes.values():
        uses += note_uses(note)
    layout = Layout(docs)
    for path in sorted(layout.data.rglob("*.yml")):
        if path != layout.allowed:
            text = path.read_text(encoding="utf-8", errors="replace")
            uses += data_uses(text, path.relative_to(root).as_posix())
    return sorted({use for use in uses if local or not is_reserved(use.address)})


def is_reserved(address: str) -> bool:
    """Tell whether an address names nothing public: RFC 2606, RFC 6761, private networks."""
    try:
        host = (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return False
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        pass
    labels = host.split(".")
    return labels[-1] in _RESERVED or any(
        host == name or host.endswith(f".{name}") for name in _RESERVED_NAMES
    )


def bare_addresses(text: str) -> Iterator[tuple[int, str]]:
    """Yield (offset, address) for each address that stands in a text without any markup.

    An address ends at a blank, at full-width or other CJK punctuation, at Han behind a letter or
    digit, and before marks that end a sentence; brackets belong to it when they are balanced.
    """
    for match in _BARE.finditer(text):
        address = match.group(0)
        host = _HOST.match(address)
        if host is None:
            continue
        rest = address[host.end() :]
        if rest and rest[0] not in "/?#:":
            rest = ""  # Han right behind the host: the sentence goes on
        for wide in _WIDE.finditer(rest):
            before = rest[: wide.start()]
            if before[-1:].isascii() and before[-1:].isalnum():
                rest = before
                break
        address = _without_trailing(host.group(0) + rest)
        if address:
            yield match.start(), address


def _without_trailing(address: str) -> str:
    while address:
        if address[-1] in _TRAILING or (
            address[-1] == ")" and address.count(")") > address.count("(")
        ):
            address = address[:-1]
        else:
            break
    return address


def external(target: str) -> str:
    """Return a link target as an address, or an empty string when it leads to no other site."""
    target = target.strip()
    if target.startswith("//"):
        return f"https:{target}"
    return target if re.match(r"(?i)https?://", target) else ""


def _plain(address: str) -> str:
    """Resolve entities as CommonMark does: only with a semicolon, so that `&copy=1` stays."""
    return _ENTITY.sub(lambda match: html.unescape(match.group(0)), address)


def note_uses(note: Note) -> list[Use]:
    """Return the external addresses of a note, as often as they stand there."""
    uses = []
    taken = set()
    for link in (*note.source.links, *note.source.definitions):
        taken.add((link.line, link.column))
        if link.kind is not LinkKind.REFERENCE and (address := external(link.target)):
            uses.append(Use(_plain(address), Place(note.file, link.line, link.column)))
    for tag in note.source.tags:
        place = Place(note.file, tag.line, tag.column)
        targets = map(external, _tag_targets(tag.attributes))
        uses += [Use(address, place) for address in targets if address]
    for line, column, address in _bare_in_note(note):
        if (line, column) not in taken:
            uses.append(Use(_plain(address), Place(note.file, line, column)))
    for fence in note.source.fences:
        if fence.info.split(" ")[0] == "mermaid":
            for number, text in enumerate(fence.text.split("\n"), start=fence.line):
                if _CLICK.match(text):
                    for offset, address in bare_addresses(text):
                        uses.append(Use(address, Place(note.file, number, offset + 1)))
    return uses


def _tag_targets(attributes: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    for name, value in attributes:
        if value and name in _ATTRIBUTES:
            yield value
        elif value and name == "srcset":
            for part in value.split(","):
                yield part.strip().partition(" ")[0]


def _bare_in_note(note: Note) -> Iterator[tuple[int, int, str]]:
    body = front_matter.split(note.text).body
    lines = _prose(body)
    if body != note.text:  # the parse leaves the front matter blank; its fields are read too
        head = len(body) - len(body.lstrip("\n"))
        lines[:head] = note.text.split("\n")[:head]
    text = "\n".join(lines)
    for pattern in (_COMMENT, _CODE, _TAG, _LINK_TEXT):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)
    for number, line in enumerate(text.split("\n"), start=1):
        for offset, address in bare_addresses(line):
            yield number, offset + 1, address


def _prose(body: str) -> list[str]:
    """Return the lines of a note with those of code blocks emptied."""
    lines = body.split("\n")
    for token in _BLOCKS.parse(body):
        if token.map is None:
            continue
        start, end = token.map
        if token.type == "fence" or (token.type == "code_block" and not _in_note(lines, start)):
            lines[start:end] = [""] * (min(end, len(lines)) - start)
    return lines


def _in_note(lines: list[str], start: int) -> bool:
    """Tell whether an indented block continues a footnote, which CommonMark does not know."""
    before = next((line for line in reversed(lines[:start]) if line[:1].strip()), "")
    return before.startswith("[^")


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table").use(admon_plugin)
    parser.core.ruler.disable("inline")
    return parser


_BLOCKS = _parser()


def data_uses(text: str, file: str) -> list[Use]:
    """Return the external addresses in the values of a YAML text, comments left out.

    A text that is not YAML is searched as plain text: the facts check says what is wrong with it.
    """
    lines = text.split("\n")
    uses = []
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        for number, line in enumerate(lines, start=1):
            for offset, address in bare_addresses(line):
                uses.append(Use(address, Place(file, number, offset + 1)))
        return uses
    todo = [root] if root is not None else []
    seen = set()
    while todo:
        node = todo.pop()
        if id(node) in seen:  # an alias leads to a node a second time
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            todo += [part for pair in node.value for part in pair]
        elif isinstance(node, yaml.SequenceNode):
            todo += node.value
        else:
            found = _in_scalar(str(node.value))
            uses += [Use(address, _place(lines, node, address, file)) for address in found]
    return sorted(uses)


def _in_scalar(value: str) -> list[str]:
    value = value.strip()
    if re.fullmatch(r"https?://\S+", value) and not re.search(
        r"[\u3000-\u303f\uff00-\uff65]", value
    ):
        return [value]
    return [address for _, address in bare_addresses(value)]


def _place(lines: list[str], node: yaml.Node, address: str, file: str) -> Place:
    """Return where an address stands in the lines of a scalar; its start when it is folded."""
    first, last = node.start_mark.line, node.end_mark.line
    for number in range(first, min(last + 1, len(lines))):
        start = node.start_mark.column if number == first else 0
        column = lines[number].find(address, start)
        if column >= 0:
            return Place(file, number + 1, column + 1)
    return Place(file, first + 1, node.start_mark.column + 1)
