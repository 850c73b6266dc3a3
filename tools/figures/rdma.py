"""Draw figures of the InfiniBand notes into docs/link/infiniband/figures.

Header sizes come from docs/link/infiniband/code/dissect.py where it knows the header.
"""

from __future__ import annotations

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import (
    Label,
    Style,
    colour,
    cpu,
    drawn,
    figure,
    link,
    memory,
    nic,
    num,
    text,
)

FOLDER = figure_files.ROOT / "docs/link/infiniband/figures"
WIDTH, LEFT = 360, 8
DATA: Label = ("数据", "data")
Part = tuple[str, Label, str]
"""What fills a box of a packet: its layer, its name, its size."""


def cell(x: float, y: float, w: float, part: Part) -> str:
    """Return one header of a packet."""
    layer, name, size = part
    box = pen.rect(x, y, w, 44, layer, edge=1)
    return box + text(x + w / 2, y + 19, name, size=12) + text(x + w / 2, y + 36, size, size=12)


def packets() -> dict[str, tuple[Label, list[Part]]]:
    """Return the packets of a small RDMA WRITE by protocol."""
    known = figure_files.load_program("link/infiniband/code/dissect.py").size
    bth, reth = str(known("BTH")), str(known("RETH"))
    transport: list[Part] = [("switch", "BTH", bth), ("switch", "RETH", reth)]
    ethernet: Part = ("gpu", "Eth", str(known("Ethernet")))
    fcs: Part = ("storage", "FCS", "4")
    icrc: Part = ("storage", "ICRC", "4")
    data: Part = ("paper", DATA, "n")
    ip: Part = ("cpu", "IPv4", str(known("IPv4")))
    udp: Part = ("cpu", "UDP", str(known("UDP")))
    return {
        "ib": (
            ("InfiniBand：出子网才有 GRH", "InfiniBand: a GRH only beyond the subnet"),
            [
                ("gpu", "LRH", "8"),
                ("cpu", "(GRH)", "40"),
                *transport,
                data,
                icrc,
                ("storage", "VCRC", "2"),
            ],
        ),
        "v1": (
            ("RoCEv1：以太网类型 0x8915", "RoCEv1: Ethernet type 0x8915"),
            [ethernet, ("cpu", "GRH", "40"), *transport, data, icrc, fcs],
        ),
        "v2": (
            ("RoCEv2：UDP 目的端口 4791", "RoCEv2: UDP destination port 4791"),
            [ethernet, ip, udp, *transport, data, icrc, fcs],
        ),
        "iwarp": (
            ("iWARP：TCP 上的 MPA、DDP、RDMAP", "iWARP: MPA, DDP and RDMAP over TCP"),
            [
                ethernet,
                ip,
                ("cpu", "TCP", "20+"),
                ("switch", "MPA", "2"),
                ("switch", "DDP", "14"),
                data,
                ("storage", "CRC", "4"),
                fcs,
            ],
        ),
    }


def headers() -> str:
    """One row a protocol: the headers in front of and behind the data of a WRITE."""
    pieces, y = [], 26.0
    for title, parts in packets().values():
        pieces.append(text(LEFT, y, title, anchor="start", bold=True))
        w = (WIDTH - 2 * LEFT) / len(parts)
        for n, part in enumerate(parts):
            pieces.append(cell(LEFT + n * w, y + 10, w, part))
        y += 88
    rows: list[list[tuple[str, Label]]] = [
        [("gpu", ("链路层", "link layer")), ("cpu", ("网络层，TCP 或 UDP", "network, TCP or UDP"))],
        [("switch", ("RDMA 传输", "RDMA transport")), ("storage", ("校验", "checks"))],
    ]
    for row in rows:
        for x, (tint, label) in zip((LEFT, 150), row, strict=True):
            pieces.append(pen.rect(x, y - 26, 14, 14, tint, edge=1))
            pieces.append(text(x + 20, y - 14, label, size=13, anchor="start"))
        y += 24
    title = "Packets of an RDMA WRITE over InfiniBand, RoCEv1, RoCEv2 and iWARP"
    return figure(WIDTH, y - 18, title, "Sizes in bytes; boxes are not to scale.", *pieces)


def panel(top: float, title: Label, *, is_tcp: bool) -> list[str]:
    """Return the way of a message between two machines."""
    pieces = [text(LEFT, top, title, anchor="start", bold=True)]
    low = top + (196 if is_tcp else 106)
    for x in (16, 214):
        pieces.append(memory(x, top + 16, 130, 40, ("应用缓冲区", "app buffer"), size=13))
        if is_tcp:
            pieces.append(cpu(x, top + 106, 130, 40, ("套接字缓冲区", "socket buffer"), size=13))
        pieces.append(nic(x, low, 130, 36, ("网卡", "NIC")))
    copy: Label = ("CPU 拷贝", "CPU copies")
    dma: Label = ("DMA", "DMA")
    for x, is_down in ((81, True), (279, False)):
        steps = [(56, 106, copy), (146, 196, dma)] if is_tcp else [(56, 106, dma)]
        for start, end, label in steps:
            style: Style = "plain" if label == copy else "pcie"
            pieces.append(link(x, top + start, x, top + end, style, label=label))
            tip = top + (end if is_down else start)
            sign = -7 if is_down else 7
            pieces.append(f'<path d="M{num(x)} {num(tip)}l-4 {sign}h8z" fill="{colour("ink")}"/>')
    pieces.append(link(146, low + 18, 214, low + 18, "net", label=("网络", "network")))
    if not is_tcp:
        for y, line in ((32, ("内核", "kernel")), (48, ("只管建立", "at set-up"))):
            pieces.append(text(180, top + y, line, size=12, tint="muted"))
    return pieces


@drawn(WIDTH, 456)
def ways() -> list[str]:
    """The way of a message over TCP and over RDMA.

    TCP copies between application and kernel on both sides; RDMA does not.
    """
    pieces = panel(
        24,
        ("TCP：每条消息两次拷贝、两次系统调用", "TCP: two copies, two system calls"),
        is_tcp=True,
    )
    pieces += panel(
        296, ("RDMA：网卡直接读写应用缓冲区", "RDMA: NICs read and write the buffers"), is_tcp=False
    )
    return pieces


FIGURES = {"protocol-headers.svg": headers, "tcp-rdma-way.svg": ways}
