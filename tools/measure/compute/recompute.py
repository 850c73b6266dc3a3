"""The record of docs/train on the time of recomputation, from a run of its own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tools.measure.compute.chip import versions
from tools.measure.compute.lines import Line, Run, one, points, series, summary, where
from tools.measure.compute.train import CODE
from tools.measure.topo.model import Point, Text
from tools.measure.topo.record import Draft
from tools.measure.topo.wording import both

NAME: Final = "recompute_time.jsonl"
AXES: Final = ("attention", "b", "recompute", "early_stop")
MEDIAN: Final = both("10 次的中位数", "median of 10 trials")
SHOWN: Final = (
    ("flash", "none", True, both("flash，b = 8，不重算", "flash, b = 8, no recomputation")),
    (
        "flash",
        "full",
        True,
        both(
            "flash，b = 8，整层重算（默认，提前停止）",
            "flash, b = 8, whole layers recomputed (default, early stop)",
        ),
    ),
    (
        "flash",
        "full",
        False,
        both(
            "flash，b = 8，整层重算，不提前停止",
            "flash, b = 8, whole layers recomputed, no early stop",
        ),
    ),
    (
        "flash",
        "selective",
        True,
        both("flash，b = 8，只重算注意力核心", "flash, b = 8, attention core recomputed"),
    ),
    (
        "written_out",
        "none",
        True,
        both("逐步写出，b = 4，不重算", "written out, b = 4, no recomputation"),
    ),
    (
        "written_out",
        "selective",
        True,
        both("逐步写出，b = 4，只重算注意力核心", "written out, b = 4, attention core recomputed"),
    ),
    (
        "written_out",
        "full",
        True,
        both(
            "逐步写出，b = 4，整层重算（提前停止）",
            "written out, b = 4, whole layers recomputed (early stop)",
        ),
    ),
    (
        "written_out",
        "full",
        False,
        both(
            "逐步写出，b = 4，整层重算，不提前停止",
            "written out, b = 4, whole layers recomputed, no early stop",
        ),
    ),
)
BORROWED: Final = both(
    "这次运行没有留下 nvidia-smi 与主机的输出：驱动、内核版本与 CPU 取自同一天、"
    "同型号机器上的 step_memory；程序的哈希是与原始输出一同提交的文件的，不是运行时取的。",
    " The run kept no output of nvidia-smi and of the host: driver, kernel and CPU are those of "
    "step_memory, taken the same day on a machine of the same kind; the programs' hashes are of "
    "the files committed with the raw output, not taken when it ran.",
)


@dataclass(frozen=True, slots=True)
class Later(Run):
    """A run of one step; what its folder lacks is read in that of the whole run `before`."""

    before: Path = Path()

    def text(self, name: str) -> str:
        """Return a captured text of this run or, where it has none, of the one before."""
        folder = self.folder if (self.folder / name).is_file() else self.before
        return Run(folder).text(name)


def _labelled(found: list[Line]) -> list[Line]:
    return [{**line, "early_stop": "on" if line["stops"] else "off"} for line in found]


def _head(lines: list[Line]) -> list[Point]:
    """Forward, and forward with backward, of the model without layers, each batch once."""
    out: list[Point] = []
    for line in where(lines, "forward", layers=0):
        both_ways = one(lines, "both", layers=0, b=line["b"])
        for part, timed in (("forward", line), ("forward_backward", both_ways)):
            out += points([{**timed, "part": part}], ("b", "part"), 1e3)
    return out


def recompute(run: Run) -> Draft:
    """Return the record `recompute_time`; raises MeasureError where a line is missing."""
    lines = run.lines(NAME)
    whole = [line for line in lines if line.get("layers") != 0]
    results = []
    for id, result, title in (
        ("forward_backward", "both", both("前向加反向", "Forward and backward")),
        (
            "forward",
            "forward",
            both("只前向（不记录梯度）", "Forward alone, without gradients"),
        ),
    ):
        found = points(_labelled(where(whole, result)), AXES, 1e3)
        results.append(series(id, title, "ms", AXES, found, n=10, statistic=MEDIAN))
    title = both("零层的模型", "The model without layers")
    head = series("head", title, "ms", ("b", "part"), _head(lines), n=10, statistic=MEDIAN)
    rows = []
    for attention, way, stops, said in SHOWN:
        line = one(whole, "both", attention=attention, recompute=way, stops=stops)
        rows.append(summary(said, line["median"] * 1e3, "ms", "forward_backward", n=line["n"]))
    return Draft(
        "recompute_time",
        both(
            "重计算的时间：PyTorch 提前停止开与关",
            "Time of recomputation, with PyTorch's early stop on and off",
        ),
        f"{CODE}/recompute_time.py",
        f"python3 {CODE}/recompute_time.py",
        _notes(run),
        results=[*results, head],
        summary=rows,
        specification=[],
        versions=versions(lines),
    )


def _notes(run: Run) -> Text:
    borrowed = not (run.folder / "nvidia_smi.txt").is_file()
    more = BORROWED if borrowed else both("", "")
    return both(
        "24 层，h = 2048，a = 16，s = 2048，V = 50304，bf16，无 dropout，逐算子执行；"
        "前向加反向，不含优化器。"
        "b = 8 是 SDPA 的 flash 后端，b = 4 是逐步写出的注意力。"
        "提前停止是 torch.utils.checkpoint 非重入实现的默认行为，由 set_checkpoint_early_stop "
        "开关。"
        "head 是零层的模型：嵌入、末尾 LayerNorm、输出层与损失，它们从不重算。一台机器一次运行。"
        + more["zh"],
        "24 layers, h = 2048, a = 16, s = 2048, V = 50304, bf16, no dropout, eager; forward and "
        "backward without the optimiser. b = 8 is SDPA's flash backend, b = 4 attention written "
        "out. Early stop is the default of torch.utils.checkpoint's non-reentrant version, "
        "switched by set_checkpoint_early_stop. `head` is the model without layers: embedding, "
        "last LayerNorm, output layer and loss, which are never recomputed. One run on one "
        "machine." + more["en"],
    )
