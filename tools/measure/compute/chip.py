"""Records of docs/chip: what the driver says, memory bandwidth, roofline, matrix products."""

from __future__ import annotations

from typing import Final

from tools.measure.compute.cards import H200, Card
from tools.measure.compute.lines import (
    COUNT,
    Line,
    Run,
    one,
    points,
    series,
    summary,
    where,
)
from tools.measure.topo.model import Point, Result, Row
from tools.measure.topo.record import Draft, build_and_run
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

CODE: Final = "docs/chip/code"
MIB: Final = 2**20


def device(run: Run, card: Card = H200) -> Draft:
    """Return the record `device`."""
    found = [line for line in run.lines("device_query.jsonl") if "attribute" in line]
    values = {line["attribute"]: line["value"] for line in found}
    shown = [
        ("l2_bytes", both("L2 缓存", "L2 cache"), 1 / MIB, "MiB"),
        ("multiprocessors", both("SM 数", "multiprocessors"), 1, "1"),
        ("memory_bytes", both("驱动报告的显存", "memory the driver reports"), 1e-9, "GB"),
        ("sm_clock_khz", both("SM 最高频率", "highest SM clock"), 1e-3, "MHz"),
        (
            "shared_bytes_per_multiprocessor",
            both("每个 SM 的共享内存", "shared memory of an SM"),
            1 / 1024,
            "KiB",
        ),
        ("memory_bus_bits", both("显存位宽", "memory bus"), 1, "bit"),
        ("memory_clock_khz", both("显存频率（双沿）", "memory clock (both edges)"), 1e-3, "MHz"),
    ]
    listed: list[Point] = [
        {"attribute": line["attribute"], "value": line["value"], "unit": line["unit"]}
        for line in found
    ]
    return Draft(
        f"device{card.suffix}",
        both(f"驱动报告的 {card.name} 属性", f"What the driver says of an {card.name}"),
        f"{CODE}/device_query.cu",
        build_and_run(f"{CODE}/device_query.cu"),
        both(
            f"各属性的单位在数据文件里。{card.device['zh']}",
            f"Units of the attributes are in the data file. {card.device['en']}",
        ),
        results=[
            series(
                "attributes",
                both("属性", "Attributes"),
                "1",
                ["attribute"],
                listed,
                statistic=both("一次读数", "single reading"),
            )
        ],
        summary=[
            summary(title, values[name] * scale, unit, "attributes", statistic=COUNT)
            for name, title, scale, unit in shown
        ],
    )


def bandwidth(run: Run, card: Card = H200) -> Draft:
    """Return the record `hbm_bandwidth`."""
    lines = run.lines("hbm_bandwidth.jsonl")
    titles = {
        "read": both("只读", "Read"),
        "write": both("只写", "Write"),
        "copy": both("拷贝（读＋写）", "Copy (read plus write)"),
        "triad": both("triad（两读一写）", "Triad (two reads, one write)"),
    }
    largest, inside = 6144 * MIB, 30 * MIB
    rows: list[Row] = []
    for kind, title in titles.items():
        line = one(lines, kind, bytes=largest)
        rows.append(
            summary(
                both(f"{title['zh']}，6 GiB", f"{title['en']}, 6 GiB"),
                line["median"],
                "GB/s",
                kind,
                n=line["n"],
                spec=card.hbm,
                per="GPU",
            )
        )
    for kind, title in titles.items():
        line = one(lines, kind, bytes=inside)
        name = both(f"{title['zh']}，30 MiB（在 L2 内）", f"{title['en']}, 30 MiB (inside L2)")
        rows.append(summary(name, line["median"], "GB/s", kind, n=line["n"], per="GPU"))
    return Draft(
        f"hbm_bandwidth{card.suffix}",
        card.titled(
            "显存与 L2 带宽，随数据量变化",
            "Bandwidth of device memory and the L2 cache, by footprint",
        ),
        f"{CODE}/hbm_bandwidth.cu",
        build_and_run(f"{CODE}/hbm_bandwidth.cu"),
        both(
            "大小是各数组之和；加载绕过 L1（ld.global.cg），每次访问 16 字节，"
            f"随机数据，结果逐字核对。{card.bandwidth['zh']}",
            "The size is that of all arrays together. Loads bypass L1 (ld.global.cg), 16 bytes an "
            f"access, random data, every word compared. {card.bandwidth['en']}",
        ),
        results=[
            series(
                kind,
                title,
                "GB/s",
                ["bytes"],
                points(where(lines, kind), ["bytes"]),
                n=20,
                per="GPU",
                spec=card.hbm,
            )
            for kind, title in titles.items()
        ],
        summary=rows,
        specification=[card.hbm],
    )


def _gigabytes(line: Line) -> dict[str, float]:
    return {"gbytes_per_s": digits(line["gbytes_per_s"])}


def roofline(run: Run, card: Card = H200) -> Draft:
    """Return the record `roofline`: the chains of multiply-adds, and products by rows."""
    lines, products = run.lines("roofline.jsonl"), run.lines("gemm.jsonl")
    chains = {
        "fp32_chain": (both("fp32 乘加链", "Chains of fp32 multiply-adds"), card.fp32),
        "fp64_chain": (both("fp64 乘加链", "Chains of fp64 multiply-adds"), card.fp64),
    }
    results: list[Result] = [
        series(
            name,
            title,
            "TFLOP/s",
            ["intensity"],
            points(where(lines, name), ["intensity"], extra=_gigabytes),
            n=20,
            per="GPU",
            spec=spec,
        )
        for name, (title, spec) in chains.items()
    ]
    rows = [
        summary(
            both(f"{title['zh']}，强度最高处", f"{title['en']}, at the highest intensity"),
            where(lines, name)[-1]["median"],
            "TFLOP/s",
            name,
            n=20,
            spec=spec,
            per="GPU",
        )
        for name, (title, spec) in chains.items()
    ]
    for kind in ("bf16", "fp8"):
        found = sorted(where(products, "rows", type=kind), key=lambda line: line["m"])
        rising = points(found, ["intensity"], extra=lambda line: {"m": line["m"]})
        results.append(
            series(
                f"gemm_{kind}",
                both(
                    f"{kind} 矩阵乘，M × 8192 × 8192，M 递增",
                    f"{kind} matrix product, M x 8192 x 8192, growing M",
                ),
                "TFLOP/s",
                ["intensity"],
                rising,
                n=10,
                per="GPU",
                spec=card.tensor[kind],
            )
        )
    vector = one(products, "rows", type="bf16", m=1)
    rows.append(
        summary(
            both(
                "bf16 矩阵乘向量（M = 1），读权重的速率",
                "bf16 matrix times vector (M = 1), rate of reading the weights",
            ),
            vector["median"] / vector["intensity"] * 1e3,
            "GB/s",
            "gemm_bf16",
            n=vector["n"],
            spec=card.hbm,
            per="GPU",
        )
    )
    return Draft(
        f"roofline{card.suffix}",
        card.titled("实测 roofline", "A measured roofline"),
        f"{CODE}/roofline.cu",
        f"{build_and_run(f'{CODE}/roofline.cu')}\npython3 {CODE}/gemm.py",
        both(
            "乘加链：每个元素从显存读一次、写一次，在寄存器里做若干次乘加；2 GiB 进 2 GiB 出；"
            f"抽查 4096 个元素，与主机的 fma 逐位相同。{card.roofline['zh']}"
            "矩阵乘的强度按“A、B 各读一次，C 写一次”算。",
            "Chains: each element is read once, multiplied and added in registers a number of "
            "times, and written once; 2 GiB in, 2 GiB out; 4096 elements were equal, bit for bit, "
            f"to the host's fma. {card.roofline['en']} Products: intensity counts A and B read "
            "once, C written once.",
        ),
        results=results,
        summary=rows,
        specification=[card.fp32, card.fp64, card.tensor["bf16"], card.tensor["fp8"], card.hbm],
    )


FILLS: Final = {
    "normal": both("正态随机", "random normal"),
    "signs": both("±1 随机", "random +1 or -1"),
    "zeros": both("全零", "zeros"),
}
NAMES: Final = {"fp8": "fp8 (e4m3)", "fp8_accurate": "fp8 (e4m3), exact accumulation"}


def gemm(run: Run, card: Card = H200) -> Draft:
    """Return the record `gemm`."""
    lines = run.lines("gemm.jsonl")
    square = where(lines, "square")
    steady = where(lines, "sustained")

    def state(line: Line) -> dict[str, object]:
        keys = ("sm_mhz", "sm_mhz_min", "watts", "celsius", "reasons", "first")
        return {k: digits(line[k]) if k == "first" else line[k] for k in keys if k in line}

    results = [
        series(
            "square",
            both("方阵相乘 M = N = K", "Square products, M = N = K"),
            "TFLOP/s",
            ["type", "m"],
            points(square, ["type", "m"]),
            n=10,
            per="GPU",
        ),
        series(
            "sustained",
            both(
                "8192 方阵持续 2 秒的后一半：速率、SM 频率、功率",
                "8192 square for two seconds, later half: rate, SM clock, power",
            ),
            "TFLOP/s",
            ["type", "fill"],
            points(steady, ["type", "fill"], extra=state),
            n=min(line["n"] for line in steady),
            per="GPU",
        ),
        series(
            "rows",
            both("M × 8192 × 8192", "M x 8192 x 8192"),
            "TFLOP/s",
            ["type", "m"],
            points(sorted(where(lines, "rows"), key=lambda x: (x["type"], x["m"])), ["type", "m"]),
            n=10,
            per="GPU",
        ),
        series(
            "unaligned",
            both(
                "bf16，边长不是 8 的倍数或刚过一块",
                "bf16, sides that no 8 divides, or just past a tile",
            ),
            "TFLOP/s",
            ["m"],
            points(where(lines, "unaligned"), ["m"]),
            n=10,
            per="GPU",
        ),
        series(
            "waves",
            both("bf16，M × 4096 × 4096", "bf16, M x 4096 x 4096"),
            "TFLOP/s",
            ["m"],
            points(where(lines, "waves"), ["m"]),
            n=10,
            per="GPU",
        ),
        series(
            "error",
            both("2048 方阵对 fp64 的相对误差", "Relative error of a 2048 square against fp64"),
            "1",
            ["type"],
            points(where(lines, "error"), ["type"]),
            statistic=both("一次", "one product"),
        ),
    ]
    rows = []
    for kind, spec in card.tensor.items():
        best = max(where(square, "square", type=kind), key=lambda line: line["median"])
        m = best["m"]
        name = NAMES.get(kind, kind)
        rows.append(
            summary(
                both(f"{name} 方阵，最快的边长 {m}", f"{name} square, fastest side {m}"),
                best["median"],
                "TFLOP/s",
                "square",
                n=best["n"],
                spec=spec,
                per="GPU",
            )
        )
    for kind in ("bf16", "fp8"):
        for fill, words in FILLS.items():
            line = one(steady, "sustained", type=kind, fill=fill)
            clock, watts = digits(line["sm_mhz"]), digits(line["watts"], 3)
            rows.append(
                summary(
                    both(
                        f"{kind} 持续，{words['zh']}（{clock} MHz，{watts} W）",
                        f"{kind} sustained, {words['en']} ({clock} MHz, {watts} W)",
                    ),
                    line["median"],
                    "TFLOP/s",
                    "sustained",
                    n=line["n"],
                    spec=card.tensor[kind],
                    per="GPU",
                )
            )
    odd = one(lines, "unaligned", m=8191)
    rows.append(
        summary(
            both("bf16，边长 8191", "bf16, side 8191"),
            odd["median"],
            "TFLOP/s",
            "unaligned",
            n=odd["n"],
            spec=card.tensor["bf16"],
            per="GPU",
        )
    )
    return Draft(
        f"gemm{card.suffix}",
        card.titled(
            "矩阵乘的吞吐，按数据类型与形状", "Throughput of matrix products by type and shape"
        ),
        f"{CODE}/gemm.py",
        f"python3 {CODE}/gemm.py",
        both(
            "cuBLAS（经 PyTorch），随机正态数据，操作数在多份之间轮换，从 CUDA 图重放；每点 10 次。"
            f"B 以转置存放（NT）。{card.gemm['zh']}",
            "cuBLAS through PyTorch, random normal data, operands rotate among "
            "several sets, replayed "
            "from a CUDA graph; 10 trials a point. B is stored transposed (NT). "
            f"{card.gemm['en']}",
        ),
        results=results,
        summary=rows,
        specification=list(card.tensor.values()),
        versions=versions(lines),
    )


def versions(lines: list[Line]) -> dict[str, str]:
    """Return the libraries that a program named."""
    found = one(lines, "versions")
    return {key: found[key] for key in ("nccl", "torch") if found.get(key)}
