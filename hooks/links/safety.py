"""Keep what a note may do to its reader within bounds: no script, no handler, no remote part.

The allow-list below is what notes need and what GitHub shows too. `check_note` names the line;
`check_rendered` looks once more at what Markdown made of it, because browsers accept tags that no
source scanner sees.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser

from hooks.findings import Finding
from hooks.markdown import HtmlTag, html_tags, mark, place_in
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
RULE = "unsafe-html"


def scheme_of(address: str) -> str:
    """Return the scheme of an address as a browser reads it (blanks and controls ignored)."""
    if ":" not in address:
        return ""
    match = _SCHEME.match(re.sub(r"[\x00-\x20]+", "", address))
    return match[1].lower() if match else ""


def check_note(note: Note) -> list[Finding]:
    """Report tags, attributes and addresses that a note may not hold."""
    said = [(tag.line, tag.column, *one) for tag in note.source.tags for one in _of_tag(tag)]
    said += [
        (link.line, link.column, message, link.target)
        for link in note.source.links
        if link.where != "html" and (message := _of_address(link.target, link.is_image))
    ]
    prose = mark(note.text).prose
    for match in _ATTRIBUTE_LIST.finditer(prose):
        message = f"attribute '{match['name'].lower()}' in an attribute list is refused in notes"
        said.append((*place_in(prose, match.start("name")), message, match["name"]))
    return [Finding(note.file, line, column, RULE, *rest) for line, column, *rest in said]


def _of_address(address: str, is_image: bool) -> str:
    scheme = scheme_of(address)
    if scheme not in _ALLOWED_SCHEMES:
        return f"a link of scheme '{scheme}:' is refused; use https: or a path"
    if is_image and (scheme or address.startswith("//")):
        return f"image '{address}' lies on another host; keep a copy, or better draw your own"
    return ""


def _of_tag(tag: HtmlTag) -> Iterator[tuple[str, str]]:
    if tag.name not in ALLOWED_TAGS:
        yield f"HTML tag <{tag.name}> is refused in notes", f"<{tag.name}>"
        return
    for name, value in tag.attributes:
        if name not in ALLOWED_ATTRIBUTES:
            what = "event handler" if name.startswith("on") and len(name) > 4 else "attribute"
            yield f"{what} '{name}' of <{tag.name}> is refused in notes", name
        elif name in _URL_ATTRIBUTES:
            for address in html_tags.srcset(value or "") if name == "srcset" else [value or ""]:
                scheme = scheme_of(address)
                if scheme not in _ALLOWED_SCHEMES:
                    yield f"address of scheme '{scheme}:' is refused", address
                elif tag.name != "a" and (scheme or address.startswith("//")):
                    yield f"<{tag.name}> may not load '{address}' from another host", address


def check_rendered(content: str, file: str, text: str) -> list[Finding]:
    """Look for scripts, handlers and scripted addresses in the HTML made from a note's text."""

    def finding(needle: str, message: str) -> Finding:
        offset = text.lower().find(needle.lower())
        line = place_in(text, offset)[0] if offset >= 0 else 0
        return Finding(file, line, 0, RULE, f"{message} in notes", target=needle)

    tree = LexborHTMLParser(f"<body>{content}")
    refused = tree.css(_REFUSED_WHEN_RENDERED)
    findings = [finding(f"<{one.tag}", f"HTML tag <{one.tag}> is refused") for one in refused]
    for node in tree.css("*"):
        for name, value in node.attributes.items():
            if name.startswith("on"):
                findings.append(finding(name, f"event handler '{name}' is refused"))
            elif name in _URL_ATTRIBUTES and scheme_of(value or "") in ("javascript", "vbscript"):
                findings.append(finding((value or "")[:20], f"address '{value}' is refused"))
    return findings
