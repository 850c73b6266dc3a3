"""Tell whether a page that answered has the fragment that a link asks for."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from selectolax.lexbor import LexborHTMLParser

from hooks.findings import nearest

if TYPE_CHECKING:
    from hooks.links.external.http import Reply

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\s\"';>]+)", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?([A-Za-z0-9_:.-]+)", re.IGNORECASE)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What scripts and not ids answer: lines of code, comments that load late, text to highlight.
_SCRIPTED = re.compile(r"\A(?:!|/|.*=)")
_SCRIPTED_ON_GITHUB = re.compile(
    r"\A(?:L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?|issuecomment-|discussioncomment-|discussion_r"
    r"|issue-|pullrequestreview-|diff-|start-of-content|readme)",
)


def decode(reply: Reply) -> str:
    """Return a page's text by byte-order mark, header, `meta` or as UTF-8; never fails.

    A header may name an encoding that does not exist, or not the one used: what cannot be
    decoded becomes U+FFFD, and ids of ASCII letters survive.
    """
    names = [name for mark, name in _BOMS if reply.body.startswith(mark)]
    named = _CHARSET.search(reply.headers.get("content-type", ""))
    if named:
        names.append(named.group(1))
    meta = _META.search(reply.body[:4096])
    if meta:
        names.append(meta.group(1).decode("ascii"))
    for name in (*names, "utf-8"):
        try:
            return reply.body.decode(name)
        except (LookupError, ValueError, TypeError):
            continue
    return reply.body.decode("utf-8", errors="replace")


def page_ids(text: str) -> set[str]:
    """Return what fragments of a page can name: each `id`, and each `name` of an `a`."""
    tree = LexborHTMLParser(text)
    ids = {node.attributes.get("id") or "" for node in tree.css("[id]")}
    names = {node.attributes.get("name") or "" for node in tree.css("a[name]")}
    return (ids | names) - {""}


def check_fragments(
    reply: Reply, fragments: tuple[str, ...]
) -> tuple[dict[str, bool | None], dict[str, str]]:
    """Look for fragments in a page.

    Returns:
        Whether each is there (one that only a script, a PDF viewer or the part of the page that
        was not read could tell is None), and for the missing the most similar id.
    """
    kind = reply.headers.get("content-type", "text/html").partition(";")[0].strip().lower()
    if kind not in ("text/html", "application/xhtml+xml"):
        return dict.fromkeys(fragments), {}
    host = urlsplit(reply.url).hostname or ""
    text = decode(reply)
    ids = page_ids(text)
    found: dict[str, bool | None] = dict.fromkeys(fragments)
    hints: dict[str, str] = {}
    for wanted in fragments:
        fragment = wanted.partition(":~:")[0]  # what follows marks text of the page
        if not fragment or fragment.lower() == "top" or _is_scripted(fragment, host):
            continue
        if any(one in ids for one in _candidates(fragment, host)) or _in_data(fragment, host, text):
            found[wanted] = True
        elif reply.is_whole:
            found[wanted] = False
            if hint := nearest(unquote(fragment), ids, 0.7):
                hints[wanted] = hint
    return found, hints


def _is_scripted(fragment: str, host: str) -> bool:
    if _SCRIPTED.match(fragment):
        return True
    return _on_github(host) and bool(_SCRIPTED_ON_GITHUB.match(fragment))


def _on_github(host: str) -> bool:
    return host == "github.com" or host.endswith(".github.com")


def _candidates(fragment: str, host: str) -> set[str]:
    plain = unquote(fragment)
    known = {fragment, plain}
    if _on_github(host):  # ids carry a prefix there, and a script compares without letter case
        known |= {f"user-content-{one}" for one in (plain, plain.lower())}
    return known


def _in_data(fragment: str, host: str, text: str) -> bool:
    """Tell whether GitHub's page holds a heading in the data that its script draws from."""
    plain = re.escape(unquote(fragment).lower())
    pattern = rf'(?:user-content-{plain}\b|"anchor":"{plain}")'
    return _on_github(host) and re.search(pattern, text, re.IGNORECASE) is not None
