"""Draw the icons of the site from its logo, and the card of pages without one of their own.

Run it when the logo or the card changes: ``python -m tools.icons``. What it writes is committed,
so that a build needs no letters.
"""

from __future__ import annotations

from pathlib import Path

from hooks.drawings import cards

ASSETS = Path(__file__).resolve().parent.parent / "docs" / "assets"
SIZES = (192, 512)
CARD = cards.Card(
    "AI Infra & HPC",
    "GPU · NVLink · RDMA · NCCL · CUDA",
    "AI Infra & HPC",
    "",
)


def icon(logo: str, size: int) -> bytes:
    """Return the logo as PNG, `size` pixels wide and high."""
    return cards.png(logo.replace("<svg ", f'<svg width="{size}" height="{size}" ', 1))


def main() -> None:
    """Write the icons and the card."""
    folder = ASSETS / "icons"
    folder.mkdir(exist_ok=True)
    logo = (ASSETS / "logo.svg").read_text(encoding="utf-8")
    for size in SIZES:
        (folder / f"icon-{size}.png").write_bytes(icon(logo, size))
    (folder / "card.png").write_bytes(cards.draw(CARD))


if __name__ == "__main__":
    main()
