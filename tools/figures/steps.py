"""Draw where the time of a measured training step goes, into docs/train/figures.

Everything comes from docs/train/measured/step_profile.json (one GPU) and step_profile_two.json.
"""

from __future__ import annotations

from typing import Any

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import Label, figure, text

FOLDER = figure_files.ROOT / "docs/train/figures"
LEFT, WIDTH = 92.0, 380.0
CLASSES: dict[str, tuple[str, str, Label]] = {
    "gemm": ("G", "gpu", ("矩阵乘", "products")),
    "attention": ("A", "switch", ("注意力", "attention")),
    "elementwise and norm": ("E", "memory", ("逐元素与归一化", "elementwise, norms")),
    "cast and copy": ("C", "storage", ("转换与拷贝", "casts, copies")),
    "loss": ("L", "nic", ("损失", "loss")),
    "optimizer": ("O", "cpu", ("优化器", "optimizer")),
    "other": ("·", "paper", ("其他", "other")),
    "communication": ("N", "pcie", ("NCCL（叠图里：露出的）", "NCCL (stack: exposed)")),
    "gap": ("", "paper", ("空闲", "idle")),
}
"""Class -> letter, fill, name; the order of the stack."""
WAYS: dict[tuple[str, str], tuple[str, str]] = {
    ("one", "eager"): ("1 块 逐算子", "1 GPU, eager"),
    ("one", "compiled"): ("1 块 编译", "1 GPU, comp."),
    ("ddp", "eager"): ("DDP 逐算子", "DDP, eager"),
    ("ddp", "compiled"): ("DDP 编译", "DDP, comp."),
    ("fsdp2", "eager"): ("FSDP2 逐算子", "FSDP2, eager"),
    ("fsdp2", "compiled"): ("FSDP2 编译", "FSDP2, comp."),
    ("tp", "eager"): ("TP 逐算子", "TP, eager"),
    ("tp", "compiled"): ("TP 编译", "TP, comp."),
}
Points = list[dict[str, Any]]


def records() -> dict[str, Points]:
    """Return the points of both records, those of the long sequence."""
    one = figure_files.load_record("train/measured/step_profile.json")
    two = figure_files.load_record("train/measured/step_profile_two.json")
    long = {k: [p for p in v if p.get("s", 4096) == 4096] for k, v in one.items()}
    return {k: long.get(k, []) + two.get(k, []) for k in {*long, *two}}


def box(x: float, y: float, w: float, h: float, kind: str) -> str:
    """Return a piece of a bar, with its letter where there is room."""
    letter, fill, _ = CLASSES[kind]
    dashes = "1 2" if kind == "gap" else ""
    piece = pen.rect(x, y, w, h, fill, edge=0.6, dashes=dashes)
    tint = "paper" if kind == "communication" else "ink"
    return piece + (text(x + w / 2, y + h / 2 + 4.2, letter, size=12, tint=tint) if w > 11 else "")


def legend(top: float, names: list[str]) -> list[str]:
    """Return letters and names of classes, in two columns."""
    pieces = []
    for at, kind in enumerate(names):
        x, y = 8 + 182 * (at % 2), top + 21 * (at // 2)
        pieces += [box(x, y, 18, 15, kind)]
        pieces += [text(x + 25, y + 12, CLASSES[kind][2], size=13, anchor="start")]
    return pieces


def axis(y: float, last: float, scale: float, every: int) -> list[str]:
    """Return a line with milliseconds."""
    pieces = [pen.line(LEFT, y, LEFT + last * scale, y, "line", 1)]
    for ms in range(0, int(last) + 1, every):
        x = LEFT + ms * scale
        pieces += [pen.line(x, y, x, y + 4, "line", 1), text(x, y + 16, f"{ms} ms", size=12)]
    return pieces


def stack() -> str:
    """Return one bar for each way of running the step, cut by class."""
    points = records()["class"]
    sums: dict[tuple[str, str], dict[str, float]] = {}
    for way in WAYS:
        if found := {p["kind"]: p["value"] for p in points if (p["way"], p["mode"]) == way}:
            sums[way] = found
    last = max(sum(found.values()) for found in sums.values())
    scale = (WIDTH - LEFT - 34) / last
    pieces, said = [], []
    for row, (way, found) in enumerate(sums.items()):
        y = 8.0 + 28 * row
        pieces.append(text(LEFT - 5, y + 15, WAYS[way], size=12, anchor="end"))
        x = LEFT
        for kind in CLASSES:
            w = found.get(kind, 0) * scale
            if w > 0.2:
                pieces.append(box(x, y, w, 21, kind))
            x += w
        total = sum(found.values())
        pieces.append(text(x + 4, y + 15, f"{total:.0f}", size=12, anchor="start"))
        parts = ", ".join(f"{k} {v:.1f}" for k, v in found.items() if v >= 0.05)
        said.append(f"{WAYS[way][1]}: {total:.1f} ms ({parts})")
    foot = 8.0 + 28 * len(sums)
    pieces += axis(foot + 2, last, scale, 50)
    used = [k for k in CLASSES if any(found.get(k, 0) * scale > 0.2 for found in sums.values())]
    pieces += legend(foot + 30, used)
    height = foot + 36 + 21 * ((len(used) + 1) // 2)
    title = "A training step by class of kernel, milliseconds"
    return figure(WIDTH, height, title, "; ".join(said) + ".", *pieces)


def lanes(top: float, way: tuple[str, str], scale: float) -> tuple[list[str], float]:
    """Return the rows of one step: what computes, and NCCL below; and its length in ms."""
    found = records()
    mine = [p for p in found["timeline"] if p["way"] == way[0]]
    last = max(p["value"] for p in mine) / 1e3
    zh, en = WAYS[way]
    name = (f"{zh}：{last:.0f} ms", f"{en}: {last:.0f} ms")
    pieces = [text(8, top + 12, name, size=13, anchor="start", bold=True)]
    names: list[tuple[str, Label]] = [("compute", ("计算", "compute")), ("nccl", "NCCL")]
    for row, (lane, label) in enumerate(names):
        segments = [p for p in mine if p["lane"] == lane]
        y = top + 20 + row * 24
        if not segments:
            continue
        pieces.append(text(LEFT - 5, y + 14, label, size=12, anchor="end"))
        for p in segments:
            start, end = p["start"] / 1e3, p["value"] / 1e3
            pieces.append(box(LEFT + start * scale, y, (end - start) * scale, 19, p["kind"]))
    marks = {p["mark"]: p["value"] / 1e3 for p in found["mark"] if (p["way"], p["mode"]) == way}
    places: list[tuple[float, Label]] = [
        (0.0, ("前向", "forward")),
        (marks["backward"], ("反向", "backward")),
        (marks["optimizer"], ("优化器", "opt.")),
    ]
    for at, label in places:
        x = LEFT + at * scale
        pieces.append(pen.line(x, top + 16, x, top + 66, "ink", 1, "3 2"))
        if at:
            if at > 0.8 * last:
                pieces.append(text(x - 3, top + 12, label, size=12, anchor="end", tint="muted"))
            else:
                pieces.append(text(x + 3, top + 12, label, size=12, anchor="start", tint="muted"))
    return pieces, last


def timeline() -> str:
    """Return the step of one GPU, DDP, FSDP2 and TP, one below the other, in eager mode."""
    found = records()["timeline"]  # of eager mode only
    ways = [w for w in WAYS if w[1] == "eager" and any(p["way"] == w[0] for p in found)]
    last = max(p["value"] for p in found) / 1e3
    scale = (WIDTH - LEFT - 12) / last
    pieces, said = [], []
    for row, way in enumerate(ways):
        more, length = lanes(4 + 74 * row, way, scale)
        pieces += more
        said.append(f"{WAYS[way][1]} {length:.0f} ms")
    foot = 4 + 74 * len(ways) + 4.0
    pieces += axis(foot, last, scale, 50)
    kinds = {p["kind"] for p in found}
    used = [k for k in CLASSES if k in kinds]
    pieces += legend(foot + 28, used)
    desc = "Each row is 120 parts of the step, each filled by the class that takes most of it: "
    height = foot + 32 + 21 * ((len(used) + 1) // 2)
    return figure(WIDTH, height, "The step over time", f"{desc}{'; '.join(said)}.", *pieces)


def merged(segments: Points) -> list[tuple[float, float, str]]:
    """Return start, end and class in ms, neighbours of one class as one."""
    out: list[tuple[float, float, str]] = []
    for p in sorted(segments, key=lambda p: p["start"]):
        start, end = p["start"] / 1e3, p["value"] / 1e3
        if out and out[-1][2] == p["kind"] and start - out[-1][1] < 0.03:
            out[-1] = (out[-1][0], end, p["kind"])
        else:
            out.append((start, end, p["kind"]))
    return out


def layer() -> str:
    """Return the kernels of one layer's backward pass: one GPU, DDP and FSDP2, eager."""
    found = records()["layer"]
    ways = [w for w in WAYS if w[1] == "eager" and any(p["way"] == w[0] for p in found)]
    last = max(p["value"] for p in found) / 1e3
    scale = (WIDTH - LEFT - 12) / last
    pieces, said, kinds = [], [], set()
    top = 4.0
    for way in ways:
        mine = [p for p in found if p["way"] == way[0]]
        zh, en = WAYS[way]
        end = max(p["value"] for p in mine if p["lane"] == "compute") / 1e3
        name = (f"{zh}：一层反向 {end:.2f} ms", f"{en}: one layer backward, {end:.2f} ms")
        pieces.append(text(8, top + 12, name, size=13, anchor="start", bold=True))
        y = top + 18
        for lane, label in (("compute", ("计算", "compute")), ("nccl", "NCCL")):
            spans = merged([p for p in mine if p["lane"] == lane])
            if not spans:
                continue
            pieces.append(text(LEFT - 5, y + 14, label, size=12, anchor="end"))
            for begin, stop, kind in spans:
                start = max(begin, 0.0)
                pieces.append(box(LEFT + start * scale, y, (stop - start) * scale, 19, kind))
                kinds.add(kind)
            y += 24
        talk = sum(p["value"] - p["start"] for p in mine if p["lane"] == "nccl") / 1e3
        said.append(f"{en}: {end:.2f} ms, NCCL {talk:.2f} ms beside it")
        top = y + 8
    pieces += axis(top, last, scale, 1)
    used = [k for k in CLASSES if k in kinds]
    pieces += legend(top + 28, used)
    height = top + 32 + 21 * ((len(used) + 1) // 2)
    title = "One layer of the backward pass, kernel by kernel"
    return figure(WIDTH, height, title, "; ".join(said) + ".", *pieces)


FIGURES = {"step-stack.svg": stack, "step-timeline.svg": timeline, "step-layer.svg": layer}
