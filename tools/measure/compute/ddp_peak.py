"""The record of docs/train on the peak of DDP's memory and on what its kernels cost."""

from __future__ import annotations

from typing import Final

from tools.measure.compute.chip import versions
from tools.measure.compute.lines import COUNT, Line, Run, one, points, series, summary, where
from tools.measure.compute.train import CODE
from tools.measure.topo.model import Point, Text
from tools.measure.topo.record import Draft
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

NAME: Final = "ddp_peak.jsonl"
TIMED: Final = {
    "no_sync_freed": both("不通信，梯度归还", "no communication, gradients freed"),
    "no_sync_zeroed": both("不通信，梯度清零留用", "no communication, gradients zeroed and kept"),
    "ddp_25": both("DDP，桶 25 MiB", "DDP, buckets of 25 MiB"),
    "ddp_10000": both("DDP，一个大桶", "DDP, one large bucket"),
}
MEAN: Final = both("3 步的平均", "mean of 3 steps")


def _phases(lines: list[Line]) -> list[Point]:
    """Peak of each part of each step in GB; steps count from 1."""
    return [
        {
            **{key: line[key] for key in ("mode", "b", "part")},
            "step": line["step"] + 1,
            "value": digits(line["peak"] / 1e9),
            "before": digits(line["before"] / 1e9),
        }
        for line in where(lines, "phase")
    ]


def _kernels(lines: list[Line]) -> list[Point]:
    return [
        {"mode": line["mode"], "kind": line["kind"], "value": digits(line["seconds"] * 1e3)}
        for line in where(lines, "kernels")
    ]


def ddp_peak(run: Run) -> Draft:
    """Return the record `ddp_peak`; raises MeasureError where a line is missing."""
    lines = run.lines(NAME)
    rows = []
    for mode, said in TIMED.items():
        line = one(lines, "passes", mode=mode)
        rows.append(summary(said, line["median"] * 1e3, "ms", "passes", n=line["n"]))
    for step, said in (
        (1, both("第二步的峰值，DDP，桶 25 MiB", "Peak of the second step, DDP, 25 MiB")),
        (4, both("第五步的峰值，DDP，桶 25 MiB", "Peak of the fifth step, DDP, 25 MiB")),
    ):
        line = one(lines, "phase", mode="ddp_25", b=4, part="whole", step=step)
        rows.append(summary(said, line["peak"] / 1e9, "GB", "peak", per="GPU"))
    passes = where(lines, "passes")
    return Draft(
        "ddp_peak",
        both(
            "DDP 的显存峰值从哪里来，算子各占多少时间，两块 H200",
            "Where DDP's peak of memory comes from and what its kernels cost, two H200s",
        ),
        f"{CODE}/ddp_peak.py",
        f"export NCCL_NVLS_ENABLE=0\ntorchrun --standalone --nproc-per-node=2 {CODE}/ddp_peak.py",
        _notes(),
        results=[
            series(
                "peak",
                both("各步各部分的峰值显存", "Peak of memory in each part of each step"),
                "GB",
                ["mode", "b", "part", "step"],
                _phases(lines),
                statistic=COUNT,
                per="GPU",
            ),
            series(
                "passes",
                both(
                    "前向加反向（含通信），b = 4", "Forward and backward with communication, b = 4"
                ),
                "ms",
                ["mode"],
                points(passes, ["mode"], 1e3),
                n=passes[0]["n"],
            ),
            series(
                "kernels",
                both("算子时间之和，b = 4", "Sum of the kernels' times, b = 4"),
                "ms",
                ["mode", "kind"],
                _kernels(lines),
                n=3,
                statistic=MEAN,
                per="GPU",
            ),
        ],
        summary=rows,
        specification=[],
        versions=versions(lines),
    )


def _notes() -> Text:
    return both(
        "13 亿参数 GPT（24 层，h = 2048，s = 2048），fp32 权重、梯度与 Adam，bf16 计算。"
        "peak：前五步，before 是这一部分开始时的占用；whole 是不在各部分之间等待的一整步。"
        "DDP 在第二步的前向开始时按就绪次序重建桶；旧桶（一块 5.26 GB，构造时申请）有时到这一步结束"
        "才归还，一次运行内各组不同，所以第二步的峰值有时高 5.26 GB，此后不再。"
        "passes 依次测各方式，取较慢的一块；kernels 用 torch.profiler 数 0 号卡，"
        "同时跑的算子各计全长，通信算子含等待对方的时间。attention 是 flash 注意力，"
        "other 是逐元素、归一化、损失与清零。",
        "A GPT of 1.3 billion parameters (24 layers, h = 2048, s = 2048), fp32 weights, gradients "
        "and Adam, computing in bf16. `peak`: the first five steps; `before` is what is allocated "
        "when the part begins; `whole` is a step without waiting between its parts. DDP rebuilds "
        "its buckets in order of readiness when the second step's forward pass begins; the old "
        "bucket (one block of 5.26 GB, asked for at construction) is sometimes given back only at "
        "the end of that step, differently from case to case within one run, so that the second "
        "step's peak is sometimes 5.26 GB higher, and never again. `passes` measures the modes one "
        "after the other, the slower GPU's time; `kernels` is torch.profiler's count on GPU 0: "
        "kernels that overlap count each in full, communication includes waiting for the other "
        "GPU. `attention` is flash attention; `other` is elementwise work, normalisation, loss and "
        "zeroing.",
    )
