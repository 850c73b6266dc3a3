"""The record of docs/train on pipeline parallelism: idle time, memory, and where it ran out."""

from __future__ import annotations

import re
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
from tools.measure.topo.model import Point, Result, Row, Spec, Text
from tools.measure.topo.record import Draft
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

NAME: Final = "pipeline.jsonl"
ORDER: Final = ("gpipe", "1f1b")
"""In which order the program runs the schedules, for each number of micro-batches."""
FULL: Final = re.compile(
    r"^\[rank(?P<stage>\d+)\]: torch\.OutOfMemoryError: .* total capacity of (?P<all>[\d.]+) GiB"
    r".* Of the allocated memory (?P<held>[\d.]+) GiB is allocated by PyTorch",
    re.MULTILINE,
)


def _ran_out(run: Run, found: list[Line]) -> list[Point]:
    """Return what each stage held when memory ran out; nothing where it did not.

    The program prints a line after each schedule, so that the one it ended in is the next.
    """
    path = run.folder / f"{NAME}.err"
    if not path.is_file():
        return []
    last = found[-1]
    schedule, m = ORDER[1], last["microbatches"]
    if last["schedule"] == ORDER[1]:
        schedule, m = ORDER[0], 2 * m
    return [
        {
            "schedule": schedule,
            "microbatches": m,
            "stage": int(match["stage"]),
            "value": digits(float(match["held"]) * 2**30 / 1e9),
            "capacity": digits(float(match["all"]) * 2**30 / 1e9),
        }
        for match in sorted(
            FULL.finditer(path.read_text("utf-8")), key=lambda match: int(match["stage"])
        )
    ]


def pipeline(run: Run) -> Draft:
    """Return the record `pipeline`."""
    lines = run.lines(NAME)
    several = group(lines)
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
            f"(p - 1) / m, p = {several.n}",
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
    for name in ORDER:
        most = max(line["microbatches"] for line in found if line["schedule"] == name)
        line = one(lines, "step", schedule=name, microbatches=most)
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
    full = _ran_out(run, found)
    more: list[Result] = []
    if full:
        more.append(
            series(
                "ran_out",
                both(
                    "用尽显存时 PyTorch 已占的显存（capacity 是驱动给出的总量）",
                    "Memory that PyTorch held when there was no more (capacity: all there is)",
                ),
                "GB",
                [*axes, "stage"],
                full,
                statistic=COUNT,
                per="GPU",
            )
        )
    return Draft(
        several.named("pipeline"),
        several.titled(
            "流水线并行：气泡与显存，{n}级", "Pipeline parallelism: bubble and memory, {n} stages"
        ),
        f"{CODE}/pipeline.py",
        several.start("pipeline"),
        _notes(several, lines, full),
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
            *more,
        ],
        summary=rows,
        specification=specs,
        versions=versions(lines),
    )


def _notes(several: Group, lines: list[Line], full: list[Point]) -> Text:
    found = where(lines, "step")
    median = digits(one(lines, "alone")["median"] * 1e3)
    alone = both(f"{median} ms，20 次", f"{median} ms, 20 trials")
    layer = found[0]["layer_formula"] * found[0]["layers"] / 1e9
    most = max(line["microbatches"] for line in found)
    over = [
        100 * (line["idle_over_busy"] - line["formula"])
        for line in found
        if line["microbatches"] == most
    ]
    if several.n == 2:
        above = both("2 到 4 个百分点", "2 to 4 points")
        flight = both("第一级 2 个，第二级 1 个", "two in the first stage, one in the second")
    else:
        # The program divides by the upper of the two middle trials, not by their mean.
        used = digits(found[0]["busy"] / found[0]["microbatches"] * 1e3)
        alone = both(
            f"20 次，中位数 {median} ms；比值用中间两次里较大的 {used} ms",
            f"20 trials, median {median} ms; the ratio uses the upper of the two middle ones, "
            f"{used} ms",
        )
        above = both(
            f"{min(over):.1f} 到 {max(over):.1f} 个百分点（m = {most}）",
            f"{min(over):.1f} to {max(over):.1f} points (m = {most})",
        )
        flight = both(
            f"第一级 {several.n} 个，往后每级少一个",
            f"{several.said['en']} in the first stage, one fewer in each next",
        )
    zh = (
        "每级 12 层（h = 2048，s = 4096，微批 1，bf16，flash），PyTorch 自带的 "
        "GPipe 与 1F1B 调度；忙 = m × 单级独自跑一个微批的前向加反向"
        f"（{alone['zh']}）。公式 (p−1)/m。m "
        f"大时实测高出公式 {above['zh']}：那是与 m 成正比的开销"
        "（收发、梯度累加、调度，也许还有功率上限下的降频），不是气泡。"
        "峰值是一步之内高于静止时的显存，"
        f"含权重梯度（约 1.2 GB）；一个微批的激活按公式是 {digits(layer)} GB：GPipe 随 "
        f"m 增长，1F1B 停在在途的微批数（{flight['zh']}）。"
    )
    en = (
        "12 layers a stage (h = 2048, s = 4096, micro-batch 1, bf16, flash), "
        "PyTorch's own GPipe and 1F1B; busy = m x forward "
        "and backward of one micro-batch on a stage alone "
        f"({alone['en']}). Formula (p-1)/m. "
        "With "
        f"large m the measured value is {above['en']} above the formula: a cost "
        "in proportion to m (sending, adding gradients, "
        "the schedule; perhaps also a lower clock under the power cap), not a "
        "bubble. The peak is memory within a step above "
        "that at rest, gradients of the weights included (about 1.2 GB); "
        f"activations of a micro-batch are {digits(layer)} GB by the "
        "formula: GPipe grows with m, 1F1B stays at the micro-batches in "
        f"flight ({flight['en']})."
    )
    if full:
        name, m, room = (full[0][key] for key in ("schedule", "microbatches", "capacity"))
        need = digits(m * layer)
        zh += (
            f"{name} 到 m = {m} 用尽显存（激活按公式要 {need} GB，一块有 {room} GB），"
            "程序以此结束：其后的 1F1B 与梯度核对没有跑。"
        )
        en += (
            f" {name} ran out of memory at m = {m} (activations of {need} GB by the formula, "
            f"{room} GB on a GPU), which ended the program: 1F1B at that m and the comparison of "
            "gradients did not run."
        )
    return both(zh, en)
