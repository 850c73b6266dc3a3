"""Pages read from a folder of Markdown, named by its navigation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml

from hooks.notes import DEFAULT_LANGUAGE, LANGUAGES, Entry, read_navigation
from hooks.search.pages import Page, clean


def folder_pages(docs_dir: Path) -> list[Page]:
    """Read every note below a folder, whoever wrote it, without building a site."""
    from hooks.search import from_markdown

    pages = [
        from_markdown.read_note(path.relative_to(docs_dir).as_posix(), path.read_bytes())
        for path in _notes(docs_dir)
    ]
    drafts = {page.key for page in pages if page.is_draft}
    pages = [page for page in pages if page.key not in drafts]
    keys = {(page.key, page.language) for page in pages}
    _name_by_navigation(docs_dir, pages)
    for page in pages:
        if page.language == "zh" and (page.key, "en") not in keys:
            page.fallback = f"en/{page.location}"
    return [page for page in pages if page.sections]


def _name_by_navigation(docs_dir: Path, pages: Sequence[Page]) -> None:
    """Give pages the names and trails that the navigation beside the folder gives them."""
    config = docs_dir.parent / "mkdocs.yml"
    by_source = {page.source: page for page in pages}
    if not config.is_file():
        return
    try:
        entries = read_navigation(config)
    except (yaml.YAMLError, ValueError, RecursionError):
        return

    def walk(entries: Sequence[Entry], trail: dict[str, tuple[str, ...]]) -> None:
        for entry in entries:
            for language in LANGUAGES:
                suffix = ".md" if language == DEFAULT_LANGUAGE else f".{language}.md"
                page = by_source.get(entry.path.removesuffix(".md") + suffix)
                if page is not None:
                    page.trail = trail[language]
                    if entry.title and language == DEFAULT_LANGUAGE:
                        page.title = page.sections[0].title = clean(entry.title)
            if entry.children:
                walk(entry.children, {one: (*trail[one], name(entry, one)) for one in LANGUAGES})

    def name(entry: Entry, language: str) -> str:
        """Return what a section is called: by its index page, else as written."""
        first = entry.children[0].path.removesuffix(".md")
        suffix = ".md" if language == DEFAULT_LANGUAGE else f".{language}.md"
        page = by_source.get(first + suffix)
        if page is not None and first.rpartition("/")[2] == "index":
            return page.title
        return clean(entry.title)

    walk(entries, dict.fromkeys(LANGUAGES, ()))


def _notes(docs_dir: Path) -> Iterator[Path]:
    for path in sorted(docs_dir.rglob("*.md")):
        parts = path.relative_to(docs_dir).parts
        if not any(part.startswith(".") or part == "node_modules" for part in parts):
            yield path
