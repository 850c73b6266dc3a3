"""Draw the figure of the note on training stability into docs/train/figures.

The curves are invented: they show shapes, and no run.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import Label, colour, drawn, num, remark, text

FOLDER = figure_files.ROOT / "docs/train/figures"
WIDTH, HEIGHT = 226, 118
STEPS = 160


def _falling(x: float) -> float:
    """Return an ordinary loss at x in 0..1."""
    return 0.3 + 0.5 / (1 + 6 * x)


def _wobble(step: int) -> float:
    """Return a small noise that is the same on every run."""
    return 0.008 * math.sin(step * 12.9898) + 0.006 * math.sin(step * 78.233)


def _recovers(x: float) -> float:
    return _falling(x) + (0.5 * math.exp(-(x - 0.5) * 28) if x >= 0.5 else 0)


def _step(x: float) -> float:
    return _falling(x) + (0.4 * math.exp(-(x - 0.5) * 22) + 0.13 if x >= 0.5 else 0)


def _diverges(x: float) -> float:
    return _falling(x) + (0.42 * (1 - math.exp(-(x - 0.55) * 9)) if x >= 0.55 else 0)


def _drifts(x: float) -> float:
    return _falling(x) + (0.7 * (x - 0.45) ** 1.5 if x >= 0.45 else 0)


def _plateau(x: float) -> float:
    return _falling(min(x, 0.22)) + 0.02


def _stops(x: float) -> float:
    return _falling(x) if x < 0.68 else math.nan


PANELS: list[tuple[Label, Label, Callable[[float], float]]] = [
    (
        ("尖峰，回到原线", "Spike, recovers"),
        ("先看梯度范数", "first look: gradient norm"),
        _recovers,
    ),
    (("尖峰，留下台阶", "Spike, leaves a step"), ("验证损失也抬高吗", "validation too?"), _step),
    (("发散", "Divergence"), ("损失缩放、logit 最大值", "loss scale, largest logit"), _diverges),
    (("缓慢漂移", "Slow drift"), ("各层 RMS、学习率", "RMS per layer, learning rate"), _drifts),
    (("平台", "Plateau"), ("有没有参数不在更新", "do all parameters move?"), _plateau),
    (("突然 NaN", "Sudden NaN"), ("哪个 rank、哪一层先出", "which rank, which layer"), _stops),
]


def panel(x: float, y: float, title: Label, hint: Label, curve: Callable[[float], float]) -> str:
    """Return one small chart with its title above and a hint below."""
    axis = pen.path(f"M{num(x)} {num(y)}v{HEIGHT}h{WIDTH}", "line", 1.5)
    points, last = [], (x, y)
    for step in range(STEPS + 1):
        value = curve(step / STEPS)
        if math.isnan(value):
            break
        last = (x + 4 + step / STEPS * (WIDTH - 8), y + HEIGHT * (1 - value - _wobble(step)))
        points.append(f"{num(last[0])} {num(last[1])}")
    line = pen.path("M" + "L".join(points))
    end = ""
    if len(points) <= STEPS:
        cross = f"M{num(last[0] - 6)} {num(last[1] - 6)}l12 12m0 -12l-12 12"
        end = f'<path d="{cross}" stroke="{colour("pcie")}" stroke-width="3" fill="none"/>'
        end += text(last[0] + 12, last[1] + 5, "NaN", size=14, anchor="start")
    return (
        text(x, y - 10, title, size=15, anchor="start", bold=True)
        + axis
        + line
        + end
        + remark(x, y + HEIGHT + 19, hint, "start")
    )


@drawn(510, 576)
def shapes() -> list[str]:
    """Six things a loss curve can do.

    A spike that recovers, a spike that leaves a step, divergence, slow drift, plateau, NaN.
    """
    pieces = []
    for k, (title, hint, curve) in enumerate(PANELS):
        column, row = k % 2, k // 2
        pieces.append(panel(16 + column * 250, 40 + row * 190, title, hint, curve))
    return pieces


FIGURES = {"loss-shapes.svg": shapes}
