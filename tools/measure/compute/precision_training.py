"""Records of docs/train on number formats: the same small GPT trained in many ways."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable
from typing import Final

from tools.measure.compute.chip import versions
from tools.measure.compute.lines import Line, Run, label, one, series, summary, where
from tools.measure.compute.precision import NAMES, ONCE, named, single
from tools.measure.compute.train import CODE
from tools.measure.topo.model import Label, Point, Result, Row, Text
from tools.measure.topo.record import Draft
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

DRAWN: Final = (
    "fp32",
    "fp16_unscaled",
    "bf16_autocast",
    "bf16_pure",
    "bf16_kahan",
    "bf16_stochastic",
)
"""Six ways for a chart: more would share colours."""
LOSS: Final = both("每个 token 的损失（奈特）", "Loss a token (nats)")
SEEDS: Final = both("各种子的均值；范围是最小与最大", "mean of the seeds; range is least and most")


def _seeds(lines: Iterable[Line]) -> list[int]:
    """The seeds for which every way ran to the end; 99 is the warm-up."""
    runs: dict[int, set[str]] = {}
    for line in lines:
        if line["result"] == "run" and line["seed"] < 99:
            runs.setdefault(line["seed"], set()).add(line["way"])
    most = max(len(ways) for ways in runs.values())
    return [seed for seed, ways in runs.items() if len(ways) == most]


def _mean(values: list[float], decimals: int = 4) -> Point:
    least, most = round(min(values), decimals), round(max(values), decimals)
    # Adding nothing turns a rounded -0.0 into 0.0.
    return {
        "value": round(statistics.fmean(values), decimals) + 0.0,
        "p5": least + 0.0,
        "p95": most + 0.0,
    }


def _grouped(
    lines: list[Line], axes: tuple[str, ...], value: Callable[[Line], float], decimals: int = 4
) -> list[Point]:
    """One point for each combination of labels, over the lines (seeds) that share it."""
    found: dict[tuple[Label, ...], list[float]] = {}
    for line in lines:
        found.setdefault(tuple(label(line[name]) for name in axes), []).append(value(line))
    return [
        {**dict(zip(axes, key, strict=True)), **_mean(values, decimals)}
        for key, values in found.items()
    ]


def _result(id: str, title: Text, unit: str, axes: tuple[str, ...], found: list[Point]) -> Result:
    return series(id, title, unit, axes, found, n=2, statistic=SEEDS)


def training(run: Run) -> Draft:
    """Return the record of the same small GPT trained in ten ways."""
    lines = run.lines("precision_training.jsonl")
    setting = one(lines, "setting")
    seeds = _seeds(lines)
    kept = [line for line in lines if line.get("seed") in seeds]
    runs = where(kept, "run")
    reference = {line["seed"]: line["final"] for line in where(kept, "run", way="fp32")}
    losses = [line for line in where(kept, "loss") if line["step"] % 50 == 0]
    fp32 = {(x["seed"], x["step"]): x["loss"] for x in losses if x["way"] == "fp32"}
    drawn = [line for line in losses if line["way"] in DRAWN]
    others = [line for line in losses if line["way"] not in DRAWN]
    looks = where(kept, "look")
    stepped = [line for line in looks if "unchanged" in line and line["step"] % 75 == 0]
    half = [line for line in stepped if line["way"] in NAMES and line["way"].startswith("bf16_")]
    half = [line for line in half if line["way"] != "bf16_autocast"]
    zeros = [line for line in looks if line["way"].startswith("fp16") and line["step"] % 75 == 0]
    final = _grouped(runs, ("way",), lambda line: line["final"])
    gap = _grouped(runs, ("way",), lambda line: line["final"] - reference[line["seed"]])
    bytes_each = {line["way"]: line["state"] / line["parameters"] for line in runs}
    rows: list[Row] = []
    for way, each in bytes_each.items():
        title = named(way)
        values = [line["final"] for line in runs if line["way"] == way]
        row = summary(
            both(f"末 100 步的损失：{title['zh']}", f"Loss of the last 100 steps: {title['en']}"),
            statistics.fmean(values),
            "value",
            "final",
            n=len(seeds),
            statistic=SEEDS,
        )
        rows.append({**row, "value": round(statistics.fmean(values), 4)})
        state = both(
            f"每参数字节（权重、梯度、优化器）：{title['zh']}",
            f"Bytes a parameter (weights, gradients, optimiser): {title['en']}",
        )
        rows.append(summary(state, each, "B", "state"))
    numbers = f"{setting['parameters']} / {setting['batch']} / {setting['steps']}"
    return Draft(
        "precision_training",
        both("同一个小 GPT 的十种数值方案", "The same small GPT in ten number schemes"),
        f"{CODE}/precision_training.py",
        f"python3 {CODE}/precision_training.py",
        both(
            "4 层，h = 512，a = 8，V = 64，s = 256；参数 / 批 / 步数 = " + numbers + "。"
            "数据是二阶马尔可夫链，可达到的最低损失（floor）是 "
            f"{setting['floor']:.4f}；AdamW，β2 = 0.95，权重衰减 0.1，梯度裁剪 1，"
            "学习率 6e-4，余弦到 6e-5。"
            f"{len(seeds)} 个种子，同一种子的十种方案从同样的权重开始、看同样的文本。"
            "动态损失缩放的规则同 GradScaler，只是每 200 步翻倍。"
            "kept 是实际变化在想要的更新方向上的分量，unchanged 是想更新而没有变的权重的份额。"
            "alone 只用种子 0：一条序列单独算与 32 条一起算。"
            "step_time 受主机发射核函数限制，不是各格式的速度。",
            "4 layers, h = 512, a = 8, V = 64, s = 256; parameters / batch / steps = "
            + numbers
            + ". The text is a second-order Markov chain whose lowest possible loss (floor) is "
            f"{setting['floor']:.4f}. AdamW, beta2 = 0.95, weight decay 0.1, gradients clipped "
            "at 1, rate 6e-4 with a cosine to 6e-5. "
            f"{len(seeds)} seeds; with one seed all ten ways start from the same weights and see "
            "the same text. The dynamic loss scale follows GradScaler's rule but doubles after 200 "
            "steps. `kept` is the part of the wanted update that the change contains, `unchanged` "
            "the share of weights that should have changed and did not. `alone` is of seed 0: a "
            "sequence computed alone and with 31 others. `step_time` is bound by the host's "
            "launches and is no speed of the formats.",
        ),
        results=[
            _result(
                "loss",
                both("25 步的平均损失", "Mean loss of 25 steps"),
                "value",
                ("way", "step"),
                _grouped(drawn, ("way", "step"), lambda line: line["loss"]),
            ),
            _result(
                "loss_more",
                both("25 步的平均损失，其余方案", "Mean loss of 25 steps, the other ways"),
                "value",
                ("way", "step"),
                _grouped(others, ("way", "step"), lambda line: line["loss"]),
            ),
            _result(
                "gap_curve",
                both("25 步的平均损失减去 FP32 的", "Mean loss of 25 steps less FP32's"),
                "value",
                ("way", "step"),
                _grouped(
                    [line for line in drawn if line["way"] != "fp32"],
                    ("way", "step"),
                    lambda line: line["loss"] - fp32[line["seed"], line["step"]],
                ),
            ),
            _result(
                "final",
                both("末 100 步的损失", "Loss of the last 100 steps"),
                "value",
                ("way",),
                final,
            ),
            _result(
                "gap",
                both("末 100 步的损失减去 FP32 的", "Loss of the last 100 steps less FP32's"),
                "value",
                ("way",),
                gap,
            ),
            _result(
                "unchanged",
                both("想更新而没有变的权重", "Weights that should have changed and did not"),
                "1",
                ("way", "step"),
                _grouped(half, ("way", "step"), lambda line: line["unchanged"]),
            ),
            _result(
                "kept",
                both("更新里留下的份额", "Share of the update that was kept"),
                "1",
                ("way", "step"),
                _grouped(half, ("way", "step"), lambda line: line["kept"]),
            ),
            _result(
                "zeros",
                both("恰为零的梯度元素", "Elements of the gradient that are exactly zero"),
                "1",
                ("way", "step"),
                _grouped(zeros, ("way", "step"), lambda line: line["zeros"], 6),
            ),
            _result(
                "scale",
                both("损失缩放", "Loss scale"),
                "value",
                ("way", "step"),
                _grouped(
                    [line for line in zeros if line["way"] == "fp16_scaled"],
                    ("way", "step"),
                    lambda line: line["scale"],
                    0,
                ),
            ),
            _result(
                "gains",
                both("训练后仍是 1 的 LayerNorm 增益", "LayerNorm gains still 1 after training"),
                "1",
                ("way",),
                _grouped(runs, ("way",), lambda line: line["gains_still_one"]),
            ),
            series(
                "state",
                both("权重、梯度与优化器", "Weights, gradients and optimiser"),
                "B",
                ("way",),
                [{"way": way, "value": digits(each)} for way, each in bytes_each.items()],
                per="parameter",
                statistic=ONCE,
            ),
            _result(
                "step_time",
                both("每步时间", "Time of a step"),
                "ms",
                ("way",),
                _grouped(runs, ("way",), lambda line: line["median"] * 1e3),
            ),
            series(
                "alone",
                both("单独算与成批算相等的 logits", "Logits equal alone and in the batch"),
                "1",
                ("way",),
                [
                    {
                        **point,
                        "largest": digits(line["largest"]),
                        "other_choice": digits(line["other_choice"]),
                    }
                    for line in where(lines, "alone")
                    for point in single([line], ("way",), "equal")
                ],
                statistic=ONCE,
            ),
        ],
        summary=rows,
        versions=versions(lines),
    )


def late(run: Run) -> Draft:
    """Return the record of pure bf16 where updates are small."""
    lines = run.lines("precision_late.jsonl")
    found = where(lines, "late")
    start = statistics.fmean(line["loss"] for line in where(lines, "start"))
    betas = [line for line in where(lines, "run") if ", beta2 " in line["way"]]
    rows: list[Row] = []
    for rate in (1e-4, 1e-5):
        for way in ("bf16_autocast", "bf16_pure", "bf16_kahan", "bf16_stochastic"):
            values = [line["loss"] for line in found if (line["way"], line["rate"]) == (way, rate)]
            title = both(
                f"学习率 {rate:g}：{NAMES[way]['zh']}", f"Rate {rate:g}: {NAMES[way]['en']}"
            )
            row = summary(title, values[0], "value", "loss", n=len(values), statistic=SEEDS)
            rows.append({**row, "value": round(statistics.fmean(values), 4)})
    axes = ("way", "rate")
    return Draft(
        "precision_late",
        both("更新很小的时候：纯 BF16 与补救", "Where updates are small: pure BF16 and its cures"),
        f"{CODE}/precision_late.py",
        f"python3 {CODE}/precision_late.py",
        both(
            f"模型与数据同 precision_training。先用 FP32 权重训练 500 步（损失 {start:.4f}），"
            "再从那里按各方案、各固定学习率走 300 步，取末 100 步的损失；不做权重衰减，两个种子。"
            "beta2 是另一组：从头 1000 步、余弦，不做权重衰减，只换 β2。",
            "Model and text are those of precision_training. First 500 steps with FP32 weights "
            f"(loss {start:.4f}), then from there 300 steps in each way at each constant rate; the "
            "loss is of the last 100. No weight decay, two seeds. `beta2` is another set: 1000 "
            "steps from the start with the cosine, no weight decay, only beta2 changed.",
        ),
        results=[
            _result("loss", LOSS, "value", axes, _grouped(found, axes, lambda x: x["loss"])),
            _result(
                "kept",
                both("更新里留下的份额", "Share of the update that was kept"),
                "1",
                axes,
                _grouped(found, axes, lambda line: line["kept"]),
            ),
            _result(
                "unchanged",
                both("想更新而没有变的权重", "Weights that should have changed and did not"),
                "1",
                axes,
                _grouped(found, axes, lambda line: line["unchanged"]),
            ),
            _result(
                "beta2",
                both("末 100 步的损失", "Loss of the last 100 steps"),
                "value",
                ("way",),
                _grouped(betas, ("way",), lambda line: line["final"]),
            ),
        ],
        summary=rows,
        versions=versions(lines),
    )
