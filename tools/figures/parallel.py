"""Draw the figures of the notes on cutting a model or a sequence into docs/train/figures.

The timelines are played by docs/train/code/pipeline_schedule.py, not drawn by hand.
"""

from __future__ import annotations

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import MIN_SIZE, Label, colour, figure, group, num, remark, text

FOLDER = figure_files.ROOT / "docs/train/figures"


def _box(x: float, y: float, w: float, h: float, fill: str, *lines: Label, size: float = 14) -> str:
    """Return a plain box with centred lines."""
    top = y + h / 2 - (len(lines) - 1) * size * 0.65 + size * 0.35
    return pen.rect(x, y, w, h, fill, rx=3) + "".join(
        text(x + w / 2, top + k * size * 1.3, line, size=size) for k, line in enumerate(lines)
    )


def _arrow(x1: float, y1: float, x2: float, y2: float, tint: str = "line") -> str:
    """Return a horizontal or slanted line with a head at its end."""
    tip = pen.head((x2, y2), (x2 - 9, y2 - 4.5), (x2 - 9, y2 + 4.5), tint=tint)
    return pen.path(f"M{num(x1)} {num(y1)}L{num(x2 - 6)} {num(y2)}", tint) + tip


def tensor_split() -> str:
    """The feed-forward block on two ranks: columns, then rows, one sum each way."""
    pieces = []
    for k, y in enumerate((40, 190)):
        n = str(k + 1)
        pieces.append(group(100, y, 500, 130, f"GPU {n}"))
        middle = y + 78
        pieces.append(_box(112, y + 50, 56, 56, "storage", "X", "s × h"))
        pieces.append(_box(196, y + 32, 62, 92, "gpu", f"A{n}", "h × 4h/t", size=13))
        pieces.append(_box(286, y + 50, 92, 56, "cpu", "GeLU", f"Z{n}: s × 4h/t", size=12))
        pieces.append(_box(406, y + 50, 74, 56, "gpu", f"B{n}", "4h/t × h", size=13))
        pieces.append(
            _box(508, y + 50, 80, 56, "memory", f"Y{n}", ("部分和", "partial sum"), size=13)
        )
        pieces += [_arrow(x + 2, middle, x + 27, middle) for x in (168, 258, 378, 480)]
        pieces.append(_arrow(588, middle, 634, 180, "nvlink"))
        pieces.append(_arrow(82, 180, 110, middle, "nvlink"))
    pieces.append(_box(4, 150, 78, 60, "switch", "f", ("前：复制", "fwd: copy"), size=13))
    said = ("前：全归约", "fwd: all-reduce")
    pieces.append(_box(636, 142, 112, 76, "switch", "g", said, "Y = Y1 + Y2", size=13))
    said = (
        "反向时方向相反：g 只传递 dY，f 把两份 dX 全归约。",
        "Backward the other way: g passes dY on, f all-reduces the two dX.",
    )
    pieces.append(remark(8, 356, said, "start"))
    said = (
        "dA1、dB1 留在 GPU 1，dA2、dB2 留在 GPU 2，都不必通信。",
        "dA1, dB1 stay on GPU 1 and dA2, dB2 on GPU 2: never communicated.",
    )
    pieces.append(remark(8, 376, said, "start"))
    said = ("A 按列切：每列独立，GeLU 可在本地算", "A by columns: GeLU works on what is here")
    pieces.append(text(100, 26, said, size=13, anchor="start"))
    pieces.append(
        text(
            752, 26, ("B 按行切：只差一次求和", "B by rows: one sum is left"), size=13, anchor="end"
        )
    )
    return figure(
        760,
        390,
        "Column then row split of a feed-forward block on two GPUs",
        "Each GPU multiplies the whole X by its columns of A, applies GeLU, multiplies by its rows "
        "of B, and one all-reduce adds the partial results.",
        *pieces,
    )


def sequence() -> str:
    """Who holds what along a layer: tensor parallel alone, and with sequence parallelism."""
    pieces = []
    steps: list[tuple[Label, int]] = [
        ("LayerNorm", 0),
        (("注意力", "attention"), 1),
        (("残差", "residual"), 0),
        ("LayerNorm", 0),
        ("MLP", 1),
        (("残差", "residual"), 0),
    ]
    rows: list[tuple[Label, bool, float]] = [
        (
            ("张量并行：四处通信都是全归约", "Tensor parallelism: every exchange is an all-reduce"),
            False,
            20,
        ),
        (
            (
                "加序列并行：全收集进，归约散发出",
                "With sequence parallelism: all-gather in, reduce-scatter out",
            ),
            True,
            190,
        ),
    ]
    for title, cut, top in rows:
        pieces.append(text(8, top, title, anchor="start", bold=True))
        x = 8.0
        for name, inside in steps:
            w = 104 if inside else 86
            for k in range(2):
                y = top + 16 + k * 52
                what: Label = (
                    (f"头或列 {k + 1}/2", f"part {k + 1}/2")
                    if inside
                    else (f"token {k + 1}/2", f"tokens {k + 1}/2")
                    if cut
                    else ("全部 token", "all tokens")
                )
                fill = "gpu" if inside else "memory" if cut else "storage"
                pieces.append(_box(x, y, w, 44, fill, name, what, size=12))
            x += w
            x += 36
        x = 8.0
        for at, (_, inside) in enumerate(steps):
            w = 104 if inside else 86
            if inside:
                before, after = ("AG", "RS") if cut else ("f", "g")
                pieces.append(text(x - 18, top + 70, before, size=14, bold=True, tint="nvlink"))
                pieces.append(text(x + w + 18, top + 70, after, size=14, bold=True, tint="nvlink"))
            elif at == 2:
                pieces.append(_arrow(x + w + 4, top + 64, x + w + 32, top + 64))
            x += w + 36
    said = (
        "f：前向不通信、反向全归约；g：前向全归约、反向不通信。",
        "f: nothing forward, all-reduce backward; g: all-reduce forward, nothing backward.",
    )
    pieces.append(remark(8, 158, said, "start"))
    said = (
        "AG 的反向是 RS，RS 的反向是 AG；一次 AG 加一次 RS 等于一次全归约的量。",
        "Backward of AG is RS and of RS is AG; AG and RS move what an all-reduce moves.",
    )
    pieces.append(remark(8, 328, said, "start"))
    return figure(
        760,
        342,
        "What two GPUs hold along a transformer layer",
        "Tensor parallelism keeps all tokens on both GPUs outside attention and MLP; sequence "
        "parallelism keeps half of the tokens on each there.",
        *pieces,
    )


def pipeline() -> str:
    """GPipe, 1F1B and ZB-H1 on four GPUs with eight micro-batches, played and drawn to scale."""
    played = figure_files.load_program("train/code/pipeline_schedule.py")
    p, m, cell, left = 4, 8, 20, 74
    pieces = []
    top = 24.0
    names: list[tuple[str, Label]] = [
        (
            "gpipe",
            (
                "GPipe：先全部前向，再全部反向；33 单位，首段同时压住 8 个微批",
                "GPipe: all forward, then all backward; 33 units, first stage holds 8",
            ),
        ),
        (
            "1f1b",
            ("1F1B：同样 33 单位，首段只压住 4 个", "1F1B: 33 units too, the first stage holds 4"),
        ),
        (
            "zb-h1",
            (
                "ZB-H1：反向拆成两半，27 单位，首段压住 4 个",
                "ZB-H1: backward in two halves, 27 units, the first stage holds 4",
            ),
        ),
    ]
    fills = {"F": "gpu", "B": "cpu", "W": "nic"}
    for name, title in names:
        pieces.append(text(8, top, title, anchor="start", bold=True, size=13))
        jobs = played.play(name, p, m)
        width = int(played.step(jobs)) * cell
        for g in range(p):
            y = top + 10 + g * 25
            pieces.append(remark(8, y + 16, f"GPU {g + 1}", "start"))
            pieces.append(pen.rect(left, y, width, 22, "paper", tint="line", edge=1, dashes="2 3"))
            for one in jobs:
                if one.gpu == g:
                    x, w = left + float(one.start) * cell, float(one.end - one.start) * cell
                    mark = f"{one.kind}{one.micro + 1}" if w > cell else f"{one.micro + 1}"
                    body = _box(x, y, w, 22, fills[one.kind], mark, size=MIN_SIZE)
                    # Not by colour alone: a bar below W, and above a B that is the input's only.
                    bar = {"W": 19.5, "B": 2.5}.get(one.kind, 0)
                    if bar and w == cell:
                        body += pen.path(f"M{num(x)} {num(y + bar)}h{num(w)}")
                    pieces.append(body)
        top += 10 + p * 25 + 28
    y = top - 14
    legend: list[tuple[str, Label]] = [
        ("gpu", ("前向 F", "forward F")),
        (
            "cpu",
            (
                "反向 B（ZB-H1 里顶上有横线：只算输入梯度）",
                "backward B (bar on top in ZB-H1: input gradient only)",
            ),
        ),
        ("nic", ("权重梯度 W（底下有横线）", "weight gradient W (bar below)")),
    ]
    x = 8.0
    for fill, label in legend:
        pieces.append(_box(x, y - 11, 14, 14, fill))
        pieces.append(text(x + 20, y + 1, label, size=12, anchor="start", tint="muted"))
        x += {"gpu": 100, "cpu": 390, "nic": 0}[fill]
    return figure(
        760,
        top + 2,
        "GPipe, 1F1B and ZB-H1 with four GPUs and eight micro-batches",
        "GPipe and 1F1B take 33 units and idle 9; ZB-H1 takes 27 and idles 3.",
        *pieces,
    )


def zigzag() -> str:
    """Who works on which block of a causal mask: contiguous chunks and zigzag, four GPUs."""
    ranks, chunks, cell, top = 4, 8, 22.0, 62.0
    fills = ["gpu", "cpu", "nic", "memory"]
    played = figure_files.load_program("train/code/ring_attention.py")
    pieces = []
    layouts: list[tuple[str, float, Label]] = [
        ("contiguous", 8, ("连续切块", "Contiguous")),
        ("zigzag", 216, ("之字形", "Zigzag")),
    ]
    for layout, left, name in layouts:
        owner = {
            int(chunk): rank
            for rank, rows in enumerate(getattr(played, layout)(chunks, ranks))
            for chunk in rows
        }
        work = [0.0] * ranks
        pieces.append(text(left, 20, name, anchor="start", bold=True))
        said = ("列：K、V 的块 →", "columns: chunks of K, V")
        pieces.append(text(left, 38, said, size=12, anchor="start", tint="muted"))
        said = ("行：Q 的块 ↓", "rows: chunks of Q")
        pieces.append(text(left, 54, said, size=12, anchor="start", tint="muted"))
        for q in range(chunks):
            for k in range(q + 1):
                work[owner[q]] += 1 if k < q else 0.5
                x, y, mark = left + k * cell, top + q * cell, str(owner[q])
                if k < q:
                    pieces.append(_box(x, y, cell, cell, fills[owner[q]], mark, size=12))
                    continue
                corner = f"M{num(x)} {num(y)}v{num(cell)}h{num(cell)}z"
                pieces.append(
                    f'<path d="{corner}" fill="{colour(fills[owner[q]])}" '
                    f'stroke="{colour("ink")}" stroke-width="1.2"/>'
                )
                pieces.append(text(x + 7, y + cell - 3, mark, size=12))
        y = top + chunks * cell + 20
        for rank in range(ranks):
            label: Label = f"GPU {rank}: {work[rank]:g}"
            pieces.append(
                text(left + (rank % 2) * 92, y + rank // 2 * 18, label, size=13, anchor="start")
            )
    return figure(
        404,
        top + chunks * cell + 48,
        "Blocks of a causal mask by GPU: contiguous chunks and zigzag",
        "Contiguous chunks give four GPUs 2, 6, 10 and 14 blocks; zigzag gives each 8.",
        *pieces,
    )


FIGURES = {
    "context-zigzag.svg": zigzag,
    "tensor-split.svg": tensor_split,
    "tensor-sequence.svg": sequence,
    "pipeline-schedules.svg": pipeline,
}
