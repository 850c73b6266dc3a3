"""Records of docs/train from several GPUs: collectives, data, tensor and pipeline parallelism."""

from __future__ import annotations

from typing import Final

from tools.measure.compute.chip import versions
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
from tools.measure.topo.model import Point, Row, Spec
from tools.measure.topo.record import Draft
from tools.measure.topo.specs import GPU_UNI
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

CODE: Final = "docs/train/code"
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


def _start(program: str) -> str:
    return (
        f"export NCCL_NVLS_ENABLE=0\ntorchrun --standalone --nproc-per-node=2 {CODE}/{program}.py"
    )


def collectives(run: Run) -> Draft:
    """Return the record `collectives`: the sweep that the predictions rest on, and its fits."""
    lines = run.lines("data_parallel.jsonl")
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
        "collectives",
        both(
            "两块 H200 之间的集合通信，与 α-β 拟合",
            "Collectives between two H200s, with an alpha-beta fit",
        ),
        f"{CODE}/data_parallel.py",
        _start("data_parallel"),
        both(
            "busbw 按 nccl-tests 的定义；从 PyTorch 逐次调用，NVLS 关闭，NVLink 18 "
            "条（NV18）。n = 2 时全归约的 busbw 等于 S/t，"
            "全收集与归约散发为 S/2t。每点 10 次，取最慢的一块。α-β "
            "是对全部大小的相对误差做最小二乘：一条直线同时配不好"
            "小与大——4 GiB 的实测带宽高于或低于拟合——预测因此用逐点内插。大小 ≤ 几 "
            "MiB 时时间约为常数，"
            "那是 PyTorch 与启动的开销。",
            "busbw as nccl-tests defines it; called from PyTorch, NVLS off, 18 "
            "NVLinks (NV18). With n = 2 the busbw "
            "of an all-reduce is S/t, of an all-gather or reduce-scatter S/2t. 10 "
            "trials a point, the slowest GPU's. "
            "The alpha-beta line is a least-squares fit on relative errors over "
            "all sizes; one line fits small and "
            "large messages badly, so that the predictions interpolate between "
            "points instead. Up to a few MiB the "
            "time is about constant: the overhead of PyTorch and of launching.",
        ),
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


def data(run: Run) -> Draft:
    """Return the record `data_parallel`."""
    lines = run.lines("data_parallel.jsonl")
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
        "data_parallel",
        both(
            "数据并行与 ZeRO 的一步：时间与显存，两块 H200",
            "A step with data parallelism and ZeRO: time and memory, two H200s",
        ),
        f"{CODE}/data_parallel.py",
        _start("data_parallel"),
        both(
            "13 亿参数 GPT（24 层，h = 2048，s = 2048），fp32 权重、梯度与 Adam（"
            "16 B/参数），bf16 计算；每点 10 次，取最慢的一块。"
            "hidden 与 exposed 是模型的两端：除最后一个消息外全部藏在计算后面，"
            "或全部露在外面；消息时间由同一次运行的集合测量内插。"
            "b = 1 时计算只有 58 ms，受主机逐算子启动限制，FSDP2 尤其如此（144 ms）"
            "，不能当作通信开销。"
            "FSDP2 的 zero2 在反向后只留切分的 fp32 权重，所以 states 与 zero3 "
            "相同，低于 ZeRO-2 的公式；差别在峰值。"
            "states 在反向之后、更新之前读。no_sync 多出 5.26 GB：梯度不在桶里，桶还占着。"
            "DDP 的峰值有时另有 5.26 GB：第二步重建桶时旧桶还没有归还（见记录 ddp_peak）。",
            "A GPT of 1.3 billion parameters (24 layers, h = 2048, s = 2048), fp32 "
            "weights, gradients and Adam (16 B a "
            "parameter), computing in bf16; 10 trials a point, the slowest GPU's. "
            "`hidden` and `exposed` bound the model: all "
            "but the last message behind computation, or none; message times are "
            "interpolated in the collectives of the same "
            "run. With b = 1 the computation is only 58 ms and bound by the host's "
            "launching, FSDP2's most of all (144 ms): "
            "not a cost of communication. FSDP2's zero2 keeps only sharded fp32 "
            "weights after the backward pass, so that its "
            "states are zero3's, below ZeRO-2's formula; the peaks differ. "
            "`states` is read between backward pass and update. "
            "no_sync has 5.26 GB more: gradients outside the buckets, which stay. "
            "DDP's peak sometimes holds another 5.26 GB: in the second step, which rebuilds the "
            "buckets, the old one is not given back yet (record `ddp_peak`).",
        ),
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


WAYS: Final = {
    "whole": both("整层在一块上", "whole layer on one GPU"),
    "split": both("切成两半", "split in two"),
    "split_silent": both("切成两半，去掉全归约", "split in two, without the all-reduces"),
}


def tensor(run: Run) -> Draft:
    """Return the record `tensor_parallel`."""
    lines = run.lines("tensor_parallel.jsonl")
    axes = ["h", "b", "s", "way"]
    predicted: list[Point] = []
    rows: list[Row] = []
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
                both(
                    f"{name}：全归约占的时间（切分减去静默）",
                    f"{name}: time of the all-reduces (split less silent)",
                ),
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
        "tensor_parallel",
        both(
            "张量并行的一层：列切与行切，两块 H200",
            "A layer with tensor parallelism: columns and rows, two H200s",
        ),
        f"{CODE}/tensor_parallel.py",
        _start("tensor_parallel"),
        both(
            "前向加反向，bf16，因果 SDPA，20 次、取最慢的一块。每层四次全归约（"
            "前向两次、反向两次），每次 sbh × 2 字节，都露在外面。"
            "view：measured 实测；whole_over_n_plus_model = 整层时间 / 2 ＋ "
            "内插的全归约；silent_plus_model = 去掉全归约的实测 ＋ 内插的全归约。"
            "h = 2048、b = 1 时一层只有 1.8 ms，受主机启动限制，切开反而更慢。"
            "其余形状里两种预测与实测相差不超过 9%，多数在 4% 以内。",
            "Forward and backward, bf16, causal SDPA, 20 trials, the slowest "
            "GPU's. Four all-reduces a layer (two forward, two "
            "backward) of sbh x 2 bytes, all exposed. view: measured; "
            "whole_over_n_plus_model = whole layer / 2 plus the "
            "interpolated all-reduces; silent_plus_model = the split layer without "
            "all-reduces, measured, plus the same. With "
            "h = 2048, b = 1 a layer takes 1.8 ms and is bound by the host's "
            "launching: split, it is slower. For the other shapes both predictions are "
            "within 9% of the measurement, most within 4%.",
        ),
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


def pipeline(run: Run) -> Draft:
    """Return the record `pipeline`."""
    lines = run.lines("pipeline.jsonl")
    found = where(lines, "step")
    axes = ["schedule", "microbatches"]
    idle: list[Point] = [
        {
            **{key: line[key] for key in axes},
            "value": digits(line["idle_over_busy"]),
            "formula": digits(line["formula"]),
        }
        for line in found
    ]
    peaks: list[Point] = [
        {**{key: line[key] for key in axes}, "stage": stage, "value": digits(value / 1e9)}
        for line in found
        for stage, value in enumerate(line["peak"])
    ]
    specs: list[Spec] = []
    rows: list[Row] = []
    for line in found:
        m, name = line["microbatches"], line["schedule"]
        spec = promise(
            f"bubble_{m}",
            line["formula"],
            "1",
            "(p - 1) / m, p = 2",
            per="step",
            title=both("公式", "formula"),
        )
        if spec["id"] not in [item["id"] for item in specs]:
            specs.append(spec)
        rows.append(
            summary(
                both(f"{name}，m = {m}：空闲 / 忙", f"{name}, m = {m}: idle over busy"),
                line["idle_over_busy"],
                "1",
                "idle",
                n=line["n"],
                spec=spec,
                per="step",
            )
        )
    for name in ("gpipe", "1f1b"):
        line = one(lines, "step", schedule=name, microbatches=max(x["microbatches"] for x in found))
        rows.append(
            summary(
                both(
                    f"{name}，m = {line['microbatches']}：第一级的激活峰值",
                    f"{name}, m = {line['microbatches']}: peak above rest of the first stage",
                ),
                line["peak"][0] / 1e9,
                "GB",
                "peak",
                per="GPU",
            )
        )
    alone = one(lines, "alone")
    layer = digits(found[0]["layer_formula"] * found[0]["layers"] / 1e9)
    return Draft(
        "pipeline",
        both("流水线并行：气泡与显存，两级", "Pipeline parallelism: bubble and memory, two stages"),
        f"{CODE}/pipeline.py",
        _start("pipeline"),
        both(
            "每级 12 层（h = 2048，s = 4096，微批 1，bf16，flash），PyTorch 自带的 "
            "GPipe 与 1F1B 调度；忙 = m × 单级独自跑一个微批的前向加反向"
            f"（{digits(alone['median'] * 1e3)} ms，20 次）。公式 (p−1)/m。m "
            "大时实测高出公式 2 到 4 个百分点：那是与 m 成正比的开销"
            "（收发、梯度累加、调度，也许还有功率上限下的降频），不是气泡。"
            "峰值是一步之内高于静止时的显存，"
            f"含权重梯度（约 1.2 GB）；一个微批的激活按公式是 {layer} GB：GPipe 随 "
            "m 增长，1F1B 停在在途的微批数（第一级 2 个，第二级 1 个）。",
            "12 layers a stage (h = 2048, s = 4096, micro-batch 1, bf16, flash), "
            "PyTorch's own GPipe and 1F1B; busy = m x forward "
            "and backward of one micro-batch on a stage alone "
            f"({digits(alone['median'] * 1e3)} ms, 20 trials). Formula (p-1)/m. "
            "With "
            "large m the measured value is 2 to 4 points above the formula: a cost "
            "in proportion to m (sending, adding gradients, "
            "the schedule; perhaps also a lower clock under the power cap), not a "
            "bubble. The peak is memory within a step above "
            "that at rest, gradients of the weights included (about 1.2 GB); "
            f"activations of a micro-batch are {layer} GB by the "
            "formula: GPipe grows with m, 1F1B stays at the micro-batches in "
            "flight (two in the first stage, one in the second).",
        ),
        results=[
            series(
                "time",
                both("一步的时间", "Time of a step"),
                "ms",
                axes,
                points(found, axes, 1e3),
                n=10,
            ),
            series("idle", both("空闲 / 忙", "Idle over busy"), "1", axes, idle, n=10),
            series(
                "peak",
                both("一步之内高于静止的峰值显存", "Peak memory within a step above that at rest"),
                "GB",
                [*axes, "stage"],
                peaks,
                statistic=COUNT,
                per="GPU",
            ),
        ],
        summary=rows,
        specification=specs,
        versions=versions(lines),
    )
