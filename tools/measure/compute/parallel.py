"""Records of docs/train from several GPUs: collectives, data and tensor parallelism."""

from __future__ import annotations

import math
from typing import Final

from tools.measure.compute.chip import versions
from tools.measure.compute.groups import CODE, Group, group
from tools.measure.compute.lines import (
    COUNT,
    Line,
    Run,
    one,
    points,
    promise,
    series,
    summary,
    where,
)
from tools.measure.topo.model import Point, Row, Spec, Text
from tools.measure.topo.record import Draft
from tools.measure.topo.specs import GPU_UNI
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

MODES: Final = {
    "no_sync": both("不通信（no_sync）", "no communication (no_sync)"),
    "by_hand": both("反向之后逐张量全归约", "all-reduce of each tensor after the backward pass"),
    "ddp_1": both("DDP，桶 1 MiB", "DDP, buckets of 1 MiB"),
    "ddp_25": both("DDP，桶 25 MiB", "DDP, buckets of 25 MiB"),
    "ddp_100": both("DDP，桶 100 MiB", "DDP, buckets of 100 MiB"),
    "ddp_10000": both("DDP，一个大桶", "DDP, one large bucket"),
    "zero1": both("DDP ＋ ZeroRedundancyOptimizer", "DDP with ZeroRedundancyOptimizer"),
    "zero2": both("FSDP2，前向后不重新切分", "FSDP2, not resharded after forward"),
    "zero3": both("FSDP2，前向后重新切分", "FSDP2, resharded after forward"),
}


def collectives(run: Run) -> Draft:
    """Return the record `collectives`: the sweep that the predictions rest on, and its fits."""
    lines = run.lines("data_parallel.jsonl")
    several = group(lines)
    found = where(lines, "collective")
    fits = where(lines, "fit")
    rows: list[Row] = []
    for line in fits:
        name = f"{line['kind']} {line['type']}"
        rows.append(
            summary(
                both(f"{name}，拟合的 α", f"{name}, fitted alpha"),
                line["alpha"] * 1e6,
                "us",
                "alpha",
                statistic=COUNT,
            )
        )
        best = one(lines, "collective", kind=line["kind"], type=line["type"], bytes=2**32)
        rows.append(
            summary(
                both(f"{name}，4 GiB，busbw", f"{name}, 4 GiB, busbw"),
                best["median"],
                "GB/s",
                "busbw",
                n=best["n"],
                spec=GPU_UNI,
                per="GPU",
            )
        )
    alphas: list[Point] = [
        {
            "kind": line["kind"],
            "type": line["type"],
            "value": digits(line["alpha"] * 1e6),
            "beta_s_per_byte": float(f"{line['beta']:.4g}"),
        }
        for line in fits
    ]
    axes = ["kind", "type", "bytes"]
    slow: list[Point] = [
        {
            "kind": x["kind"],
            "type": x["type"],
            "bytes": x["bytes"],
            "value": digits(x["seconds"] * 1e6),
        }
        for x in found
    ]
    return Draft(
        several.named("collectives"),
        several.titled(
            "{n}块 H200 之间的集合通信，与 α-β 拟合",
            "Collectives between {n} H200s, with an alpha-beta fit",
        ),
        f"{CODE}/data_parallel.py",
        several.start("data_parallel"),
        _about_collectives(several, lines),
        results=[
            series(
                "busbw",
                both("busbw", "busbw"),
                "GB/s",
                axes,
                points(found, axes),
                n=10,
                per="GPU",
                spec=GPU_UNI,
            ),
            series("time", both("每次时间", "Time per call"), "us", axes, slow, n=10),
            series(
                "alpha",
                both("拟合的 α（β 在数据里）", "Fitted alpha (beta in the data)"),
                "us",
                ["kind", "type"],
                alphas,
                statistic=both("最小二乘", "least squares"),
            ),
        ],
        summary=rows,
        specification=[GPU_UNI],
        versions=versions(lines),
    )


def _about_collectives(several: Group, lines: list[Line]) -> Text:
    n, ring, half = several.n, several.bus("all_reduce"), several.bus("all_gather")
    off = "高于或低于拟合"
    if n > 2:
        above = []
        for line in where(lines, "fit"):
            kind = {"kind": line["kind"], "type": line["type"]}
            fitted = float(several.share(line["kind"])) / line["beta"] / 1e9
            above.append(one(lines, "collective", **kind, bytes=2**32)["median"] / fitted - 1)
        off = f"比拟合高 {min(above):.0%} 到 {max(above):.0%}"
    return both(
        "busbw 按 nccl-tests 的定义；从 PyTorch 逐次调用，NVLS 关闭，NVLink 18 "
        f"条（NV18）。n = {n} 时全归约的 busbw 等于 {ring}，"
        f"全收集与归约散发为 {half}。每点 10 次，取最慢的一块。α-β "
        "是对全部大小的相对误差做最小二乘：一条直线同时配不好"
        f"小与大——4 GiB 的实测带宽{off}——预测因此用逐点内插。大小 ≤ 几 "
        "MiB 时时间约为常数，"
        "那是 PyTorch 与启动的开销。",
        "busbw as nccl-tests defines it; called from PyTorch, NVLS off, 18 "
        f"NVLinks (NV18). With n = {n} the busbw "
        f"of an all-reduce is {ring}, of an all-gather or reduce-scatter {half}. 10 "
        "trials a point, the slowest GPU's. "
        "The alpha-beta line is a least-squares fit on relative errors over "
        "all sizes; one line fits small and "
        "large messages badly, so that the predictions interpolate between "
        "points instead. Up to a few MiB the "
        "time is about constant: the overhead of PyTorch and of launching.",
    )


def data(run: Run) -> Draft:
    """Return the record `data_parallel`."""
    lines = run.lines("data_parallel.jsonl")
    several = group(lines)
    passes, whole = where(lines, "passes"), where(lines, "step")

    def bounds(line: Line) -> dict[str, float | int]:
        predicted = one(lines, "predicted", mode=line["mode"], b=line["b"])
        return {
            "hidden": digits(predicted["hidden"] * 1e3),
            "exposed": digits(predicted["exposed"] * 1e3),
            "communication": digits(line["communication"] * 1e3),
            "messages": sum(line["messages"].values()),
            "gigabytes": digits(sum(line["bytes"].values()) / 1e9),
        }

    memory: list[Point] = []
    for line in where(lines, "memory"):
        for part in ("states", "at_rest", "peak"):
            point: Point = {
                "mode": line["mode"],
                "b": line["b"],
                "part": part,
                "value": digits(line[part] / 1e9),
            }
            if part == "states":
                point["formula"] = digits(line["formula"] / 1e9)
            memory.append(point)
    rows: list[Row] = []
    specs: list[Spec] = []
    for mode, words in MODES.items():
        line = one(lines, "passes", mode=mode, b=4)
        rows.append(
            summary(
                both(
                    f"前向加反向，b = 4：{words['zh']}",
                    f"Forward and backward, b = 4: {words['en']}",
                ),
                line["median"] * 1e3,
                "ms",
                "passes",
                n=line["n"],
            )
        )
    for mode in ("ddp_25", "zero1", "zero2", "zero3"):
        line = one(lines, "memory", mode=mode, b=4)
        spec = promise(
            f"formula_{mode}",
            line["formula"] / 1e9,
            "GB",
            f"{CODE}/memory_model.py: state_bytes",
            title=both("公式", "formula"),
        )
        specs.append(spec)
        words = MODES[mode]
        rows.append(
            summary(
                both(
                    f"权重、梯度与优化器：{words['zh']}",
                    f"Weights, gradients, optimiser: {words['en']}",
                ),
                line["states"] / 1e9,
                "GB",
                "memory",
                spec=spec,
                per="GPU",
            )
        )
    return Draft(
        several.named("data_parallel"),
        several.titled(
            "数据并行与 ZeRO 的一步：时间与显存，{n}块 H200",
            "A step with data parallelism and ZeRO: time and memory, {n} H200s",
        ),
        f"{CODE}/data_parallel.py",
        several.start("data_parallel"),
        _about_data(lines),
        results=[
            series(
                "passes",
                both("前向加反向（含通信）", "Forward and backward with communication"),
                "ms",
                ["mode", "b"],
                points(passes, ["mode", "b"], 1e3, bounds),
                n=10,
            ),
            series(
                "step",
                both("一步，含更新", "A step, update included"),
                "ms",
                ["mode", "b"],
                points(whole, ["mode", "b"], 1e3),
                n=10,
            ),
            series(
                "memory",
                both("显存", "Memory"),
                "GB",
                ["mode", "b", "part"],
                memory,
                statistic=COUNT,
                per="GPU",
            ),
            series(
                "error",
                both(
                    "梯度对单进程全批的最大相对误差",
                    "Largest relative error of a gradient against one process with all data",
                ),
                "1",
                ["mode"],
                points(where(lines, "error"), ["mode"]),
                statistic=COUNT,
            ),
        ],
        summary=rows,
        specification=specs,
        versions=versions(lines),
    )


def _about_data(lines: list[Line]) -> Text:
    alone, sharded = (
        one(lines, "passes", mode=mode, b=1)["median"] * 1e3 for mode in ("no_sync", "zero3")
    )
    kept, given_back = (
        one(lines, "memory", mode=mode, b=4)["states"] / 1e9 for mode in ("no_sync", "by_hand")
    )
    more = kept - given_back
    return both(
        "13 亿参数 GPT（24 层，h = 2048，s = 2048），fp32 权重、梯度与 Adam（"
        "16 B/参数），bf16 计算；每点 10 次，取最慢的一块。"
        "hidden 与 exposed 是模型的两端：除最后一个消息外全部藏在计算后面，"
        "或全部露在外面；消息时间由同一次运行的集合测量内插。"
        f"b = 1 时计算只有 {alone:.0f} ms，受主机逐算子启动限制，FSDP2 尤其如此（{sharded:.0f} ms）"
        "，不能当作通信开销。"
        "FSDP2 的 zero2 在反向后只留切分的 fp32 权重，所以 states 与 zero3 "
        "相同，低于 ZeRO-2 的公式；差别在峰值。"
        f"states 在反向之后、更新之前读。no_sync 多出 {more:.2f} GB：梯度不在桶里，桶还占着。"
        f"DDP 的峰值有时另有 {more:.2f} GB：第二步重建桶时旧桶还没有归还（见记录 ddp_peak）。",
        "A GPT of 1.3 billion parameters (24 layers, h = 2048, s = 2048), fp32 "
        "weights, gradients and Adam (16 B a "
        "parameter), computing in bf16; 10 trials a point, the slowest GPU's. "
        "`hidden` and `exposed` bound the model: all "
        "but the last message behind computation, or none; message times are "
        "interpolated in the collectives of the same "
        f"run. With b = 1 the computation is only {alone:.0f} ms and bound by the host's "
        f"launching, FSDP2's most of all ({sharded:.0f} ms): "
        "not a cost of communication. FSDP2's zero2 keeps only sharded fp32 "
        "weights after the backward pass, so that its "
        "states are zero3's, below ZeRO-2's formula; the peaks differ. "
        "`states` is read between backward pass and update. "
        f"no_sync has {more:.2f} GB more: gradients outside the buckets, which stay. "
        f"DDP's peak sometimes holds another {more:.2f} GB: in the second step, which rebuilds the "
        "buckets, the old one is not given back yet (record `ddp_peak`).",
    )


WAYS: Final = ("whole", "split", "split_silent")


def tensor(run: Run) -> Draft:
    """Return the record `tensor_parallel`."""
    lines = run.lines("tensor_parallel.jsonl")
    several = group(lines)
    axes = ["h", "b", "s", "way"]
    predicted: list[Point] = []
    rows: list[Row] = []
    off: dict[tuple[int, int], list[float]] = {}
    implied = []
    # On four GPUs the difference is shorter than the link needs: no time of the all-reduces.
    less = (
        both("全归约占的时间（切分减去静默）", "time of the all-reduces (split less silent)")
        if several.n == 2
        else both("切分减去静默", "split less silent")
    )
    for line in where(lines, "predicted"):
        at = {key: line[key] for key in ("h", "b", "s")}
        time = {way: one(lines, "layer", way=way, **at)["median"] for way in WAYS}
        ideal = time["whole"] / line["ranks"] + line["interpolated"]
        alone = time["split_silent"] + line["interpolated"]
        for view, value in (
            ("measured", time["split"]),
            ("whole_over_n_plus_model", ideal),
            ("silent_plus_model", alone),
        ):
            predicted.append(
                {**at, "view": view, "value": digits(value * 1e3), "message": line["message"]}
            )
        away = [alone / time["split"] - 1, ideal / time["split"] - 1]
        sent = line["all_reduces"] * line["message"] * float(several.share("all_reduce"))
        implied.append(sent / (time["split"] - time["split_silent"]) / 1e9)
        off.setdefault((at["h"], at["b"]), []).extend(away)
        name = f"h = {at['h']}, b = {at['b']}, s = {at['s']}"
        rows.append(
            summary(
                both(f"{name}：对一块的加速", f"{name}: speed-up over one GPU"),
                time["whole"] / time["split"],
                "x",
                "layer",
                n=20,
            )
        )
        rows.append(
            summary(
                both(f"{name}：{less['zh']}", f"{name}: {less['en']}"),
                (time["split"] - time["split_silent"]) * 1e3,
                "ms",
                "layer",
                n=20,
            )
        )
        rows.append(
            summary(
                both(f"{name}：模型预测的四次全归约", f"{name}: four all-reduces by the model"),
                line["interpolated"] * 1e3,
                "ms",
                "predicted",
                statistic=both("内插", "interpolated"),
            )
        )
    return Draft(
        several.named("tensor_parallel"),
        several.titled(
            "张量并行的一层：列切与行切，{n}块 H200",
            "A layer with tensor parallelism: columns and rows, {n} H200s",
        ),
        f"{CODE}/tensor_parallel.py",
        several.start("tensor_parallel"),
        _about_tensor(several.n, off, max(implied)),
        results=[
            series(
                "layer",
                both("前向加反向的时间", "Time of forward and backward"),
                "ms",
                axes,
                points(where(lines, "layer"), axes, 1e3),
                n=20,
            ),
            series(
                "predicted",
                both("实测与两种预测", "Measured and two predictions"),
                "ms",
                ["h", "b", "s", "view"],
                predicted,
                statistic=both("中位数之和", "sums of medians"),
            ),
            series(
                "error",
                both("对整层的相对误差（bf16）", "Relative error against the whole layer (bf16)"),
                "1",
                ["part"],
                points(where(lines, "error"), ["part"]),
                statistic=COUNT,
            ),
        ],
        summary=rows,
        versions=versions(lines),
    )


LAUNCHED: Final = {2: [(2048, 1)], 4: [(2048, 1), (4096, 1)]}
"""Shapes (h, b) that the host's launching bounds once they are split, by the number of GPUs."""


def _about_tensor(n: int, off: dict[tuple[int, int], list[float]], implied: float) -> Text:
    """Say what was measured.

    Arguments:
        n: The number of GPUs.
        off: How far predictions are from the measurement, relative, by h and b.
        implied: The largest bandwidth, GB/s, that "split less silent" would need.
    """
    bound = LAUNCHED[n]
    free = [abs(x) for shape, every in off.items() if shape not in bound for x in every]
    worst = math.ceil(max(free) * 100)
    if n == 2:
        tail = both(
            "h = 2048、b = 1 时一层只有 1.8 ms，受主机启动限制，切开反而更慢。"
            f"其余形状里两种预测与实测相差不超过 {worst}%，多数在 4% 以内。",
            "With h = 2048, b = 1 a layer takes 1.8 ms and is bound by the host's "
            "launching: split, it is slower. For the other shapes both predictions are "
            f"within {worst}% of the measurement, most within 4%.",
        )
    else:
        low, high = (-100 * x for x in off[4096, 1])
        tail = both(
            "h = 2048、b = 1 受主机启动限制（推断），切开反而更慢；"
            "h = 4096、b = 1 切开后也碰到同一个下限，"
            f"两种预测低 {low:.0f}% 与 {high:.0f}%。"
            f"其余三种形状里两种预测与实测相差不超过 {worst}%。"
            f"切分减静默不能当作通信时间：按中位数最多合单向 {implied:.0f} GB/s，"
            f"而链路只有 {GPU_UNI['value']}。",
            "With h = 2048, b = 1 a layer is bound by the host's launching (an inference): split, "
            "it is slower. "
            "With h = 4096, b = 1 the split layer meets the same floor, and the predictions are "
            f"{low:.0f}% and {high:.0f}% too low. For the other three shapes both are within "
            f"{worst}% of the measurement. Split less silent is no time of communication: by the "
            f"medians it would mean up to {implied:.0f} GB/s one way, where the link has "
            f"{GPU_UNI['value']}.",
        )
    return both(
        "前向加反向，bf16，因果 SDPA，20 次、取最慢的一块。每层四次全归约（"
        "前向两次、反向两次），每次 sbh × 2 字节，都露在外面。"
        f"view：measured 实测；whole_over_n_plus_model = 整层时间 / {n} ＋ "
        "内插的全归约；silent_plus_model = 去掉全归约的实测 ＋ 内插的全归约。"
        f"{tail['zh']}",
        "Forward and backward, bf16, causal SDPA, 20 trials, the slowest "
        "GPU's. Four all-reduces a layer (two forward, two "
        "backward) of sbh x 2 bytes, all exposed. view: measured; "
        f"whole_over_n_plus_model = whole layer / {n} plus the "
        "interpolated all-reduces; silent_plus_model = the split layer without "
        f"all-reduces, measured, plus the same. {tail['en']}",
    )
