"""What a site offers to others than readers: cards for links that are shared, robots, installers.

Cards and the sitemap's address are absolute: there are none while the site's address is unknown.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hooks.drawings import cards
from hooks.site.carry import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from hooks.site.carry import Leaf

CARDS = "assets/cards"
"""Folder of the cards in the site; neither the offline copy nor the archive has it."""
_SIZES = (192, 512)
_INK, _PAPER = "#16404a", "#fcfcf9"


def card_of(page: str, *, is_note: bool) -> str:
    """Return the address from the site's root of a page's own card; empty where it has none."""
    is_own = is_note and cards.has_chinese()
    return f"{CARDS}/{page.removesuffix('.html')}.png" if is_own else ""


def card_files(leaves: Iterable[Leaf], site_url: str, cache: Path | None) -> dict[str, bytes]:
    """Return the cards of pages by their paths in the site.

    Args:
        leaves: The pages.
        site_url: The address it is published at; empty while unknown, and there are no cards.
        cache: A folder where drawings are kept.
    """
    if not site_url or not cards.has_chinese():
        return {}
    made = {}
    for leaf in leaves:
        topic = " / ".join(leaf.trail) if leaf.trail else WORDS[leaf.language]["title"]
        card = cards.Card(WORDS[leaf.language]["title"], topic, leaf.title, leaf.description)
        made[card_of(leaf.page, is_note=True)] = cards.svg(card)
    return {path: cards.drawn(card, cache) for path, card in made.items()}


def entrance_files(about: dict[str, str], site_url: str) -> dict[str, str]:
    """Return robots.txt, and for each language what installs the site as an app.

    Args:
        about: What the site says of itself, by language.
        site_url: The address it is published at; empty while unknown.
    """
    robots = "User-agent: *\nAllow: /\n"
    if site_url:
        robots += f"\nSitemap: {site_url}sitemap.xml\n"
    made = {"robots.txt": robots}
    for language, description in sorted(about.items()):
        folder, up = ("", "") if language == "zh" else (f"{language}/", "../")
        manifest = {
            "name": WORDS[language]["title"],
            "short_name": "AI Infra & HPC",
            "description": description,
            "lang": language,
            "start_url": "index.html",
            "scope": up or "./",
            "display": "minimal-ui",
            "theme_color": _INK,
            "background_color": _PAPER,
            "icons": [
                {
                    "src": f"{up}assets/icons/icon-{size}.png",
                    "sizes": f"{size}x{size}",
                    "type": "image/png",
                }
                for size in _SIZES
            ],
        }
        text = json.dumps(manifest, ensure_ascii=False, indent=2)
        made[f"{folder}manifest.webmanifest"] = text + "\n"
    return made
