"""Pages cut into sections: the records that an index is built from.

A section's text is plain, one block (paragraph, list item, table row, line of code) a line.
Code stands between `CODE_OPEN` and `CODE_CLOSE`, cells of a table row are divided by tabs, and
the text of a footnote, which counts less, is a line that begins with `NOTE`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml
from selectolax.lexbor import LexborHTMLParser, LexborNode

from hooks.navigation import Entry, read_navigation
from hooks.records import DEFAULT_LANGUAGE, LANGUAGES, language_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hooks.front_matter import FrontMatter
    from hooks.records import Note

CODE_OPEN: Final = "\ue001"
CODE_CLOSE: Final = "\ue002"
NOTE: Final = "\ue003"
_PRIVATE = re.compile("[\ue000-\ue00f]")
_BLANKS = re.compile(r"[ \u00a0\u200b\ufeff\r\f\v]+")
_HAN: Final = "\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff65"
# A line end inside a Chinese sentence is no space.
_HAN_BREAK = re.compile(rf"(?<=[{_HAN}])\s*\n\s*(?=[{_HAN}])")


@dataclass(slots=True)
class Section:
    """What stands below one heading, up to the next."""

    anchor: str
    """The heading's id; empty for what stands above the first heading below the title."""
    level: int
    title: str
    text: str = ""


@dataclass(slots=True)
class Page:
    """A page and its sections, the first of which is the page itself."""

    location: str
    """Address relative to the site, such as `link/topo/nvswitch.html`."""
    key: str
    """What the versions of a page in all languages share, such as `link/topo/nvswitch`."""
    language: str
    title: str
    sections: list[Section] = field(default_factory=list)
    trail: tuple[str, ...] = ()
    """Names of the navigation's sections above the page, outermost first."""
    description: str = ""
    kind: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    fallback: str = ""
    """Where the page is shown among those of the other language, when it is not translated."""
    source: str = ""
    """Path of the Markdown file below the docs folder."""


def without_signs(text: str) -> str:
    """Return text without the characters that this package gives a meaning."""
    return _PRIVATE.sub("", text)


def clean(text: str) -> str:
    """Return text on one line, without blanks that say nothing."""
    text = _HAN_BREAK.sub("", text).replace("\n", " ")
    return _BLANKS.sub(" ", text).strip(" ")


def key_of(source: str) -> str:
    """Return what `a/b.md` and `a/b.en.md` share: `a/b`."""
    path = source.removesuffix(".md")
    language = language_of(source)
    return path.removesuffix(f".{language}")


def location_of(source: str) -> str:
    """Return the address at which a site without directory addresses shows a source file."""
    key = key_of(source)
    folder, _, name = key.rpartition("/")
    if name == "README":  # as MkDocs does: `readme.md` is a page like any other
        key = posixpath.join(folder, "index")
    prefix = "en/" if language_of(source) == "en" else ""
    return f"{prefix}{key}.html"


def with_meta(page: Page, meta: FrontMatter | Mapping[str, object] | None) -> Page:
    """Fill a page's fields from its front matter, whose values may be of any type."""
    if meta is None:
        return page
    fields = meta if not hasattr(meta, "model_dump") else meta.model_dump()

    def words(name: str) -> tuple[str, ...]:
        value = fields.get(name)
        items = value if isinstance(value, list | tuple) else [value] if value else []
        return tuple(clean(without_signs(str(item))) for item in items if str(item).strip())

    def word(name: str) -> str:
        value = fields.get(name)
        return clean(without_signs(value)) if isinstance(value, str) else ""

    page.description = word("description")
    page.kind = word("kind")
    page.tags = words("tags")
    page.aliases = words("aliases")
    return page


# ---- Built pages -----------------------------------------------------------------------

_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_SKIPPED: Final = frozenset({"script", "style", "template", "noscript", "button", "nav", "input"})
_BLOCKS: Final = frozenset(
    "p li tr dt dd figcaption caption summary blockquote div section table ul ol dl figure "
    "details aside article title desc pre svg thead tbody tfoot header footer hr "
    "center address form fieldset label".split()
)
_CELLS: Final = frozenset({"td", "th"})


class _Reader:
    """Walks a page's HTML and collects its sections."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.sections = [Section("", 1, page.title)]
        self.lines: list[list[str]] = [[]]
        self.current: list[str] = []
        self.has_title = False
        self.notes: dict[str, int] = {}
        """Id of a footnote -> index of the section that first refers to it."""
        self.linked = 0
        """How many characters of the block being read lead elsewhere."""

    def flush(self, prefix: str = "", into: int = -1) -> None:
        """End the block being read."""
        raw = "".join(self.current)
        text = clean(raw).strip("\t ")
        # A block that is nothing but a link is an entry of a list of contents.
        if self.linked and self.linked >= len(raw.strip()):
            prefix = NOTE
        self.linked = 0
        self.current = []
        if text.replace(CODE_OPEN, "").replace(CODE_CLOSE, "").strip():
            self.lines[into].append(prefix + text)

    def heading(self, node: LexborNode, level: int) -> None:
        self.flush()
        title = clean(_visible(node))
        anchor = node.attributes.get("id") or ""
        if level == 1 and not self.has_title and len(self.sections) == 1:
            self.has_title = True
            self.sections[0].title = title or self.page.title
            return
        self.sections.append(Section(anchor, level, title))
        self.lines.append([])

    def footnote(self, node: LexborNode) -> None:
        self.flush()
        target = self.notes.get(node.attributes.get("id") or "", len(self.sections) - 1)
        self.current = [_visible(node)]
        self.flush(NOTE, target)

    def walk(self, node: LexborNode, *, is_code: bool = False) -> None:
        for child in node.iter(include_text=True):
            self.read(child, is_code=is_code)

    def read(self, node: LexborNode, *, is_code: bool) -> None:
        tag = node.tag or ""
        if tag == "-text":
            self.current.append(node.text_content or "")
            return
        if tag in _SKIPPED or tag.startswith("_") or tag in ("-comment", "-doctype"):
            return
        attributes = node.attributes
        classes = (attributes.get("class") or "").split()
        if "data-search-exclude" in attributes or "headerlink" in classes:
            return
        if tag in _HEADINGS and attributes.get("id"):
            self.heading(node, _HEADINGS[tag])
        elif tag == "sup" and (attributes.get("id") or "").startswith("fnref"):
            for link in node.css("a"):
                note = (link.attributes.get("href") or "").lstrip("#")
                self.notes.setdefault(note, len(self.sections) - 1)
        elif tag == "li" and (attributes.get("id") or "").startswith("fn:"):
            self.footnote(node)
        elif tag == "li" and _is_entry(node):
            self.flush()
            self.walk(node, is_code=is_code)
            self.flush(NOTE)
        elif tag == "br":
            self.current.append(" ")
        elif tag == "text" or tag == "tspan":
            return  # labels of a figure, out of order; its title and description say it whole
        elif tag == "pre":
            self.flush()
            for line in (node.text(deep=True) or "").split("\n"):
                self.current = [CODE_OPEN, line, CODE_CLOSE]
                self.flush()
        elif tag == "code" and not is_code:
            self.current += [CODE_OPEN, node.text(deep=True) or "", CODE_CLOSE]
        elif tag in _CELLS:
            self.walk(node, is_code=is_code)
            self.current.append("\t")
        elif tag == "a":
            before = sum(map(len, self.current))
            self.walk(node, is_code=is_code)
            self.linked += max(0, sum(map(len, self.current)) - before)
        elif tag in _BLOCKS:
            self.flush()
            self.walk(node, is_code=is_code)
            self.flush()
        else:
            self.walk(node, is_code=is_code)


def _is_entry(node: LexborNode) -> bool:
    """Return whether a list item is an entry of a list of pages: it begins with a link to one."""
    first = node.child
    while first is not None and (
        first.tag in ("strong", "p", "b", "em")
        or (first.tag == "-text" and not (first.text_content or "").strip())
    ):
        first = first.next if first.tag == "-text" else first.child
    if first is None or first.tag != "a":
        return False
    target = first.attributes.get("href") or ""
    return "://" not in target and not target.startswith("#")


def _visible(node: LexborNode) -> str:
    """Return an element's text without heading links, footnote marks and ways back."""
    parts: list[str] = []

    def walk(one: LexborNode) -> None:
        for child in one.iter(include_text=True):
            if child.tag == "-text":
                parts.append(child.text_content or "")
                continue
            classes = (child.attributes.get("class") or "").split()
            hidden = {"headerlink", "footnote-backref", "footnote-ref"} & set(classes)
            if not hidden and child.tag not in _SKIPPED:
                walk(child)

    walk(node)
    return "".join(parts)


def read_html(page: Page, html: str) -> Page:
    """Fill a page's sections from the HTML of its content; returns the page."""
    reader = _Reader(page)
    body = LexborHTMLParser(without_signs(html)).body
    if body is not None:
        reader.walk(body)
    reader.flush()
    for section, lines in zip(reader.sections, reader.lines, strict=True):
        section.text = "\n".join(lines)
    page.sections = reader.sections
    if not page.title:
        page.title = reader.sections[0].title
    return page


def collect(
    pages: list[Page],
    html: str,
    *,
    location: str,
    title: str,
    note: Note,
    language: str,
    trail: Sequence[str],
) -> None:
    """Add a rendered page to those that search will find.

    A note that is shown among the pages of another language, for want of a translation, is
    not added again: it learns its second address.

    Args:
        pages: What was rendered so far.
        html: The page's content.
        location: Its address in the site.
        title: Its name in the navigation.
        note: The note it was made from.
        language: The language being built.
        trail: Names of the navigation's sections above it, outermost first.
    """
    if note.language != language:
        for known in pages:
            if known.source == note.path:
                known.fallback = location
        return
    page = Page(
        location=location,
        key=key_of(note.path),
        language=language,
        title=clean(title),
        trail=tuple(map(clean, trail)),
        source=note.path,
    )
    pages.append(with_meta(read_html(page, html), note.meta))


# ---- Pairs and trails ------------------------------------------------------------------


def pair_sections(pages: Sequence[Page]) -> dict[tuple[str, str], list[int]]:
    """Number the sections of all pages; sections that say the same in two languages share one.

    Returns for (key, language) the number of each section in order. Twins pair by order as
    long as the levels of their headings agree (hooks.pairing reports where they do not).
    """
    numbers: dict[tuple[str, str], list[int]] = {}
    first: dict[str, Page] = {}
    count = 0
    for page in pages:
        known = first.setdefault(page.key, page)
        twin = numbers.get((known.key, known.language), []) if known is not page else []
        own = []
        paired = True
        for order, section in enumerate(page.sections):
            paired = paired and order < len(twin) and known.sections[order].level == section.level
            if paired:
                own.append(twin[order])
            else:
                own.append(count)
                count += 1
        numbers[page.key, page.language] = own
    return numbers


def folder_pages(docs_dir: Path) -> list[Page]:
    """Read every note below a folder, whoever wrote it, without building a site."""
    from hooks.search import markdown

    pages = [
        markdown.read_note(path.relative_to(docs_dir).as_posix(), path.read_bytes())
        for path in _notes(docs_dir)
    ]
    keys = {(page.key, page.language) for page in pages}
    _name_by_navigation(docs_dir, pages)
    for page in pages:
        if page.language == "zh" and (page.key, "en") not in keys:
            page.fallback = f"en/{page.location}"
    return [page for page in pages if page.sections]


def _name_by_navigation(docs_dir: Path, pages: Sequence[Page]) -> None:
    """Give pages the names and trails that the navigation beside the folder gives them."""
    config = docs_dir.parent / "mkdocs.yml"
    by_source = {page.source: page for page in pages}
    if not config.is_file():
        return
    try:
        entries = read_navigation(config)
    except (yaml.YAMLError, ValueError, RecursionError):
        return

    def walk(entries: Sequence[Entry], trail: dict[str, tuple[str, ...]]) -> None:
        for entry in entries:
            for language in LANGUAGES:
                suffix = ".md" if language == DEFAULT_LANGUAGE else f".{language}.md"
                page = by_source.get(entry.path.removesuffix(".md") + suffix)
                if page is not None:
                    page.trail = trail[language]
                    if entry.title and language == DEFAULT_LANGUAGE:
                        page.title = page.sections[0].title = clean(entry.title)
            if entry.children:
                walk(entry.children, {one: (*trail[one], name(entry, one)) for one in LANGUAGES})

    def name(entry: Entry, language: str) -> str:
        """Return what a section is called: by its index page, else as written."""
        first = entry.children[0].path.removesuffix(".md")
        suffix = ".md" if language == DEFAULT_LANGUAGE else f".{language}.md"
        page = by_source.get(first + suffix)
        if page is not None and first.rpartition("/")[2] == "index":
            return page.title
        return clean(entry.title)

    walk(entries, dict.fromkeys(LANGUAGES, ()))


def _notes(docs_dir: Path) -> Iterator[Path]:
    for path in sorted(docs_dir.rglob("*.md")):
        parts = path.relative_to(docs_dir).parts
        if not any(part.startswith(".") or part == "node_modules" for part in parts):
            yield path
