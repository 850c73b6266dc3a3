"""Lines of JSON that the measuring programs print, as points, results and lines of a summary."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.measure.topo.model import MeasureError, Point, Result, Row, Spec, Text
from tools.measure.topo.record import row
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

Line = dict[str, Any]
ROOT = Path(__file__).resolve().parents[3]
SITE = both("SXM，NVSwitch 主机", "SXM, NVSwitch host")

AXES: dict[str, Text] = {
    "type": both("数据类型", "data type"),
    "kind": both("集合", "collective"),
    "fill": both("数据", "data"),
    "m": both("M", "M"),
    "intensity": both("计算强度", "intensity"),
    "attribute": both("属性", "attribute"),
    "attention": both("注意力", "attention"),
    "recompute": both("重算", "recomputation"),
    "early_stop": both("提前停止", "early stop"),
    "precision": both("精度方案", "precision scheme"),
    "dropout": both("dropout", "dropout"),
    "place": both("时刻", "place"),
    "part": both("部分", "part"),
    "tensor": both("张量", "tensor"),
    "b": both("批大小 b", "batch b"),
    "s": both("序列长 s", "sequence s"),
    "h": both("隐藏维 h", "hidden h"),
    "mode": both("方式", "mode"),
    "way": both("实现", "way"),
    "schedule": both("调度", "schedule"),
    "microbatches": both("微批数", "micro-batches"),
    "stage": both("级", "stage"),
    "shape": both("注意力种类", "kind of attention"),
    "length": both("已缓存长度", "cached length"),
    "page": both("每页 token 数", "tokens a page"),
    "columns": both("N = K", "N = K"),
    "view": both("来源", "view"),
    "step": both("步", "step"),
    "rate": both("学习率", "learning rate"),
    "factor": both("离群倍数", "outlier factor"),
    "sigma": both("行大小的离散 σ", "spread of row sizes σ"),
    "k": both("求和长度 K", "length of the sum K"),
    "size": both("M × K × N", "M x K x N"),
    "allowed": both("允许降精度归约", "reduced reduction allowed"),
    "call": both("调用", "call"),
    "deterministic": both("确定性算法", "deterministic algorithms"),
}
UNITS = {"intensity": "FLOP/B"}


@dataclass(frozen=True, slots=True)
class Run:
    """The folder of one run, and how the machine was built as far as is known."""

    folder: Path
    site: Text = field(default_factory=lambda: SITE)

    def text(self, name: str) -> str:
        """Return a captured text; raises MeasureError where it is missing."""
        path = self.folder / name
        if not path.is_file():
            raise MeasureError(
                f"{path}: there is no such file; run tools/measure/run_compute.sh {self.folder}"
            )
        return path.read_text("utf-8")

    def lines(self, name: str) -> list[Line]:
        """Return the objects of a file of JSON lines."""
        found = []
        for number, line in enumerate(self.text(name).splitlines(), 1):
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise MeasureError(
                    f"{self.folder / name}:{number}:{error.colno}: not JSON ({error.msg})"
                ) from None
        return found


def where(lines: Iterable[Line], result: str, /, **labels: object) -> list[Line]:
    """Return the lines of a result with these labels; raises MeasureError when there is none."""
    found = [
        line
        for line in lines
        if line["result"] == result and all(line.get(k) == v for k, v in labels.items())
    ]
    if not found:
        raise MeasureError(f"no line of {result!r} with {labels}; did the step end early?")
    return found


def one(lines: Iterable[Line], result: str, **labels: object) -> Line:
    """Return the first line of a result with these labels."""
    return where(lines, result, **labels)[0]


def axis(name: str) -> Any:
    """Return an axis with its title and, where it has one, its unit."""
    if name not in AXES:
        return name
    more = {"unit": UNITS[name]} if name in UNITS else {}
    return {"name": name, "title": AXES[name], **more}


def points(
    lines: Iterable[Line],
    axes: Sequence[str],
    scale: float = 1.0,
    extra: Callable[[Line], dict[str, Any]] | None = None,
) -> list[Point]:
    """Return labels, median, p5 and p95 times `scale` of each line, and what `extra` adds."""
    out = []
    for line in lines:
        point: Point = {name: label(line[name]) for name in axes}
        point["value"] = digits(line["median"] * scale)
        if line["n"] > 1:
            point |= {key: digits(line[key] * scale) for key in ("p5", "p95")}
        if extra:
            point |= extra(line)
        out.append(point)
    return out


def label(value: object) -> Any:
    """Return an axis value: whole numbers whole, others to four digits, words as they are."""
    return digits(value) if isinstance(value, int | float) and value is not True else value


def series(
    id: str,
    title: Text,
    unit: str,
    axes: Sequence[str],
    found: list[Point],
    *,
    n: int = 1,
    statistic: Text | str = "median",
    per: str | None = None,
    spec: Spec | None = None,
) -> Result:
    """Return a result of points."""
    out: Result = {
        "id": id,
        "title": title,
        "unit": unit,
        "direction": spec["direction"] if spec else None,
        "per": per,
        "statistic": statistic,
        "n": n,
        "axes": [axis(name) for name in axes],
        "points": found,
    }
    if spec:
        out["spec"] = spec["id"]
    return out


COUNT = both("一次计数", "one count")


def summary(
    title: Text,
    value: float,
    unit: str,
    result: str,
    *,
    n: int = 1,
    spec: Spec | None = None,
    per: str | None = None,
    statistic: Text | None = None,
) -> Row:
    """Return a line of the summary."""
    said = statistic or (both(f"{n} 次的中位数", f"median of {n} trials") if n > 1 else COUNT)
    direction = spec["direction"] if spec else None
    return row(title, [value], unit, said, per=per, direction=direction, spec=spec, result=result)


def promise(
    id: str, value: float, unit: str, source: str, per: str = "GPU", title: Text | None = None
) -> Spec:
    """Return what a value is compared with."""
    out: Spec = {
        "id": id,
        "value": digits(value, 5),
        "unit": unit,
        "direction": None,
        "per": per,
        "source": source,
    }
    if title:
        out["title"] = title  # type: ignore[typeddict-unknown-key]
    return out


DATASHEET = "NVIDIA H200 datasheet 3512650 (docs/data/facts/accelerators.yml, h200-sxm)"
HALF = f"{DATASHEET}; half of the printed sparse figure"
HBM = promise(
    "hbm", 4814, "GB/s", "computed from the driver's attributes: 2 x 3201 MHz x 6016 bits / 8"
)
FP32 = promise("fp32", 67, "TFLOP/s", DATASHEET)
FP64 = promise("fp64", 34, "TFLOP/s", DATASHEET)
TENSOR = {
    "fp64": promise("fp64_tensor", 67, "TFLOP/s", DATASHEET),
    "fp32": FP32,
    "tf32": promise("tf32_dense", 494.5, "TFLOP/s", HALF),
    "bf16": promise("bf16_dense", 989.5, "TFLOP/s", HALF),
    "fp16": promise("fp16_dense", 989.5, "TFLOP/s", HALF),
    "fp8": promise("fp8_dense", 1979, "TFLOP/s", HALF),
    "int8": promise("int8_dense", 1979, "TFLOP/s", HALF),
}
