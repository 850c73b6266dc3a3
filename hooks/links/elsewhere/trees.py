"""Find out how somebody else's folder of notes is rendered, from the files beside it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from hooks.findings import Fast
from hooks.links.redirects import Redirect
from hooks.links.settings import Settings
from hooks.markdown import dialects

# Generators that resolve addresses by rules of their own, by a file or folder they need.
_ROUTED = (
    ".vitepress",
    ".vuepress",
    "docusaurus.config.js",
    "docusaurus.config.ts",
    "docusaurus.config.mjs",
    "hugo.toml",
    "hugo.yaml",
    "hugo.yml",
    "config.toml",
    "_config.yml",
    "conf.py",
    "astro.config.mjs",
    "astro.config.ts",
    "rspress.config.ts",
    "next.config.js",
    "next.config.mjs",
    "gatsby-config.js",
)
_CONFIGURATIONS = ("mkdocs.yml", "mkdocs.yaml", "properdocs.yml")
_FREE_NAVIGATION = frozenset(
    {"literate-nav", "awesome-pages", "awesome-nav", "section-index", "monorepo", "gen-files"}
)


@dataclass(frozen=True, slots=True)
class Tree:
    """How a folder of notes is rendered."""

    settings: Settings
    config: Path | None = None
    """The MkDocs configuration, when there is one."""
    has_plain_navigation: bool = False
    """Every page must be in `nav`, and nothing else decides about that."""
    redirects: tuple[Redirect, ...] = field(default=())


def detect(docs: Path, *, repo_url: str = "", site_url: str = "") -> Tree:
    """Return how the notes below `docs` are rendered.

    Args:
        docs: The folder.
        repo_url: The repository's address; known to the caller, it says that GitHub shows them.
        site_url: The published address.
    """
    root = docs.parent
    on_github = bool(repo_url)
    common = {"is_ours": False, "on_github": on_github, "docs_prefix": docs.name, "root": root}
    config = _configuration(docs)
    if config is None:
        is_routed = any((folder / name).exists() for name in _ROUTED for folder in (docs, root))
        return Tree(
            Settings(
                **common,  # type: ignore[arg-type]
                dialect=dialects.COMMONMARK if is_routed else dialects.ANY,
                is_routed=is_routed,
                slug_rules="any" if is_routed else "github",
                repo_url=repo_url,
                site_url=site_url,
                languages_by_suffix=not is_routed,
                languages_in_names=False,
                keeps_html=False,
                rooted=not is_routed,
                shows_folders=not is_routed,
            )
        )
    fields = _fields(config)
    extensions = _names(fields.get("markdown_extensions"))
    plugins = _names(fields.get("plugins"))
    hooks = fields.get("hooks")
    is_exact = isinstance(hooks, yaml.SequenceNode) and any(
        str(node.value).endswith("hooks/adapter.py") for node in hooks.value
    )
    return Tree(
        Settings(
            **common,  # type: ignore[arg-type]
            dialect=dialects.of_extensions(extensions),
            slug_rules="github" if is_exact else "any",
            repo_url=repo_url or _text(fields.get("repo_url")),
            site_url=site_url or _text(fields.get("site_url")),
            snippet_bases=_snippet_bases(fields.get("markdown_extensions"), config.parent, root),
            languages_in_names="i18n" in plugins
            and _text(_options(fields.get("plugins"), "i18n").get("docs_structure")) != "folder",
            directory_urls=_text(fields.get("use_directory_urls")).lower() != "false",
        ),
        config,
        "nav" in fields
        and not (plugins & _FREE_NAVIGATION)
        and not fields.keys() & {"not_in_nav", "exclude_docs"},
        tuple(_redirects(fields.get("plugins"))),
    )


def _configuration(docs: Path) -> Path | None:
    for folder in (docs.parent, docs):
        for name in _CONFIGURATIONS:
            path = folder / name
            if path.is_file():
                named = _text(_fields(path).get("docs_dir")) or "docs"
                if (folder / named).resolve() == docs.resolve():
                    return path
    return None


def _fields(config: Path) -> dict[str, yaml.Node]:
    try:
        node = yaml.compose(config.read_text(encoding="utf-8", errors="replace"), Loader=Fast)
    except (yaml.YAMLError, ValueError, OSError, RecursionError):
        return {}
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {str(key.value): value for key, value in node.value}


def _text(node: yaml.Node | None) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def _names(node: yaml.Node | None) -> set[str]:
    names: set[str] = set()
    for item in node.value if isinstance(node, yaml.SequenceNode) else ():
        if isinstance(item, yaml.ScalarNode):
            names.add(item.value)
        elif isinstance(item, yaml.MappingNode) and item.value:
            names.add(str(item.value[0][0].value))
    if isinstance(node, yaml.MappingNode):
        names.update(str(key.value) for key, _ in node.value)
    return names


def _options(node: yaml.Node | None, name: str) -> dict[str, yaml.Node]:
    """Return the options of a plugin or an extension by name."""
    items = node.value if isinstance(node, yaml.SequenceNode) else [node]
    for item in items:
        for key, value in item.value if isinstance(item, yaml.MappingNode) else ():
            if key.value == name and isinstance(value, yaml.MappingNode):
                return {str(option.value): given for option, given in value.value}
    return {}


def _snippet_bases(extensions: yaml.Node | None, base: Path, root: Path) -> tuple[str, ...]:
    """Return where paths of includes begin, relative to `root`; `base` holds the configuration."""
    given = _options(extensions, "pymdownx.snippets").get("base_path")
    if isinstance(given, yaml.SequenceNode):
        bases = [str(one.value) for one in given.value if isinstance(one, yaml.ScalarNode)]
    else:
        bases = [_text(given) or "."]
    return tuple(Path(os.path.relpath(base / one, root)).as_posix() for one in bases)


def _redirects(plugins: yaml.Node | None) -> list[Redirect]:
    """Return what the plugin `redirects` is told."""
    found = []
    for item in plugins.value if isinstance(plugins, yaml.SequenceNode) else ():
        if not isinstance(item, yaml.MappingNode):
            continue
        for name, options in item.value:
            if name.value != "redirects" or not isinstance(options, yaml.MappingNode):
                continue
            for key, table in options.value:
                if key.value == "redirect_maps" and isinstance(table, yaml.MappingNode):
                    found += [
                        Redirect(str(old.value), str(new.value), old.start_mark.line + 1)
                        for old, new in table.value
                        if isinstance(new, yaml.ScalarNode)
                    ]
    return found
