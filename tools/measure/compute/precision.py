"""Records of docs/train on number formats: products in few bits, and a step in seven ways."""

from __future__ import annotations

from typing import Final

from tools.measure.compute.chip import versions
from tools.measure.compute.lines import Line, Run, label, one, points, series, summary, where
from tools.measure.compute.train import CODE
from tools.measure.topo.model import Point, Row, Text
from tools.measure.topo.record import Draft
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

NAMES: Final = {
    "fp32": both("FP32", "FP32"),
    "tf32": both("TF32", "TF32"),
    "fp16_scaled": both("FP16 autocast，动态损失缩放", "FP16 autocast, dynamic loss scale"),
    "fp16_unscaled": both("FP16 autocast，不缩放", "FP16 autocast, no loss scale"),
    "fp16_autocast": both("FP16 autocast，GradScaler", "FP16 autocast, GradScaler"),
    "bf16_autocast": both("BF16 autocast", "BF16 autocast"),
    "bf16_autocast_tf32": both("BF16 autocast，余下用 TF32", "BF16 autocast, the rest in TF32"),
    "bf16_master": both("BF16 权重，FP32 主权重", "BF16 weights, FP32 masters"),
    "bf16_fp32_moments": both("BF16 权重，FP32 矩", "BF16 weights, FP32 moments"),
    "bf16_pure": both("纯 BF16", "pure BF16"),
    "bf16_kahan": both("纯 BF16，Kahan 求和", "pure BF16, Kahan summation"),
    "bf16_stochastic": both("纯 BF16，随机舍入", "pure BF16, stochastic rounding"),
}
WEIGHED: Final = ("bf16", "e4m3_tensor", "e5m2_tensor", "e4m3_1x128", "mxfp8", "nvfp4")
ONCE: Final = both("一次运行", "one run")


def named(way: str) -> Text:
    """The name of a way; what follows a comma is kept as it is."""
    plain, comma, rest = way.partition(", ")
    said = NAMES[plain]
    return both(said["zh"] + (f"，{rest}" if comma else ""), said["en"] + comma + rest)


def single(lines: list[Line], axes: tuple[str, ...], key: str = "median") -> list[Point]:
    """Points of single readings."""
    return [
        {**{name: label(line[name]) for name in axes}, "value": digits(line[key])} for line in lines
    ]


def products(run: Run) -> Draft:
    """Return the record of matrix products in few bits."""
    lines = run.lines("precision_products.jsonl")
    summed, outliers = where(lines, "accumulation"), where(lines, "outliers")
    weighed = [line for line in outliers if line["way"] in WEIGHED]
    others = [line for line in outliers if line["way"] not in WEIGHED]
    positive = [line for line in summed if line["fill"] == "positive"]
    batch = [
        {**point, "largest": digits(line["largest"]), "error": digits(line["error"])}
        for line in where(lines, "batch")
        for point in single([line], ("type", "m"))
    ]
    rows: list[Row] = []
    for way, said in (
        ("fp8_fast", both("FP8，快速累加", "FP8, fast accumulation")),
        ("fp8_split", both("FP8，分段累加", "FP8, split accumulation")),
        ("bf16_output", both("BF16", "BF16")),
    ):
        for k in (4096, 65536):
            title = both(f"正数之和的误差，{said['zh']}，K = {k}", "")
            title["en"] = f"Error of sums of positive numbers, {said['en']}, K = {k}"
            line = one(positive, "accumulation", way=way, k=k)
            rows.append(summary(title, line["median"], "1", "accumulation"))
    size = "8192 x 8192 x 8192"
    for part, said in (
        ("bf16_product", both("BF16 乘积", "BF16 product")),
        ("fp8_product", both("FP8 乘积", "FP8 product")),
        ("to_fp8_input", both("把一个操作数变成 FP8", "bringing an operand to FP8")),
    ):
        line = one(lines, "cost", part=part, size=size)
        title = both(f"{size}：{said['zh']}", f"{size}: {said['en']}")
        rows.append(summary(title, line["median"] * 1e3, "ms", "cost", n=line["n"]))
    spread = both("相对误差", "Relative error")
    return Draft(
        "precision_products",
        both("少位数的矩阵乘积：误差与代价", "Matrix products in few bits: errors and costs"),
        f"{CODE}/precision_products.py",
        f"python3 {CODE}/precision_products.py",
        both(
            "误差是 ‖得到 − 应得‖ / ‖应得‖，应得的用 FP64 算。"
            "outliers 与 spread 只含舍入：舍入后的操作数用 FP64 相乘；outliers_on_gpu 是张量核心的 "
            "_scaled_mm。"
            "outliers：x 每 1024 列有一列乘以 factor，对应的权重是零，所以只看到对其他列的损害。"
            "spread：x 的各行乘以 e 的 sigma·z 次方，z 是标准正态；取各行相对误差的平均。"
            "accumulation 的操作数是 E4M3，视作精确，输出 FP32（bf16_output 输出 BF16）。"
            "batch：1024 行一起乘与只取前 m 行乘，不相等元素的份额。"
            "cost 逐算子执行。一台机器一次运行。",
            "Errors are ||got - want|| / ||want|| with `want` in FP64. `outliers` and `spread` are "
            "rounding alone: rounded operands multiplied in FP64; `outliers_on_gpu` is _scaled_mm "
            "on tensor cores. outliers: one column in 1024 of x times `factor`, with zero weights, "
            "so that only harm to the others is seen. spread: rows of x times e^(sigma z), z "
            "normal; mean of the rows' relative errors. The operands of `accumulation` are E4M3 "
            "and count as exact, output FP32 (bf16_output: BF16). batch: share of elements that "
            "differ when the first m rows are multiplied alone and among 1024. cost is in eager "
            "mode. One run on one machine.",
        ),
        results=[
            *(
                series(id, spread, "1", axes, single(found, axes), statistic=ONCE)
                for id, axes, found in (
                    ("outliers", ("way", "factor"), weighed),
                    ("outliers_more", ("way", "factor"), others),
                    ("outliers_on_gpu", ("way", "factor"), where(lines, "outliers_on_gpu")),
                    ("spread", ("way", "sigma"), where(lines, "spread")),
                    ("accumulation", ("way", "fill", "k"), summed),
                )
            ),
            series(
                "batch",
                both("不相等的元素", "Elements that differ"),
                "1",
                ("type", "m"),
                batch,
                statistic=ONCE,
            ),
            series(
                "reduced",
                spread,
                "1",
                ("type", "size", "fill", "allowed"),
                single(
                    [
                        {**line, "allowed": "yes" if line["allowed"] else "no"}
                        for line in where(lines, "reduced")
                    ],
                    ("type", "size", "fill", "allowed"),
                ),
                statistic=ONCE,
            ),
            series(
                "repeats",
                both("20 次调用里不同的结果", "Different results in 20 calls"),
                "value",
                ("call", "deterministic"),
                [
                    {
                        "call": line["call"],
                        "deterministic": "on" if line["deterministic"] else "off",
                        "value": line["different"],
                    }
                    for line in where(lines, "repeats")
                ],
                statistic=ONCE,
            ),
            series(
                "identity",
                both("乘以单位阵的误差", "Error of a product with the identity"),
                "1",
                ("type",),
                single(where(lines, "identity"), ("type",)),
                statistic=ONCE,
            ),
            series(
                "cost",
                both("时间", "Time"),
                "ms",
                ("part", "size"),
                points(where(lines, "cost"), ("part", "size"), 1e3),
                n=10,
            ),
        ],
        summary=rows,
        versions=versions(lines),
    )


def steps(run: Run) -> Draft:
    """Return the record of a step of 1.3 billion parameters in seven ways."""
    lines = run.lines("precision_steps.jsonl")
    found = where(lines, "step")
    rows: list[Row] = []
    parts: list[Point] = []
    for line in found:
        title = named(line["way"])
        rows.append(
            summary(
                both(f"每步时间：{title['zh']}", f"Time of a step: {title['en']}"),
                line["median"] * 1e3,
                "ms",
                "step_time",
                n=line["n"],
                per="GPU",
            )
        )
        rows.append(
            summary(
                both(f"峰值显存：{title['zh']}", f"Peak memory: {title['en']}"),
                line["peak"] / 1e9,
                "GB",
                "memory",
                per="GPU",
            )
        )
        parts += [
            {"way": line["way"], "part": part, "value": digits(line[part] / 1e9)}
            for part in ("between_steps", "forward_adds", "states", "peak")
        ]
    return Draft(
        "precision_steps",
        both(
            "13 亿参数 GPT 的一步：七种数值方案",
            "A step of a GPT of 1.3 billion parameters in seven number schemes",
        ),
        f"{CODE}/precision_steps.py",
        f"python3 {CODE}/precision_steps.py",
        both(
            "24 层，h = 2048，a = 16，s = 2048，V = 50304，b = 4，注意力都用 SDPA 的 efficient "
            "后端，逐算子执行；"
            "步时是 6 步的中位数，含优化器；显存是 allocated 的一次读数，states 在反向之后读。"
            "bf16_pure 是 BF16 权重直接用 torch.optim.AdamW（fused）。一台机器一次运行。",
            "24 layers, h = 2048, a = 16, s = 2048, V = 50304, b = 4, attention by SDPA's "
            "efficient backend throughout, eager. Times are medians of 6 steps with the "
            "optimiser; memory is one reading of `allocated`, `states` after the backward pass. "
            "bf16_pure is torch.optim.AdamW (fused) on BF16 weights. One run on one machine.",
        ),
        results=[
            series(
                "step_time",
                both("每步时间", "Time of a step"),
                "ms",
                ("way",),
                points(found, ("way",), 1e3),
                n=6,
                per="GPU",
            ),
            series(
                "memory",
                both("显存", "Memory"),
                "GB",
                ("way", "part"),
                parts,
                statistic=ONCE,
                per="GPU",
            ),
            series(
                "rate",
                both("模型 FLOP/s", "Model FLOP/s"),
                "TFLOP/s",
                ("way",),
                [{"way": x["way"], "value": digits(x["flop"] / x["median"] / 1e12)} for x in found],
                n=6,
                per="GPU",
            ),
        ],
        summary=rows,
        versions=versions(lines),
    )
