"""What a build writes into the site for search.

The engine is ours, the search box is Material's 9.8.1. Its page script divides and marks words of
a result's address as the stock engine would; two exact text replacements make it mark what our
engine found. Each must fit exactly once: when Material changes, `PatchError` stops the build.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hooks.cache import Cache
from hooks.data import Term
from hooks.notes import LANGUAGES
from hooks.search.engine import core_source
from hooks.search.index import Index, make_index, script
from hooks.search.sections import Page

MATERIAL_VERSION: Final = "9.8.1"
"""The mkdocs-material whose files the replacements below were written for."""
WORKERS_DIR: Final = "assets/javascripts/workers"
# Material's file:// code looks for "/worker" in the address of the script, so the files
# made here stay in the folder of that name.
WORKER_NAME: Final = "search.handbook.{language}.js"
FOLDER: Final = "search"
CORE: Final = f"{FOLDER}/engine.js"
"""The engine, for all languages; the workers load it with the first query."""
TABLES: Final = f"{FOLDER}/handbook.tables.js"
TITLES: Final = FOLDER + "/handbook.{language}.titles.js"
"""What pages and sections of a language are called: small, so that it answers first."""
PART: Final = FOLDER + "/handbook.{language}.{number}.js"
"""The texts of one part."""
FACETS: Final = f"{FOLDER}/facets.js"
STOCK: Final = f"{FOLDER}/search_index.json"
"""The index that Material's plugin writes."""
CHIPS: Final = ("term", "resource", "question", "calculator", "figure")
"""The kinds of entries (`entries.KINDS`) that the search box offers to filter by."""
OPTIONS_MARK: Final = (
    '/*HANDBOOK_OPTIONS*/{ "language": "", "core": "", "tables": "", "titles": {}, "parts": {} }'
)
WORKER: Final = Path(__file__).parent / "browser" / "worker.js"

PATCHES: Final = (
    (
        "words of ?h= are divided by spaces only",
        r'n=n.replace(/[\s*+\-:~^]+/g," ").replace(/&/g,"&amp;").trim()',
        r'n=n.replace(/\s+/g," ").replace(/&/g,"&amp;").trim()',
    ),
    (
        "a word of ?h= is not divided by the separator, nor found inside a Latin word",
        r'|)(${n.replace(/[|\\{}()[\]^$+*?.-]/g,"\\$&").replace(r,"|")})',
        r'|(?<![0-9A-Za-z])|(?=[^ -~]))(${n.replace(/[|\\{}()[\]^$+*?.-]/g,"\\$&")'
        r'.replace(/ /g,"|")})',
    ),
)
"""Purpose, old text, new text in `setupSearchHighlighter` of Material's page script
(integrations/search/highlighter/index.ts)."""

RELIED_ON: Final = (
    # What our worker takes for granted of Material's page script, by what it is for.
    ("SETUP is message 0, with the stock index", "type:0,data:{config:"),
    ("READY is message 1", ".type===1"),
    ("QUERY is message 2", "type:2,data:"),
    ("RESULT is message 3", ".type===3"),
    ("the stock index is read from search/search_index.js on file://", "search/search_index.js"),
    ("the stock index is read from search/search_index.json", "search/search_index.json"),
    ("sections of lower score than the first go under 'N more'", ".score<"),
    ("the answer holds `items`", "{items:"),
)


class PatchError(ValueError):
    """A file of Material's is not as this room was written for."""


class SearchIndexError(ValueError):
    """A language has no page that search could find."""


def patch_bundle(source: str) -> str:
    """Return Material's page script with whole words marked for ?h=.

    Raises PatchError when it lacks what our worker relies on, or unless every text to replace
    occurs exactly once.
    """
    wrong = [one for one in RELIED_ON if one[1] not in source]
    wrong += [(purpose, old) for purpose, old, _ in PATCHES if source.count(old) != 1]
    for purpose, text in wrong:
        raise PatchError(
            f"Material's page script does not hold '{text}' once ({purpose}). hooks/search was"
            f" written for mkdocs-material {MATERIAL_VERSION}: install that version"
        )
    for _, old, new in PATCHES:
        source = source.replace(old, new)
    return source


def _bundle(theme_dirs: Iterable[str | Path]) -> Path:
    """Return Material's page script, which is in one of MkDocs' `config.theme.dirs`."""
    pattern = "assets/javascripts/bundle.*.min.js"
    found = [path for folder in theme_dirs for path in Path(folder).glob(pattern)]
    if len(found) != 1:
        raise PatchError(
            f"'{pattern}' fits {[path.name for path in found]} in the theme, expected one file,"
            f" as in mkdocs-material {MATERIAL_VERSION}"
        )
    return found[0]


def _worker(language: str, index: Index) -> str:
    """Return the worker for readers of one language, as ASCII: it loads the rest."""
    parts = {
        name: [PART.format(language=name, number=at) for at in range(len(index.parts[name]))]
        for name in LANGUAGES
    }
    options = {
        "language": language,
        "core": CORE,
        "tables": TABLES,
        "titles": {name: TITLES.format(language=name) for name in parts},
        "parts": parts,
    }
    return WORKER.read_text("utf-8").replace(OPTIONS_MARK, json.dumps(options, sort_keys=True))


def index_files(index: Index) -> Iterator[tuple[str, str]]:
    """Yield the files of an index, one after the other, for they are large: address, text."""
    yield TABLES, script("__handbook_tables", index.tables)
    for language, parts in index.parts.items():
        titles = [{name: part[name] for name in part if name != "text"} for part in parts]
        yield TITLES.format(language=language), script("__handbook_titles", titles)
        for number, part in enumerate(parts):
            address = PART.format(language=language, number=number)
            yield address, script("__handbook_text", [number, part["text"]])


def facets(pages: Iterable[Page], language: str) -> dict[str, Any]:
    """Return the kinds, tags and entries of a language's pages with their counts."""
    own = [page for page in pages if page.language == language]
    kinds = Counter(page.kind for page in own if page.kind)
    tags = Counter(tag for page in own for tag in page.tags)
    entries = Counter(section.kind for page in own for section in page.sections)
    ranked = sorted(tags.items(), key=lambda item: (-item[1], item[0]))
    return {
        "kinds": [{"name": name, "count": count} for name, count in kinds.most_common()],
        "tags": [{"name": name, "count": count} for name, count in ranked],
        "entries": [{"name": name, "count": entries[name]} for name in CHIPS if entries[name]],
    }


def files(
    site_dir: Path,
    theme_dirs: Iterable[str | Path],
    pages: Sequence[Page],
    groups: Sequence[Term] = (),
    offered: Mapping[str, Mapping[str, Any]] | None = None,
    cache: Cache | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield what the site needs for the engine: address in the site, text.

    Args:
        site_dir: The built site, once all languages and search_index.json are on disk.
        theme_dirs: The folders of the theme.
        pages: All pages, of all languages.
        groups: Terms, whose forms mean the same.
        offered: By language, the `queries` to suggest while the search box is empty, and the
            `topics` (name, address, words) to offer where nothing is found.
        cache: What the index remembers.

    Raises PatchError when the theme is not the one it was written for, and SearchIndexError
    when a language has no page.
    """
    for language in LANGUAGES:
        if not any(page.language == language for page in pages):
            raise SearchIndexError(
                f"no page in '{language}' was seen by the build; {len(pages)} pages were."
                f" In mkdocs.yml the plugins must come in the order search, i18n, offline, and"
                f" no language's build may have failed"
            )
    # Of the stock index, the page script wants the settings only.
    stock = json.loads((site_dir / STOCK).read_text(encoding="utf-8"))
    tiny = json.dumps({"config": stock.get("config", {}), "docs": []}, separators=(",", ":"))
    yield STOCK, tiny
    yield STOCK.removesuffix("on"), f"var __index = {tiny}"
    bundle = _bundle(theme_dirs)
    yield f"assets/javascripts/{bundle.name}", patch_bundle(bundle.read_text(encoding="utf-8"))
    index = make_index(pages, groups, cache=cache)
    yield from index_files(index)
    yield CORE, core_source()
    suggested: dict[str, dict[str, Any]] = {}
    for language in LANGUAGES:
        yield f"{WORKERS_DIR}/{WORKER_NAME.format(language=language)}", _worker(language, index)
        suggested[language] = {
            **facets(pages, language),
            "queries": [],
            "topics": [],
            **(offered or {}).get(language, {}),
            # What a page asks for as soon as its search is opened.
            "files": [CORE, TITLES.format(language=language)],
        }
    yield FACETS, f"var __search_facets = {json.dumps(suggested, ensure_ascii=False)};\n"
