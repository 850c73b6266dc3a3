"""Cards for pages that are shared: title, topic and a sentence as a picture of 1200 by 630.

Letters come from the machine that builds. One without Chinese letters cannot draw cards; the site
then shows one drawn before, which has none (`tools/icons.py`).
"""

from __future__ import annotations

import functools
import hashlib
import unicodedata
import zlib
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import jinja2

_TEMPLATE = Path(__file__).with_name("templates") / "card.svg"
_TITLE, _TEXT = (19.0, 3), (35.0, 4)
"""How wide a line may be, in widths of a Chinese letter, and how many there may be."""
_NARROW = 0.56
"""Of a Latin letter, against a Chinese one, on average."""
_NO_START = frozenset("，。、；：！？）】》」”,.;:!?)]}")


@dataclass(frozen=True, slots=True)
class Card:
    """What a card says."""

    site: str
    topic: str
    title: str
    text: str


@functools.cache
def _template() -> jinja2.Template:
    text = _TEMPLATE.read_text(encoding="utf-8")
    found: jinja2.Template = jinja2.Environment(autoescape=True).from_string(text)
    return found


def svg(card: Card) -> str:
    """Return a card as SVG."""
    made: str = _template().render(
        card=card, title=wrap(card.title, *_TITLE), text=wrap(card.text, *_TEXT)
    )
    return made


def draw(card: Card, cache: Path | None = None) -> bytes:
    """Return a card as PNG, as `drawn` does."""
    return drawn(svg(card), cache)


def drawn(source: str, cache: Path | None = None) -> bytes:
    """Return a card's SVG as PNG; drawings are kept in the folder `cache`, by what they show."""
    kept = _place(source, cache)
    if kept is not None and kept.is_file():
        return kept.read_bytes()
    done = png(source)
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_suffix(".part")
        unfinished.write_bytes(done)
        unfinished.replace(kept)
    return done


def is_drawn(source: str, cache: Path | None) -> bool:
    """Tell whether the drawing of a card is kept."""
    kept = _place(source, cache)
    return kept is not None and kept.is_file()


def _place(source: str, cache: Path | None) -> Path | None:
    about = f"{_version()} 6 {source}"
    return cache / f"{hashlib.sha256(about.encode()).hexdigest()}.png" if cache else None


@functools.cache
def _version() -> str:
    return version("vl-convert-python")


def png(source: str) -> bytes:
    """Return an SVG as PNG, in its own size."""
    import vl_convert

    return _smaller(bytes(vl_convert.svg_to_png(source, scale=1)))


def _smaller(picture: bytes) -> bytes:
    """Return a PNG with its pixels packed well; the renderer packs for speed.

    Level 9 of zlib takes twice as long for two bytes in a hundred.
    """
    parts, pixels, at = [picture[:8]], b"", 8
    while at < len(picture):
        length = int.from_bytes(picture[at : at + 4], "big")
        kind = picture[at + 4 : at + 8]
        if kind == b"IDAT":
            pixels += picture[at + 8 : at + 8 + length]
        elif kind == b"IEND":
            body = b"IDAT" + zlib.compress(zlib.decompress(pixels), 6)
            size, check = len(body) - 4, zlib.crc32(body)
            parts.append(size.to_bytes(4, "big") + body + check.to_bytes(4, "big"))
        if kind != b"IDAT":
            parts.append(picture[at : at + length + 12])
        at += length + 12
    return b"".join(parts)


@functools.cache
def has_chinese() -> bool:
    """Tell whether this machine has Chinese letters: two of them look different, and not empty."""
    shown = {
        png(
            '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">'
            f'<text x="4" y="32" font-size="30" font-family="sans-serif">{letter}</text></svg>'
        )
        for letter in ("手", "册", "\U0010fffe")
    }
    return len(shown) == 3


def wrap(text: str, width: float, most: int) -> list[str]:
    """Return a text as lines of at most `width` Chinese letters; what is left over ends in "…"."""
    lines, line = [], ""
    for piece in _pieces(text):
        if line and _width(line + piece.rstrip()) > width and piece[0] not in _NO_START:
            lines.append(line.rstrip())
            line = ""
        line += piece
    lines.append(line.rstrip())
    if len(lines) > most:
        lines = lines[:most]
        lines[-1] = lines[-1].rstrip("，。、；：,.;: ") + "…"
    return lines


def _pieces(text: str) -> list[str]:
    """Return the parts between which a line may end: Chinese letters, words with their space."""
    found: list[str] = []
    for letter in text:
        is_word = not _is_wide(letter) and found and not _is_wide(found[-1][-1])
        if is_word and not found[-1].endswith(" "):
            found[-1] += letter
        else:
            found.append(letter)
    return found


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


def _width(text: str) -> float:
    return sum(1 if _is_wide(letter) else _NARROW for letter in text)
