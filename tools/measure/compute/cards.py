"""What differs between the GPUs that were measured: file names, promises, remarks."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any, Final

import yaml

from tools.measure.compute.lines import FP32, FP64, HBM, ROOT, TENSOR, promise
from tools.measure.topo.model import MeasureError, Spec, Text
from tools.measure.topo.wording import both

DATA: Final = "docs/data/facts/accelerators.yml"
SAME: Final = both("", "")


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU: its short name, what it is compared with, and what to say of its results.

    `suffix` ends the names of its records, `title` their titles; the texts `device`, `bandwidth`,
    `roofline` and `gemm` are the sentences of a record's notes that hold for this card only.
    """

    name: str
    suffix: str
    title: Text
    hbm: Spec
    fp32: Spec
    fp64: Spec
    tensor: dict[str, Spec]
    device: Text
    bandwidth: Text
    roofline: Text
    gemm: Text

    def titled(self, zh: str, en: str) -> Text:
        """Return a record's title, with the card's name where it is not the first card."""
        return both(f"{zh}{self.title['zh']}", f"{en}{self.title['en']}")


@functools.cache
def _table() -> Any:
    return yaml.safe_load((ROOT / DATA).read_text("utf-8"))


def cell(row: str, column: str, id: str, unit: str) -> Spec:
    """Return a cell of the accelerators' data as a promise; raises MeasureError without one."""
    found = _table()["rows"].get(row, {}).get("cells", {}).get(column)
    if found is None:
        raise MeasureError(f"{DATA}: no cell {column!r} in row {row!r}")
    return promise(id, found["value"], unit, f"{DATA}: {row}, {column}")


H200: Final = Card(
    name="H200",
    suffix="",
    title=SAME,
    hbm=HBM,
    fp32=FP32,
    fp64=FP64,
    tensor=TENSOR,
    device=both(
        "L2 为 60 MiB，不是 H100 的 50 MiB。", "The L2 cache has 60 MiB, not the 50 MiB of an H100."
    ),
    bandwidth=both(
        "写得多的模式离规格更远；写在 L2 内也到不了 4.8 TB/s。66 MiB 一点反常："
        "它恰是网格线程数的 16 倍，每个线程每轮读同样的地址；原因未查明。",
        "The more a pattern writes, the farther it "
        "is from the specification; writes stay under 4.8 TB/s even inside L2. The point at "
        "66 MiB is odd: it is exactly 16 rounds of the grid, so that each thread meets the "
        "same addresses every round; why that matters was not found out.",
    ),
    roofline=both(
        "低强度处受限于拷贝带宽（约 3.95 TB/s），不是 4.81 TB/s 的规格。",
        "At low intensity the limit is the bandwidth of a copy (about "
        "3.95 TB/s), not the specified 4.81.",
    ),
    gemm=both(
        "规格按 1830 MHz 计；卡空载可到 1980 MHz，大矩阵时功率到 700 W，"
        "频率被功率上限压到 1.4–1.5 GHz（原因位 0x4 = 软件功率上限），"
        "所以短测与持续、随机与全零不同。"
        "fp8 用快速累加，fp8_accurate 用精确累加。int8 的单位是 10^12 次运算/秒。"
        "全零时功率只有 390 W，频率仍停在 1740 MHz 且报功率上限，原因不明。",
        "The specification "
        "counts 1830 MHz; the card may run at 1980, but large products draw "
        "700 W and the power "
        "cap brings the clock down to 1.4 to 1.5 GHz (reason 0x4, software power cap), so that "
        "short and sustained runs differ, and random data and zeros. fp8 uses "
        "fast accumulation, "
        "fp8_accurate exact. For int8 the unit is 10^12 operations a second. With zeros the "
        "power is only 390 W, yet the clock stays at 1740 MHz and the cap is "
        "still given as the "
        "reason; why was not found out.",
    ),
)


def h100() -> Card:
    """Return the card of the second run, compared with the cells of `h100-sxm`."""

    def rate(column: str, id: str) -> Spec:
        return cell("h100-sxm", column, id, "TFLOP/s")

    columns = {
        "fp64": "fp64_tc",
        "fp32": "fp32",
        "tf32": "tf32",
        "bf16": "fp16",
        "fp16": "fp16",
        "fp8": "fp8",
        "int8": "int8",
    }
    tensor = {kind: rate(column, TENSOR[kind]["id"]) for kind, column in columns.items()}
    return Card(
        name="H100",
        suffix="_h100",
        title=both("（H100）", " (H100)"),
        hbm=cell("h100-sxm", "mem_bw", "hbm", "GB/s"),
        fp32=tensor["fp32"],
        fp64=rate("fp64", "fp64"),
        tensor=tensor,
        device=both(
            "L2 与白皮书相同，为 50 MiB。", "The L2 cache has 50 MiB, as the white paper says."
        ),
        bandwidth=both(
            "与 H200 不同，这里只写比只读略快；L2 内的写高于显存带宽。"
            "66 MiB 一点与 H200 同样反常；原因未查明。",
            "Unlike on H200, writes alone are a little faster here than reads alone; writes inside "
            "L2 exceed the bandwidth of memory. The point at 66 MiB is as odd as on H200; why was "
            "not found out.",
        ),
        roofline=both(
            "低强度处受限于拷贝带宽（约 2.8 TB/s），不是 3.35 TB/s 的规格。",
            "At low intensity the limit is the bandwidth of a copy (about "
            "2.8 TB/s), not the specified 3.35.",
        ),
        gemm=both(
            "规格按 1830 MHz 计；大矩阵时功率到 700 W，频率被功率上限压低"
            "（原因位 0x4 = 软件功率上限），所以短测与持续、随机与全零不同。"
            "fp8 用快速累加，fp8_accurate 用精确累加。int8 的单位是 10^12 次运算/秒。"
            "全零时功率约 455 W，频率仍低于 1830 MHz 且报功率上限，原因不明。",
            "The specification counts 1830 MHz; large products draw 700 W and the power cap brings "
            "the clock down (reason 0x4, software power cap), so that short and sustained runs "
            "differ, and random data and zeros. fp8 uses fast accumulation, fp8_accurate exact. "
            "For int8 the unit is 10^12 operations a second. With zeros the power is about 455 W, "
            "yet the clock stays below 1830 MHz and the cap is still given as the reason; why was "
            "not found out.",
        ),
    )


def another(card: Card, day: str) -> Card:
    """Return a second card of a kind, measured on another day on another machine.

    What its records say of themselves holds for any card; compare them with the first one's.
    """
    plain = both(
        "另一台机器上的另一块同型号卡，同一程序；与第一块的记录对照。",
        "Another card of this model in another machine, the same program; compare with the record"
        " of the first.",
    )
    return replace(
        card,
        suffix=f"_{card.name.lower()}_b",
        title=both(f"（另一块 {card.name}，{day}）", f" (another {card.name}, {day})"),
        bandwidth=plain,
        roofline=plain,
        gemm=plain,
    )
