"""Draw how NCCL's three protocols lay data and flags out, into docs/ccl/nccl/figures.

Sizes are those of docs/ccl/code/nccl_lines.py.
"""

from __future__ import annotations

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import Label, drawn, num, text

FOLDER = figure_files.ROOT / "docs/ccl/nccl/figures"
lines = figure_files.load_program("ccl/code/nccl_lines.py")
LEFT, FULL, HEIGHT = 6.0, 336.0, 30.0


def word(x: float, y: float, w: float, label: Label, *, is_flag: bool = False) -> str:
    """Return one word of a line; flags have a thick edge besides their colour."""
    fill, edge = ("nic", 2.5) if is_flag else ("gpu", 0.8)
    box = pen.rect(x + 1, y, w - 2, HEIGHT, fill, edge=edge)
    return box + (text(x + w / 2, y + 20, label, size=12, bold=is_flag) if label else "")


def under(x: float, y: float, w: float, label: Label) -> str:
    """Return a bracket below some words, and what they have in common."""
    way = f"M{num(x + 2)} {num(y)}v5h{num(w - 4)}v-5"
    return pen.path(way, "line", 1.5) + text(x + w / 2, y + 19, label, size=12, tint="muted")


def head(y: float, label: Label) -> str:
    """Return the headline of a protocol."""
    return text(LEFT, y, label, size=13, anchor="start", bold=True)


def ll(y: float) -> list[str]:
    """Return one line of LL."""
    w = FULL / 4
    names = [("数据 4 B", "data 4 B"), ("标志 4 B", "flag 4 B")]
    pieces = [head(y, ("LL：一行 16 B，一半是数据", "LL: a line of 16 B, half of it data"))]
    for i in range(4):
        pieces += [word(LEFT + i * w, y + 10, w, names[i % 2], is_flag=i % 2 == 1)]
    for i in (0, 2):
        pieces += [under(LEFT + i * w, y + 44, 2 * w, ("8 B：不得拆开", "8 B: never torn"))]
    return pieces


def ll128(y: float) -> list[str]:
    """Return one line of LL128."""
    w = FULL / 16
    title = ("LL128：一行 128 B，120 B 是数据", "LL128: a line of 128 B, 120 B of it data")
    pieces = [head(y, title)]
    for i in range(16):
        pieces += [word(LEFT + i * w, y + 10, w, "F" if i == 15 else "8", is_flag=i == 15)]
    for i in range(8):
        pieces += [under(LEFT + 2 * i * w, y + 44, 2 * w, "")]
    label = ("8 个线程各存 16 B，须按序可见", "8 threads store 16 B each, seen in order")
    pieces.append(text(LEFT + FULL / 2, y + 63, label, size=12, tint="muted"))
    return pieces


def simple(y: float) -> list[str]:
    """Return the buffer of Simple with its counter."""
    w = FULL / 8
    kib = lines.BUFFER["Simple"] // lines.STEPS >> 10
    title = (f"Simple：8 步，每步 {kib} KiB，全是数据", f"Simple: 8 steps of {kib} KiB, all data")
    pieces = [head(y, title)]
    pieces += [word(LEFT + i * w, y + 10, w, str(i)) for i in range(8)]
    pieces.append(under(LEFT, y + 44, 2 * w, ("片：2 步", "slice: 2")))
    pieces.append(under(LEFT + 4 * w, y + 44, 4 * w, ("块：4 步", "chunk: 4 steps")))
    pieces.append(word(LEFT, y + 76, 2 * w, "tail 8 B", is_flag=True))
    label = ("栅栏之后才写，告诉对方写到哪步", "written after a fence: how far")
    pieces.append(text(LEFT + 2 * w + 6, y + 96, label, size=12, anchor="start", tint="muted"))
    return pieces


@drawn(LEFT * 2 + FULL, 306)
def layout() -> list[str]:
    """Where the three protocols of NCCL keep data and flags.

    LL: four bytes of data, four of flag, twice. LL128: 15 words of eight bytes of data and one
    of flag, stored by eight threads. Simple: a buffer of eight steps of data only, and a
    counter beside it, written after a fence.
    """
    return [*ll(20), *ll128(104), *simple(192)]


FIGURES = {"protocols.svg": layout}
