"""One visual language for drawings of machines and networks, as SVG text.

Each function returns a piece of SVG; `figure` puts pieces into a file that works on its own and
inlined into a page of either language. A label is a plain string, or a pair (Chinese, English).
Shapes say what a thing is, so that no meaning rests on colour alone:

    gpu      rounded rectangle        nic      trapezoid, wide side up (towards the network)
    switch   hexagon                  memory   box with stripes
    cpu      box with corner ticks    storage  drum

    nvlink   solid, 3 wide            pcie     dashed, 2 wide          net   dotted, 2 wide

All lengths are units of the viewBox. Colours are the handbook's variables with a light fallback;
`hooks.figures` holds the rules that the result must pass. Boxes refuse a label that they cannot
hold: `ValueError`, naming the text and both widths.
"""

from __future__ import annotations

import functools
import math
import unicodedata
from collections.abc import Callable
from html import escape
from typing import Literal

Label = str | tuple[str, str]
Style = Literal["nvlink", "pcie", "net", "plain"]

COLOURS = {
    "paper": "#ffffff",
    "ink": "#1f2328",
    "muted": "#59636e",
    "line": "#8c959f",
    "gpu": "#cfe8cf",
    "switch": "#cfe0f5",
    "cpu": "#f3e1c0",
    "nic": "#ead6f2",
    "memory": "#d6ecec",
    "storage": "#e6e6e6",
    "nvlink": "#2a7a2a",
    "pcie": "#b35900",
    "net": "#6f42c1",
}
"""The palette: the names behind `--fig-` and their fallbacks."""
STYLES: dict[Style, tuple[str, float, str, tuple[str, str]]] = {
    "nvlink": ("nvlink", 3, "", ("NVLink", "NVLink")),
    "pcie": ("pcie", 2, "7 4", ("PCIe", "PCIe")),
    "net": ("net", 2, "2 4", ("网络", "Network")),
    "plain": ("line", 1.5, "", ("其他连线", "Other link")),
}
"""Per link style: colour, width, dashes, name in the legend."""
MIN_SIZE = 12
PAD = 4


def colour(name: str) -> str:
    """Return a palette colour as an attribute value."""
    return f"var(--fig-{name}, {COLOURS[name]})"


def num(value: float) -> str:
    """Return a coordinate with at most one decimal."""
    return f"{round(value, 1) + 0:g}"


def text_width(text: str, size: float) -> float:
    """Return the estimated width of a line: 1 em per wide character, else 0.6 em on average."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    narrow = sum(c in "ijlt.,:;'|()[] -" for c in text)
    return size * (wide + 0.36 * narrow + 0.6 * (len(text) - wide - narrow))


def widest(label: Label, size: float) -> float:
    """Return the width that a label needs in either language."""
    return max(text_width(one, size) for one in ([label] if isinstance(label, str) else label))


def text(
    x: float,
    y: float,
    label: Label,
    *,
    size: float = 14,
    anchor: Literal["start", "middle", "end"] = "middle",
    bold: bool = False,
    tint: str = "ink",
) -> str:
    """Return a line of text whose baseline starts, is centred or ends at (x, y)."""
    if size < MIN_SIZE:
        raise ValueError(f"text of {size} units is too small to read: {label!r}")
    attributes = f'x="{num(x)}" y="{num(y)}" font-size="{num(size)}" fill="{colour(tint)}"'
    attributes += f' text-anchor="{anchor}"' * (anchor != "start")
    attributes += ' font-weight="600"' * bold
    if isinstance(label, str):
        return f"<text {attributes}>{escape(label, quote=False)}</text>"
    zh, en = (escape(one, quote=False) for one in label)
    chinese = f'<text systemLanguage="zh" {attributes}>{zh}</text>'
    return f"<switch>{chinese}<text {attributes}>{en}</text></switch>"


def remark(
    x: float, y: float, label: Label, anchor: Literal["start", "middle", "end"] = "middle"
) -> str:
    """Return a remark beside a drawing."""
    return text(x, y, label, size=13, anchor=anchor, tint="muted")


def _outline(fill: str, extra: str = "") -> str:
    return f'fill="{colour(fill)}" stroke="{colour("ink")}" stroke-width="1.5"{extra}'


def _labels(x: float, y: float, w: float, h: float, lines: tuple[Label, ...], size: float) -> str:
    """Return the lines centred in a box; the first is bold when there are several."""
    top = y + h / 2 - (len(lines) - 1) * size * 0.65 + size * 0.35
    pieces = []
    for n, line in enumerate(lines):
        if widest(line, size) > w - 2 * PAD:
            need = widest(line, size) + 2 * PAD
            raise ValueError(f"label {line!r} needs {need:.0f} units; the box has {w:.0f}")
        bold = n == 0 and len(lines) > 1
        pieces.append(text(x + w / 2, top + n * size * 1.3, line, size=size, bold=bold))
    return "".join(pieces)


def rect(
    x: float,
    y: float,
    w: float,
    h: float,
    fill: str = "none",
    *,
    rx: float = 0,
    tint: str = "ink",
    edge: float = 1.2,
    dashes: str = "",
) -> str:
    """Return a box with its top left corner at (x, y)."""
    place = f'x="{num(x)}" y="{num(y)}" width="{num(w)}" height="{num(h)}"'
    corners = f' rx="{num(rx)}"' * bool(rx)
    inside = fill if fill == "none" else colour(fill)
    return f'<rect {place}{corners} fill="{inside}" {_stroke(tint, edge, dashes)}/>'


def box(x: float, y: float, w: float, h: float, fill: str, *lines: Label, size: float = 13) -> str:
    """Return a plain box with lines of text in its middle."""
    top = y + h / 2 - (len(lines) - 1) * size * 0.65 + size * 0.35
    return rect(x, y, w, h, fill, rx=3) + "".join(
        text(x + w / 2, top + k * size * 1.3, one, size=size) for k, one in enumerate(lines)
    )


def path(way: str, tint: str = "ink", width: float = 2, dashes: str = "") -> str:
    """Return a line along a way, as SVG writes it."""
    return f'<path d="{way}" fill="none" {_stroke(tint, width, dashes)}/>'


def line(
    x1: float, y1: float, x2: float, y2: float, tint: str, width: float = 1.5, dashes: str = ""
) -> str:
    """Return a straight line."""
    ends = f'x1="{num(x1)}" y1="{num(y1)}" x2="{num(x2)}" y2="{num(y2)}"'
    return f"<line {ends} {_stroke(tint, width, dashes)}/>"


def _stroke(tint: str, width: float, dashes: str) -> str:
    look = f'stroke="{colour(tint)}" stroke-width="{num(width)}"'
    return look + f' stroke-dasharray="{dashes}"' * bool(dashes)


def head(*points: tuple[float, float], tint: str) -> str:
    """Return the head of an arrow."""
    joined = " ".join(f"{num(x)},{num(y)}" for x, y in points)
    return f'<polygon points="{joined}" fill="{colour(tint)}"/>'


def gpu(x: float, y: float, w: float, h: float, *lines: Label, size: float = 14) -> str:
    """Return a GPU: a rounded rectangle with its top left corner at (x, y)."""
    return rect(x, y, w, h, "gpu", rx=8, edge=1.5) + _labels(x, y, w, h, lines, size)


def _polygon(points: list[tuple[float, float]], fill: str) -> str:
    joined = " ".join(f"{num(a)},{num(b)}" for a, b in points)
    return f'<polygon points="{joined}" {_outline(fill)}/>'


def switch(x: float, y: float, w: float, h: float, *lines: Label, size: float = 14) -> str:
    """Return a switch: a hexagon with its points left and right."""
    cut = min(h / 2, 12, w / 4)
    middle = y + h / 2
    points = [(x, middle), (x + cut, y), (x + w - cut, y), (x + w, middle)]
    points += [(x + w - cut, y + h), (x + cut, y + h)]
    return _polygon(points, "switch") + _labels(x + cut / 2, y, w - cut, h, lines, size)


def nic(x: float, y: float, w: float, h: float, *lines: Label, size: float = 14) -> str:
    """Return a network card: a trapezoid whose wide side, on top, faces the network."""
    cut = min(8, w / 6)
    points = [(x, y), (x + w, y), (x + w - cut, y + h), (x + cut, y + h)]
    return _polygon(points, "nic") + _labels(x + cut / 2, y, w - cut, h, lines, size)


def cpu(x: float, y: float, w: float, h: float, *lines: Label, size: float = 14) -> str:
    """Return a CPU: a box with a pair of ticks at each corner, like the pins of a socket."""
    ticks = []
    for cx, sx in ((x, -1), (x + w, 1)):
        for cy, sy in ((y, -1), (y + h, 1)):
            ticks.append(f"M{num(cx - sx * 6)} {num(cy)}v{num(sy * 5)}")
            ticks.append(f"M{num(cx)} {num(cy - sy * 6)}h{num(sx * 5)}")
    return (
        rect(x, y, w, h, "cpu", edge=1.5) + path("".join(ticks)) + _labels(x, y, w, h, lines, size)
    )


def memory(x: float, y: float, w: float, h: float, *lines: Label, size: float = 14) -> str:
    """Return memory: a box with stripes along its bottom."""
    marks = "".join(f"M{num(x + w * n / 8)} {num(y + h)}v-6" for n in range(1, 8))
    box = rect(x, y, w, h, "memory", edge=1.5) + path(marks, width=1.5)
    return box + _labels(x, y - 2, w, h - 2, lines, size)


def storage(x: float, y: float, w: float, h: float, *lines: Label, size: float = 14) -> str:
    """Return storage: a drum."""
    rim = 6
    side = f"M{num(x)} {num(y + rim)}v{num(h - 2 * rim)}a{num(w / 2)} {rim} 0 0 0 {num(w)} 0"
    body = f'<path d="{side}v{num(2 * rim - h)}" {_outline("storage")}/>'
    lid = f'<ellipse cx="{num(x + w / 2)}" cy="{num(y + rim)}" rx="{num(w / 2)}" ry="{rim}" '
    return body + f"{lid}{_outline('storage')}/>" + _labels(x, y + rim, w, h - rim, lines, size)


def group(x: float, y: float, w: float, h: float, label: Label = "", *, size: float = 13) -> str:
    """Return a frame around what belongs together, its label inside at the top left."""
    frame = rect(x, y, w, h, rx=6, tint="line", dashes="1 3")
    if not label:
        return frame
    return frame + text(x + 8, y + size + 4, label, size=size, anchor="start", tint="muted")


def link(
    x1: float,
    y1: float,
    x2: float,
    y2: float,
    style: Style = "nvlink",
    *,
    count: int = 1,
    bend: float = 0,
    label: Label = "",
) -> str:
    """Return a link of `count` parallel lines; its label stands on a plate in the middle.

    `bend` is the height of the curve, to the left of the way; 0 draws a straight link.
    """
    tint, width, dashes, _ = STYLES[style]
    length = math.hypot(x2 - x1, y2 - y1) or 1
    across = (-(y2 - y1) / length, (x2 - x1) / length)
    pieces = []
    for n in range(count):
        off = (n - (count - 1) / 2) * (width + 3)
        a, b = x1 + across[0] * off, y1 + across[1] * off
        c, d = x2 + across[0] * off, y2 + across[1] * off
        way = f"L{num(c)} {num(d)}"
        if bend:
            mx, my = (a + c) / 2 - across[0] * bend * 2, (b + d) / 2 - across[1] * bend * 2
            way = f"Q{num(mx)} {num(my)} {num(c)} {num(d)}"
        pieces.append(path(f"M{num(a)} {num(b)}{way}", tint, width, dashes))
    if label:
        x, y = (x1 + x2) / 2 - across[0] * bend, (y1 + y2) / 2 - across[1] * bend
        half = widest(label, 13) / 2 + 3
        plate = f'<rect x="{num(x - half)}" y="{num(y - 9)}" width="{num(2 * half)}" height="18" '
        pieces.append(f'{plate}rx="3" fill="{colour("paper")}"/>')
        pieces.append(text(x, y + 4.5, label, size=13))
    return "".join(pieces)


def legend(x: float, y: float, *styles: Style) -> str:
    """Return a row that explains link styles; it starts at (x, y)."""
    pieces = []
    for style in styles:
        name = STYLES[style][3]
        label: Label = name[0] if name[0] == name[1] else name
        pieces.append(link(x, y, x + 34, y, style))
        pieces.append(text(x + 40, y + 4.5, label, size=13, anchor="start", tint="muted"))
        x += 40 + widest(label, 13) + 18
    return "".join(pieces)


def moved(x: float, y: float, *pieces: str) -> str:
    """Return pieces elsewhere, such as a panel below another."""
    return f'<g transform="translate({num(x)} {num(y)})">{"".join(pieces)}</g>'


def step(number: int, caption: tuple[str, str], *pieces: str) -> str:
    """Return what step `number` adds; the caption is its sentence in both languages."""
    return _stage("data-step", number, caption, pieces)


def frame(number: int, caption: tuple[str, str], *pieces: str) -> str:
    """Return what is seen only while `number` is the frame; the file alone shows the first."""
    return _stage("data-frame", number, caption, pieces)


def _stage(kind: str, number: int, caption: tuple[str, str], pieces: tuple[str, ...]) -> str:
    zh, en = (escape(one) for one in caption)
    hidden = ' display="none"' * (kind == "data-frame" and number > 1)
    head = f'<g {kind}="{number}"{hidden} data-caption-zh="{zh}" data-caption-en="{en}">'
    return "\n".join([head, *pieces, "</g>"])


def figure(width: float, height: float, title: str, desc: str, *pieces: str) -> str:
    """Return a whole SVG file; title and desc are English, for those who cannot see the drawing."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {num(width)} {num(height)}" '
    head += 'font-family="system-ui, \'Noto Sans CJK SC\', sans-serif" font-size="14">'
    paper = f'<rect width="{num(width)}" height="{num(height)}" fill="{colour("paper")}"/>'
    names = f"<title>{escape(title)}</title>\n<desc>{escape(desc)}</desc>"
    return "\n".join([head, paper, names, *pieces, "</svg>"]) + "\n"


def drawn(width: float, height: float) -> Callable[[Callable[[], list[str]]], Callable[[], str]]:
    """Make a figure of what a function draws; its docstring is title and description."""

    def made(pieces: Callable[[], list[str]]) -> Callable[[], str]:
        title, _, desc = str(pieces.__doc__).partition(".\n\n")
        says = title, " ".join(desc.split())
        return functools.wraps(pieces)(lambda: figure(width, height, *says, *pieces()))

    return made
