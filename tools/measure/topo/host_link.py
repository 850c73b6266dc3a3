"""Copies between host memory and GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tools.measure.topo import specs
from tools.measure.topo.model import Direction, Result, Row, Series, Spec
from tools.measure.topo.parse import PcieLink
from tools.measure.topo.record import Draft, build_and_run, medians, pick, result, row
from tools.measure.topo.wording import SHARED_HOST, both, lower, over, trials

PROGRAM: Final = "docs/link/topo/code/host_link.cu"
WAYS: Final[dict[str, tuple[str, str, Direction]]] = {
    "h2d": ("主机到 GPU", "Host to GPU", "uni"),
    "d2h": ("GPU 到主机", "GPU to host", "uni"),
    "bi": ("双向同时", "Both ways at once", "bi"),
}
NOTES: Final = both(
    "锁页：512 MiB，20 次的中位数，CUDA 事件计时，逐字核对；可分页：cudaMemcpy，主机时钟。规格是 "
    "PCIe 5.0 ×16 编码之后的速率，包头还要再占几个百分点。四块同时下降，说明瓶颈已不在各自的 "
    f"PCIe 口而在其后（主机内存、CPU 互连或虚拟化，本测量分不开）。{SHARED_HOST['zh']}",
    "Pinned: 512 MiB, median of 20, CUDA events, every word compared; pageable: cudaMemcpy, "
    "host's clock. The specification is PCIe 5.0 x16 after line coding; packet headers take some "
    "percent more. With four at once the rate falls: the limit is no longer each GPU's PCIe port "
    "but behind it (host memory, the CPU's interconnect or virtualization; this test cannot "
    f"tell). {SHARED_HOST['en']}",
)
Ports = Mapping[Direction, Spec]


def draft(series: Sequence[Series], port: PcieLink) -> Draft:
    """Return the record `host_link` of what host_link.cu printed, against the GPUs' PCIe port."""
    ports = specs.pcie(port)
    alone = [_alone(series, way, ports) for way in WAYS]
    together = [_together(series, way, ports) for way in WAYS]
    return Draft(
        "host_link",
        both("主机内存与 GPU 之间的带宽", "Bandwidth between host memory and GPUs"),
        PROGRAM,
        build_and_run(PROGRAM),
        NOTES,
        results=[found for found, _ in alone + together] + _sweeps(series, ports),
        summary=[line for _, line in alone + together] + _pageable(series, ports),
        specification=[ports["uni"], ports["bi"]],
    )


def _alone(series: Sequence[Series], way: str, ports: Ports) -> tuple[Result, Row]:
    zh, en, direction = WAYS[way]
    name, spec = f"pinned_{way}", ports[direction]
    found = result(
        series,
        name,
        both(f"锁页，单独一块 GPU，{zh}", f"Pinned, one GPU alone, {lower(en)}"),
        ["gpu"],
        per="GPU",
        direction=direction,
        spec=spec,
    )
    line = row(
        both(f"锁页，{zh}，单独", f"Pinned, {lower(en)}, alone"),
        medians(series, name),
        "GB/s",
        over(len(found["points"]), "块 GPU", "GPUs"),
        direction=direction,
        per="GPU",
        spec=spec,
        result=name,
    )
    return found, line


def _together(series: Sequence[Series], way: str, ports: Ports) -> tuple[Result, Row]:
    zh, en, direction = WAYS[way]
    name, spec = f"all_gpus_{way}", ports[direction]
    total = pick(series, f"all_gpus_total_{way}")[0]
    count = int(total.labels["gpus"])
    found = result(
        series,
        name,
        both(f"锁页，{count} 块 GPU 同时，{zh}", f"Pinned, {count} GPUs at once, {lower(en)}"),
        ["gpu"],
        per="GPU",
        direction=direction,
        spec=spec,
    )
    line = row(
        both(
            f"锁页，{zh}，{count} 块同时，每块平均",
            f"Pinned, {lower(en)}, {count} at once, mean per GPU",
        ),
        [total.median / count],
        "GB/s",
        trials(total.n, total.p5 / count, total.p95 / count),
        direction=direction,
        per="GPU",
        spec=spec,
        result=name,
    )
    return found, line


def _sweeps(series: Sequence[Series], ports: Ports) -> list[Result]:
    return [
        result(
            series,
            f"{kind}_size_{way}",
            both(f"{zh}，{WAYS[way][0]}，随大小变化", f"{en}, {lower(WAYS[way][1])}, by size"),
            ["bytes"],
            per="GPU",
            direction="uni",
            spec=ports["uni"],
        )
        for kind, zh, en in [("pinned", "锁页", "Pinned"), ("pageable", "可分页", "Pageable")]
        for way in ("h2d", "d2h")
    ]


def _pageable(series: Sequence[Series], ports: Ports) -> list[Row]:
    lines = []
    for way in ("h2d", "d2h"):
        name, (zh, en, direction) = f"pageable_size_{way}", WAYS[way]
        largest = max(pick(series, name), key=lambda s: int(s.labels["bytes"]))
        mib = int(largest.labels["bytes"]) >> 20
        lines.append(
            row(
                both(f"可分页，{zh}，{mib} MiB", f"Pageable, {lower(en)}, {mib} MiB"),
                [largest.median],
                "GB/s",
                both(f"一块 GPU，{largest.n} 次的中位数", f"one GPU, median of {largest.n}"),
                direction=direction,
                per="GPU",
                spec=ports[direction],
                result=name,
            )
        )
    return lines
