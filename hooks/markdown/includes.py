"""Programs that fences include: what cannot be put in is said, and left out before rendering."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import markdown
from pymdownx.snippets import SnippetExtension, SnippetMissingError

from hooks.findings import nearest
from hooks.markdown.mark import blank, fences
from hooks.markdown.source import Odd
from hooks.markdown.text import place_in

_INCLUDE = re.compile(
    r"""^[> \t]*-+8<-+[ \t]*(?:(?P<quote>["'])(?P<path>(?:\\.|(?!(?P=quote))[^\n])*?)"""
    r"""(?P<section>:[\w:,-]*)?(?P=quote))?[ \t]*$""",
    re.MULTILINE,
)


def check(body: str, docs: Path) -> tuple[str, list[Odd], list[Path]]:
    """Return a text without bad includes, what is wrong with those, and the files of the others."""
    odd: list[Odd] = []
    files: list[Path] = []
    if "8<" not in body:
        return body, odd, files
    fenced = {line for one in fences(body) if not one.reason for line in range(one.line, one.last)}

    def look(match: re.Match[str]) -> str:
        path = match["path"] or ""
        file = docs / path
        place = place_in(body, match.start("path" if path else 0))
        problem = next(_problems(match, docs, place[0] in fenced), None)
        if problem is None:
            files.append(file)
            return match.group()
        hint = ""
        if path and not file.is_file():
            known = [one.relative_to(docs).as_posix() for one in docs.rglob(f"*{file.suffix}")]
            hint = nearest(path, known, 0.7)
        odd.append(Odd("include", path + (match["section"] or ""), *place, problem, hint))
        return blank(match)

    return _INCLUDE.sub(look, body), odd, files


def _problems(match: re.Match[str], docs: Path, fenced: bool) -> Iterator[str]:
    path, section = match["path"] or "", match["section"] or ""
    file = docs / path
    if not path:
        yield 'an include names its file on its own line: --8<-- "topic/code/file.py:section"'
    if "://" in path:
        yield f"include '{path}' is an address; only files below {docs.name}/ are included"
    if path.startswith("/") or ".." in path.split("/"):
        yield f"include '{path}' leaves {docs.name}/, which is refused"
    if path.endswith(".md") and file.is_file():
        yield f"include '{path}' is a note, which may lead back to itself; link to it"
    if not fenced:
        yield f"include '{path}' stands outside a fence; only programs are included, as code"
    if not file.is_file():
        yield f"include '{path}' does not exist below {docs.name}/"
    if any(one["path"] for one in _INCLUDE.finditer(file.read_text("utf-8", "replace"))):
        yield f"'{path}' includes another file; a note names each file itself"
    try:
        if _snippets(docs).run([match.group()]) == [match.group()]:
            yield f"include '{path}' stays as it is: on its line nothing may stand beside it"
    except (SnippetMissingError, OSError, ValueError) as error:
        how = f"; a section begins with a line '--8<-- [start{section}]'" if section else ""
        yield f"include '{path}{section}' is refused: {error}{how}"


@cache
def _snippets(docs: Path) -> Any:
    """Return what puts in files below a folder, as the site does."""
    snippets = SnippetExtension(base_path=[docs], check_paths=True)
    return markdown.Markdown(extensions=[snippets]).preprocessors["snippet"]
