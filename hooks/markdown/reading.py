"""What a rendered text holds: links and their places, headings, ids, labels, fences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

from hooks.markdown import github, html_tags, odd
from hooks.markdown.heading_ids import github_slug
from hooks.markdown.mark import ADDRESSES, TOKEN, Mark, Marked, blank, plain
from hooks.markdown.source import Comment, Fence, Heading, Html, HtmlTag, Label, Link, Source
from hooks.markdown.text import COMMENT, place_in

_NAMED = ",".join(f"[{name.replace(':', chr(92) + ':')}]" for name in sorted(ADDRESSES))
_SHOWN = frozenset({"img", "source", "video", "audio", "track", "image", "input"})
OWN_CLASSES = frozenset({"headerlink", "footnote-ref", "footnote-backref"})
"""Links that the renderer makes by itself."""
_OWN_IDS = re.compile(r"__|_\d+_\d+\Z|fnref\d+:")
_FOOTNOTE = re.compile(r"(?<!\\)\[\^(?P<name>[^\]\s]+)\]")
_FOOTNOTE_DEFINITION = re.compile(r"^[> \t]*\[\^(?P<name>[^\]\n]+)\]:", re.MULTILINE)
_SITE_TAG = re.compile(r"<(?P<name>[A-Za-z][A-Za-z0-9-]*[^\sA-Za-z0-9<>/@=-][^\s<>/@]*)[^<>]*>")
_FORMULA = re.compile(r"\\\((?P<text>.*?)\\\)")
_CLICK = re.compile(
    r"^[ \t]*(?:click[ \t]+[^\s\"]+[ \t]+(?:href[ \t]+)?|link[ \t]+[^\s\":]+[ \t]+)"
    r"\"(?P<target>[^\"]+)\"",
    re.MULTILINE,
)
_TOKEN_TAG = re.compile(r"<x-link:[^>]*")


def read(marked: Marked, made: Html) -> Source:
    """Return the structure of a text from its HTML, in which tokens stand for addresses."""
    view = github.read(marked)
    tree = LexborHTMLParser(f"<body>{made.html}")
    links, linked = _links(tree, marked)
    fences = tuple(_fences(marked, view))
    links += _diagram_links(fences, marked)
    ids = ids_in(tree)
    _text_without(tree, ".headerlink")
    headings = tuple(_headings(tree, view, marked))
    body = _text_without(tree, "pre,code,.arithmatex,script,style")
    # A definition that is shown as text is none; one of two with a label serves for both.
    shown = {marked.marks[number].label for number in _numbers(made.html) - linked}
    used = {marked.marks[number].label for number in linked}
    definitions = tuple(
        Label(one.label, one.line, one.column, one.target)
        for one in marked.marks
        if one.kind == "definition" and one.label not in shown
    )
    uses = _labels(_FOOTNOTE, COMMENT.sub(blank, marked.prose))
    defined = _labels(_FOOTNOTE_DEFINITION, marked.masked)
    raw = _text_without(tree, "a") + "".join(_TOKEN_TAG.findall(made.html))
    return Source(
        headings=headings,
        links=tuple(sorted(links, key=lambda link: (link.line, link.column))),
        definitions=definitions,
        unused=frozenset(one.name for one in definitions) - used,
        tags=(*view.tags, *_site_tags(made.html, marked)),
        fences=fences,
        comments=tuple(_comments(marked)),
        footnote_uses=tuple(one for one in uses if one not in defined),
        footnote_definitions=tuple(one for one in defined if f"fn:{one.name}" in ids),
        ids=frozenset(ids),
        repeated=tuple(one for one, count in Counter(ids).items() if count > 1),
        github_ids=view.ids,
        odd=(
            *odd.raw(plain(body, marked), marked),
            *odd.one_view(marked, view, linked, _numbers(raw), made.html),
        ),
    )


def ids_in(tree: LexborHTMLParser) -> list[str]:
    """Return the ids of a page but for those that the renderer makes by itself."""
    named = [*tree.css("[id]"), *tree.css("a[name]:not([id])")]
    given = ((node.id, node.tag == "a" and node.attributes.get("name")) for node in named)
    return [one for both in given for one in dict.fromkeys(both) if one and not _OWN_IDS.match(one)]


def _numbers(text: str) -> set[int]:
    return {int(one["number"]) for one in TOKEN.finditer(text)}


def _text_without(tree: LexborHTMLParser, selector: str) -> str:
    """Take elements out of a page, and return the text that is left."""
    for node in tree.css(selector):
        node.decompose()
    return tree.body.text() if tree.body is not None else ""


def _links(tree: LexborHTMLParser, marked: Marked) -> tuple[list[Link], set[int]]:
    found: dict[tuple[int, int, str], Link] = {}
    linked: set[int] = set()
    searched: Counter[str] = Counter()
    for node in tree.css(_NAMED):
        if OWN_CLASSES & set((node.attributes.get("class") or "").split()):
            continue
        is_image = node.tag in _SHOWN
        words = node.text().strip() or ("image" if node.css_first("img,svg") else "")
        if node.tag == "img":
            words = node.attributes.get("alt") or ""
        for name, value in node.attributes.items():
            if name not in ADDRESSES or value is None or value.startswith("#__"):
                continue
            token = TOKEN.match(value.strip())
            if token is None:
                mark, rest = _find(plain(value, marked), marked, searched), ""
            else:
                linked.add(int(token["number"]))
                mark = marked.marks[int(token["number"])]
                rest = plain(value.strip()[token.end() :], marked)
            where = "html" if mark.kind == "html" else ""
            words = node.tag or "" if where else words
            target = mark.target + rest
            place = (mark.line, mark.column)
            if mark.kind == "definition" and not words.strip():
                place = odd.place_of(marked, f"[][{mark.label}]", "[][", f"[{mark.label}]")
            for one in html_tags.srcset(target) if name == "srcset" else [target]:
                link = Link(one, *place, words, is_image, where, rest[:1].isspace())
                found.setdefault((*place, one), link)
    return list(found.values()), linked


def _diagram_links(fences: tuple[Fence, ...], marked: Marked) -> Iterator[Link]:
    """Yield the addresses of `click` lines in diagrams."""
    lines = plain(marked.text, marked).split("\n")
    for fence in fences:
        for match in _CLICK.finditer(fence.text) if fence.info.split(" ")[0] == "mermaid" else ():
            target = match["target"]
            line = fence.line + place_in(fence.text, match.start("target"))[0] - 1
            yield Link(target, line, lines[line - 1].find(f'"{target}"') + 2, where="diagram")


def _site_tags(html: str, marked: Marked) -> Iterator[HtmlTag]:
    """Yield the tags that only the site takes for such, as `<host_name>`: its readers see none."""
    at = 0
    for match in _SITE_TAG.finditer(html):
        text = plain(match.group(), marked)
        found = marked.prose.find(text, at)
        if found >= 0 and TOKEN.match(match["name"]) is None:
            at = found + 1
            yield HtmlTag(match["name"].lower(), (), *place_in(marked.prose, found), text)


def _find(value: str, marked: Marked, searched: Counter[str]) -> Mark:
    """Return the place of an address that has no token: written by itself, empty, or unquoted."""
    for needle in (f"]({value})", f"<{value}>", f'"{value}"', f"'{value}'", value):
        if value or len(needle) > 1:
            at = -1
            for _ in range(searched[needle] + 1):
                at = marked.prose.find(needle, at + 1)
            if at >= 0:
                searched[needle] += 1
                at += needle.index(value) if value else len(needle) - 1
                is_tag = needle[:1] in "\"'" or (needle == value and value[:1] != "<")
                return Mark(value, *place_in(marked.prose, at), "html" if is_tag else "link")
    return Mark(value, 1, 1, "link")


def _headings(tree: LexborHTMLParser, view: github.View, marked: Marked) -> Iterator[Heading]:
    """Yield the headings of the page, with the lines that GitHub's view knows."""
    lines = marked.masked.split("\n")
    waiting = list(view.headings)
    line = 1
    for node in tree.css("h1,h2,h3,h4,h5,h6"):
        for mark in node.css(".footnote-ref"):
            mark.decompose()
        text = _FORMULA.sub(r"\g<text>", plain(node.text(), marked)).strip()
        slug = github_slug(text)
        alike = [one for one in waiting if github_slug(one.text) == slug]
        alike = alike or [one for one in waiting if one.id.startswith(slug)]
        if alike:
            waiting = waiting[waiting.index(alike[0]) + 1 :]
            line = alike[0].line
        else:
            words = text.split()[0] if text else "#"
            at = (n for n in range(line, len(lines)) if words in lines[n] and "#" in lines[n])
            line = next(at, line - 1) + 1
        identifier = node.attributes.get("id") or ""
        written = lines[line - 1] if line <= len(lines) else ""
        is_explicit = "{" in written and f"#{identifier}" in written.partition("{")[2]
        yield Heading(int((node.tag or "h1")[1]), text, identifier, line, is_explicit)


def _fences(marked: Marked, view: github.View) -> Iterator[Fence]:
    """Yield the fences that the site sees: their texts as GitHub, which knows lists, has them."""
    known = {fence.line: fence for fence in view.fences}
    lines = marked.text.split("\n")
    for fence in marked.fences:
        if not fence.reason:
            opening = lines[fence.line - 1]
            width = len(opening) - len(opening.lstrip("> \t"))
            text = "".join(f"{line[width:]}\n" for line in lines[fence.line : fence.last - 1])
            own = Fence(opening.strip("> \t`~"), text, fence.line + 1)
            yield known.get(own.line, own)


def _labels(pattern: re.Pattern[str], text: str) -> list[Label]:
    return [
        Label(match["name"], *place_in(text, match.start("name") - len("[^")))
        for match in pattern.finditer(text)
    ]


def _comments(marked: Marked) -> Iterator[Comment]:
    text = marked.prose
    for match in COMMENT.finditer(text):
        line, column = place_in(text, match.start())
        before = text[match.start() - column + 1 : match.start()]
        after = text[match.end() :].partition("\n")[0]
        if before.strip() or after.strip():
            words = marked.masked[match.start("text") : match.end("text")].strip()
            yield Comment(words, line, column)
