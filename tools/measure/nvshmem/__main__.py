# ruff: noqa: E501 - titles and notes in two languages stay on one line
"""Make docs/link/gpudirect/measured/nvshmem_put.json of what nvshmem_put.cu printed.

    sha256sum docs/link/gpudirect/code/nvshmem_put.cu docs/link/topo/code/{fabric,measure}.cuh
    python -m tools.measure.nvshmem PRINTED.jsonl YYYY-MM-DD PROGRAMS.sha256

The first command is to run on the machine that measures, its output is PROGRAMS.sha256.

Every number is read or computed from the program's output; titles and notes alone are typed in here.
Rates are GB/s of 10^9 bytes. Stops when a payload read past the L1 cache was ever stale.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from tools.measure import versions

ROOT = Path(__file__).resolve().parents[3]
FOLDER = "docs/link/gpudirect"
PROGRAM = f"{FOLDER}/code/nvshmem_put.cu"
INCLUDED = ["docs/link/topo/code/fabric.cuh", "docs/link/topo/code/measure.cuh"]
MEASURED_ALONE = 2**20
"""Several blocks that put less than this rewrite lines still on their way (about 0.5 MB are), and
such points came out at up to 815 GB/s: no rate of the link. Stores to one line merge, presumably."""
COMMAND = (
    'N=$(python3 -c "import nvidia.nvshmem as n; print(list(n.__path__)[0])") && mkdir -p build && '
    "nvcc -O3 -std=c++17 -rdc=true -arch=sm_90 -I$N/include -o build/nvshmem_put "
    f"{PROGRAM} $N/lib/libnvshmem_device.a -L$N/lib -l:libnvshmem_host.so.3 -lcuda && "
    "LD_LIBRARY_PATH=$N/lib NVSHMEM_DISABLE_NVLS=1 NVSHMEM_REMOTE_TRANSPORT=none build/nvshmem_put"
)
Row = dict[str, Any]


def both(zh: str, en: str) -> Row:
    """Words in both languages."""
    return {"zh": zh, "en": en}


AXES = {
    "blocks": both("线程块数", "blocks"),
    "threads": both("每块线程数", "threads a block"),
    "way": both("方式", "way"),
    "scope": both("谁发起", "issued by"),
    "load": both("怎样读数据", "payload read by"),
}
NOTES = both(
    "NVSHMEM 3.4.5，两个进程，各管一块 GPU，PE 0 向 PE 1 单向 put；每点预热 2 次后取 20 次的中位数，随机数据，另跑一次到填过毒的目标并逐字核对。"
    "设备 put 在一个核函数里连续发出，末尾 quiet，所以计到数据到达；重复写同一缓冲区。多个线程块合起来不足 1 MiB 的点没有收入："
    "缓冲区小于在途的数据（约 0.5 MB），量到的曾高于链路速率（最高 815 GB/s），多半是对同一行的存储合并了。“分段”：一块分成与线程块同样多的连续段，"
    "每个线程块一次 put；“分片”：轮流取 64 KiB 的片。分段的起点只对齐到 16 字节：2 MiB 起，段长是 128 的倍数时 367 到 369 GB/s，"
    "是 32 的倍数时 361，否则 346 到 349。延迟由核函数内的 %globaltimer 计，1000 个来回，取一半。"
    "读数据一项：接收方用普通加载、ld.global.cg、或先 __threadfence 再普通加载，各 1100 个来回，统计读到旧数据的来回数；"
    "发回的只有信号（自己的循环里没有任何 fence）。若发回的也是 put_signal，三种读法都没有读到旧数据。",
    "NVSHMEM 3.4.5, two processes, one for each GPU; PE 0 puts to PE 1, one way. Median of 20 trials after 2 warm-ups, random data, one more run "
    "into a poisoned target with every word compared. Device puts are issued back to back in one kernel that ends with quiet, so "
    "the time reaches to arrival; they rewrite one buffer. Points of several blocks below 1 MiB in all are left out: the buffer is "
    "smaller than what is on its way (about 0.5 MB), and some came out above the rate of the link (up to 815 GB/s), most likely because stores to one line merge. "
    "Pieces: the buffer is cut into as many contiguous pieces as there are blocks, one put each. Tiles: blocks take 64 KiB in turn. "
    "Pieces begin on 16 bytes only: from 2 MiB on, with a length that is a multiple of 128 the rate is 367 to 369 GB/s, of 32 361, otherwise 346 "
    "to 349. Latency by %globaltimer inside the kernel, half of each of 1000 round trips. How the payload is read: plain loads, "
    "ld.global.cg, or __threadfence and then plain loads, 1100 round trips each, counting those in which it was old; the answer is "
    "a signal alone, so no fence is in the receiver's own loop. With put_signal as the answer none of the three saw old data.",
)


def digits(value: float) -> float | int:
    """Rounded to four significant digits; whole numbers stay whole."""
    rounded = float(f"{value:.4g}")
    return int(rounded) if rounded.is_integer() else rounded


def result(
    rows: list[Row], title: Row, keep: Any = lambda row: True, axes: list[str] | None = None
) -> Row:
    """The chosen points of one result; axes in the order the program printed them, or as said."""
    rows = [row for row in rows if keep(row)]
    fixed = ("result", "unit", "n", "median", "p5", "p95")
    names = axes or [key for key in rows[0] if key not in fixed]
    rate = rows[0]["unit"] == "GB/s"
    out: Row = {
        "id": rows[0]["result"],
        "title": title,
        "unit": rows[0]["unit"],
        "direction": "uni" if rate else None,
        "per": "pair" if rate else None,
        "statistic": "median",
        "n": min(row["n"] for row in rows),
        "axes": [{"name": a, "title": AXES[a]} if a in AXES else a for a in names],
        "points": [
            {a: row[a] for a in names}
            | {"value": digits(row["median"]), "p5": digits(row["p5"]), "p95": digits(row["p95"])}
            for row in rows
        ],
    }
    return out | ({"spec": "gpu_uni"} if rate else {})


def line(results: dict[str, Row], id: str, title: Row, **where: Any) -> Row:
    """One point of a result as a line of the summary."""
    (point,) = [p for p in results[id]["points"] if all(p[k] == v for k, v in where.items())]
    of = results[id]
    rate = of["unit"] == "GB/s"
    out = {"title": title, "value": point["value"], "unit": of["unit"]}
    out |= {"direction": of["direction"], "per": of["per"], "result": id}
    n, span = of["n"], f"{point['p5']}–{point['p95']}"
    out["statistic"] = both(
        f"{n} 次的中位数（p5–p95：{span}）", f"median of {n} trials (p5–p95: {span})"
    )
    if rate:
        out["ratio_to"] = {"spec": "gpu_uni", "ratio": round(point["value"] / 450, 4)}
    return out


def main(printed: Path, date: str, hashes: Path) -> None:
    """Write the record."""
    lines = [json.loads(text) for text in printed.read_text("utf-8").splitlines()]
    machine = lines[0]
    series: dict[str, list[Row]] = {}
    for row in lines[1:]:
        series.setdefault(row["result"], []).append(row)
    for row in series["stale_rounds"] + series["stale_rounds_bare_answer"]:
        old = row["result"] == "stale_rounds" or row["load"] != "plain"
        if old and row["median"] != 0:
            sys.exit(f"{printed}: a payload was stale: {row}")
    large = lambda row: row["bytes"] >= MEASURED_ALONE  # noqa: E731
    found = [
        result(series["one_gib"], both("1 GiB，各种方式", "1 GiB, by way")),
        result(series["put_blocks"], both("设备 put，分段，256 MiB，随线程块数变化（每块 512 线程）", "Device put, pieces, 256 MiB, by blocks of 512 threads")),
        result(series["put_tiles_blocks"], both("设备 put，分片（64 KiB），256 MiB，随线程块数变化", "Device put, tiles of 64 KiB, 256 MiB, by blocks of 512 threads")),
        result(series["stores_blocks"], both("不用 NVSHMEM 的存储（copy16），256 MiB，随线程块数变化", "Stores without NVSHMEM (copy16), 256 MiB, by blocks of 512 threads")),
        result(series["put_size_one_block"], both("一个线程块的 put，随大小变化", "Put by one block, by size")),
        result(series["put_size"], both("设备 put，分段，至多 132 个线程块，随大小变化", "Device put, pieces, up to 132 blocks, by size"), large),
        result(series["put_on_stream_size"], both("主机发起 putmem_on_stream，随大小变化", "Host-initiated putmem_on_stream, by size")),
        result(series["put_tile_size"], both("设备 put，132 个线程块，1 GiB，随片的大小变化", "Device put, 132 blocks, 1 GiB, by size of a tile")),
        result(series["put_grid"], both("设备 put，分段，线程块数与大小", "Device put, pieces, by blocks and size"), large),
        result(series["put_threads"], both("设备 put，分段，256 MiB，线程块数与每块线程数", "Device put, pieces, 256 MiB, by blocks and threads a block"), axes=["blocks", "threads"]),
        result(series["put_signal_one_way"], both("put_signal 乒乓，单程", "put_signal ping-pong, one way")),
        result(series["put_quiet"], both("put 加 quiet，逐次", "Put and quiet, one after another")),
        result(series["stale_rounds_bare_answer"], both("1100 个来回里，信号已到而数据读到旧值的次数", "Round trips of 1100 with the signal there and an old payload read")),
    ]  # fmt: skip
    by_id = {item["id"]: item for item in found}
    summary = [
        line(by_id, "one_gib", both("putmem_on_stream，1 GiB", "putmem_on_stream, 1 GiB"), way="put on stream"),
        line(by_id, "one_gib", both("设备 put，132 个线程块，64 KiB 分片", "Device put, 132 blocks, tiles of 64 KiB"), way="put tiles"),
        line(by_id, "one_gib", both("设备 put，132 个线程块，每块一段", "Device put, 132 blocks, one piece each"), way="put pieces", blocks=132),
        line(by_id, "one_gib", both("不用 NVSHMEM 的 16 字节存储，264 个线程块", "16-byte stores without NVSHMEM, 264 blocks"), way="stores", blocks=264),
        line(by_id, "put_size_one_block", both("设备 put，一个线程块（512 线程），1 GiB", "Device put, one block of 512 threads, 1 GiB"), bytes=2**30),
        line(by_id, "put_signal_one_way", both("只有信号，单程", "Signal alone, one way"), scope="signal"),
        line(by_id, "put_signal_one_way", both("put_signal，8 B，线程块发起，单程", "put_signal, 8 B, by a block, one way"), scope="block", bytes=8),
        line(by_id, "put_signal_one_way", both("put_signal，4 KiB，线程块发起，单程", "put_signal, 4 KiB, by a block, one way"), scope="block", bytes=4096),
    ]  # fmt: skip
    driver = re.search(r"\d+\.\d+\.\d+", machine["driver_line"])
    name = both("2 块 NVIDIA H200（SXM，NVSwitch 主机），Firecracker 虚拟机", "2x NVIDIA H200 (SXM, NVSwitch host), Firecracker VM")  # fmt: skip
    ran = {path: digest for digest, path in versions.read(hashes.read_text("utf-8"))}
    hashed = [{"path": p, "sha256": ran[p]} for p in [PROGRAM, *INCLUDED]]
    record = {
        "schema": 1,
        "id": "nvshmem_put",
        "title": both("NVSHMEM 的 put 与信号", "NVSHMEM puts and signals"),
        "date": date,
        "machine": {"description": name, "gpu_count": 2, "driver": driver.group() if driver else None}
        | machine["machine"],
        "program": hashed[0],
        "programs": hashed[1:],
        "command": COMMAND,
        "notes": NOTES,
        "specification": [
            {"id": "gpu_uni", "value": 450, "unit": "GB/s", "direction": "uni", "per": "GPU",
             "source": "docs/data/facts/nvlink.yml: nvlink4-h100, gpu_uni"}
        ],
        "results": found,
        "summary": summary,
    }  # fmt: skip
    path = ROOT / FOLDER / "measured/nvshmem_put.json"
    path.write_text(json.dumps(record, ensure_ascii=False, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
