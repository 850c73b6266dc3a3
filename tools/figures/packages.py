"""The drawing of `chip/process-package`: five ways of joining dies, cut through.

In: nothing. Out: `docs/chip/figures/packages.svg`; see `tools.figures`.
"""

from __future__ import annotations

from tools.figures import draw as pen
from tools.figures.draw import Label, colour, drawn, num, text
from tools.figures.files import ROOT

FOLDER = ROOT / "docs/chip/figures"
LEFT, WIDTH, ROW = 12.0, 356.0, 118.0
DIES = ((24.0, 108.0, "gpu"), (136.0, 108.0, "gpu"), (248.0, 108.0, "memory"))


def bar(x: float, y: float, w: float, h: float, fill: str, label: Label = "") -> str:
    """Return a slab seen from its edge, with a label that says what it is."""
    return pen.rect(x, y, w, h, fill) + (
        text(x + w / 2, y + h / 2 + 4.5, label, size=13) if label else ""
    )


def bumps(y: float, step: float, x: float = LEFT, w: float = WIDTH) -> str:
    """Return a row of solder balls under what lies from `x` on; close ones have a fine pitch."""
    count = int((w - 24) / step)
    marks = "".join(f"M{num(x + 14 + n * step)} {num(y)}v4" for n in range(count + 1))
    return f'<path d="{marks}" stroke="{colour("ink")}" stroke-width="2" fill="none"/>'


def tops(y: float, step: float) -> str:
    """Return two logic dies and one stack of memory on a row of balls."""
    names: tuple[Label, ...] = (("逻辑", "logic"), ("逻辑", "logic"), "HBM")
    dies = [bar(x, y, w, 22, fill, name) for (x, w, fill), name in zip(DIES, names, strict=True)]
    return "".join([*dies, bumps(y + 23, step)])


def bridges(y: float, h: float) -> str:
    """Return pieces of silicon under the seams between dies."""
    return "".join(bar(x, y, 44, h, "switch", ("硅", "Si")) for x in (112, 224))


def panel(number: int, title: Label, *pieces: str) -> str:
    """Return a row with its title, moved to its place."""
    head = text(LEFT, 15, title, size=13, anchor="start", bold=True)
    return f'<g transform="translate(0 {num(number * ROW)})">{head}{"".join(pieces)}</g>'


def substrate(y: float) -> str:
    return bar(LEFT, y, WIDTH, 18, "storage", ("有机基板", "organic substrate"))


@drawn(380, 5 * ROW - 14)
def draw() -> list[str]:
    """Five ways of joining dies.

    Cuts through packages: dies on a silicon interposer; on polymer; on polymer with small
    bridges of silicon; on a substrate with such bridges; and die on die without solder.
    """
    carrier: Label = ("硅中介层", "silicon interposer")
    polymer: Label = ("聚合物与铜（RDL）", "polymer and copper (RDL)")
    return [
        panel(
            0,
            ("CoWoS-S：整片硅", "CoWoS-S: one piece of silicon"),
            tops(24, 7),
            bar(LEFT, 52, WIDTH, 20, "switch", carrier),
            bumps(73, 22),
            substrate(78),
        ),
        panel(
            1,
            ("CoWoS-R：没有硅", "CoWoS-R: no silicon"),
            tops(24, 12),
            bar(LEFT, 52, WIDTH, 20, "cpu", polymer),
            bumps(73, 22),
            substrate(78),
        ),
        panel(
            2,
            ("CoWoS-L：RDL 里嵌硅桥", "CoWoS-L: bridges of silicon in the RDL"),
            tops(24, 7),
            bar(LEFT, 52, WIDTH, 20, "cpu", ("RDL", "RDL")),
            bridges(52, 20),
            bumps(73, 22),
            substrate(78),
        ),
        panel(
            3,
            ("EMIB：基板里嵌硅桥", "EMIB: bridges in the substrate"),
            tops(24, 9),
            bar(LEFT, 52, WIDTH, 44, "storage"),
            text(LEFT + WIDTH / 2, 89, ("有机基板", "organic substrate"), size=13),
            bridges(52, 18),
        ),
        panel(
            4,
            ("混合键合：叠起来，没有焊球", "hybrid bonding: stacked, no solder"),
            bar(60, 24, 260, 20, "gpu", ("裸片", "die")),
            bar(60, 44, 260, 20, "gpu", ("裸片，带硅通孔", "die with vias through it")),
            bumps(65, 22, 60, 260),
            substrate(70),
        ),
    ]


FIGURES = {"packages.svg": draw}
