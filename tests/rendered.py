"""The site's own renderer, for comparing what it makes of a text with what the checks read."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import markdown
import yaml
from selectolax.lexbor import LexborHTMLParser

from hooks.markdown.heading_ids import HeadingIdsExtension
from hooks.markdown.source import LinkKind, Source
from hooks.markdown.text import normal_label

ROOT = Path(__file__).resolve().parent.parent
_OWN_IDS = re.compile(r"fn:|fnref\d*:|__tabbed|__codelineno|__span|_\d+_\d+\Z")


class _Loader(yaml.SafeLoader):
    """Reads mkdocs.yml without acting on the tags of MkDocs."""


_Loader.add_multi_constructor("", lambda loader, suffix, node: None)


@functools.cache
def _config() -> Any:
    return yaml.load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"), Loader=_Loader)


def extensions() -> tuple[list[str | Any], dict[str, Any]]:
    """Return the Markdown extensions of mkdocs.yml and their settings, snippets aside."""
    config = _config()
    names: list[str | Any] = []
    settings: dict[str, Any] = {}
    for entry in config["markdown_extensions"]:
        name, options = next(iter(entry.items())) if isinstance(entry, dict) else (entry, {})
        if name == "pymdownx.snippets":
            continue
        if name == "toc":
            options = {"toc_depth": 3}  # its own links beside headings are no links of the note
        if name == "pymdownx.superfences":
            fence = {"name": "mermaid", "class": "mermaid", "format": _mermaid}
            options = {"custom_fences": [fence]}
        names.append(name)
        settings[name] = options
    return [*names, HeadingIdsExtension()], settings


def _mermaid(source: str, *_: object, **__: object) -> str:
    return "<pre class='mermaid'></pre>"


def render(text: str) -> str:
    """Return the HTML that the site's extensions make of a text."""
    names, settings = extensions()
    return markdown.Markdown(extensions=names, extension_configs=settings).convert(text)


def seen(html: str) -> tuple[list[str], list[str]]:
    """Return the link and image addresses, and the ids, of rendered HTML, sorted."""
    targets, ids = [], []
    for node in LexborHTMLParser(f"<body>{html}").css("body *"):
        attributes = node.attributes
        classes = (attributes.get("class") or "").split()
        if {"footnote-ref", "footnote-backref"} & set(classes):
            continue
        for name in ("href", "src"):
            address = (attributes.get(name) or "").strip()
            if name in attributes and not address.startswith(("#__", "mailto:")):
                targets.append(address)
        identifier = attributes.get("id")
        if identifier and not _OWN_IDS.match(identifier):
            ids.append(identifier)
    return sorted(targets), sorted(ids)


def read(source: Source) -> tuple[list[str], list[str]]:
    """Return the same of a parsed text."""
    defined = {link.text: link.target for link in source.definitions}
    targets = []
    for link in source.links:
        if link.kind is not LinkKind.REFERENCE:
            targets.append(link.target.strip())
        elif normal_label(link.target) in defined and not link.is_unread:
            targets.append(defined[normal_label(link.target)])
    for tag in source.tags:
        for name in ("href", "src"):
            value = dict(tag.attributes).get(name, "absent")
            if value != "absent":
                targets.append((value or "").strip())
    ids = [heading.id for heading in source.headings if heading.id]
    explicit = {heading.id for heading in source.headings if heading.is_explicit}
    ids += [
        anchor.id
        for anchor in source.anchors
        if anchor.id not in explicit and not (anchor.is_html and _is_name(source, anchor.line))
    ]
    return sorted(targets), sorted(ids)


def _is_name(source: Source, line: int) -> bool:
    return any(tag.line == line and tag.get("name") for tag in source.tags)
