"""Read a run of inline Markdown as the site's renderer does, keeping offsets.

Python-Markdown goes over a text once for each kind of markup, in a fixed order, and puts a mark in
place of what it has found: so code hides links, a link hides the links in its words, and a picture
hides all that stands in its description. Here it is the same, but what is found is blotted out
character by character, so that every offset stays that of the run.
Sources: markdown/inlinepatterns.py and treeprocessors.py 3.11, the pymdownx extensions 13.1.
"""

from __future__ import annotations

import bisect
import functools
import html
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from hooks.markdown import destinations, html_tags
from hooks.markdown.brackets import Brackets
from hooks.markdown.github_inline import Inline, InlineLink, InlineTag
from hooks.markdown.reader import attribute_lists, emphasis, html_spans, raw_links
from hooks.markdown.reader import code_and_math as opaque
from hooks.markdown.reader.lines import MARK_CLOSE
from hooks.markdown.source import LinkKind
from hooks.markdown.text import normal_label

BLOT = MARK_CLOSE
"""What stands for text that is taken: a character that no source can hold."""
_FOOTNOTE = re.compile(r"\[\^(?P<id>[^\]]{0,999})\]")
_LABEL = re.compile(r"(?P<blank>\s?)\[(?P<label>[^\]]{0,999})\]")
_AUTOLINK = re.compile(r"<(?P<target>[A-Za-z][A-Za-z0-9+.-]{0,31}://[^<>]{0,2000})>")
_MAIL = re.compile(r"<(?P<target>[^<> !]{1,200}+@[^@<> ]{1,200})>")
_NEVER = f"{BLOT}{BLOT}never"
"""Found in no text."""
_MAY_HOLD = re.compile(r"[\[<`+$\\]")
_AFTER_EMPHASIS = re.compile(r"[*_^]\{")

_PLAIN = re.compile(r"[\[<`$\\+@:!{*_^~\n]")
"""What a text holds in which a pass, or the emphasis, may find something."""

Span = tuple[int, int]


_Pass = Callable[["_Reader", str], list[Span]]

NOTHING = Inline()
"""What a run without any markup holds; one for all of them, never to be changed."""


def scan(
    text: str,
    *,
    math: bool = True,
    plain_math: bool = False,
    labels: Collection[str] = (),
    footnotes: Collection[str] | None = None,
) -> Inline:
    """Return what an inline run holds, in order.

    Args:
        text: The run.
        math: Whether formulas between dollar signs are known.
        plain_math: Whether a digit behind the second sign makes both of them money, as on GitHub.
        labels: The labels of link definitions, normalised: without one, `[label]` is text.
        footnotes: The names of footnotes; None takes every mark for one.
    """
    if _MAY_HOLD.search(text) is None and not _has_list_behind_emphasis(text):
        return NOTHING
    reader = _Reader(text, math, plain_math, labels, footnotes)
    reader.read(text, 0, 0)
    return reader.result()


def visible(
    text: str,
    *,
    math: bool = True,
    labels: Collection[str] = (),
    footnotes: Collection[str] | None = None,
) -> str:
    """Return the words that a reader sees of a run, pictures left out; arguments as for `scan`."""
    reader = _Reader(text, math, False, labels, footnotes)
    reader.with_words = True
    reader.read(text, 0, 0)
    parts, position = [], 0
    for start, end, words in sorted(reader.cuts, key=lambda cut: (cut[0], -cut[1])):
        if start >= position:
            parts += [text[position:start], words]
            position = end
    return html.unescape("".join([*parts, text[position:]]))


def _has_list_behind_emphasis(text: str) -> bool:
    return "{" in text and _AFTER_EMPHASIS.search(text) is not None


@dataclass(slots=True)
class _Loose:
    """A reference or footnote mark without a definition: none, if something else takes it."""

    link: InlineLink
    is_footnote: bool = False


class _Reader:
    """Reads one run; the passes are its methods, and those of `hooks.opaque`."""

    def __init__(
        self,
        text: str,
        math: bool,
        plain_math: bool,
        labels: Collection[str],
        footnotes: Collection[str] | None,
    ) -> None:
        self.text = text
        self.labels = labels
        self.footnotes = footnotes
        self.found = Inline()
        self.loose: list[_Loose] = []
        self.hidden: list[Span] = []
        self.cuts: list[tuple[int, int, str]] = []
        self.with_words = False
        self.budget = destinations.Budget(len(text))
        self.brackets = Brackets()
        self.ends: list[Span] = []
        self.base = 0
        self.step = 0
        self.passes = _passes(math, plain_math, bool(labels))

    def read(self, data: str, base: int, step: int, level: int = 0) -> None:
        """Go over a piece of the run from a pass on; `base` is where it begins."""
        saved = self.ends, self.base, self.step
        self.ends = self._ends_in(base, base + len(data)) if level else []
        for number in range(step, len(self.passes)):
            trigger, search = self.passes[number]
            if trigger in data:
                self.base, self.step = base, number
                spans = search(self, data)
                if spans:
                    data = raw_links.blotted(data, spans)
        self.base = base
        if not level and not step and "]" in data:
            self.raw_links(data)
        again = level > 0 and ("](" in data or "][" in data)
        pairs: list[emphasis.Region] = []
        if self.with_words or again or _has_list_behind_emphasis(data):
            pairs = emphasis.regions(data)
            self.emphasis(pairs)
        if "{" in data:
            self.attribute_lists(data)
        if again:
            self.once_more(data, base, pairs)
        if level == 0 and self.ends and "{" in self.text:  # asked for by attribute lists
            self.found.head = min(start for start, _ in self.ends)
            self.found.tail = max(end for _, end in self.ends)
        self.ends, self.base, self.step = saved

    def _ends_in(self, start: int, stop: int) -> list[Span]:
        """Return the elements found within a piece of the run, with offsets of the piece."""
        shift = self.base - start
        ends = [(first + shift, last + shift) for first, last in self.ends]
        return [(first, last) for first, last in ends if first >= 0 and last <= stop - start]

    def inside(self, data: str, start: int, end: int) -> None:
        """Read the words of a link: only for what comes after the pass that found it."""
        if _PLAIN.search(data, start, end) is None:
            return
        base, step = self.base, self.step
        self.read(data[start:end], base + start, step + 1, 1)
        self.base, self.step = base, step

    def element(self, start: int, end: int) -> Span:
        """Note an element, behind which an attribute list may stand."""
        self.ends.append((start, end))
        return start, end

    def hide(self, data: str, start: int, end: int) -> None:
        """Forget what was found inside: it becomes part of an attribute or of a comment."""
        if BLOT in data[start:end]:
            self.hidden.append((self.base + start, self.base + end))

    def cut(self, start: int, end: int, words: str = "") -> None:
        self.cuts.append((self.base + start, self.base + end, words))

    def result(self) -> Inline:
        """Return what is left when everything hidden is forgotten."""
        found = self.found
        inline_links, starts = [], []
        if self.loose:
            inline_links = sorted((link.start, link.end) for link in found.links)
            starts = [start for start, _ in inline_links]
        for one in self.loose:
            start, end = one.link.start, one.link.end
            first = bisect.bisect_left(starts, start)
            last = bisect.bisect_left(starts, end)
            if one.is_footnote:
                is_taken = first < len(starts) and starts[first] == start
            else:
                is_taken = any(stop > end for _, stop in inline_links[first:last])
            if not is_taken:
                (found.footnotes if one.is_footnote else found.links).append(one.link)
        if self.hidden:
            found.links = [one for one in found.links if not self.is_hidden(one.start)]
            found.footnotes = [one for one in found.footnotes if not self.is_hidden(one.start)]
            found.tags = [one for one in found.tags if not self.is_hidden(one.offset)]
            found.comments = [one for one in found.comments if not self.is_hidden(one[0])]
            found.ids = [one for one in found.ids if not self.is_hidden(one[1])]
        found.links.sort(key=lambda link: link.offset)
        found.footnotes.sort(key=lambda mark: mark.offset)
        found.tags.sort(key=lambda tag: tag.offset)
        return found

    def is_hidden(self, offset: int) -> bool:
        return any(start < offset < end for start, end in self.hidden)

    def raw_links(self, data: str) -> None:
        """Note what the passes have left of links: with blanks or full-width parentheses."""
        self.found.raw += raw_links.found(data, self.text, self.base)

    # The passes, in the renderer's order.

    def opaque(self, find: Callable[[str], Iterable[opaque.Piece]], data: str) -> list[Span]:
        """Take out what hides all that is in it."""
        spans = []
        for piece in find(data):
            spans.append((piece.start, piece.end))
            self.cut(piece.start, piece.end, piece.words)
            if piece.is_element:
                self.element(piece.start, piece.end)
        return spans

    def marks(self, data: str) -> list[Span]:
        spans = []
        for match in _FOOTNOTE.finditer(data):
            start, end = self.base + match.start(), self.base + match.end()
            link = InlineLink(LinkKind.REFERENCE, match["id"], start, match.group(0), start, end)
            if self.footnotes is not None and match["id"] not in self.footnotes:
                if match["id"] and "\n" not in match["id"] and BLOT not in match["id"]:
                    self.loose.append(_Loose(link, is_footnote=True))
                continue
            self.found.footnotes.append(link)
            spans.append(self.element(*match.span()))
            self.cut(*match.span())
        return spans

    def references(self, data: str) -> list[Span]:
        return self._references(data, is_image=False, is_short=False)

    def image_references(self, data: str) -> list[Span]:
        return self._references(data, is_image=True, is_short=False)

    def short_references(self, data: str) -> list[Span]:
        return self._references(data, is_image=False, is_short=True)

    def short_image_references(self, data: str) -> list[Span]:
        return self._references(data, is_image=True, is_short=True)

    def links(self, data: str) -> list[Span]:
        return self._links(data, is_image=False)

    def images(self, data: str) -> list[Span]:
        return self._links(data, is_image=True)

    def autolinks(self, data: str) -> list[Span]:
        spans = []
        for match in _AUTOLINK.finditer(data):
            start, end = match.span()
            target = opaque.restored(self.text[self.base + start + 1 : self.base + end - 1])
            self.found.links.append(
                InlineLink(
                    LinkKind.AUTOLINK, target, self.base + start + 1, target,
                    self.base + start, self.base + end,
                )
            )  # fmt: skip
            self.hide(data, start, end)
            spans.append(self.element(start, end))
            self.cut(start, end, match["target"])
        return spans

    def mails(self, data: str) -> list[Span]:
        spans = []
        for match in _MAIL.finditer(data):
            self.hide(data, *match.span())
            spans.append(self.element(*match.span()))
            self.cut(*match.span(), match["target"].removeprefix("mailto:"))
        return spans

    def breaks(self, data: str) -> list[Span]:
        spans = []
        for match in re.finditer("  \n", data):
            # The line break stays in what follows, so that no list can stand right behind it.
            self.element(match.start(), match.end() - 1)
            spans.append(match.span())
        return spans

    def html(self, data: str) -> list[Span]:
        spans, position, last_comment = [], 0, data.rfind("-->")
        while (at := data.find("<", position)) >= 0:
            end = self._comment(data, at, last_comment) or self._tag(data, at)
            position = end or at + 1
            if end:
                self.hide(data, at, end)
                self.cut(at, end)
                spans.append((at, end))
        return spans

    def _comment(self, data: str, at: int, last: int) -> int:
        end = html_spans.comment_end(data, at, last)
        if end:
            self.found.comments.append(
                (self.base + at, self.text[self.base + at + 4 : self.base + end - 3])
            )
        return end

    def _tag(self, data: str, at: int) -> int:
        end, name = html_spans.tag_end(data, at)
        if name:
            start = self.base + at
            text = self.text[start : self.base + end]
            known = html_tags.start_tag(text, 0)
            is_empty = html_tags.is_closed_at_once(self.text, self.base + end)
            name = known["name"] if known else name.rstrip("/")
            self.found.tags.append(InlineTag(name.lower(), text, start, is_empty))
        return end

    # What the passes share.

    def _links(self, data: str, *, is_image: bool) -> list[Span]:
        spans, position = [], 0
        while (found := self.brackets.next(data, position, is_image)) is not None:
            at, start, close = found
            position = start + 1
            target = destinations.match(data, close + 1, self.budget, has_escapes=False)
            if target is None:
                continue
            begin = self.base + target.offset
            address = opaque.restored(self.text[begin : begin + len(target.text)])
            link = InlineLink(
                LinkKind.IMAGE if is_image else LinkKind.INLINE,
                address,
                begin,
                self.text[self.base + start + 1 : self.base + close],
                self.base + at,
                self.base + target.end,
                is_image,
                target.has_spaces,
            )
            spans.append(self._add(data, link, at, start, close, target.end))
            position = target.end
        return spans

    def _references(self, data: str, *, is_image: bool, is_short: bool) -> list[Span]:
        if is_short and not self.labels:
            return []
        spans, position = [], 0
        while (found := self.brackets.next(data, position, is_image)) is not None:
            at, start, close = found
            position = start + 1
            end, name, is_apart, offset = close + 1, "", False, start + 1
            if not is_short:
                match = _LABEL.match(data, close + 1)
                if match is None:
                    continue
                end, name, is_apart = match.end(), match["label"], bool(match["blank"])
                offset = match.start("label") if name else offset
            name = name or data[start + 1 : close]
            words = self.text[self.base + start + 1 : self.base + close]
            link = InlineLink(
                LinkKind.REFERENCE,
                self.text[self.base + offset : self.base + offset + len(name)],
                self.base + offset,
                "" if is_short else words or " ",
                self.base + at,
                self.base + end,
                is_image,
            )
            position = end
            if BLOT in name and normal_label(link.target) in self.labels:
                if not is_apart:
                    self.loose.append(_Loose(link._replace(is_unread=True)))
                continue
            if BLOT in name or normal_label(name) not in self.labels:
                if not is_short and not is_apart and not name.startswith("^"):
                    self.loose.append(_Loose(link))
                continue
            spans.append(self._add(data, link, at, start, close, end))
        return spans

    def _add(self, data: str, link: InlineLink, at: int, start: int, close: int, end: int) -> Span:
        self.found.links.append(link)
        if link.is_image:
            self.hide(data, at, end)
            self.cut(at, end)
        else:
            self.cut(at, start + 1)
            self.cut(close, end)
            self.inside(data, start + 1, close)
        return self.element(at, end)

    def once_more(self, data: str, base: int, pairs: list[emphasis.Region]) -> None:
        """Read the words of a link again, from the first pass on, behind any element in them.

        So does the renderer, and makes links inside a link of them.
        """
        if not self.ends:
            return
        borders = {place for pair in pairs for place in pair}
        borders.update(place for span in self.ends for place in span)
        places = sorted(borders)
        for start, end in zip(places, [*places[1:], len(data)], strict=True):
            piece = data[start:end]
            if "](" in piece or "][" in piece:
                self.read(piece, base + start, 0, 1)
                self.base = base

    def emphasis(self, pairs: list[emphasis.Region]) -> None:
        for start, first, last, end in pairs:
            self.element(start, end)
            self.cut(start, first)
            self.cut(last, end)

    def attribute_lists(self, data: str) -> None:
        """Note the ids that attribute lists right behind elements give them."""
        begins = sorted(start for start, _ in self.ends)
        for _, end in self.ends:
            if not data.startswith("{", end):
                continue
            index = bisect.bisect_left(begins, end)
            stop = begins[index] if index < len(begins) else len(data)
            words = attribute_lists.behind(data, end, stop)
            if words is None:
                continue
            self.cut(end, words.end)
            if words.id:
                self.found.ids.append((words.id, self.base + words.id_offset))


def _hiding(find: Callable[[str], Iterable[opaque.Piece]]) -> _Pass:
    return lambda reader, data: reader.opaque(find, data)


@functools.cache
def _passes(math: bool, plain_math: bool, has_labels: bool) -> tuple[tuple[str, _Pass], ...]:
    """Return the passes in order, each with a text without which it finds nothing."""
    dollars = opaque.plain_formulas if plain_math else opaque.formulas
    return (
        ("`", _hiding(opaque.code)),
        ("$" if math else _NEVER, _hiding(dollars)),
        ("\\(" if math else _NEVER, _hiding(opaque.round_formulas)),
        ("++", _hiding(opaque.keys)),
        ("\\", _hiding(opaque.escapes)),
        ("[^", _Reader.marks),
        ("[" if has_labels else "][", _Reader.references),
        ("](", _Reader.links),
        ("![", _Reader.images),
        ("![", _Reader.image_references),
        ("[", _Reader.short_references),
        ("![", _Reader.short_image_references),
        ("://", _Reader.autolinks),
        ("@", _Reader.mails),
        ("  \n", _Reader.breaks),
        ("<", _Reader.html),
    )
