"""Draw the figures of the PCIe notes, two of them from simulation, into docs/link/pcie/figures."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import Label, colour, cpu, drawn, gpu, group, link, nic, num, switch, text

FOLDER = figure_files.ROOT / "docs/link/pcie/figures"
WIDE = 360
TINTS = ("pcie", "nvlink", "net")
DASHES = ("", "7 4", "2 4")
Point = tuple[float, float]


def marker(x: float, y: float, shape: int, tint: str) -> str:
    """Return a point of a chart: a circle, a square or a triangle."""
    look = f'fill="{colour("paper")}" stroke="{colour(tint)}" stroke-width="2"'
    if shape == 0:
        return f'<circle cx="{num(x)}" cy="{num(y)}" r="4" {look}/>'
    if shape == 1:
        return f'<rect x="{num(x - 4)}" y="{num(y - 4)}" width="8" height="8" {look}/>'
    points = f"{num(x)},{num(y - 5)} {num(x + 5)},{num(y + 4)} {num(x - 5)},{num(y + 4)}"
    return f'<polygon points="{points}" {look}/>'


def plot(
    lines: Sequence[tuple[Label, Sequence[Point], Sequence[Point]]],
    ticks: Sequence[tuple[float, Label]],
    levels: Sequence[float],
    names: tuple[Label, Label],
) -> list[str]:
    """Return a chart with a logarithmic x axis: of each series a line, points and its name."""
    left, right, top, foot = 44.0, WIDE - 22.0, 34.0 + 20 * len(lines), 250.0 + 20 * len(lines)
    low, high = math.log2(ticks[0][0]), math.log2(ticks[-1][0])
    most = levels[-1]

    def at(point: Point) -> Point:
        across = (math.log2(point[0]) - low) / (high - low)
        return left + across * (right - left), foot - point[1] / most * (foot - top)

    out = []
    for level in levels:
        _, y = at((ticks[0][0], level))
        dots = "1 3" if level else ""
        out.append(pen.path(f"M{num(left)} {num(y)}H{num(right)}", "line", 1, dots))
        out.append(text(left - 6, y + 4, f"{level:g}", size=12, anchor="end", tint="muted"))
    for x, label in ticks:
        out.append(text(at((x, 0))[0], foot + 17, label, size=12, tint="muted"))
    out.append(text(left - 36, 16, names[1], size=12, anchor="start", tint="muted"))
    out.append(text((left + right) / 2, foot + 36, names[0], size=12, tint="muted"))
    for n, (name, course, spots) in enumerate(lines):
        tint, y = TINTS[n], 38.0 + 20 * n
        path = "".join(
            f"{'L' if i else 'M'}{num(x)} {num(v)}" for i, (x, v) in enumerate(map(at, course))
        )
        out.append(pen.path(path, tint, 2, DASHES[n]))
        out += [marker(*at(dot), n, tint) for dot in spots]
        out.append(pen.path(f"M{num(left)} {num(y - 4)}h34", tint, 2, DASHES[n]))
        if spots:
            out.append(marker(left + 17, y - 4, n, tint))
        out.append(text(left + 42, y, name, size=12, anchor="start"))
    return out


@drawn(WIDE, 360)
def efficiency() -> list[str]:
    """Share of data in PCIe writes by size, computed.

    A write of 4 bytes is 14 % data, 64 bytes 73 %, 256 bytes 91 % with a maximum payload of
    256. From there on it decides: 84 % for 128, 91 % for 256, 96 % for 512.
    """
    tlp = figure_files.load_program("link/pcie/code/tlp.py")
    sizes = [4 * 2**n for n in range(11)]
    lines: list[tuple[Label, list[Point], list[Point]]] = []
    for payload in (512, 256, 128):
        course = [(float(size), 100 * tlp.write(size, payload).efficiency) for size in sizes]
        lines.append(
            ((f"最大载荷 {payload} 字节", f"maximum payload {payload} bytes"), course, course)
        )
    ticks: list[tuple[float, Label]] = [(4, "4 B"), (16, "16"), (64, "64"), (256, "256")]
    ticks += [(1024, "1 KiB"), (4096, "4 KiB")]
    names: tuple[Label, Label] = (
        ("一次写的字节数（对数）", "bytes of a write (log scale)"),
        ("数据占链路字节的 %（计算）", "% of the link's bytes that are data (computed)"),
    )
    return plot(lines, ticks, (0, 20, 40, 60, 80, 100), names)


@drawn(WIDE, 360)
def in_flight() -> list[str]:
    """Rate of PCIe reads by bytes in flight, simulated.

    PCIe 5.0 x16, requests of 512 bytes, completions of 256. The rate grows in proportion to the
    bytes in flight and stops at 58 GB/s: from 32 KiB at 500 ns, 64 KiB at 1 µs, 128 KiB at 2
    µs. Simulated points lie on the formula's lines.
    """
    sim = figure_files.load_program("link/pcie/code/tlp_sim.py")
    lines: list[tuple[Label, list[Point], list[Point]]] = []
    for latency in (500, 1000, 2000):
        course = []
        for n in range(33):
            flight = 2 * 2 ** (n / 4)  # KiB
            course.append((flight, sim.bound_reads(latency, flight * 1024 / 512, 512, 256)))
        dots = [
            (float(k), sim.simulate_reads(latency, k * 2, 512, 256)) for k in (2, 8, 32, 128, 512)
        ]
        lines.append(((f"延迟 {latency} ns", f"latency {latency} ns"), course, dots))
    ticks: list[tuple[float, Label]] = [(2, "2 KiB"), (8, "8"), (32, "32"), (128, "128")]
    ticks += [(512, "512")]
    names: tuple[Label, Label] = (
        (
            "在途字节 = 标签数 × 读请求大小（对数）",
            "bytes in flight = tags × request size (log scale)",
        ),
        ("GB/s，单向；点为模拟，线为公式", "GB/s, one way; points simulated, lines formula"),
    )
    return plot(lines, ticks, (0, 10, 20, 30, 40, 50, 60), names)


@drawn(WIDE, 214)
def packets() -> list[str]:
    """Bytes of a PCIe packet and of a flit.

    A memory write of 64 bytes takes 88 on the wire: 4 of framing and sequence number, a header
    of 16, the data, a check of 4. A flit of 6.0 has 256 bytes: 236 for packets, 6 for the data
    link layer, 8 of CRC and 6 of FEC.
    """
    title = [
        ("64 字节的写，5.0 及以前：88 字节", "A write of 64 bytes, up to 5.0: 88 bytes"),
        ("FLIT，6.0 起：总是 256 字节", "A flit, 6.0 on: always 256 bytes"),
    ]
    parts: list[tuple[int, Label, str]] = [
        (16, ("成帧 4", "frame 4"), "cpu"),
        (30, ("包头 16", "header 16"), "switch"),
        (64, ("数据", "data"), "gpu"),
        (16, "LCRC 4", "cpu"),
    ]
    out = [text(10, 20, title[0], size=13, anchor="start", bold=True)]
    x = 10.0
    for units, label, fill in parts:
        w = units / 126 * 340
        out.append(pen.rect(x, 30, w, 34, fill))
        out.append(text(x + w / 2, 82, label, size=12))
        x += w
    out.append(text(10, 118, title[1], size=13, anchor="start", bold=True))
    x = 10.0
    flit: list[tuple[float, Label, str]] = [
        (190, ("事务层包 236", "packets 236"), "gpu"),
        (45, "DLP 6", "switch"),
        (55, "CRC 8", "cpu"),
        (50, "FEC 6", "cpu"),
    ]
    for w, label, fill in flit:
        out.append(pen.rect(x, 128, w, 34, fill))
        out.append(text(x + w / 2, 180, label, size=12))
        x += w
    out.append(
        text(10, 204, ("宽度不按比例，单位字节", "widths not to scale, bytes"), size=12,
             anchor="start", tint="muted")
    )  # fmt: skip
    return out


@drawn(WIDE, 286)
def tree() -> list[str]:
    """A PCIe hierarchy.

    The CPU's root complex has two root ports, 00:01.0 and 00:03.0. Below the first is a switch
    with upstream port 01:00.0 and downstream ports 02:00.0 and 02:01.0; below these a GPU,
    03:00.0, and a NIC, 04:00.0. Below the second root port is a NIC, 05:00.0.
    """
    return [
        cpu(110, 20, 140, 40, ("CPU：根复合体", "CPU: root complex"), size=13),
        link(150, 60, 90, 104, "pcie"),
        link(215, 60, 290, 196, "pcie"),
        text(58, 84, ("根端口", "root port"), size=12),
        text(58, 98, "00:01.0", size=12, tint="muted"),
        text(292, 106, ("根端口", "root port"), size=12),
        text(292, 120, "00:03.0", size=12, tint="muted"),
        group(14, 104, 190, 66),
        switch(24, 110, 170, 30, ("交换芯片，上行 01:00.0", "switch, up 01:00.0"), size=12),
        text(60, 162, ("下行 02:00.0", "down 02:00.0"), size=12),
        text(154, 162, ("下行 02:01.0", "down 02:01.0"), size=12),
        link(60, 170, 60, 206, "pcie"),
        link(154, 170, 154, 206, "pcie"),
        gpu(14, 206, 90, 44, "GPU", "03:00.0", size=13),
        nic(110, 206, 90, 44, ("网卡", "NIC"), "04:00.0", size=13),
        nic(246, 196, 96, 44, ("网卡", "NIC"), "05:00.0", size=13),
        text(180, 274, ("编号为总线:设备.功能，例子", "numbers: bus:device.function, an example"),
             size=12, tint="muted"),
    ]  # fmt: skip


@drawn(WIDE, 274)
def paths() -> list[str]:
    """What ACS redirect does to traffic between two devices below one switch.

    Left, redirect off: a write of the NIC turns round inside the switch and reaches the GPU.
    Right, redirect on: it goes up to the root port, through the IOMMU, and down again, twice
    over the link between switch and CPU.
    """
    out = []
    panels: list[tuple[float, Label, bool]] = [
        (0, ("ACS 重定向关", "ACS redirect off"), False),
        (180, ("ACS 重定向开", "ACS redirect on"), True),
    ]
    for x, title, redirect in panels:
        out += [
            text(x + 90, 18, title, size=13, bold=True),
            cpu(x + 35, 34, 110, 40, ("根端口 + IOMMU", "root + IOMMU"), size=12),
            switch(x + 35, 118, 110, 34, ("交换芯片", "switch"), size=13),
            gpu(x + 10, 204, 70, 38, "GPU", size=13),
            nic(x + 100, 204, 70, 38, ("网卡", "NIC"), size=13),
        ]
        tint = "net" if redirect else "nvlink"
        way = (
            f"M{num(x + 122)} 204V74M{num(x + 58)} 74V204"
            if redirect
            else f"M{num(x + 122)} 204V152H{num(x + 58)}V204"
        )
        out.append(pen.path(way, tint, 3))
        out.append(pen.head((x + 52, 194), (x + 64, 194), (x + 58, 204), tint=tint))
    out.append(
        text(90, 262, ("在交换芯片里掉头", "turns round in the switch"), size=12, tint="muted")
    )
    out.append(
        text(270, 262, ("上行、查表、再下来", "up, translated, down again"), size=12, tint="muted")
    )
    return out


FIGURES = {
    "tlp-efficiency.svg": efficiency,
    "reads-in-flight.svg": in_flight,
    "packet-bytes.svg": packets,
    "hierarchy.svg": tree,
    "acs-paths.svg": paths,
}
