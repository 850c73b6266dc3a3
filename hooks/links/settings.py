"""What the checks of links must know of a tree: its dialect, its addresses, who shows it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hooks.markdown import SITE, Dialect


@dataclass(frozen=True, slots=True)
class Settings:
    """How a tree of notes is read, and which rules hold in it. The defaults are this handbook's."""

    is_ours: bool = True
    """This handbook's own rules hold: front matter, twins, a title heading, its HTML."""
    dialect: Dialect = SITE
    on_github: bool = True
    """GitHub shows the notes too: what breaks only there is reported."""
    is_routed: bool = False
    """Another generator resolves addresses by rules of its own: extensions may be left out, and a
    slash at the start means its own root. What these rules may reach is not reported."""
    slug_rules: str = "github"
    """`github`: ids exactly as GitHub makes them. `any`: as one of the common generators does."""
    repo_url: str = ""
    """Address of the repository, such as `https://github.com/owner/name`; empty when unknown."""
    site_url: str = ""
    """Address the site is published at, with a slash at its end; empty when unknown."""
    docs_prefix: str = "docs"
    """Path of the docs folder from the repository root."""
    root: Path | None = None
    """The repository root, to see what lies beside the docs folder; None: nothing is looked up."""
    shows_folders: bool = False
    """A link to a folder leads to its index page, as GitHub and some generators have it."""
    snippet_bases: tuple[str, ...] | None = None
    """Folders below the root that paths of includes begin in; None: the docs folder."""
    directory_urls: bool = False
    """The page of `a/b.md` is `a/b/`: raw HTML, which MkDocs does not rewrite, starts there."""
    rooted: bool = False
    """A slash at the start means the docs folder, in every view: it is the root of everything."""
    languages_by_suffix: bool = True
    """`x.en.md` is the English twin of `x.md`."""
    languages_in_names: bool = True
    """The plugin static-i18n makes pages of one name of both, English ones below `en/`, and takes
    two letters before a file's ending for its language."""
    keeps_html: bool = True
    """Addresses in raw HTML stay as they are written, as MkDocs has it."""


HANDBOOK = Settings()
