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

`{5|6|9}` is a place that takes these alone, and `{{` a brace of the message itself. What finds the
text in a line is docs/assets/javascripts/messages/match.js.
"""

from __future__ import annotations

import re
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


def _is_specific(text: str) -> str:
    fixed = _PLACE.sub("", text)
    if re.search(r"[{}]", fixed) or len(re.findall(r"[A-Za-z0-9]", fixed)) < 6:
        raise ValueError(
            f"'{text}' must have six letters or digits outside braces, and no brace without its"
            " other; write '{{' for one"
        )
    return text


def _in_both(text: Text) -> Text:
    words = re.search(r"\b(and|from|in|later|newer|older|only|run|to|up)\b", text.zh)
    if words and not re.search("[\u3400-\u9fff]", text.zh):
        raise ValueError(f"'{text.zh}' is English: write {{zh: …, en: …}}, or '2.4–2.6'")
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
    versions: Annotated[Text, AfterValidator(_in_both)] = Text(zh="", en="")
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

    @property
    def lines(self) -> tuple[str, str]:
        """How it reads, a form a line; and the words that never vary, by blanks."""
        forms = "\n".join((self.text, *self.also))
        return example(forms), re.sub(r"\W+", " ", _PLACE.sub(" ", forms))


class Product(Strict):
    """A file: what one product prints."""

    product: Text
    messages: list[Message] = Field(min_length=1)


Messages = dict[str, tuple[Product, Document]]
"""The products by the names of their files, with these."""


def read_messages(folder: Path, name: str) -> tuple[Messages, list[Finding]]:
    """Return the products of a folder that findings call `name`, and what is wrong with them."""
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
    return products, findings
