"""Draw the measured time line of streams into docs/hpc/cuda/figures.

Every bar is a start and an end of the record `overlap.json`.
"""

from __future__ import annotations

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import Label, figure, text

FOLDER = figure_files.ROOT / "docs/hpc/cuda/figures"
LEFT, WIDTH, ROW = 64, 358, 22
ROWS: dict[str, tuple[Label, str]] = {
    "copy in": (("拷入", "in"), "switch"),
    "kernel": (("核函数", "kernel"), "gpu"),
    "copy out": (("拷出", "out"), "cpu"),
}


def spans(streams: int) -> list[tuple[str, int, float, float]]:
    """Return operation, chunk, start and end in ms of each operation, as measured."""
    results = figure_files.load_record("hpc/cuda/measured/overlap.json")
    ends = {(p["streams"], p["chunk"], p["operation"]): p["value"] for p in results["end"]}
    return [
        (p["operation"], p["chunk"], p["value"], ends[streams, p["chunk"], p["operation"]])
        for p in results["start"]
        if p["streams"] == streams
    ]


def panel(top: float, streams: int, scale: float) -> list[str]:
    """Return the rows of one run: a bar for each operation, with the number of its chunk."""
    found = spans(streams)
    last = max(end for *_, end in found)
    title = (
        f"{streams} 个流：{last:.1f} ms",
        f"{streams} stream{'s' * (streams > 1)}: {last:.1f} ms",
    )
    pieces = [text(LEFT, top, title, size=13, anchor="start", bold=True)]
    for row, (operation, (label, fill)) in enumerate(ROWS.items()):
        y = top + 8 + row * ROW
        pieces.append(text(LEFT - 6, y + 14, label, size=12, anchor="end"))
        for name, chunk, start, end in found:
            if name != operation:
                continue
            x, width = LEFT + start * scale, (end - start) * scale
            pieces.append(pen.rect(x, y, width, ROW - 4, fill, edge=0.8))
            if width >= 10:
                pieces.append(text(x + width / 2, y + 13.5, str(chunk), size=12))
    return pieces


def timeline() -> str:
    """Return the figure: the same eight chunks through one stream and through four."""
    last = max(end for *_, end in spans(1))
    scale = (WIDTH - LEFT - 10) / last
    foot = 200.0
    axis = [pen.line(LEFT, foot - 14, WIDTH - 8, foot - 14, "line", 1)]
    axis += [text(LEFT + t * scale, foot, f"{t} ms", size=12) for t in range(0, int(last) + 1, 4)]
    return figure(
        WIDTH,
        foot + 8,
        "Eight chunks through one stream and through four, as measured",
        f"One stream: copies and kernels one after another, {last:.1f} ms. Four streams: copies in,"
        f" kernels and copies out of different chunks run side by side,"
        f" {max(end for *_, end in spans(4)):.1f} ms.",
        *panel(18, 1, scale),
        *panel(108, 4, scale),
        *axis,
    )


FIGURES = {"overlap-timeline.svg": timeline}
