"""Footnotes as readers use them: numbered as they are met, with links, marks and one way back.

Python-Markdown numbers footnotes as they are defined, and moves them to the end of the page, away
from the lines that group them ("Primary:"); an address in them is plain text. What is built here:

- numbers and entries in the order of the first use, whatever ids the uses have;
- every address a link, shown short on a screen and whole on paper and in the search;
- a mark at entries that a note calls primary or secondary, or puts below a line of its own;
- one arrow to the first use, and a fold with all of them where there are several.

Not by `pymdownx.magiclink`: it would make links of addresses in all of a page's text, commands and
examples included, and it takes Chinese punctuation for a part of the address before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape

from selectolax.lexbor import LexborHTMLParser, LexborNode

from hooks.links import bare_addresses
from hooks.notes import Note
from hooks.pages.frame import fill_line, words_of

SHOWN = 52
"""Most characters of an address on a screen: about a line of a phone."""
_LONGEST_END = 36
_LEAST = 10
"""Fewer characters are not worth hiding."""
_WORD = re.compile(r"[-_.+?=&#/]")
_LIST = '<div class="footnote">'
_USE = re.compile(
    r'(?P<before><sup id="(?P<id>fnref\d*:[^"]+)">'
    r'<a class="footnote-ref" href="#fn:(?P<name>[^"]+)">)'
    r"(?P<number>\d+)</a>"
)
_SAID = re.compile(
    r"[（(](?P<alone>二手|一手|secondary|primary)[）)]"
    r"|(?<=[（(])(?P<word>二手|一手|secondary|primary)(?=[；;：:，,])"
)
_KINDS = {"一手": "primary", "primary": "primary", "二手": "secondary", "secondary": "secondary"}
_SKIPPED = frozenset({"a", "code", "pre", "script", "style", "svg"})
_LONGEST_LABEL = 40


def complete(html: str, note: Note) -> str:
    """Return the HTML of a note, as Markdown made it, with its footnotes as readers use them."""
    at = html.rfind(_LIST)
    root = LexborHTMLParser(html[at:]).body if at >= 0 else None
    if root is None or (box := root.child) is None:
        return html
    text = html[:at]
    entries = {(node.id or "").removeprefix("fn:"): node for node in box.css("ol > li[id^='fn:']")}
    uses = _uses(text, entries)
    numbers = {name: number for number, name in enumerate(uses, start=1)}
    kinds: dict[str, str] = {}
    for label, names in _labels(note):
        text = text.replace(f"<p>{escape(label, quote=False)}</p>\n", "", 1)
        kinds |= dict.fromkeys(names, label.rstrip(":："))
    for name, entry in entries.items():
        _link_and_mark(entry)
        if name in kinds:
            first = (entry.css_first("p") or entry).child
            assert first is not None  # the way back, at least
            for node in _nodes(f"{mark(kinds[name])} "):
                first.insert_before(node)
        _lead_back(entry, uses[name], numbers[name], note.language)
    items = "\n".join(entries[name].html or "" for name in uses)
    after = "".join(node.html or "" for node in root.iter(include_text=True) if node != box)

    def renumbered(use: re.Match[str]) -> str:
        return f"{use['before']}{numbers.get(use['name'], use['number'])}</a>"

    return _USE.sub(renumbered, f"{text}{_LIST}\n<hr>\n<ol>\n{items}\n</ol>\n</div>{after}")


def _labels(note: Note) -> Iterator[tuple[str, list[str]]]:
    """Yield the lines of a note that group its footnotes, such as `Primary:`, and their names: a
    line that is short, ends in a colon and stands by itself right above them.
    """
    defined = {mark.line: mark.name for mark in note.source.footnote_definitions}
    label, names = "", list[str]()
    for number, line in enumerate([*note.text.split("\n"), "#"], start=1):
        if number in defined:
            names.append(defined[number])
        elif line.strip() and not line.startswith("    "):
            if label and names:
                yield label, names
            label, names = line if _is_label(line) else "", []


def _is_label(line: str) -> bool:
    return len(line) <= _LONGEST_LABEL and line.endswith((":", "：")) and line[0].isalnum()


def mark(said: str) -> str:
    """Return a mark that says in words of what kind a source is."""
    kind = _KINDS.get(said.lower(), "other")
    word = said.lower() if kind != "other" else said
    return f'<span class="source-mark source-mark--{kind}">{escape(word)}</span>'


def _uses(text: str, entries: Mapping[str, LexborNode]) -> dict[str, list[str]]:
    """Return the ids of the uses of each footnote, the footnotes by their first use.

    Those that only other footnotes use come behind them, those that nothing uses last.
    """
    found: dict[str, list[str]] = {}
    waiting = [text]
    while waiting:
        for use in _USE.finditer(waiting.pop(0)):
            if use["name"] not in entries:
                continue
            if use["name"] not in found:
                waiting.append(entries[use["name"]].html or "")
            found.setdefault(use["name"], []).append(use["id"])
    return found | {name: [] for name in entries if name not in found}


def _link_and_mark(entry: LexborNode) -> None:
    """Make links of the addresses in an entry, and marks of what it calls a source."""
    for node in list(_texts(entry)):
        said = node.text_content or ""
        made = _linked(said)
        if made != escape(said, quote=False):
            _replace(node, made)
    for link in entry.css("a[href^='http']"):
        address = link.attributes.get("href") or ""
        if link.text() == address and "source-link" not in (link.attributes.get("class") or ""):
            _replace(link, source_link(address))


def _texts(node: LexborNode) -> Iterator[LexborNode]:
    """Yield the texts in an element, but for code and links."""
    for child in node.iter(include_text=True):
        if child.tag == "-text":
            yield child
        elif child.tag not in _SKIPPED:
            yield from _texts(child)


def _linked(text: str) -> str:
    """Return a text as HTML, with its addresses as links and its marks."""

    def marked(part: str) -> str:
        return _SAID.sub(lambda one: mark(one["alone"] or one["word"]), escape(part, quote=False))

    parts, at = list[str](), 0
    for start, address in bare_addresses(text):
        parts += [marked(text[at:start]), source_link(address)]
        at = start + len(address)
    return "".join([*parts, marked(text[at:])])


def source_link(address: str) -> str:
    """Return the link of an address; style sheets show the host, its first folders, its end."""
    scheme, mark, rest = address.partition("://")
    return fill_line(
        "footnote_link.html", address=address, scheme=scheme + mark, parts=_in_parts(rest)
    )


def _in_parts(rest: str) -> tuple[str, str, str]:
    """Divide an address into what is shown, what is not, and the end, which is shown too."""
    if len(rest) <= SHOWN:
        return rest, "", ""
    folders = rest.rstrip("/").split("/")
    tail = f"/{folders[-1]}" if len(folders) > 1 else rest[-1]
    if len(tail) > _LONGEST_END:  # from a word on
        cut = _WORD.search(tail, len(tail) - _LONGEST_END)
        tail = tail[cut.start() if cut else -_LONGEST_END :]
    head = folders[0]
    for folder in folders[1:-1]:
        if len(head) + 1 + len(folder) + len(tail) > SHOWN:
            break
        head += f"/{folder}"
    tail += rest[len(rest.rstrip("/")) :]
    middle = rest[len(head) : len(rest) - len(tail)]
    return (head, middle, tail) if len(middle) > _LEAST else (rest, "", "")


def _lead_back(entry: LexborNode, uses: list[str], number: int, language: str) -> None:
    """Leave one arrow, to the first use, and put a fold with all uses behind the entry."""
    words = words_of("footnotes", language)
    arrows = entry.css("a.footnote-backref")
    for arrow in arrows[1 if uses else 0 :]:
        arrow.decompose()
    if uses:
        arrows[0].attrs["href"] = f"#{uses[0]}"
        arrows[0].attrs["title"] = words["back"].format(number)
    if len(uses) > 1:
        said = words["uses"].format(len(uses))
        fold = fill_line("footnote_uses.html", said=said, uses=uses, use_of=words["use"])
        for node in _nodes(fold):
            entry.insert_child(node)


def _replace(node: LexborNode, html: str) -> None:
    for made in _nodes(html):
        node.insert_before(made)
    node.decompose()


def _nodes(html: str) -> list[LexborNode]:
    body = LexborHTMLParser(f"<body><i></i>{html}").body
    return list(body.iter(include_text=True))[1:] if body is not None else []
