"""The library of resources as files to carry away: JSON, OPML, BibTeX."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from hooks.data.downloads import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from hooks.data.resources import Library, Resource
    from hooks.data.wording import Text

_TITLE = {"zh": "AI Infra 与 HPC 资源", "en": "Resources on AI infra and HPC"}
_TEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "\\": "\\textbackslash{}"},
}
_ARXIV = re.compile(r"^https?://arxiv\.org/abs/(\S+)$")
_DOI = re.compile(r"^https?://doi\.org/(\S+)$")


def path_of(kind: str, language: str = "zh") -> str:
    """Return where a file lies in the site; `kind` is `json`, `opml` or `bib`."""
    mark = ".en" if kind == "opml" and language == "en" else ""
    return f"{FOLDER}/resources{mark}.{kind}"


def files(library: Library, topics: Mapping[str, Text]) -> dict[str, str]:
    """Return path below the site and text of every file; topics are named in the page's order."""
    if not library:
        return {}
    return {
        path_of("json"): as_json(library),
        path_of("bib"): as_bibtex(library),
        path_of("opml", "zh"): as_opml(library, topics, "zh"),
        path_of("opml", "en"): as_opml(library, topics, "en"),
    }


def as_json(library: Library) -> str:
    """Return every field of every entry, by key."""
    data: dict[str, Any] = {
        key: one.model_dump(mode="json", exclude_none=True) for key, one in library.items()
    }
    return json.dumps(data, ensure_ascii=False, indent=1) + "\n"


def as_opml(library: Library, topics: Mapping[str, Text], language: str) -> str:
    """Return an outline of links, by topic, as OPML 2.0."""
    root = ElementTree.Element("opml", version="2.0")
    head = ElementTree.SubElement(root, "head")
    ElementTree.SubElement(head, "title").text = _TITLE[language]
    body = ElementTree.SubElement(root, "body")
    for topic, name in topics.items():
        chosen = [one for one in library.values() if one.topics[0] == topic]
        if not chosen:
            continue
        branch = ElementTree.SubElement(body, "outline", text=name.in_language(language))
        for one in chosen:
            fields = {
                "type": "link",
                "text": one.title.in_language(language),
                "url": one.url,
                "description": one.gives.in_language(language),
                "language": one.language,
                "category": f"/{one.kind}/{one.level}",
            }
            ElementTree.SubElement(branch, "outline", fields)
    ElementTree.indent(root, " ")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, "unicode")}\n'


def as_bibtex(library: Library) -> str:
    """Return the papers, books and specifications whose authors and year are known."""
    chosen = {
        key: one
        for key, one in library.items()
        if one.by and one.year and one.kind in ("paper", "book", "spec")
    }
    return "\n".join(_entry(key, one) for key, one in chosen.items())


def _entry(key: str, one: Resource) -> str:
    # Braces keep the letters of a title as they are; "others" is BibTeX's own word.
    names = [tex(name) for name in re.split(r"\s+and\s+", one.by or "")]
    names = [name if " " in name or name == "others" else f"{{{name}}}" for name in names]
    fields = [
        ("title", f"{{{tex(one.title.en)}}}"),
        ("author", " and ".join(names)),
        ("year", str(one.year)),
    ]
    if match := _ARXIV.match(one.url):
        fields += [("eprint", match[1]), ("archiveprefix", "arXiv")]
    if match := _DOI.match(one.url):
        fields.append(("doi", match[1]))
    fields.append(("url", one.url))
    kind = "book" if one.kind == "book" else "misc"
    return f"@{kind}{{{key},\n{_lines(fields)}}}\n"


def _lines(fields: Iterable[tuple[str, str]]) -> str:
    return "".join(f"  {name} = {{{value}}},\n" for name, value in fields)


def tex(text: str) -> str:
    """Return a text as TeX reads it."""
    return "".join(_TEX.get(sign, sign) for sign in text)
