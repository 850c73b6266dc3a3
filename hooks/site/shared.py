"""What a site offers to others than readers: robots.txt, and what installs it as an app."""

from __future__ import annotations

import json

from hooks.site.carry import WORDS

_SIZES = (192, 512)
_INK, _PAPER = "#16404a", "#fcfcf9"


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
