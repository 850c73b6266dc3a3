"""What a build writes into the site for search."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from hooks.cache import Cache
from hooks.data import Term
from hooks.search import material
from hooks.search.engine import core_source
from hooks.search.index import Index, make_index, script
from hooks.search.material import PREFIXES, WORKER_NAME, WORKERS_DIR, PatchError, Replacement
from hooks.search.pages import Page

FOLDER: Final = "search"
CORE: Final = f"{FOLDER}/engine.js"
"""The engine, for all languages; the workers load it with the first query."""
TABLES: Final = f"{FOLDER}/handbook.tables.js"
TITLES: Final = FOLDER + "/handbook.{language}.titles.js"
"""What pages and sections of a language are called: small, so that it answers first."""
PART: Final = FOLDER + "/handbook.{language}.{number}.js"
"""The texts of one part."""
FACETS: Final = f"{FOLDER}/facets.js"
CHIPS: Final = ("term", "resource", "question", "calculator", "figure")
"""The kinds of entries (`entries.KINDS`) that the search box offers to filter by."""
OPTIONS_MARK: Final = (
    '/*HANDBOOK_OPTIONS*/{ "language": "", "core": "", "tables": "", "titles": {}, "parts": {} }'
)
WORKER: Final = Path(__file__).parent / "browser" / "worker.js"

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


@dataclass(slots=True)
class Settings:
    """`extra.search` in mkdocs.yml."""

    queries: dict[str, list[str]] = field(default_factory=dict)
    """Language -> queries to suggest while the search box is empty."""
    topics: dict[str, list[list[Any]]] = field(default_factory=dict)
    """Language -> `[name, address, words]` of each topic, to offer where nothing is found."""


def read_settings(extra: object) -> Settings:
    """Return the settings of `extra.search`."""
    queries = extra.get("queries") if isinstance(extra, dict) else None
    return Settings(queries if isinstance(queries, dict) else {})


def check_bundle(source: str) -> None:
    """Raise PatchError when Material's page script lacks what our worker relies on."""
    for purpose, text in RELIED_ON:
        if text not in source:
            raise PatchError(
                f"Material's page script does not hold '{text}' ({purpose}). hooks/search was"
                f" written for mkdocs-material {material.MATERIAL_VERSION}: install that version"
            )


def worker_script(language: str, parts: Mapping[str, Sequence[str]]) -> str:
    """Return the worker for readers of one language: what talks to Material and loads the rest.

    `parts` is, for each language, the addresses of its texts. The result is ASCII.
    """
    options = {
        "language": language,
        "core": CORE,
        "tables": TABLES,
        "titles": {name: TITLES.format(language=name) for name in parts},
        "parts": {k: list(v) for k, v in parts.items()},
    }
    return material.apply(
        WORKER.read_text(encoding="utf-8"),
        [
            Replacement(
                "the language and the index", OPTIONS_MARK, json.dumps(options, sort_keys=True)
            )
        ],
        WORKER.name,
    )


def index_files(index: Index) -> Iterator[tuple[str, str]]:
    """Yield the files of an index, one after the other, for they are large: address, text."""
    yield TABLES, script("__handbook_tables", index.tables)
    for language, parts in index.parts.items():
        titles = [{name: part[name] for name in part if name != "text"} for part in parts]
        yield TITLES.format(language=language), script("__handbook_titles", titles)
        for number, part in enumerate(parts):
            address = PART.format(language=language, number=number)
            yield address, script("__handbook_text", [number, part["text"]])


def facets(pages: Sequence[Page], queries: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return, for each language, the kinds, tags and entries with their counts, and queries.

    Where no queries are given, the most frequent tags stand for them.
    """
    found: dict[str, Any] = {}
    for language in dict.fromkeys(page.language for page in pages):
        own = [page for page in pages if page.language == language]
        kinds = Counter(page.kind for page in own if page.kind)
        tags = Counter(tag for page in own for tag in page.tags)
        entries = Counter(section.kind for page in own for section in page.sections)
        ranked = sorted(tags.items(), key=lambda item: (-item[1], item[0]))
        found[language] = {
            "kinds": [{"name": name, "count": count} for name, count in kinds.most_common()],
            "tags": [{"name": name, "count": count} for name, count in ranked],
            "entries": [{"name": name, "count": entries[name]} for name in CHIPS if entries[name]],
            "queries": list(queries.get(language) or [name for name, _ in ranked[:6]]),
        }
    return found


def own_files(
    theme_dir: Path,
    pages: Sequence[Page],
    groups: Sequence[Term] = (),
    settings: Settings | None = None,
    prefixes: Mapping[str, str] = PREFIXES,
    cache: Cache | None = None,
) -> Iterator[tuple[str, str]]:
    """Yield what the site needs for the engine: address in the site, text.

    Raises PatchError when the theme is not the one it was written for, and SearchIndexError
    when a language has no page.
    """
    for language in prefixes:
        if not any(page.language == language for page in pages):
            raise material.SearchIndexError(
                f"no page in '{language}' was seen by the build; {len(pages)} pages were."
                f" In mkdocs.yml the plugins must come in the order search, i18n, offline, and"
                f" no language's build may have failed"
            )
    bundle = material.single(theme_dir / "assets/javascripts", "bundle.*.min.js")
    stock = bundle.read_bytes().decode("utf-8")
    check_bundle(stock)
    index = make_index(pages, groups, cache=cache)
    yield from index_files(index)
    yield CORE, core_source()
    parts = {
        language: [
            PART.format(language=language, number=number)
            for number in range(len(index.parts[language]))
        ]
        for language in prefixes
    }
    for language in prefixes:
        address = f"{WORKERS_DIR}/{WORKER_NAME.format(language=language)}"
        yield address, worker_script(language, parts)
    yield f"assets/javascripts/{bundle.name}", material.patch_bundle(stock)
    chosen = settings or Settings()
    suggested = facets(pages, chosen.queries)
    for language in prefixes:  # what a page asks for as soon as its search is opened
        suggested[language]["topics"] = chosen.topics.get(language, [])
        suggested[language]["files"] = [CORE, TITLES.format(language=language)]
    yield FACETS, f"var __search_facets = {json.dumps(suggested, ensure_ascii=False)};\n"


def tiny_index(text: str) -> str:
    """Return the stock index without its sections: the page script wants its settings only."""
    index = json.loads(text)
    return json.dumps({"config": index.get("config", {}), "docs": []}, separators=(",", ":"))


def install(
    site_dir: Path,
    theme_dir: Path,
    pages: Sequence[Page],
    groups: Sequence[Term] = (),
    settings: Settings | None = None,
    cache: Cache | None = None,
) -> None:
    """Write search into a built site, once all languages and search_index.json are on disk.

    Calling it again changes nothing. `cache` is of use to the index.
    Raises PatchError, SearchIndexError or OSError.
    """
    chosen = settings or Settings()
    latest = {page.location: page for page in pages}
    index = site_dir / "search/search_index.json"
    tiny = tiny_index(index.read_text(encoding="utf-8"))
    stock = {"search/search_index.json": tiny, "search/search_index.js": f"var __index = {tiny}"}
    files = own_files(theme_dir, list(latest.values()), groups, chosen, cache=cache)
    for address, content in itertools.chain(stock.items(), files):
        path = site_dir / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8"))
