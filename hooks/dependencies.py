"""What a page of MkDocs depends on beside its text, as plain values of which a hash can be made."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mkdocs.utils import get_build_timestamp
from pathspec import PathSpec

from hooks.notes import history
from hooks.site import inputs

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

    from hooks.build import Build

_CONFIG_LEFT_OUT: Final = frozenset(
    {"config_file_path", "docs_dir", "site_dir", "nav", "hooks", "watch", "plugins", "theme"}
    | {"extra", "_current_page", "dev_addr"}
)


def settings(config: MkDocsConfig) -> str:
    """Return a hash of the configuration, without what only says where folders lie."""
    own = {name: _patterns(value) for name, value in config.items() if name not in _CONFIG_LEFT_OUT}
    extra = {name: value for name, value in config.extra.items() if not name.startswith("handbook")}
    extra.pop("alternate", None)  # it differs from page to page
    theme = {name: config.theme[name] for name in config.theme}
    plugins = {
        name: dict(plugin.config.items())
        for name, plugin in config.plugins.items()
        if hasattr(plugin, "config")
    }
    return inputs.digest(own, extra, config.theme.name or "", theme, plugins)


def _patterns(value: object) -> object:
    """Return what `exclude_docs` and its like match, as values; anything else as it is."""
    if not isinstance(value, PathSpec):
        return value
    return [
        (one.include, getattr(getattr(one, "regex", None), "pattern", "")) for one in value.patterns
    ]


def frame(nav: Navigation, shown: Sequence[Any]) -> object:
    """Return what any page may show of the others: where they stand, their titles and fields."""

    def item(one: Any) -> object:
        children = [item(child) for child in one.children or []]
        return (type(one).__name__, one.title, getattr(one, "url", None), children)

    pages = []
    for file in shown:
        page = file.page
        meta = {name: value for name, value in page.meta.items() if not name.startswith("git_")}
        pages.append((about(page), meta))
    home = nav.homepage.url if nav.homepage else None
    return ([item(one) for one in nav.items], home, pages)


def about(page: Page) -> object:
    """Return where a page stands and what it is called."""
    file = page.file
    alternates = getattr(file, "alternates", {})
    return (
        file.src_uri,
        file.dest_uri,
        page.url,
        page.title,
        page.canonical_url,
        page.edit_url,
        page.is_homepage,
        getattr(file, "locale", None),
        {name: (one.url, one.dest_uri, one.locale) for name, one in alternates.items()},
        [(one.title, getattr(one, "url", None)) for one in page.ancestors],
        [
            (one.url, one.title, one.meta.get("title")) if one is not None else None
            for one in (page.previous_page, page.next_page)
        ],
    )


def toc(items: Any) -> list[object]:
    return [(one.id, one.title, one.level, toc(one.children)) for one in items]


def reference(value: Any) -> Any:
    """Return a value of a template's context; tags by their names and addresses."""
    if isinstance(value, (list, tuple)):
        return [reference(one) for one in value]
    if hasattr(value, "links") and hasattr(value, "name"):
        links = [(link.title, link.url) for link in value.links]
        fields = {"name", "hidden", "shadow", "icon"}
        return (value.name, links, {name: str(getattr(value, name, None)) for name in fields})
    return value


def tell_dates(build: Build, files: Files, plugin: Any, *, is_wanted: bool) -> None:
    """Tell the plugin of dates when notes were changed last, and by what, in one run of git.

    A note that git does not know gets the day, or that of SOURCE_DATE_EPOCH, rather than the second
    of the build, so that two builds of a day agree.
    """
    known = getattr(plugin, "last_revision_commits", None)
    if known is None:
        return
    root = build.tree.root
    is_asked = is_wanted and plugin.config.get("enable_git_follow")
    if not known:
        _tell_changes(build, files, plugin, is_asked=is_asked)
    if is_asked:  # for each language: the plugin forgets them with its configuration
        tagged = history.tags(root)
        plugin.util.tag_cache |= {commit: tagged.get(commit, "") for commit, _ in known.values()}


def _tell_changes(build: Build, files: Files, plugin: Any, *, is_asked: bool) -> None:
    root, known = build.tree.root, plugin.last_revision_commits
    found = history.last_changes(root) if is_asked else {}
    commits = history.extent(root) if is_asked else ""
    day = get_build_timestamp() // 86400 * 86400
    for file in files.documentation_pages():
        if file.abs_src_path is None:
            continue
        path = Path(file.abs_src_path).absolute()
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else ""
        if name in found:
            known[str(path)] = found[name]
        elif name not in build.added:
            known[str(path)] = ("", day)
        elif is_asked:
            ask = functools.partial(plugin.util.get_git_commit_timestamp, str(path))
            known[str(path)] = build.tree.data.kept.recall("dates", f"{commits} {name}", ask)
