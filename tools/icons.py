"""Draw the icons of the site from its logo, and the card that is shown where a page is shared.

Run it when the logo or `tools/card.svg` changes: ``python -m tools.icons``. What it writes is
committed, so that a build needs no letters.
"""

from __future__ import annotations

from pathlib import Path

import vl_convert

ASSETS = Path(__file__).resolve().parent.parent / "docs" / "assets"
SIZES = (192, 512)


def png(source: str) -> bytes:
    """Return an SVG as PNG, in its own size."""
    return bytes(vl_convert.svg_to_png(source, scale=1))


def main() -> None:
    """Write the icons and the card."""
    folder = ASSETS / "icons"
    folder.mkdir(exist_ok=True)
    logo = (ASSETS / "logo.svg").read_text(encoding="utf-8")
    for size in SIZES:
        sized = logo.replace("<svg ", f'<svg width="{size}" height="{size}" ', 1)
        (folder / f"icon-{size}.png").write_bytes(png(sized))
    card = Path(__file__).with_name("card.svg").read_text(encoding="utf-8")
    (folder / "card.png").write_bytes(png(card))


if __name__ == "__main__":
    main()
