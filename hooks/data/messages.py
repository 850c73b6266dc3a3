"""Messages as programs print them: who prints one, what it means, and what to do first.

`docs/data/messages/*.yml` holds a product each. What varies in a line stands in braces, with an
example of it, so that a text without its braces is a line as a reader has it:

    product: NCCL
    messages:
      - id: nccl-ib-completion-12
        text: 'Got completion from peer {10.0.0.2<33792>} with status=12 opcode={129}'
        printed: https://github.com/NVIDIA/nccl/blob/v2.27.7-1/src/transport/net_ib.cc#L2201
        means: {zh: 重传次数用尽……。, en: The retries ran out ….}
        causes: [{zh: …, en: …}, {zh: …, en: …}]
        first: {zh: …, en: …}
        note: link/infiniband/troubleshooting#重试耗尽

`{5|6|9}` is a place that takes these alone, and `{{` a brace of the message itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from hooks.data.wording import Strict, Text
from hooks.findings import Document, Finding, load, validate

RULE = "messages"
_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_Address = Annotated[str, Field(pattern=r"^https://[^/\s]+/\S*$")]


def example(text: str) -> str:
    """Return the line as a reader has it; a place that takes several has its first."""
    return _PLACE.sub(lambda at: at[0][0] if at[1] is None else at[1].split("|")[0], text)


def pattern(text: str) -> str:
    """Return a regular expression, of Python and JavaScript alike, that finds the line.

    A place takes 120 characters at most: a line of a log may hold more than one message.
    """
    parts, end = [], 0
    for at in [*_PLACE.finditer(text), None]:
        fixed = text[end : at.start() if at else None]
        parts.append(r"\s+".join(map(re.escape, re.split(r"\s+", fixed))))
        if at and at[1] is None:
            parts.append(re.escape(at[0][0]))
        elif at and "|" in at[1]:
            parts.append(f"(?:{'|'.join(map(re.escape, at[1].split('|')))})(?![A-Za-z0-9])")
        elif at:
            parts.append(".{0,120}?")
        end = at.end() if at else 0
    return "".join(parts)


def _is_specific(text: str) -> str:
    fixed = _PLACE.sub("", text)
    if re.search(r"[{}]", fixed) or len(re.findall(r"[A-Za-z0-9]", fixed)) < 6:
        raise ValueError(
            f"'{text}' must have six letters or digits outside braces, and no brace without its"
            " other; write '{{' for one"
        )
    return text


_Line = Annotated[str, AfterValidator(_is_specific)]


class Message(Strict):
    """One message of a product."""

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    text: _Line
    also: tuple[_Line, ...] = ()
    """How other versions, or other lines of the same fault, put it."""
    role: Literal["failure", "follows", "notice"] = "failure"
    """`follows` is printed because something else failed, `notice` while all goes on."""
    printed: _Address
    """The line of source that prints it at a tag, or the vendor's page that lists it."""
    versions: str = ""
    """Between which it reads so, where that was looked at."""
    means: Text
    causes: list[Text] = Field(min_length=1, max_length=3)
    """In the order of likelihood."""
    apart: Text | None = None
    """How to tell the causes apart."""
    first: Text
    """What to do first."""
    note: str = Field(pattern=r"^[a-z0-9-]+(/[a-z0-9-]+)*(#\S+)?$")
    """The section that tells why: a note, with or without a heading of its Chinese file."""
    sources: tuple[_Address, ...] = ()
    """Where causes and cure were read, beside `printed`."""

    @cached_property
    def _finders(self) -> list[tuple[str, int, re.Pattern[str]]]:
        """For each text a word that its lines hold, how much of it never varies, its pattern."""
        return [
            (max(fixed.split(), key=len), len(fixed), re.compile(pattern(text)))
            for text in (self.text, *self.also)
            for fixed in [_PLACE.sub(" ", text)]
        ]

    def finds(self, line: str) -> int:
        """Return how much of a line is what never varies in the message; 0 where it is another."""
        found = (size for word, size, one in self._finders if word in line and one.search(line))
        return max(found, default=0)


class Product(Strict):
    """A file: what one product prints."""

    product: Text
    messages: list[Message] = Field(min_length=1)


Messages = dict[str, tuple[Product, Document]]
"""The products by the names of their files, with these."""


def read_messages(folder: Path, name: str) -> tuple[Messages, list[Finding]]:
    """Return the products of a folder that messages call `name`, and what is wrong with them.

    Every finding has the rule `messages`: a field that is wrong, an id given twice, and a text
    that the pattern of another message finds too.
    """
    products: Messages = {}
    findings: list[Finding] = []
    for path in sorted(folder.glob("*.yml")):
        document, problems = load(path.read_text(encoding="utf-8"), f"{name}/{path.name}", RULE)
        findings += problems
        if document is not None and document.node is not None:
            product, problems = validate(Product, document, RULE)
            findings += problems
            if product is not None:
                products[path.stem] = product, document
    return products, sorted([*findings, *_across(products)])


def _across(products: Messages) -> Iterator[Finding]:
    placed = [
        (one, document, at)
        for product, document in products.values()
        for at, one in enumerate(product.messages)
    ]
    taken: dict[str, str] = {}
    for one, document, at in placed:
        told = [f"id '{one.id}' stands in {taken[one.id]} too"] if one.id in taken else []
        taken.setdefault(one.id, document.file)
        for line in map(example, (one.text, *one.also)):
            # A line may quote another product's: the one with more of it is taken.
            own = one.finds(line)
            told += [
                f"'{line}' is found by the pattern of '{other.id}' too; make one more specific"
                for other, theirs, _ in placed
                if other is not one and other.finds(line) >= (1 if theirs is document else own)
            ]
        for message in told:
            yield document.finding(RULE, ("messages", at, "id"), message, one.id, of_value=True)
