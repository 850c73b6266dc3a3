"""What stands beside the pages: their Markdown, all of it in one file, and what programs read."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hooks.site.to_markdown import markdown_of, placed

TITLES = {"zh": "AI Infra & HPC 手册", "en": "AI Infra & HPC Handbook"}
_WHOLE = {"zh": "整本手册，一个 Markdown 文件", "en": "The whole handbook as one Markdown file"}
_OTHER = {"zh": "[English](en/llms.txt)", "en": "[中文](../llms.txt)"}
_START = {"zh": "开始", "en": "Start"}
_LISTS = ("index", "tags")
"""Pages that only lead to the others: no part of the one file."""
_HEADING = re.compile(r"(#{1,6})(?=[ \t])")
_FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})")
_FOOTNOTE = re.compile(r"(?P<code>`[^`\n]*`)|\[\^(?P<id>[^\]\s]+)\]")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page as what is carried away holds it."""

    page: str
    """Address of its HTML from the site's root."""
    note: str
    """The note's id."""
    language: str
    title: str
    description: str
    verified: str
    trail: tuple[str, ...]
    """Names of the sections it stands in, the topmost first; empty at the root."""
    text: str
    """Its Markdown (`to_markdown`), addresses still from the root."""


def folder_of(language: str) -> str:
    """Return the folder of a language's pages, with its slash; empty for the root of the site."""
    return "" if language == "zh" else f"{language}/"


def files(leaves: Sequence[Leaf], about: Mapping[str, str], site_url: str) -> dict[str, str]:
    """Return Markdown to carry away, and robots.txt, by paths in the site.

    Args:
        leaves: The pages in the order of the navigation.
        about: What the site says of itself, by language.
        site_url: The address the site is published at; empty while unknown.
    """
    sitemap = f"\nSitemap: {site_url}sitemap.xml\n" if site_url else ""
    made = {"robots.txt": f"User-agent: *\nAllow: /\n{sitemap}"}
    made |= {markdown_of(leaf.page): _page(leaf, site_url) for leaf in leaves}
    for language, said in about.items():
        own = [leaf for leaf in leaves if leaf.language == language]
        folder = folder_of(language)
        made[f"{folder}llms.txt"] = _llms(own, language, said)
        made[f"handbook.{language}.md"] = _whole(own, language, said, site_url)
    return made


def _page(leaf: Leaf, site_url: str) -> str:
    fields = {"title": leaf.title, "description": leaf.description, "verified": leaf.verified}
    fields["source"] = site_url and site_url + leaf.page
    head = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items() if value
    ]
    return "\n".join(["---", *head, "---", "", placed(leaf.text, posixpath.dirname(leaf.page))])


def _llms(leaves: Sequence[Leaf], language: str, about: str) -> str:
    """Return the list of pages in the form of llmstxt.org: title, summary, sections of links."""
    folder = folder_of(language)
    whole = posixpath.relpath(f"handbook.{language}.md", folder or ".")
    lines = [f"# {TITLES[language]}", "", f"> {about}", ""]
    lines += [f"- [{_WHOLE[language]}]({whole})", f"- {_OTHER[language]}"]
    section = None
    for leaf in leaves:
        name = leaf.trail[0] if leaf.trail else _START[language]
        if name != section:
            section = name
            lines += ["", f"## {name}", ""]
        title = re.sub(r"([\\\[\]])", r"\\\1", leaf.title)
        where = posixpath.relpath(markdown_of(leaf.page), folder or ".")
        colon = f": {leaf.description}" if leaf.description else ""
        lines.append(f"- [{title}]({where}){colon}")
    return "\n".join(lines) + "\n"


def _whole(leaves: Sequence[Leaf], language: str, about: str, site_url: str) -> str:
    """Return all pages as one text: sections above pages, pages above their headings."""
    parts = [f"# {TITLES[language]}\n\n{about}\n"]
    if site_url:
        parts[0] += f"\n<{site_url}>\n"
    above: tuple[str, ...] = ()
    for number, leaf in enumerate(leaf for leaf in leaves if leaf.note not in _LISTS):
        opens = bool(leaf.trail) and posixpath.basename(leaf.note) == "index"
        for depth, name in enumerate(leaf.trail[:-1] if opens else leaf.trail):
            if leaf.trail[: depth + 1] != above[: depth + 1]:
                parts.append(f"{'#' * min(depth + 2, 6)} {name}\n")
        above = leaf.trail
        deeper = len(leaf.trail) + (0 if opens else 1)
        text = "\n".join(_part(placed(leaf.text, ""), deeper, f"p{number}-"))
        parts.append(f"{text.strip()}\n")
    return "\n".join(parts)


def _part(text: str, deeper: int, prefix: str) -> Iterator[str]:
    """Yield the lines of a page with headings so much deeper and footnotes of its own."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or mark["mark"].startswith(fence)):
            fence = "" if fence else mark["mark"]
        yield line if mark or fence else _shifted(line, deeper, prefix)


def _shifted(line: str, deeper: int, prefix: str) -> str:
    heading = _HEADING.match(line)
    if heading:
        line = "#" * min(len(heading[1]) + deeper, 6) + line[heading.end() :]
    return _FOOTNOTE.sub(lambda one: one["code"] or f"[^{prefix}{one['id']}]", line)
