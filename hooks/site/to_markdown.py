"""A page as Markdown, read off its HTML: nothing in it needs a script or a renderer.

Addresses of the site's own files are kept from its root (`ROOT`) until it is known where the
Markdown will lie (`placed`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

ROOT = "\ue000"
"""Stands before an address that begins at the site's root."""
_PLACED = re.compile(f"{ROOT}([^)\\s#]*)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#")
_SKIPPED = frozenset("script style svg button input select label template head hr".split())
_CLASSES = frozenset(
    "calc__app headerlink facts__ref footnote-backref resources__filter practice".split()
)
"""What is of use on a page only: forms, marks that a style sheet makes visible."""
_BLOCKS = frozenset(
    "address article aside blockquote body details div dl dd dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table ul".split()
)
_STRONG = frozenset("dt figcaption summary h1 h2 h3 h4 h5 h6 calc__head admonition-title".split())
"""Tags and classes of what stands in bold, on a line of its own."""
_SPACE = re.compile(r"[ \t\r\n]+")
_SPECIAL = re.compile(r"([\\`*\[\]]|<(?=[\w/!?])|(?<!\w)_|_(?!\w))")
_OPENING = re.compile(r"\A(\d*)([-+#>.)])(?=\s)")
"""What would make a list, a heading or a quotation of a paragraph."""
_FORMULA = re.compile(r"\s*(?:\\\[|\\\(|\$\$)?(.*?)(?:\\\]|\\\)|\$\$)?\s*", re.DOTALL)
_LANGUAGE = re.compile(r"language-(\S+)")


def markdown_of(page: str) -> str:
    """Return where the Markdown of a page lies, by the page's address."""
    return page.removesuffix(".html") + ".md" if page.endswith(".html") else page


def placed(text: str, folder: str) -> str:
    """Return a text with its addresses as they are from a folder of the site."""
    return _PLACED.sub(lambda one: _relative(one[1] or ".", folder or "."), text)


_relative = lru_cache(maxsize=1 << 16)(posixpath.relpath)  # the same few, thousands of times


def to_markdown(html: str, page: str) -> str:
    """Return the content of a page, whose address in the site is given, as Markdown."""
    body = LexborHTMLParser(html).body
    return "\n\n".join(_Writer(posixpath.dirname(page)).blocks(body)) + "\n" if body else "\n"


def _classes(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split()


def _indented(text: str, mark: str) -> str:
    """Return a text below a mark: its first line after it, the others as far to the right."""
    return mark + re.sub(r"\n(?=.)", f"\n{' ' * len(mark)}", text)


def _fence(code: str, language: str = "text") -> str:
    code = code.strip("\n")
    mark = "````" if "```" in code else "```"
    return f"{mark}{language}\n{code}\n{mark}"


def _formula(text: str, mark: str) -> str:
    match = _FORMULA.fullmatch(text)
    return f"{mark}{match[1].strip() if match else text}{mark}"


class _Writer:
    def __init__(self, folder: str) -> None:
        self.folder = folder

    def address(self, target: str) -> str:
        if not target or _SCHEME.match(target):
            return target
        path, mark, fragment = target.partition("#")
        path = posixpath.normpath(posixpath.join(self.folder, path))
        return f"{ROOT}{markdown_of(path)}{mark}{fragment}"

    def blocks(self, parent: LexborNode) -> Iterator[str]:
        """Yield the blocks below a node; text between them is a paragraph."""
        run: list[LexborNode] = []
        for child in [*parent.iter(include_text=True), None]:
            if child is not None and child.tag not in _BLOCKS and child.tag != "svg":
                run.append(child)
                continue
            if text := self.line(run):
                yield _OPENING.sub(r"\1\\\2", text)
            run = []
            if child is None:
                return
            if child.tag == "svg" and (said := child.css_first("desc")) is not None:
                yield _SPACE.sub(" ", said.text()).strip()
            if child.tag not in _SKIPPED and _CLASSES.isdisjoint(_classes(child)):
                yield from self.block(child)

    def block(self, node: LexborNode) -> Iterator[str]:
        tag, classes = node.tag or "", _classes(node)
        if "/slug" in (node.id or ""):
            return  # where Material will put the list of tags
        if tag == "table":
            yield from self.table(node)
        elif tag in ("ul", "ol"):
            yield "\n".join(self.items(node))
        elif tag == "dl":
            yield "\n".join(self.definitions(node))
        elif tag == "pre":
            yield _fence(node.text(), "mermaid" if "mermaid" in classes else "text")
        elif "highlight" in classes:
            if (title := node.css_first("span.filename")) is not None:
                yield f"`{title.text()}`:"
                title.decompose()
            language = _LANGUAGE.search(" ".join(classes))
            yield _fence(node.text(), language[1] if language else "text")
        elif tag in _STRONG or not _STRONG.isdisjoint(classes):
            if text := self.line(node.iter(include_text=True)):
                if node.id and tag[0] == "h":
                    yield f"{'#' * int(tag[1])} {text}"
                else:
                    yield text if text.startswith("**") else f"**{text}**"
        elif "arithmatex" in classes:
            yield _formula(node.text(), "$$")
        elif tag == "blockquote" or "admonition" in classes:
            yield "> " + "\n\n".join(self.blocks(node)).replace("\n", "\n> ").replace("> \n", ">\n")
        elif "footnote" in classes:
            yield "\n".join(map(self.footnote, node.css("li[id]")))
        else:
            yield from self.blocks(node)

    def footnote(self, node: LexborNode) -> str:
        text = "\n\n".join(self.blocks(node))
        return re.sub(r"\n(?=.)", "\n    ", f"[^{(node.id or '').removeprefix('fn:')}]: {text}")

    def items(self, node: LexborNode) -> Iterator[str]:
        for number, item in enumerate(node.iter(), int(node.attributes.get("start") or 1)):
            mark = f"{number}. " if node.tag == "ol" else "- "
            if "task-list-item" in _classes(item):
                mark += "[ ] "
            is_loose = item.css_first("pre, table") is not None
            if blocks := list(self.blocks(item)):
                yield _indented(("\n\n" if is_loose else "\n").join(blocks), mark)

    def definitions(self, node: LexborNode) -> Iterator[str]:
        name = ""
        for item in node.css("dt, dd"):
            text = " ".join(self.blocks(item))
            if item.tag == "dt":
                name = text
            else:
                yield f"- **{name}**: {text}"

    def table(self, node: LexborNode) -> Iterator[str]:
        caption = node.css_first("caption")
        if caption is not None and (title := self.line([caption])):
            yield f"**{title}**"
        cells = [[one for one in row.iter() if one.tag in ("th", "td")] for row in node.css("tr")]
        if not (cells := [row for row in cells if row]):
            return
        width = max(map(len, cells))
        rows = [[self.cell(one) for one in row] + [""] * (width - len(row)) for row in cells]
        is_right = ["right" in (one.attributes.get("style") or "") for one in cells[0]]
        ruler = ["---:" if right else "---" for right in is_right] + ["---"] * width
        yield "\n".join(f"| {' | '.join(row)} |" for row in (rows[0], ruler[:width], *rows[1:]))

    def cell(self, node: LexborNode) -> str:
        text = " · ".join(self.blocks(node))
        text = re.sub(r"(?: · )?\n?- (?=\[)", " · ", text)
        return text.replace("\n", " ").replace("|", "\\|")

    def line(self, nodes: Iterable[LexborNode]) -> str:
        return _SPACE.sub(" ", "".join(map(self.inline, nodes))).strip()

    def inline(self, node: LexborNode) -> str:
        if node.tag == "-text":
            return _SPECIAL.sub(r"\\\1", node.text())
        tag, attributes, classes = node.tag or "", node.attributes, _classes(node)
        if tag[:1] in "-_" or tag in _SKIPPED or not _CLASSES.isdisjoint(classes):
            return ""
        if tag == "br":
            return " "
        if tag == "code":
            return f"`{node.text()}`" if "`" not in node.text() else f"`` {node.text()} ``"
        if tag == "img":
            return f"![{attributes.get('alt') or ''}]({self.address(attributes.get('src') or '')})"
        if "arithmatex" in classes:
            return _formula(node.text(), "$")
        target = attributes.get("href") or ""
        if "footnote-ref" in classes:
            return f"[^{target.removeprefix('#fn:')}]"
        inner = "".join(map(self.inline, node.iter(include_text=True)))
        text = inner.strip()
        if tag in ("b", "strong") and text:
            return f"**{text}**"
        if tag == "em" and text:
            return f"*{text}*"
        if tag == "a" and text and target and "facts__value" not in classes:
            is_bare = text == target and "://" in target
            return f"<{target}>" if is_bare else f"[{text}]({self.address(target)})"
        return f"{inner} " if tag in _BLOCKS else inner
