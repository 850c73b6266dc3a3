"""What a site offers to others than readers: robots.txt, feeds, and what installs it as an app."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import jinja2

from hooks.site.carry import TITLES, Leaf, folder_of

_FEED = Path(__file__).with_name("feed.xml")
_NEW_NOTES = {"zh": "新笔记", "en": "new notes"}
_MOST_ENTRIES = 50


def files(leaves: Sequence[Leaf], about: Mapping[str, str], site_url: str) -> dict[str, str]:
    """Return robots.txt, and for each language its manifest and its feed, by paths in the site.

    Args:
        leaves: The pages.
        about: What the site says of itself, by language.
        site_url: The address it is published at; while that is unknown, there are no feeds.
    """
    sitemap = f"\nSitemap: {site_url}sitemap.xml\n" if site_url else ""
    made = {"robots.txt": f"User-agent: *\nAllow: /\n{sitemap}"}
    for language in about:
        folder = folder_of(language)
        made[f"{folder}manifest.webmanifest"] = _manifest(language, about[language])
        if site_url:
            own = [leaf for leaf in leaves if leaf.language == language]
            made[f"{folder}feed-new.xml"] = _feed(own, language, site_url)
    return made


def _manifest(language: str, description: str) -> str:
    up = "../" if folder_of(language) else ""
    manifest = {
        "name": TITLES[language],
        "short_name": "AI Infra & HPC",
        "description": description,
        "lang": language,
        "start_url": "index.html",
        "scope": up or "./",
        "display": "minimal-ui",
        "theme_color": "#16404a",
        "background_color": "#fcfcf9",
        "icons": [
            {
                "src": f"{up}assets/icons/icon-{size}.png",
                "sizes": f"{size}x{size}",
                "type": "image/png",
            }
            for size in (192, 512)
        ],
    }
    return json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"


def _feed(leaves: Sequence[Leaf], language: str, site_url: str) -> str:
    """Return a feed of the notes whose day is known, the latest first."""
    shown = sorted((one for one in leaves if one.is_note and one.added), key=lambda one: one.page)
    shown.sort(key=lambda one: str(one.added), reverse=True)
    folder = folder_of(language)
    template = jinja2.Template(_FEED.read_text("utf-8"), autoescape=True)
    made = template.render(
        language=language,
        title=TITLES[language],
        says=_NEW_NOTES[language],
        site_url=site_url,
        folder=folder,
        path=f"{folder}feed-new.xml",
        latest=shown[0].added if shown else "2000-01-01",
        leaves=shown[:_MOST_ENTRIES],
    )
    return f"{made}\n"
