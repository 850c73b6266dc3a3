"""Keep what a note may do to its reader within bounds: no script, no handler, no remote part.

The allow-list below is what notes need and what GitHub shows too. `check_note` names the line;
`check_rendered` looks once more at what Markdown made of it, because browsers accept tags that no
source scanner sees.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape

from selectolax.lexbor import LexborHTMLParser

from hooks.findings import Finding
from hooks.links import uses
from hooks.markdown import HtmlTag, LinkKind, html_tags
from hooks.notes import Note

ALLOWED_TAGS = frozenset(
    "a abbr b br code dd del details div dl dt em figcaption figure hr i img ins kbd li mark ol p"
    " picture pre q s small source span strong sub summary sup table tbody td tfoot th thead tr u"
    " ul var".split()
)
ALLOWED_ATTRIBUTES = frozenset(
    "align alt aria-label class colspan dir height href hreflang id lang loading markdown media"
    " name open rel role rowspan scope src srcset start tabindex title type width".split()
)
_ALLOWED_SCHEMES = frozenset({"", "http", "https", "mailto"})
_SCHEME = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.\-\s]*):")
_URL_ATTRIBUTES = ("href", "src", "srcset", "xlink:href", "action", "formaction", "poster")
# `{ onclick="…" }` of the attr_list extension can put any attribute on any element.
_ATTRIBUTE_LIST = re.compile(
    r"\{:?[^{}\n]*?(?<![\w-])(?P<name>on[a-z]{3,}|style|srcdoc|href|src|srcset|action|formaction"
    r"|xlink:href|data|poster)\s*=[^{}\n]*\}",
    re.IGNORECASE,
)
_REFUSED_WHEN_RENDERED = "script, iframe, object, embed, form, base, meta, link, style"
_REFUSED_TAG = re.compile(rf"<(?:{_REFUSED_WHEN_RENDERED.replace(', ', '|')})(?![\w-])")
_RUNNING = (b"javascript:", b"vbscript:")
# What may be the name of an attribute that begins so: with a value, wherever; without, in a tag.
_MAY_HANDLE = re.compile(r"""on(?<=[\s"'/]on)(?P<value>[^\s<>]*\s*=)?""")
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
RULE = "unsafe-html"


def scheme_of(address: str) -> str:
    """Return the scheme of an address as a browser reads it (blanks and controls ignored)."""
    if ":" not in address:
        return ""
    cleaned = re.sub(r"[\x00-\x20]+", "", address)
    match = _SCHEME.match(cleaned)
    return match.group(1).lower() if match else ""


def check_note(note: Note) -> list[Finding]:
    """Report tags, attributes and addresses that a note may not hold."""
    file = note.file
    findings = [finding for tag in note.source.tags for finding in _check_tag(file, tag)]
    for link in (*note.source.links, *note.source.definitions):
        if link.kind is LinkKind.REFERENCE:
            continue
        is_image = link.kind is LinkKind.IMAGE
        place = (link.line, link.column)
        findings += _check_address(file, link.target, place, is_image)
    if any(fence.info.startswith(("mermaid", "{")) for fence in note.source.fences):
        for use in uses.of_diagrams(note.source, note.text.split("\n")):
            findings += _check_address(file, use.target, (use.line, use.column), False)
    return findings + list(_attribute_lists(note))


def _check_address(
    file: str, address: str, place: tuple[int, int], is_image: bool
) -> Iterator[Finding]:
    scheme = scheme_of(address)
    if scheme not in _ALLOWED_SCHEMES:
        message = f"a link of scheme '{scheme}:' is refused; use https: or a path"
    elif is_image and (scheme or address.startswith("//")):
        message = f"image '{address}' lies on another host; keep a copy, or better draw your own"
    else:
        return
    yield Finding(file, *place, RULE, message, target=address)


def _check_tag(file: str, tag: HtmlTag) -> Iterator[Finding]:
    def finding(message: str, target: str) -> Finding:
        return Finding(file, tag.line, tag.column, RULE, message, target=target)

    if tag.name not in ALLOWED_TAGS:
        yield finding(f"HTML tag <{tag.name}> is refused in notes", f"<{tag.name}>")
        return
    for name, value in tag.attributes:
        is_handler = name.startswith("on") and len(name) > 4
        if name not in ALLOWED_ATTRIBUTES:
            what = "event handler" if is_handler else "attribute"
            yield finding(f"{what} '{name}' of <{tag.name}> is refused in notes", name)
        elif name in _URL_ATTRIBUTES:
            addresses = html_tags.srcset(value or "") if name == "srcset" else [value or ""]
            for address in addresses:
                yield from _check_loaded(tag, address, finding)


def _check_loaded(
    tag: HtmlTag, address: str, finding: Callable[[str, str], Finding]
) -> Iterator[Finding]:
    scheme = scheme_of(address)
    if scheme not in _ALLOWED_SCHEMES:
        yield finding(f"address of scheme '{scheme}:' is refused", address)
    elif tag.name != "a" and (scheme or address.startswith("//")):
        yield finding(f"<{tag.name}> may not load '{address}' from another host", address)


def _attribute_lists(note: Note) -> Iterator[Finding]:
    fenced = {
        number
        for fence in note.source.fences
        for number in range(fence.line, fence.line + fence.text.count("\n"))
    }
    for number, line in enumerate(note.text.split("\n"), start=1):
        if number in fenced or "{" not in line:
            continue
        bare = _CODE_SPAN.sub(lambda match: " " * len(match.group(0)), line)
        for match in _ATTRIBUTE_LIST.finditer(bare):
            message = (
                f"attribute '{match['name'].lower()}' in an attribute list is refused in notes"
            )
            column = match.start("name") + 1
            yield Finding(note.file, number, column, RULE, message, target=match["name"])


def check_rendered(content: str, file: str, text: str) -> list[Finding]:
    """Look for scripts, handlers and scripted addresses in the HTML made from a note.

    Args:
        content: The HTML of the note's content, before anything of ours is added to it.
        file: The note's path from the repository root.
        text: The note's source, to find the line.
    """
    if _is_plain(content):
        return []
    tree = LexborHTMLParser(f"<body>{content}")
    findings = []
    harmless: set[str] = set()  # names of attributes that have been looked at
    for node in tree.css(_REFUSED_WHEN_RENDERED):
        message = f"HTML tag <{node.tag}> is refused"
        findings.append(_rendered(file, text, f"<{node.tag}", message))
    for node in tree.css("*"):
        attributes = node.attributes
        if attributes.keys() <= harmless:
            continue
        for name, value in attributes.items():
            if name.startswith("on"):
                findings.append(_rendered(file, text, name, f"event handler '{name}' is refused"))
            elif name not in _URL_ATTRIBUTES:
                harmless.add(name)
            elif scheme_of(value or "") in ("javascript", "vbscript"):
                message = f"address '{value}' is refused"
                findings.append(_rendered(file, text, (value or "")[:20], message))
    return findings


def _is_plain(content: str) -> bool:
    """Tell whether nothing can be wrong: almost always, and told without a look at each element."""
    html = content.lower()
    for match in _MAY_HANDLE.finditer(html):
        at = match.start()
        if match["value"] or html.rfind("<", 0, at) > html.rfind(">", 0, at):
            return False
    if _REFUSED_TAG.search(html):
        return False
    read = unescape(content).encode("utf-8", "replace").translate(None, bytes(range(33))).lower()
    return not any(scheme in read for scheme in _RUNNING)


def _rendered(file: str, text: str, needle: str, message: str) -> Finding:
    offset = text.lower().find(needle.lower())
    line = text.count("\n", 0, offset) + 1 if offset >= 0 else 0
    return Finding(file, line, 0, RULE, f"{message} in notes", target=needle)
