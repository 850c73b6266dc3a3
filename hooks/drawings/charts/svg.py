"""From a Vega-Lite specification to SVG that follows the page: its fonts, its light and dark.

vl-convert holds a JavaScript engine, which takes a second to start and some milliseconds for
each chart after that; drawings are therefore kept, by the hash of all that they depend on.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from hooks.cache import Cache, code
from hooks.drawings import svg
from hooks.drawings.charts.grammar import ROLES

if TYPE_CHECKING:
    from hooks.drawings.charts.grammar import Spec

_VERSION = 2
"""Of the ids in a drawing."""
_FONT = Path(__file__).resolve().parent / "font"
_VEGA_LITE = "5.21"
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_URL = re.compile(r"url\(#(?P<id>[^)]+)\)")
_DROPPED = ("role", "pointer-events", "font-family", "class")
_EMPTY = frozenset(["", "M0,0h0v0h0Z"])


def draw(spec: Spec, cache: Cache | None = None) -> str:
    """Return the drawing of what `grammar.specification` returns, as themed SVG without a name."""
    text = json.dumps(spec, sort_keys=True, ensure_ascii=False)
    return (cache or Cache()).recall("chart", text, partial(_draw, text), code("drawings"))


def _draw(spec: str) -> str:
    import vl_convert

    about = f"{version('vl-convert-python')} {_VEGA_LITE} {_VERSION} {spec}"
    prefix = f"c{hashlib.sha256(about.encode()).hexdigest()[:8]}-"
    vl_convert.register_font_directory(str(_FONT))
    # No address is allowed: a chart holds its data.
    drawing = vl_convert.vegalite_to_svg(spec, vl_version=_VEGA_LITE, allowed_base_urls=[])
    root = svg.parse(drawing.encode("utf-8"))
    for element in root.walk():
        element.attributes = {
            name: _value(name, value, prefix)
            for name, value in element.attributes.items()
            if name not in _DROPPED and not name.startswith(("aria-", "xmlns"))
        }
    _prune(root)
    return re.sub(r"\s*\n\s*", " ", svg.serialise(root))


def _value(name: str, value: str, prefix: str) -> str:
    if name in ("fill", "stroke") and value.lower() in ROLES:
        value = f"var({ROLES[value.lower()]}, {value.lower()})"
    elif name == "id":
        return prefix + value
    elif name in ("d", "transform", "x", "y", "x2", "y2", "width", "height"):
        value = _NUMBER.sub(lambda match: f"{float(match[0]):.2f}", value)
    return _URL.sub(lambda match: f"url(#{prefix}{match['id']})", value)


def _prune(element: svg.Element) -> None:
    """Take out paths that draw nothing, groups that hold nothing, and what is not seen.

    Labels of an axis that have no room are drawn unseen, the last of them beyond the edge.
    """
    for child in element.elements:
        _prune(child)
    element.children = [one for one in element.children if isinstance(one, str) or _is_seen(one)]


def _is_seen(element: svg.Element) -> bool:
    is_blank = element.name == "path" and element.attributes.get("d", "") in _EMPTY
    is_bare = element.name == "g" and not element.children
    is_hidden = element.attributes.get("display") == "none"
    return not (is_blank or is_bare or is_hidden or element.attributes.get("opacity") == "0")
