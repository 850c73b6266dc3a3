"""What a build adds to its finished pages: the search index, redirects, feeds, downloads."""

from __future__ import annotations

import functools
import gzip
from typing import TYPE_CHECKING, Any

from hooks.calc import engine as calc_engine
from hooks.calc import presets as calc_presets
from hooks.data import downloads
from hooks.links import moved
from hooks.pages import questions, topics
from hooks.search import entries
from hooks.search import install as search_install
from hooks.site import carry, check, feeds, previews, prune, publish, shared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from hooks.build import Build
    from hooks.findings import Finding


def complete_site(
    build: Build,
    staged: Path,
    theme_dirs: Sequence[str],
    search_settings: search_install.Settings,
    site_url: str,
) -> list[Finding]:
    """Write what pages lead to beside them, and return what is wrong with the finished pages."""
    tree, cache = build.tree, build.tree.data.cache
    entries.add_entries(list(build.searched.values()), _searched(build))
    search_settings.topics = {
        language: topics.offered(tree.areas, tree.notes, language) for language in ("zh", "en")
    }
    search_install.install(
        staged,
        theme_dirs,
        list(build.searched.values()),
        list(tree.glossary.terms.values()),
        search_settings,
        cache,
    )
    publish.add_licences(tree.root, staged)
    _write(build, staged, site_url)
    if not build.is_serving:
        prune.prune(staged, cache=cache)
    return sorted({*build.found, *check.check_site(staged, site_url=site_url, cache=cache)})


def _write(build: Build, staged: Path, site_url: str) -> None:
    """Write what is made from the pages, kind by kind: of a large site only one is held at once."""
    tree = build.tree
    add = functools.partial(publish.add_files, staged)
    add(moved.redirect_pages(tree.moved, site_url))
    add(_carried(build, site_url))
    add(downloads.files(tree.facts))
    add(build.files)
    add(_questions(build.asked, site_url))
    add(calc_presets.files(calc_engine.default(tree.facts).data))
    add(previews.files(build.searched.values()))
    add(shared.entrance_files(build.about, site_url))
    sitemap = staged / "sitemap.xml"
    if sitemap.is_file():  # again, without the day of the build in its head
        add({"sitemap.xml.gz": gzip.compress(sitemap.read_bytes(), mtime=0)})


def _searched(build: Build) -> list[entries.Entry]:
    """Return what search finds beside the sections of notes."""
    return [
        entries.Entry(
            item.kind,
            item.key,
            note_id,
            language,
            said.title,
            said.summary,
            said.anchor,
            said.within,
            said.names,
        )
        for (note_id, language), those in build.items.items()
        for item, said in those
    ]


def _language_of(path: str) -> str:
    return "en" if path.startswith("en/") else "zh"


def _carried(build: Build, site_url: str) -> dict[str, str]:
    """Return the pages as Markdown and the lists of them, by their paths in the site."""
    places = [page.path.removesuffix(".md") for one in build.tree.entries for page in one.pages()]
    order = {note: number for number, note in enumerate(places)}
    written = sorted(build.written.values(), key=lambda one: order.get(one[0].note, len(order)))
    leaves = [leaf for leaf, _ in written]
    docs = build.tree.docs.name
    added = {
        leaf.page: build.days.first.get(f"{docs}/{path}") for leaf, path in build.written.values()
    }
    days = {page: day for page, day in added.items() if day is not None}
    return carry.files(leaves, build.about, site_url) | feeds.files(leaves, days, site_url)


def _questions(asked: Mapping[str, list[Any]], site_url: str) -> dict[str, str | bytes]:
    """Return the questions of each language, for practice and as cards, beside their pages."""
    made: dict[str, str | bytes] = {}
    for folder, cards in asked.items():
        language = _language_of(folder)
        made[f"{folder}/{questions.SCRIPT}"] = questions.data(cards, language)
        base = f"{site_url}{folder}/" if site_url else ""
        made[f"{folder}/{questions.DECK}"] = questions.deck(cards, language, base)
    return made
