"""Draw the operations, and three all-reduces round after round, into docs/ccl/figures.

Every frame is a state of docs/ccl/code/collectives.py or primitives.py, not drawn by hand.
"""

from __future__ import annotations

from typing import Any

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import drawn, figure, frame, num, text

FOLDER = figure_files.ROOT / "docs/ccl/figures"
sim = figure_files.load_program("ccl/code/collectives.py")
s = sim.schedules
primitives = figure_files.load_program("ccl/code/primitives.py")
WIDTH, LEFT, TOP, ROW = 372.0, 64.0, 34.0, 30.0
Caption = tuple[str, str]


def cell(x: float, y: float, w: float, words: str, *, is_full: bool, mark: str) -> str:
    """Return a chunk of a rank; `mark` is how it took part in the round: in, out or nothing."""
    fill = "gpu" if is_full else "paper"
    edge, dashes = {"in": (3, ""), "out": (2, "3 2")}.get(mark, (0.8, ""))
    box = pen.rect(x + 2, y + 2, w - 4, ROW - 4, fill, edge=edge, dashes=dashes)
    return box + text(x + w / 2, y + 19.5, words, size=12, bold=is_full)


def arrow(x: float, source: int, target: int) -> str:
    """Return an arc on the right of the grid from one rank's row to another's."""
    y1, y2 = (TOP + (row + 0.5) * ROW for row in (source, target))
    down = 1 if y2 > y1 else -1
    y1, y2 = y1 + 4 * down, y2 - 4 * down
    reach = x + 12 + 7 * abs(target - source)
    way = (
        f"M{num(x)} {num(y1)}C{num(reach)} {num(y1)} {num(reach)} {num(y2)} {num(x + 6)} {num(y2)}"
    )
    tip = pen.head((x, y2), (x + 8, y2 - 4), (x + 8, y2 + 4), tint="nvlink")
    return pen.path(way, "nvlink") + tip


def grid(state: Any, messages: list[Any], w: float) -> list[str]:
    """Return all chunks of all ranks, and the messages that led to them."""
    n, chunks, _ = state.shape
    into = {(m.target, c) for m in messages for c in m.chunks}
    out = {(m.source, c) for m in messages for c in m.chunks}
    names = "ABCDEFGH"
    pieces = [text(LEFT + (c + 0.5) * w, TOP - 8, names[c], size=13) for c in range(chunks)]
    for rank in range(n):
        y = TOP + rank * ROW
        label = (f"进程 {rank}", f"rank {rank}")
        pieces.append(text(LEFT - 6, y + 19.5, label, size=12, anchor="end"))
        for c in range(chunks):
            held = [k for k in range(n) if state[rank, c, k]]
            digits = "".join(map(str, held))
            words = digits if 8.2 * n + 8 <= w else str(len(held))
            mark = "in" if (rank, c) in into else "out" if (rank, c) in out else ""
            pieces.append(cell(LEFT + c * w, y, w, words, is_full=len(held) == n, mark=mark))
    pieces += [arrow(LEFT + chunks * w + 4, m.source, m.target) for m in messages]
    return pieces


def play(
    title: str, desc: str, schedule: Any, shape: tuple[int, int, float], captions: list[Caption]
) -> str:
    """Return the figure of an all-reduce: the start and a frame for each round."""
    n, chunks, w = shape
    state = sim.start("all-reduce", n, chunks)
    frames = [frame(1, captions[0], *grid(state, [], w))]
    for number, messages in enumerate(schedule, 1):
        sim.deliver(state, messages)
        frames.append(frame(number + 1, captions[number], *grid(state, messages, w)))
    assert sim.is_right("all-reduce", state) and len(captions) == len(frames)
    foot = TOP + n * ROW
    notes = (
        ("绿底：已含全部进程的贡献", "green, bold: the contributions of all ranks"),
        ("粗框：本轮收到；虚框：本轮发出", "thick: received in this round; dashed: sent"),
    )
    lines = [
        text(LEFT, foot + 20 + 18 * k, note, size=12, anchor="start", tint="muted")
        for k, note in enumerate(notes)
    ]
    return figure(WIDTH, foot + 48, title, desc, *frames, *lines)


def ring() -> str:
    """Ring all-reduce of four ranks: six rounds."""
    captions: list[Caption] = [
        (
            "开始：每个进程有四块，各只含自己的贡献。格里的数字是已加进来的进程。",
            "Start: every rank has four chunks with its own contribution only. Digits name the"
            " ranks that are summed in.",
        )
    ]
    captions += [
        (
            f"第 {k} 轮，归约散发：各发一块给下一个进程，收到的加到自己的上面，"
            f"一块里已有 {k + 1} 份贡献。",
            f"Round {k}, reduce-scatter: each sends one chunk to the next rank, which adds it:"
            f" {k + 1} contributions in it.",
        )
        for k in (1, 2, 3)
    ]
    captions += [
        (
            f"第 {k} 轮，全收集：各把刚得到的完整块传给下一个进程，每个进程有 {k - 2} 块完整。",
            f"Round {k}, all-gather: each passes on the finished chunk it got last; every rank"
            f" has {k - 2} of them.",
        )
        for k in (4, 5, 6)
    ]
    return play(
        "Ring all-reduce of four ranks",
        "Six rounds. In each every rank sends one chunk, a quarter of the data, to the next rank."
        " After three rounds each rank holds one finished chunk, after six all four.",
        s.all_reduce(s.ring_gather(4), s.ring_left(4)),
        (4, 4, 58),
        captions,
    )


def halving() -> str:
    """Recursive halving and doubling of eight ranks: six rounds."""
    captions: list[Caption] = [
        (
            "开始：八个进程，八块。格里的数字是这一块已含几份贡献。",
            "Start: eight ranks, eight chunks. The digit says how many contributions are in it.",
        )
    ]
    for k, (away, part) in enumerate(((4, "1/2"), (2, "1/4"), (1, "1/8")), 1):
        captions.append(
            (
                f"第 {k} 轮，减半：与相距 {away} 的进程互换 {part} 的数据并相加。",
                f"Round {k}, halving: {part} of the data exchanged with the rank {away} away,"
                " and added.",
            )
        )
    for k, (away, part) in enumerate(((1, "1/8"), (2, "1/4"), (4, "1/2")), 4):
        captions.append(
            (
                f"第 {k} 轮，倍增：与相距 {away} 的进程互换已完成的 {part}。",
                f"Round {k}, doubling: the finished {part} exchanged with the rank {away} away.",
            )
        )
    return play(
        "All-reduce by recursive halving and doubling, eight ranks",
        "Six rounds instead of fourteen of a ring, with the same bytes: 1/2, 1/4, 1/8 of the data"
        " on the way to the sums, 1/8, 1/4, 1/2 on the way back. The farthest partners exchange"
        " the largest messages.",
        s.all_reduce(s.doubling_gather(8)),
        (8, 8, 29),
        captions,
    )


def tree() -> str:
    """Double binary tree of eight ranks, half of the data each: six rounds."""
    captions: list[Caption] = [
        (
            "开始：数据分两半。A 走以 0 为根的树，B 走镜像的、以 7 为根的树。",
            "Start: the data in two halves. A takes the tree with root 0, B the mirrored one with"
            " root 7.",
        )
    ]
    for k, who in enumerate(
        ("叶子|leaves", "第二层|the second level", "根的孩子|the roots' child"), 1
    ):
        zh, en = who.split("|")
        captions.append(
            (
                f"第 {k} 轮，向上：{zh}把和发给父亲，父亲加上。",
                f"Round {k}, up: {en} sends its sum to the parent, which adds it.".replace(
                    "leaves sends its sum", "leaves send their sums"
                ),
            )
        )
    for k, who in enumerate(
        ("根|the roots", "第二层|the next level", "第三层|the last parents"), 4
    ):
        zh, en = who.split("|")
        verb = "send" if en.endswith("s") else "sends"
        captions.append(
            (
                f"第 {k} 轮，向下：{zh}把结果发给孩子。",
                f"Round {k}, down: {en} {verb} the result to the children.",
            )
        )
    return play(
        "All-reduce by a double binary tree, eight ranks",
        "Six rounds: three up, three down. Inner ranks of one tree are leaves of the other, so"
        " nobody sends more than twice the data; without pipelining most ranks wait in each round.",
        s.double_tree_reduce(8),
        (8, 2, 100),
        captions,
    )


MEANINGS: dict[str, Caption] = {
    "broadcast": ("广播：根的数据，人人一份。", "every rank gets the root's data."),
    "reduce": ("归约：和只在根上。", "the sum, on the root only."),
    "all-reduce": ("全归约：和，人人一份。", "the sum, on every rank."),
    "scatter": ("散发：根的各块，一人一块。", "the root's blocks, one for each rank."),
    "gather": ("收集：各人一块，集中到根。", "a block of each rank, on the root."),
    "all-gather": (
        "全收集：各人一块，人人得到全部。",
        "a block of each rank, all of them everywhere.",
    ),
    "reduce-scatter": (
        "归约散发：和的各块，一人一块。",
        "the blocks of the sum, one for each rank.",
    ),
    "all-to-all": ("全交换：每人给每人一块。", "a block from every rank to every rank."),
}


@drawn(WIDTH, 44 + 3 * ROW + 12)
def before_after() -> list[str]:
    """Eight collective operations of three ranks, before and after.

    One frame for each operation: broadcast, reduce, all-reduce, scatter, gather, all-gather,
    reduce-scatter, all-to-all. Rank 0 is the root.
    """
    frames = []
    for number, (name, (size, operation, only_root)) in enumerate(primitives.OPERATIONS.items(), 1):
        send = primitives.before(size, only_root=only_root)
        zh, en = MEANINGS[name]
        pieces = [text(LEFT + 150, 18, name, size=14, bold=True)]
        for x, label in ((LEFT + 55, ("之前", "before")), (LEFT + 245, ("之后", "after"))):
            pieces.append(text(x, 38, label, size=12, tint="muted"))
        for rank, (was, becomes) in enumerate(zip(send, operation(send), strict=True)):
            y = 44 + rank * ROW
            label = (f"进程 {rank}", f"rank {rank}")
            pieces.append(text(LEFT - 6, y + 19.5, label, size=12, anchor="end"))
            pieces.append(cell(LEFT, y, 110, " ".join(was) or "-", is_full=False, mark=""))
            after = " ".join(becomes) or "-"
            pieces.append(cell(LEFT + 190, y, 110, after, is_full=bool(becomes), mark=""))
        pieces.append(text(LEFT + 150, 44 + 1.5 * ROW + 6, "→", size=22))
        frames.append(frame(number, (zh, f"{name}: {en}"), *pieces))
    return frames


FIGURES = {
    "primitives.svg": before_after,
    "ring.svg": ring,
    "halving-doubling.svg": halving,
    "double-tree.svg": tree,
}
