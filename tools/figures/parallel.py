"""Draw the figures of the notes on cutting a model or a sequence into docs/train/figures.

The timelines are played by docs/train/code/pipeline_schedule.py, not drawn by hand.
"""

from __future__ import annotations

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import Label, box, colour, drawn, figure, group, num, remark, text

FOLDER = figure_files.ROOT / "docs/train/figures"


def _arrow(x: float, y1: float, y2: float, tint: str = "line") -> str:
    """Return a line downwards with a head at its end."""
    tip = pen.head((x, y2), (x - 4.5, y2 - 9), (x + 4.5, y2 - 9), tint=tint)
    return pen.path(f"M{num(x)} {num(y1)}V{num(y2 - 6)}", tint) + tip


def _notes(y: float, *notes: tuple[str, str]) -> list[str]:
    """Return remarks below a drawing, a line each."""
    return [remark(8, y + 20 * k, said, "start") for k, said in enumerate(notes)]


@drawn(500, 606)
def tensor_split() -> list[str]:
    """Column then row split of a feed-forward block on two GPUs.

    Each GPU multiplies the whole X by its columns of A, applies GeLU, multiplies by its rows of
    B, and one all-reduce adds the partial results.
    """
    said = ("f：前向复制，反向全归约", "f: forward copies, backward all-reduces")
    pieces = [box(8, 12, 484, 40, "switch", said)]
    for k, x in enumerate((8, 256)):
        n, middle = str(k + 1), x + 118
        steps: list[tuple[str, Label, Label]] = [
            ("storage", "X", "s × h"),
            ("gpu", f"A{n}", "h × 4h/t"),
            ("cpu", "GeLU", f"Z{n}: s × 4h/t"),
            ("gpu", f"B{n}", "4h/t × h"),
            ("memory", f"Y{n}", ("部分和", "partial sum")),
        ]
        pieces.append(group(x, 72, 236, 376, f"GPU {n}"))
        for row, (fill, name, shape) in enumerate(steps):
            y = 92 + row * 70
            tint = "line" if row else "nvlink"
            pieces.append(_arrow(middle, y - (22 if row else 40), y, tint))
            pieces.append(box(middle - 62, y, 124, 48, fill, name, shape))
        pieces.append(_arrow(middle, 420, 466, "nvlink"))
    said = ("g：前向全归约，Y = Y1 + Y2；反向复制", "g: forward all-reduces, Y = Y1 + Y2")
    pieces.append(box(8, 466, 484, 40, "switch", said))
    pieces += _notes(
        530,
        ("A 按列切：每列独立，GeLU 可在本地算。", "A by columns: GeLU works on what is here."),
        ("B 按行切：只差一次求和。", "B by rows: one sum is left."),
        (
            "反向：g 只传递 dY，f 把两份 dX 全归约。",
            "Backward g passes dY on, f all-reduces the dX.",
        ),
        (
            "dA1、dB1 留在 GPU 1，dA2、dB2 留在 GPU 2。",
            "dA1, dB1 stay on GPU 1 and dA2, dB2 on GPU 2.",
        ),
    )
    return pieces


@drawn(500, 642)
def sequence() -> list[str]:
    """What two GPUs hold along a transformer layer.

    Tensor parallelism keeps all tokens on both GPUs outside attention and MLP; sequence
    parallelism keeps half of the tokens on each there.
    """
    pieces = []
    rows: list[tuple[Label, bool, float]] = [
        (
            ("张量并行：四处通信都是全归约", "Tensor parallelism: every exchange is an all-reduce"),
            False,
            20,
        ),
        (
            (
                "加序列并行：全收集进，归约散发出",
                "With sequence parallelism: all-gather, reduce-scatter",
            ),
            True,
            338,
        ),
    ]
    for title, cut, top in rows:
        pieces.append(text(8, top, title, anchor="start", bold=True))
        before, after = ("AG", "RS") if cut else ("f", "g")
        inner: list[Label] = [("注意力", "attention"), "MLP"]
        for half, name in enumerate(inner):
            y = top + 16 + half * 124
            for k in range(2):
                held: Label = ("全部 token", "all tokens")
                if cut:
                    held = (f"token {k + 1}/2", f"tokens {k + 1}/2")
                fill = "memory" if cut else "storage"
                part = (f"头或列 {k + 1}/2", f"part {k + 1}/2")
                residual = ("残差", "residual")
                for x, tint, one, what in (
                    (8, fill, "LayerNorm", held),
                    (188, "gpu", name, part),
                    (368, fill, residual, held),
                ):
                    pieces.append(box(x, y + k * 52, 124, 46, tint, one, what))
            for x, mark in ((160, before), (340, after)):
                pieces.append(text(x, y + 55, mark, bold=True, tint="nvlink"))
    pieces += _notes(
        288,
        ("f：前向不通信，反向全归约。", "f: nothing forward, all-reduce backward."),
        ("g：前向全归约，反向不通信。", "g: all-reduce forward, nothing backward."),
    )
    pieces += _notes(
        606,
        ("AG 的反向是 RS，RS 的反向是 AG。", "Backward of AG is RS, and of RS is AG."),
        (
            "一次 AG 加一次 RS 等于一次全归约的量。",
            "AG and RS together move what an all-reduce moves.",
        ),
    )
    return pieces


def pipeline() -> str:
    """GPipe, 1F1B and ZB-H1 on four GPUs with eight micro-batches, played and drawn to scale."""
    played = figure_files.load_program("train/code/pipeline_schedule.py")
    p, m, cell, left = 4, 8, 13, 64
    pieces = []
    top = 24.0
    names: list[tuple[str, Label]] = [
        (
            "gpipe",
            (
                "GPipe：先全部前向，再全部反向；33 单位，首段同时压住 8 个微批",
                "GPipe: forward, then backward; 33 units, the first stage holds 8",
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
                "ZB-H1: backward halved; 27 units, the first stage holds 4",
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
                    body = box(x, y, w, 22, fills[one.kind], mark, size=13)
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
    for fill, label in legend:
        pieces.append(box(8, y - 11, 14, 14, fill))
        pieces.append(remark(28, y + 1, label, "start"))
        y += 20
    return figure(
        510,
        top + 42,
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
                    pieces.append(box(x, y, cell, cell, fills[owner[q]], mark, size=12))
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
