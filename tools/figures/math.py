"""Draw the figure of the note on transformer arithmetic into docs/train/figures.

The shares are counted by docs/train/code/transformer_math.py, not typed in.
"""

from __future__ import annotations

from typing import Any

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import Label, figure, text

FOLDER = figure_files.ROOT / "docs/train/figures"
PARTS: list[tuple[str, Label]] = [
    ("gpu", ("前馈", "feed-forward")),
    ("switch", ("注意力投影", "attention projections")),
    ("cpu", ("输出头", "output head")),
    ("nic", ("注意力核心（因果一半）", "attention core (causal half)")),
]
LEFT, WIDTH, HEIGHT, STEP = 56, 446, 34, 48


def shares(model: Any, sequence: int) -> list[float]:
    """Return the shares of a forward pass by PARTS."""
    parts = [
        2 * model.feed_forward(active=True),
        2 * model.layers * model.attention(),
        2 * model.embedding(),
        model.core(sequence, causal=True),
    ]
    return [part / sum(parts) for part in parts]


def draw() -> str:
    """Bars of Llama 3.1 8B and 405B at four lengths, each as wide as a whole."""
    program = figure_files.load_program("train/code/transformer_math.py")
    models = program.load()
    pieces, y = [], 34.0
    for name, title in (("llama31-8b", "Llama 3.1 8B"), ("llama31-405b", "Llama 3.1 405B")):
        pieces.append(text(8, y, title, size=15, anchor="start", bold=True))
        y += 12
        for sequence in program.LENGTHS:
            length = f"{sequence // 1024}K"
            pieces.append(text(LEFT - 8, y + HEIGHT / 2 + 5, length, anchor="end"))
            x = float(LEFT)
            for (tint, _), share in zip(PARTS, shares(models[name], sequence), strict=True):
                w = share * WIDTH
                pieces.append(pen.rect(x, y, w, HEIGHT, tint, edge=1))
                if w > 42:
                    pieces.append(text(x + w / 2, y + HEIGHT / 2 + 5, f"{share:.0%}", size=13))
                x += w
            y += STEP - 6
        y += 26
    for k, (tint, label) in enumerate(PARTS):
        pieces.append(pen.rect(8 + k // 2 * 190, y - 22 + k % 2 * 22, 14, 14, tint, edge=1))
        place = (28 + k // 2 * 190, y - 10 + k % 2 * 22)
        pieces.append(text(*place, label, size=13, anchor="start"))
    title = "Shares of the FLOP of a forward pass by length"
    return figure(510, y + 22, title, "Bars, left to right in the order of the legend.", *pieces)


FIGURES = {"transformer-flops.svg": draw}
