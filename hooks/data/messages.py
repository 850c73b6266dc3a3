"""Messages as programs print them: who prints one, what it means, and what to do first.

`docs/data/messages/*.yml` holds a product each. What varies in a line stands in braces, with an
example of it, so that a text without its braces is a line as a reader has it:

    product: NCCL
    messages:
      - id: nccl-ib-completion-12
        text: 'Got completion from peer {10.0.0.2<33792>} with status=12 opcode={129}'
        also: ['Got completion with error 12, opcode {0}, len {0}']
        printed: https://github.com/NVIDIA/nccl/blob/v2.27.7-1/src/transport/net_ib.cc#L2201
        versions: 2.19 to 2.27
        means: {zh: 重传次数用尽……。, en: The retries ran out ….}
        causes: [{zh: …, en: …}, {zh: …, en: …}]
        first: {zh: …, en: …}
        note: link/infiniband/troubleshooting#重试耗尽
        sources: [https://github.com/NVIDIA/nccl/issues/902]

`{5|6|9}` is a place that takes these alone, and `{{` a brace of the message itself.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from hooks.data.wording import Text
from hooks.findings import Document, Finding, load, validate

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

RULE = "messages"
_PLACE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_Address = Annotated[str, Field(pattern=r"^https://[^/\s]+/\S*$")]
_LONGEST = 120
"""Characters that a place may take: a line of a log holds more than one message."""


def example(text: str) -> str:
    """Return the line as a reader has it; a place with several has its first."""
    return _PLACE.sub(
        lambda found: found[0][0] if found[1] is None else found[1].split("|")[0], text
    )


def pattern(text: str) -> str:
    """Return what finds the line, as a regular expression of Python and JavaScript alike."""
    parts, end = [], 0
    for found in _PLACE.finditer(text):
        parts += [_fixed(text[end : found.start()]), _place(found)]
        end = found.end()
    return "".join([*parts, _fixed(text[end:])])


def _place(found: re.Match[str]) -> str:
    if found[1] is None:
        return re.escape(found[0][0])
    if "|" in found[1]:
        return f"(?:{'|'.join(re.escape(one) for one in found[1].split('|'))})(?![A-Za-z0-9])"
    return f".{{0,{_LONGEST}}}?"


def _fixed(text: str) -> str:
    """Blanks are as many as the terminal left."""
    return r"\s+".join(re.escape(word) for word in re.split(r"\s+", text))


class Message(BaseModel):
    """One message of a product."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    id: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    text: str = Field(min_length=6)
    also: list[str] = Field(default_factory=list)
    """How other versions, or other lines of the same fault, put it."""
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
    sources: list[_Address] = Field(default_factory=list)
    """Where causes and cure were read, beside `printed`."""

    @field_validator("text", "also")
    @classmethod
    def _is_specific(cls, value: str | list[str]) -> str | list[str]:
        for text in [value] if isinstance(value, str) else value:
            if re.search(r"[{}]", _PLACE.sub("", text)):
                raise ValueError(f"'{text}' has a brace without its other; write '{{{{' for one")
            if len(re.findall(r"[A-Za-z0-9]", _PLACE.sub("", text))) < 6:
                raise ValueError(f"'{text}' has fewer than six letters or digits that never vary")
        return value

    @cached_property
    def patterns(self) -> list[re.Pattern[str]]:
        """Return what finds each of its texts in a line."""
        return [re.compile(pattern(text)) for text in (self.text, *self.also)]


class Product(BaseModel):
    """A file: what one product prints."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    product: Text
    messages: list[Message] = Field(min_length=1)


def check_messages(texts: Mapping[str, str]) -> tuple[dict[str, Product], list[Finding]]:
    """Read products from the texts of files, by their names; return what is good.

    Every finding has the rule `messages`: a field that is wrong, an id given twice, and a text
    that the pattern of another message finds too.
    """
    products: dict[str, Product] = {}
    findings: list[Finding] = []
    places: list[tuple[Document, int, Message]] = []
    for file, text in texts.items():
        document, problems = load(text, file, RULE)
        findings += problems
        if document is None or document.node is None:
            continue
        product, problems = validate(Product, document, RULE)
        findings += problems
        if product is not None:
            products[file.rpartition("/")[2].removesuffix(".yml")] = product
            places += [(document, at, one) for at, one in enumerate(product.messages)]
    return products, sorted([*findings, *_across(places)])


def _across(places: list[tuple[Document, int, Message]]) -> Iterator[Finding]:
    ids: dict[str, str] = {}
    for document, at, one in places:
        if one.id in ids:
            hint = f"message '{one.id}' stands in {ids[one.id]} already"
            yield document.finding(RULE, ("messages", at, "id"), hint, one.id, of_value=True)
        ids.setdefault(one.id, document.file)
        for text in (one.text, *one.also):
            line = example(text)
            for _, _, other in places:
                if other is not one and any(each.search(line) for each in other.patterns):
                    told = f"'{line}' is found by the pattern of '{other.id}' too"
                    where = ("messages", at, "text")
                    yield document.finding(RULE, where, told, one.text, of_value=True)
