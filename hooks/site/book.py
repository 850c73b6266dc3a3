"""Pages of the finished site as the HTML of one book: no script, no form, figures as files."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from selectolax.lexbor import LexborHTMLParser, LexborNode

_DROPPED = (
    "script, style, button, form, input, template, .headerlink, .md-content__button, .backlinks,"
    " .md-source-file, .calc__app, .resources__filter, .practice, .md-tags, .untranslated,"
    " .footnote-backref, .footnote-uses, .calc__noscript, .note-tools, .page-contents, .order"
)
_UNFOLDED = re.compile(r"<(/?)(details|summary)\b[^>]*>")
_SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_VARIABLE = re.compile(r"var\(--[\w-]+,\s*([^()]*(?:\([^()]*\))?[^()]*)\)")
_SIZE = re.compile(r'viewBox="[\d.-]+ [\d.-]+ (?P<width>[\d.]+) (?P<height>[\d.]+)"')
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


@dataclass(slots=True)
class Book:
    """One volume being made."""

    places: Mapping[str, int]
    """Number of each page of the volume, by its address in the site."""
    site_url: str = ""
    drawings: Mapping[str, str] = field(default_factory=dict)
    """Diagrams as SVG, by their text."""
    files: dict[str, str] = field(default_factory=dict)
    """Figures as files of SVG, by name; filled while pages are made."""

    def page(self, page: str, html: str) -> str:
        """Return a page's article as a part of the book."""
        tree = LexborHTMLParser(html)
        article = tree.css_first("article")
        if article is None:
            return ""
        for node in article.css(_DROPPED):
            node.decompose()
        self._code(article)
        for node in article.css(".source-mark"):
            node.insert_before(f"[{node.text()}]")
            node.decompose()
        for node in article.css(".facts__ref"):
            node.insert_before(f"\u2060[{node.attributes.get('data-ref') or ''}]")
            node.decompose()
        number = self.places[page]
        for node in article.css("[id]"):
            node.attrs["id"] = f"p{number}-{node.id}"
        for node in article.css("a[href]"):
            target = self._target(node.attributes.get("href") or "", page)
            if target:
                node.attrs["href"] = target
            else:
                del node.attrs["href"]
        inner = article.inner_html or ""
        inner = _UNFOLDED.sub(_as_block, _SVG.sub(self._figure, inner))
        # No element around the page: pandoc begins a chapter at a heading that stands free.
        return re.sub(r"<h1\b[^>]*>", rf'\g<0><span id="p{number}"></span>', inner, count=1)

    def _code(self, article: LexborNode) -> None:
        for node in article.css("pre"):
            text = node.text().rstrip("\n")
            drawing = self.drawings.get(text.strip())
            if drawing is not None and "mermaid" in (node.attributes.get("class") or ""):
                text = "Diagram"
                node.attrs["data-drawing"] = self._kept(drawing)
            holder = LexborHTMLParser(f"<pre><code>{escape(text, quote=False)}</code></pre>")
            name = node.attributes.get("data-drawing")
            if name:
                holder = LexborHTMLParser(f'<p><img src="{name}" alt=""></p>')
            made = holder.css_first("pre, p")
            if made is not None:
                node.replace_with(made)

    def _target(self, address: str, page: str) -> str:
        """Return where a link of a page leads from the book; blank where it cannot."""
        if _SCHEME.match(address):
            return address
        path, _, fragment = address.partition("#")
        whole = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
        if whole in self.places:
            place = f"#p{self.places[whole]}"
            return f"{place}-{fragment}" if fragment else place
        hash_mark = f"#{fragment}" if fragment else ""
        return f"{self.site_url}{whole}{hash_mark}" if self.site_url else ""

    def _kept(self, svg: str) -> str:
        svg = _VARIABLE.sub(r"\1", svg)
        if "xmlns=" not in svg.partition(">")[0]:
            svg = svg.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
        size = _SIZE.search(svg.partition(">")[0])
        if size and " width=" not in svg.partition(">")[0]:
            drawn = f'<svg width="{size["width"]}" height="{size["height"]}"'
            svg = svg.replace("<svg", drawn, 1)
        name = f"figure-{hashlib.sha256(svg.encode()).hexdigest()[:12]}.svg"
        self.files[name] = svg
        return name

    def _figure(self, match: re.Match[str]) -> str:
        label = re.search(r'aria-label="([^"]*)"', match[0].partition(">")[0])
        if "viewBox" not in match[0].partition(">")[0] or label is None:
            return ""  # icons
        return f'<img src="{self._kept(match[0])}" alt="{label[1]}">'


def _as_block(match: re.Match[str]) -> str:
    if match[2] == "details":
        return f"<{match[1]}div>"
    return "</strong></p>" if match[1] else "<p><strong>"


def volume(title: str, language: str, parts: Sequence[str]) -> str:
    """Return the HTML of a volume, for pandoc."""
    code = "zh-CN" if language == "zh" else language
    return (
        f'<!doctype html>\n<html lang="{code}"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title></head>\n<body>\n{''.join(parts)}</body></html>\n"
    )
