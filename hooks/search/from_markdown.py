"""A note's Markdown cut into sections, without building a site.

Reads CommonMark with tables, footnotes and definition lists, and what MkDocs sites add:
admonitions and tabs (`!!!`, `???`, `===`), attribute lists, snippets. Ids of headings are
GitHub's, unless an attribute list gives one.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml
from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from hooks.markdown import Slugger, plain_text
from hooks.notes import fields, language_of
from hooks.search.formulas import plain
from hooks.search.pages import (
    CODE_CLOSE,
    CODE_OPEN,
    NOTE,
    Page,
    Section,
    clean,
    key_of,
    location_of,
    with_meta,
    without_signs,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from markdown_it.token import Token

_ADMONITION = re.compile(
    r"^(?P<indent> *)(?:!!!|\?\?\?\+?|===[!+]?)[ ]+(?P<words>[\w-]+(?: [\w-]+)*)?[ ]*"
    r"(?:\"(?P<title>[^\"]*)\")?[ ]*$"
)
_FENCE = re.compile(r"^ *(?P<mark>`{3,}|~{3,})")
_SNIPPET = re.compile(r"^\s*-{1,2}8<-{1,2}.*$|^\s*;*--8<--.*$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_ATTRIBUTES = re.compile(r"[ ]*\{:?[ ]*(?P<words>[^}\n]*)\}[ ]*$")
_ID = re.compile(r"#(?P<id>[^\s}]+)")
_CALLOUT = re.compile(r"^\[!(?P<kind>[A-Za-z]+)\][+-]?[ ]*")
_TAG = re.compile(r"</?[A-Za-z][^>]*>")
_SKIPPED_TAGS = re.compile(
    r"<(?P<name>script|style|svg)\b.*?(?:</(?P=name)>|\Z)", re.DOTALL | re.IGNORECASE
)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser = parser.use(footnote_plugin).use(deflist_plugin)
    return parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)


def _unfold(text: str) -> str:
    """Take admonitions and tabs out of their indentation."""
    lines = text.split("\n")
    inside: list[int] = []
    fence = ""
    for number, line in enumerate(lines):
        bare = line.expandtabs(4)
        indent = len(bare) - len(bare.lstrip(" "))
        if bare.strip() and not fence:
            while inside and indent < inside[-1]:
                inside.pop()
        depth = inside[-1] if inside else 0
        body = bare[min(depth, indent) :]
        if found := _FENCE.match(body):
            mark = found["mark"]
            if not fence:
                fence = mark
            elif mark.startswith(fence[0]) and len(mark) >= len(fence):
                fence = ""
        elif not fence and (opened := _ADMONITION.match(body)):
            inside.append(depth + len(opened["indent"]) + 4)
            body = (opened["title"] or "").strip() + "\n"  # a paragraph of its own
        lines[number] = body
    return "\n".join(lines)


class _Reader:
    def __init__(self, title: str) -> None:
        self.sections = [Section("", 1, title)]
        self.lines: list[list[str]] = [[]]
        self.slugger = Slugger()
        self.has_title = False
        self.notes: dict[str, int] = {}

    def add(self, text: str, prefix: str = "", into: int = -1) -> None:
        text = clean(text)
        if text.replace(CODE_OPEN, "").replace(CODE_CLOSE, "").strip():
            self.lines[into].append(prefix + text)

    def heading(self, token: Token, level: int) -> None:
        content = token.content
        explicit = ""
        if match := _ATTRIBUTES.search(content):
            content = content[: match.start()]
            identifier = _ID.search(match["words"])
            explicit = identifier["id"] if identifier else ""
        text = clean(plain_text(content)) or clean(content)
        anchor = explicit or self.slugger(text)
        if level == 1 and not self.has_title and len(self.sections) == 1:
            self.has_title = True
            self.sections[0].title = text
            return
        self.sections.append(Section(anchor, level, text))
        self.lines.append([])

    def inline(self, token: Token) -> str:
        return "".join(self.piece(child) for child in token.children or [])

    def piece(self, token: Token) -> str:
        if token.type == "code_inline":
            return f"{CODE_OPEN}{token.content}{CODE_CLOSE}"
        if token.type in ("softbreak", "hardbreak"):
            return "\n"
        if token.type == "footnote_ref":
            self.notes.setdefault(str(token.meta.get("label")), len(self.sections) - 1)
            return ""
        if token.type == "image":
            return token.content
        if token.type in ("math_inline", "math_inline_double"):
            return plain(token.content)
        if token.type in ("text", "text_special"):
            return token.content
        return "".join(self.piece(child) for child in token.children or [])

    def html(self, content: str) -> None:
        content = _TAG.sub("\n", _SKIPPED_TAGS.sub("\n", content))
        for line in content.split("\n"):
            self.add(line)

    def code(self, content: str) -> None:
        for line in content.split("\n"):
            self.add(f"{CODE_OPEN}{line}{CODE_CLOSE}")

    def read(self, tokens: Sequence[Token]) -> None:
        row: list[str] | None = None
        note: int | None = None
        for index, token in enumerate(tokens):
            kind = token.type
            if kind == "heading_open":
                self.heading(tokens[index + 1], int(token.tag[1]))
            elif kind == "inline" and tokens[index - 1].type != "heading_open":
                text = _CALLOUT.sub("", self.inline(token))
                if row is not None:
                    row.append(text)
                elif note is not None:
                    self.add(text, NOTE, note)
                else:
                    self.add(text)
            elif kind in ("math_block", "math_block_label"):
                self.add(f"{CODE_OPEN}{plain(token.content)}{CODE_CLOSE}")
            elif kind in ("fence", "code_block"):
                self.code(token.content)
            elif kind == "html_block":
                self.html(token.content)
            elif kind == "tr_open":
                row = []
            elif kind == "tr_close":
                self.add("\t".join(row or []))
                row = None
            elif kind == "footnote_open":
                label = str(token.meta.get("label"))
                note = self.notes.get(label, len(self.sections) - 1)
            elif kind == "footnote_close":
                note = None


def _meta(yaml_text: str | None) -> dict[str, Any]:
    if yaml_text is None:
        return {}
    try:
        data = yaml.safe_load(yaml_text)
    except (yaml.YAMLError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def read_note(source: str, data: bytes) -> Page:
    """Return the page that a note's Markdown makes.

    Args:
        source: Path below the docs folder, with forward slashes.
        data: The file's bytes; what is not UTF-8 is replaced.
    """
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    parts = fields.split(without_signs(text))
    meta = _meta(parts.yaml_text)
    title = meta.get("title")
    title = clean(title) if isinstance(title, str) else ""
    body = _SNIPPET.sub("", _COMMENT.sub("", parts.body))
    reader = _Reader(title)
    reader.read(_parser().parse(_unfold(body)))
    key = key_of(source)
    for section, lines in zip(reader.sections, reader.lines, strict=True):
        section.text = "\n".join(lines)
    page = Page(
        location=location_of(source),
        key=key,
        language=language_of(source),
        title=title or reader.sections[0].title or key.rpartition("/")[2],
        sections=reader.sections,
        trail=tuple(part for part in key.split("/")[:-1]),
        source=source,
    )
    page.sections[0].title = page.title
    return with_meta(page, meta)


def read_folder(docs_dir: Path) -> list[Page]:
    """Return the pages of every note below a folder, drafts left out."""
    files = [path for path in sorted(docs_dir.rglob("*.md")) if path.name[0] != "."]
    pages = [read_note(path.relative_to(docs_dir).as_posix(), path.read_bytes()) for path in files]
    drafts = {page.key for page in pages if page.is_draft}
    return [page for page in pages if page.key not in drafts and page.sections]
