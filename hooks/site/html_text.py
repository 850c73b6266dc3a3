"""Parts of pages that are HTML, as Markdown: tables, lists, paragraphs, formulas, text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

Address = Callable[[str], str]
"""Turns an address as the page has it into that for the Markdown."""

_SKIPPED = frozenset(
    ("script", "style", "svg", "button", "input", "select", "label", "template", "head")
)
_CLASSES = frozenset(("calc__app", "headerlink", "facts__ref", "resources__filter", "practice"))
"""What is of use on a page only: forms, marks that a style sheet makes visible."""
_BLOCKS = frozenset(
    "address article aside blockquote body details div dl dd dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table ul".split()
)
_STRONG = ("dt", "figcaption", "summary", "h1", "h2", "h3", "h4", "h5", "h6")
# All runs of blanks but that of one space, which stays: texts are full of those.
_SPACE = re.compile(r" [ \t\r\n]+|[\t\r\n][ \t\r\n]*")
_SPECIAL = re.compile(r"([\\`*\[\]<>]|(?<!\w)_|_(?!\w))")


def to_markdown(html: str, address: Address) -> str:
    """Return a fragment of HTML as Markdown without a tag."""
    body = LexborHTMLParser(html).body
    return "\n\n".join(_blocks(body, address)) if body is not None else ""


def _is_left_out(node: LexborNode) -> bool:
    if node.tag in _SKIPPED:
        return True
    classes = (node.attributes.get("class") or "").split()
    return not _CLASSES.isdisjoint(classes)


def _blocks(parent: LexborNode, address: Address) -> Iterator[str]:
    """Yield the blocks below a node; text between them is a paragraph."""
    run: list[LexborNode] = []
    for child in parent.iter(include_text=True):
        if child.tag == "svg":
            described = child.css_first("desc")
            if described is not None:
                yield _SPACE.sub(" ", described.text()).strip()
        if child.tag not in _BLOCKS:
            run.append(child)
            continue
        if text := _line(run, address):
            yield text
        run = []
        if not _is_left_out(child):
            yield from _block(child, address)
    if text := _line(run, address):
        yield text


def _block(node: LexborNode, address: Address) -> Iterator[str]:
    tag = node.tag or ""
    if tag == "table":
        yield from _table(node, address)
    elif tag in ("ul", "ol"):
        if items := list(_items(node, address)):
            yield "\n".join(items)
    elif tag == "dl":
        yield "\n".join(_definitions(node, address))
    elif tag == "pre":
        code = node.text().strip("\n")
        fence = "````" if "```" in code else "```"
        yield f"{fence}text\n{code}\n{fence}"
    elif tag in _STRONG or "calc__head" in (node.attributes.get("class") or ""):
        if text := _line(list(node.iter(include_text=True)), address):
            yield text if text.startswith("**") else f"**{text}**"
    elif "arithmatex" in (node.attributes.get("class") or ""):
        yield _formula(node.text(), "$$")
    else:
        yield from _blocks(node, address)


def _items(node: LexborNode, address: Address) -> Iterator[str]:
    for number, item in enumerate(node.iter(), 1):
        mark = f"{number}. " if node.tag == "ol" else "- "
        blocks = list(_blocks(item, address))
        if blocks:
            text = "\n".join(blocks)
            yield mark + text.replace("\n", f"\n{' ' * len(mark)}")


def _definitions(node: LexborNode, address: Address) -> Iterator[str]:
    name = ""
    for item in node.css("dt, dd"):
        text = " ".join(_blocks(item, address))
        if item.tag == "dt":
            name = text
        else:
            yield f"- **{name}**: {text}"


def _table(node: LexborNode, address: Address) -> Iterator[str]:
    caption = node.css_first("caption")
    if caption is not None and (title := _line([caption], address)):
        yield f"**{title}**"
    rows = [
        [_cell(cell, address) for cell in row.iter() if cell.tag in ("th", "td")]
        for row in node.css("tr")
    ]
    rows = [row for row in rows if row]
    if not rows:
        return
    width = max(len(row) for row in rows)
    lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
    yield "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])


def _cell(cell: LexborNode, address: Address) -> str:
    text = " · ".join(_blocks(cell, address)) or _line([cell], address)
    text = re.sub(r"(?: · )?\n?- (?=\[)", " · ", text)
    return text.replace("\n", " ").replace("|", "\\|")


def _line(nodes: list[LexborNode], address: Address) -> str:
    return _SPACE.sub(" ", "".join(_inline(node, address) for node in nodes)).strip()


def _inline(node: LexborNode, address: Address) -> str:
    tag = node.tag or ""
    if tag == "-text":
        return _SPECIAL.sub(r"\\\1", node.text())
    if tag.startswith("-") or tag == "_comment" or _is_left_out(node):
        return ""
    if tag == "br":
        return " "
    if tag == "code":
        return f"`{node.text()}`" if "`" not in node.text() else f"`` {node.text()} ``"
    if tag == "img":
        return f"![{node.attributes.get('alt') or ''}]({address(node.attributes.get('src') or '')})"
    classes = (node.attributes.get("class") or "").split()
    if "arithmatex" in classes:
        return _formula(node.text(), "$")
    inner = "".join(_inline(child, address) for child in node.iter(include_text=True))
    if tag in ("b", "strong") and inner.strip():
        return f"**{inner.strip()}**"
    if tag == "a" and inner.strip() and "facts__value" not in classes:
        href = node.attributes.get("href") or ""
        return f"[{inner.strip()}]({address(href)})" if href else inner
    return f"{inner} " if tag in _BLOCKS else inner


def _formula(text: str, mark: str) -> str:
    text = text.strip()
    for opening, closing in (("\\[", "\\]"), ("\\(", "\\)"), ("$$", "$$")):
        if text.startswith(opening) and text.endswith(closing):
            text = text[len(opening) : -len(closing)].strip()
    return f"{mark}{text}{mark}"
