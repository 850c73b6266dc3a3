"""Read the block structure of a note as Python-Markdown does, keeping lines and columns.

Each `try_…` mirrors one block processor; they are tried in the order of their priorities.
Where CommonMark differs (lists need a blank line before them and four spaces below them, headings
need neither) the site's reading counts here; `hooks.commonmark` has GitHub's.
Sources: markdown/blockprocessors.py 3.11 and its extensions, pymdownx 13.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hooks.markdown import github_inline
from hooks.markdown.reader import containers, definitions, fences, lists, raw_html, tables
from hooks.markdown.reader.lines import (
    INDENT,
    MARK_OPEN,
    Line,
    chunks,
    cut,
    detab,
    loose_detab,
    strip,
)
from hooks.markdown.reader.nodes import Node

_HEADING = re.compile(r"(?P<level>#{1,6})(?P<text>(?:\\.|[^\\#]|#+(?=[^#]))*?)#*\Z")
_SETEXT = re.compile(r"(?:=+|-+) *\Z")
_RULE_CHARS = re.compile(r"[-_* ]+\Z")
_QUOTE = re.compile(r" {0,3}> ?")
_CALLOUT = re.compile(r" {0,3}> *\[!([\w-]+(?: *\| *[\w-]+)*)]([-+])?")
_MATH = (
    re.compile(r"\$\$(?:\\.|[^\\])+?\$\$ *\Z", re.DOTALL),
    re.compile(r"\\\[(?:\\[^\]]|[^\\])+?\\\] *\Z", re.DOTALL),
    re.compile(r"\\begin\{(?P<env>[a-z]+\*?)\}(?:\\.|[^\\])+?\\end\{(?P=env)\} *\Z", re.DOTALL),
)
_POSSIBLE = (
    ("heading", frozenset("#")),
    ("rule", frozenset("-_*")),
    ("terms", frozenset(":")),
    ("quote", frozenset(">")),
    ("bracket", frozenset("[")),
    ("star", frozenset("*")),
    ("!", frozenset("!")),
    ("?", frozenset("?")),
    ("=", frozenset("=")),
)
"""What a block may hold, by the characters that its lines begin with."""
_DEEPEST = 60
# Nesting below this is read as plain text: what nobody writes must not exhaust the stack.

Block = list[Line]


@dataclass(slots=True)
class Blocks:
    """Reads blocks into a tree; what belongs to no place in it is listed beside."""

    html: raw_html.Found
    taken: fences.Found
    definitions: list[definitions.Definition] = field(default_factory=list)
    footnotes: list[tuple[str, Line, Block]] = field(default_factory=list)
    """Label, place of the label, and content of each footnote, by definition."""
    states: list[str] = field(default_factory=list)
    depth: int = 0

    def read(self, parent: Node, lines: Block) -> None:
        """Read lines as the content of `parent`."""
        self.read_blocks(parent, chunks(lines))

    def read_blocks(self, parent: Node, blocks: list[Block]) -> None:
        """Read blocks, none of them empty, as the content of `parent`."""
        waiting = blocks[::-1]
        self.depth += 1
        while waiting:
            block = waiting.pop()
            if block and not block[0][0]:
                block = block[1:]
            if not block:
                continue
            if self.depth > _DEEPEST:
                parent.add("p", block)
            else:
                self._read_block(parent, block, waiting)
        self.depth -= 1

    def in_state(self, state: str, parent: Node, blocks: list[Block]) -> None:
        """Read blocks while `state` is the innermost one."""
        self.states.append(state)
        self.read_blocks(parent, blocks)
        self.states.pop()

    def is_in(self, state: str) -> bool:
        return bool(self.states) and self.states[-1] == state

    def _read_block(self, parent: Node, block: Block, waiting: list[Block]) -> None:
        """Read a block; what a processor leaves of it is read on at once.

        What cannot be in the block is not looked for again in its rest: a block of many thousand
        lines that yields one heading after the other would take quadratic time.
        """
        firsts = {line[0].lstrip(" ")[:1] for line in block}
        possible = {name for name, chars in _POSSIBLE if firsts & chars}
        while True:
            before = len(waiting)
            self._read_part(parent, block, waiting, possible)
            if len(waiting) != before + 1 or waiting[-1][-1] is not block[-1]:
                return
            block = waiting.pop()

    def _read_part(
        self, parent: Node, block: Block, waiting: list[Block], possible: set[str]
    ) -> None:
        first = block[0][0]
        if first.startswith(f"{MARK_OPEN}e") and self._try_element(parent, block, waiting):
            return
        if containers.try_container(self, parent, block, waiting, possible):
            return
        if first.startswith(INDENT):
            if lists.try_item_content(self, parent, block, ("li",), ("ul", "ol")):
                return
            if lists.try_item_content(self, parent, block, ("dd", "li"), ("dl", "ol", "ul")):
                return
            self._read_code(parent, block, waiting)
            return
        if first[:1] in ("$", "\\") and self._try_math(parent, block):
            return
        if "|" in first and len(block) > 1:
            cells = tables.cells(block)
            if cells is not None:
                table = parent.add("table")
                for tag, line in cells:
                    table.add(tag, [line])
                return
        if "heading" in possible:
            if self._try_heading(parent, block, waiting):
                return
            possible.discard("heading")
        if len(block) > 1 and self._try_setext(parent, block, waiting):
            return
        if "rule" in possible:
            if self._try_rule(parent, block, waiting):
                return
            possible.discard("rule")
        if lists.try_list(self, parent, block):
            return
        if "terms" in possible and lists.try_definition_list(self, parent, block, waiting):
            return
        if "quote" in possible:
            if self._try_quote(parent, block):
                return
            possible.discard("quote")
        if "bracket" in possible:
            if definitions.try_footnote(self, block, waiting):
                return
            if "star" in possible:
                if definitions.try_abbreviation(block, waiting):
                    return
                possible.discard("star")
            if definitions.try_references(self, block, waiting):
                return
            possible.discard("bracket")
        elif "star" in possible:
            if definitions.try_abbreviation(block, waiting):
                return
            possible.discard("star")
        self._read_paragraph(parent, block)

    def _read_paragraph(self, parent: Node, block: Block) -> None:
        if not self.is_in("list"):
            parent.add("p", block)
        elif parent.last is not None:
            parent.last.tail.extend(block)
        else:
            parent.text.extend(block)

    def _try_element(self, parent: Node, block: Block, waiting: list[Block]) -> bool:
        mark = raw_html.MARK.match(block[0][0])
        if mark is None or mark["kind"] != "e":
            return False
        element = self.html.elements[int(mark["number"])]
        node = parent.add(element.tag if element.state != "off" else "pre")
        content = self.html.content(element)
        rest = [cut(block[0], mark.end())] if block[0][0][mark.end() :].strip() else []
        if block[1:] or rest:
            waiting.append([*rest, *block[1:]])
        if element.state == "block":
            self.read(node, content)
        else:
            if element.state == "off":
                self._keep_tags(content)
                self.html.raw.append([line for line in content if MARK_OPEN not in line[0]])
            # Span content is one run; child elements still stand in it as marks.
            node.text = [line for line in content if not line[0].startswith(MARK_OPEN)]
            for line in content:
                if line[0].startswith(MARK_OPEN):
                    self._try_element(node, [line], [])
        return True

    def _keep_tags(self, content: Block) -> None:
        for line in content:
            if "<" in line[0]:
                for tag in github_inline.html_tags(line[0]):
                    place = cut(line, tag.offset)
                    self.html.tags.append((tag.name, tag.text, place, tag.is_empty))

    def _read_code(self, parent: Node, block: Block, waiting: list[Block]) -> None:
        _, rest = detab(fences.restore(self.taken, block))
        last = parent.last
        if last is None or last.tag != "pre":
            parent.add("pre")
        if rest:
            waiting.append(rest)

    def _try_math(self, parent: Node, block: Block) -> bool:
        text = "\n".join(line[0] for line in block)
        if any(pattern.match(text) for pattern in _MATH):
            parent.add("math")
            return True
        return False

    def _try_heading(self, parent: Node, block: Block, waiting: list[Block]) -> bool:
        for index, line in enumerate(block):
            match = _HEADING.match(line[0]) if line[0].startswith("#") else None
            if match is None:
                continue
            if index:
                self.read_blocks(parent, [block[:index]])
            text = strip((match["text"], line[1], line[2] + match.start("text")))
            parent.add(f"h{len(match['level'])}", [text])
            rest = block[index + 1 :]
            if rest:
                waiting.append(loose_detab(rest) if self.is_in("looselist") else rest)
            return True
        return False

    def _try_setext(self, parent: Node, block: Block, waiting: list[Block]) -> bool:
        if not _SETEXT.match(block[1][0]):
            return False
        parent.add("h1" if block[1][0].startswith("=") else "h2", [strip(block[0])])
        if block[2:]:
            waiting.append(block[2:])
        return True

    def _try_rule(self, parent: Node, block: Block, waiting: list[Block]) -> bool:
        for index, line in enumerate(block):
            if _RULE_CHARS.match(line[0]) and _is_rule(line[0]):
                if index:
                    self.read_blocks(parent, [block[:index]])
                parent.add("hr")
                if block[index + 1 :]:
                    waiting.append(block[index + 1 :])
                return True
        return False

    def _try_quote(self, parent: Node, block: Block) -> bool:
        index = next((n for n, line in enumerate(block) if _QUOTE.match(line[0])), -1)
        if index < 0:
            return False
        if index:
            self.read_blocks(parent, [block[:index]])
        lines = block[index:]
        content = [_unquote(line) for line in lines]
        first = next((n for n, line in enumerate(lines) if line[0].strip() != ">"), 0)
        callout = _CALLOUT.match(lines[first][0])
        if callout:
            title = strip(cut(lines[first], callout.end()))
            content[first : first + 1] = [title, ("", title[1], 0)]
        self.in_state("blockquote", parent.add("blockquote"), chunks(content))
        return True


def _is_rule(text: str) -> bool:
    """Tell whether a line of `-`, `_`, `*` and blanks is a horizontal rule.

    Three marks of one kind, at most two blanks after each: judged without the nested repetition
    of the library's pattern, which takes long on long lines.
    """
    body = text.strip(" ")
    if len(text) - len(text.lstrip(" ")) > 3 or len(set(body) - {" "}) != 1:
        return False
    return len(body) - body.count(" ") >= 3 and "   " not in body


def _unquote(line: Line) -> Line:
    if line[0].strip() == ">":
        return ("", line[1], line[2])
    match = _QUOTE.match(line[0])
    rest = cut(line, match.end()) if match else line
    return rest if rest[0].strip() else ("", line[1], line[2])
