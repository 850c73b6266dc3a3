"""Draw the figures of link/topo/dgx1-p100 and link/topo/cluster-fabrics.

The drawings are made with `tools.figures.draw`; `FIGURES` maps each file name to its function.
"""

from __future__ import annotations

import math

from tools.figures import files as figure_files
from tools.figures.draw import (
    Label,
    cpu,
    drawn,
    gpu,
    group,
    legend,
    link,
    moved,
    nic,
    remark,
    switch,
    text,
)

FOLDER = figure_files.ROOT / "docs" / "link" / "topo" / "figures"

Edge = tuple[int, int]
QUADS: list[Edge] = [
    (a + base, b + base) for base in (0, 4) for a in range(4) for b in range(a + 1, 4)
]
ACROSS: list[Edge] = [(n, n + 4) for n in range(4)]
RING_A = [0, 2, 3, 1, 5, 7, 6, 4]
RING_B = [3, 0, 1, 2, 6, 5, 4, 7]
BACKBONE = [0, 3, 2, 1, 5, 6, 7, 4]
"""The ring whose links are double in a DGX-1 with V100."""


def ring_edges(ring: list[int]) -> list[Edge]:
    """Return the links of a ring through GPUs, the smaller number first."""
    return [(min(e), max(e)) for e in zip(ring, ring[1:] + ring[:1], strict=True)]


def _cube(edges: dict[Edge, int], y: float, h: float) -> str:
    """Return 8 GPUs as two quads side by side; 0-4 runs above, 2-6 below, 1-5 and 3-7 straight."""
    x, w, far, size, height = 66, 118, 260, 52, 40
    places = {0: (0.0, 0.0), 1: (w, 0.0), 2: (0.0, h), 3: (w, h)}
    places |= {5: (far, 0.0), 4: (far + w, 0.0), 7: (far, h), 6: (far + w, h)}
    lines = []
    for (a, b), count in edges.items():
        (x1, y1), (x2, y2) = places[a], places[b]
        bend = {(0, 4): 38.0, (2, 6): -38.0}.get((a, b), 0)
        lines.append(link(x + x1, y + y1, x + x2, y + y2, count=count, bend=bend))
    boxes = [
        gpu(x + px - size / 2, y + py - height / 2, size, height, f"GPU{n}", size=13)
        for n, (px, py) in sorted(places.items())
    ]
    return "\n".join(lines + boxes)


@drawn(510, 522)
def dgx1_cube_mesh() -> list[str]:
    """Hybrid cube mesh of eight P100 GPUs.

    GPU 0 to 3 and GPU 4 to 7 form two fully linked quads; GPU n is linked to GPU n + 4. Below,
    pairs of GPUs share a PCIe switch, two switches a CPU, and QPI joins the CPUs.
    """
    parts = [
        group(20, 62, 210, 220),
        group(280, 62, 210, 220),
        _cube(dict.fromkeys(QUADS + ACROSS, 1), 110, 124),
        remark(115, 304, ("四元组：两两直连", "Quad: every pair linked")),
        remark(395, 304, ("四元组：两两直连", "Quad: every pair linked")),
        remark(255, 52, ("GPU0 到 GPU4", "GPU0 to GPU4")),
    ]
    for base, label in ((20.0, "CPU 0"), (280.0, "CPU 1")):
        middle = base + 105
        parts.append(link(middle, 408, base + 50, 362, "pcie"))
        parts.append(link(middle, 408, base + 160, 362, "pcie"))
        for side, pair in ((base, 0), (base + 110, 2)):
            first = pair + (4 if base > 100 else 0)
            parts.append(switch(side, 332, 100, 30, f"PCIe {first}, {first + 1}", size=13))
        parts.append(cpu(middle - 45, 408, 90, 40, label))
    parts.append(link(170, 428, 340, 428, "plain", label="QPI"))
    parts.append(legend(20, 482, "nvlink", "pcie", "plain"))
    parts.append(
        remark(20, 508, ("每条 NVLink 单向 20 GB/s", "One NVLink: 20 GB/s each way"), "start")
    )
    return parts


@drawn(510, 346)
def dgx1_v100() -> list[str]:
    """Hybrid cube mesh of eight V100 GPUs.

    The sixteen links of the P100 version; the ring 0 3 2 1 5 6 7 4 has two links a step.
    """
    edges = dict.fromkeys(QUADS + ACROSS, 1)
    for edge in ring_edges(BACKBONE):
        edges[edge] = 2
    return [
        _cube(edges, 90, 140),
        text(255, 22, ("0-3-2-1-5-6-7-4 这一圈每步两条", "Two links a step on 0-3-2-1-5-6-7-4")),
        legend(20, 308, "nvlink"),
        remark(
            20,
            334,
            ("每条单向 25 GB/s，每 GPU 6 条", "One link: 25 GB/s each way; 6 per GPU"),
            "start",
        ),
    ]


@drawn(510, 540)
def dgx1_rings() -> list[str]:
    """Two link-disjoint rings in the P100 cube mesh.

    Ring A visits GPUs 0 2 3 1 5 7 6 4, ring B visits 3 0 1 2 6 5 4 7. No link is shared.
    """
    parts = []
    for y, name, ring in ((95.0, ("环 A", "Ring A"), RING_A), (330.0, ("环 B", "Ring B"), RING_B)):
        order = "-".join(map(str, ring)) + f"-{ring[0]}"
        label: Label = (f"{name[0]}：{order}", f"{name[1]}: {order}")
        parts.append(text(255, y - 62, label, bold=True))
        parts.append(_cube(dict.fromkeys(ring_edges(ring), 1), y, 112))
    note: Label = (
        "两环合起来正好是 16 条链路；每环两个方向都能用",
        "Together the rings are all 16 links; each ring runs in both directions",
    )
    parts.append(remark(255, 520, note))
    return parts


@drawn(510, 650)
def dgx1_power() -> list[str]:
    """NVLink in POWER8 and POWER9 nodes.

    SummitDev: two islands of a POWER8 and two P100. Summit: two islands of a POWER9 and three
    V100. Two NVLinks between any two members of an island; X-Bus joins the CPUs.
    """
    parts = [
        text(255, 24, ("POWER8 + P100（SummitDev）", "POWER8 + P100 (SummitDev)"), bold=True),
        text(255, 304, ("POWER9 + V100（Summit）", "POWER9 + V100 (Summit)"), bold=True),
    ]
    for x, n in ((68.0, 0), (322.0, 1)):
        top, left, right = (x + 60, 90.0), (x - 10, 210.0), (x + 130, 210.0)
        parts.append(group(x - 60, 44, 240, 220))
        for (x1, y1), (x2, y2) in ((top, left), (top, right), (left, right)):
            parts.append(link(x1, y1, x2, y2, count=2))
        parts.append(cpu(x + 15, 70, 90, 40, "POWER8"))
        parts.append(gpu(x - 42, 188, 64, 44, f"GPU{2 * n}"))
        parts.append(gpu(x + 98, 188, 64, 44, f"GPU{2 * n + 1}"))
    parts.append(link(174, 90, 336, 90, "plain", label="X-Bus"))
    for x, n in ((68.0, 0), (322.0, 1)):
        top = (x + 60, 372.0)
        low = [(x - 20, 500.0), (x + 60, 500.0), (x + 140, 500.0)]
        parts.append(group(x - 60, 324, 240, 262))
        parts += [link(*top, *end, count=2) for end in low]
        parts.append(link(*low[0], *low[1], count=2))
        parts.append(link(*low[1], *low[2], count=2))
        parts.append(link(*low[0], *low[2], count=2, bend=-48))
        parts.append(cpu(x + 15, 352, 90, 40, "POWER9"))
        for m, (gx, gy) in enumerate(low):
            parts.append(gpu(gx - 28, gy - 22, 56, 44, f"GPU{3 * n + m}", size=13))
    parts.append(link(174, 372, 336, 372, "plain", label="X-Bus"))
    parts.append(legend(20, 610, "nvlink", "plain"))
    note: Label = ("每个框内任意两点之间两条 NVLink", "In a frame, two NVLinks join every pair")
    parts.append(remark(20, 636, note, "start"))
    return parts


def _row(count: int, x: float, width: float) -> list[float]:
    return [x + width * (n + 0.5) / count for n in range(count)]


@drawn(510, 650)
def fabric_clos() -> list[str]:
    """Fat trees with two and three tiers.

    Top: 4 leaves with 2 endpoints and 2 uplinks each, 2 spines. Bottom: 4 pods of 2 edge and 2
    aggregation switches, 4 core switches, 16 endpoints.
    """
    parts = [
        text(255, 22, ("两层（叶脊）：8 个端点", "Two tiers (leaf-spine): 8 endpoints"), bold=True)
    ]
    spines, leaves, hosts = _row(2, 135, 240), _row(4, 35, 440), _row(8, 35, 440)
    parts += [link(x, 150, s, 74, "net") for x in leaves for s in spines]
    parts += [link(x, 222, leaves[n // 2], 166, "net") for n, x in enumerate(hosts)]
    parts += [switch(x - 45, 44, 90, 30, ("脊", "Spine")) for x in spines]
    parts += [switch(x - 40, 136, 80, 30, ("叶", "Leaf")) for x in leaves]
    parts += [nic(x - 24, 222, 48, 26, "NIC", size=13) for x in hosts]
    parts.append(
        text(
            255, 290, ("三层：16 个端点，4 个 pod", "Three tiers: 16 endpoints, 4 pods"), bold=True
        )
    )
    cores, wide = _row(4, 55, 400), _row(8, 5, 500)
    ends = _row(16, 5, 500)
    for n, x in enumerate(wide):
        pod = n // 2
        parts += [link(x, 414, wide[2 * pod + m], 488, "net") for m in (0, 1)]
        parts += [link(x, 400, cores[2 * (n % 2) + m], 342, "net") for m in (0, 1)]
        parts += [link(x, 502, ends[2 * n + m], 560, "net") for m in (0, 1)]
    parts += [group(5 + 125 * pod + 2, 386, 121, 134) for pod in range(4)]
    parts += [switch(x - 40, 312, 80, 30, ("核心", "Core")) for x in cores]
    parts += [switch(x - 28, 398, 56, 28, ("汇聚", "Agg"), size=13) for x in wide]
    parts += [switch(x - 28, 486, 56, 28, ("边缘", "Edge"), size=13) for x in wide]
    parts += [nic(x - 13, 560, 26, 22) for x in ends]
    parts.append(legend(20, 610, "net"))
    note: Label = (
        "4 端口交换机；每层上行等于下行",
        "4-port switches; up equals down at every tier",
    )
    parts.append(remark(20, 636, note, "start"))
    return parts


def _rail_panel(x: float, title: Label, spines: bool) -> list[str]:
    """Return two servers of four GPUs, a leaf per rail, and spines above them or nothing."""
    parts = [text(x + 180, 24, title, bold=True)]
    leaves = _row(4, x, 360)
    if spines:
        tops = _row(2, x + 60, 240)
        parts += [link(leaf, 152, top, 74, "net") for leaf in leaves for top in tops]
        parts += [switch(top - 45, 46, 90, 30, ("脊", "Spine")) for top in tops]
    else:
        parts.append(remark(x + 180, 66, ("没有脊交换机", "No spine switches")))
    for server in range(2):
        left = x + 184 * server
        parts.append(group(left, 232, 176, 178))
        for n, gx in enumerate(_row(4, left, 176)):
            parts.append(link(gx, 256, leaves[n], 180, "net"))
            parts.append(link(gx, 312, gx, 276, "pcie"))
            parts.append(link(gx, 346, left + 88, 374, "nvlink"))
    for server in range(2):
        left = x + 184 * server
        for n, gx in enumerate(_row(4, left, 176)):
            parts.append(nic(gx - 18, 256, 36, 20))
            parts.append(gpu(gx - 19, 312, 38, 34, f"G{n}", size=13))
        parts.append(switch(left + 28, 372, 120, 30, "NVSwitch", size=13))
    names = [(f"轨 {n}", f"Rail {n}") for n in range(4)]
    parts += [switch(c - 42, 150, 84, 30, names[n], size=13) for n, c in enumerate(leaves)]
    return parts


@drawn(376, 878)
def fabric_rails() -> list[str]:
    """Rail-optimised and rail-only networks.

    Two servers of four GPUs with a network card each. Card n of every server goes to the leaf
    of rail n. Above: spines join the leaves. Below: none; NVSwitch joins the rails.
    """
    return [
        *_rail_panel(
            8, ("轨道优化：叶交换机之上有脊", "Rail-optimised: spines join the rails"), True
        ),
        moved(
            0,
            420,
            *_rail_panel(
                8, ("仅轨道：跨轨走服务器内 NVLink", "Rail-only: NVLink joins the rails"), False
            ),
        ),
        legend(20, 856, "net", "pcie", "nvlink"),
    ]


@drawn(380, 850)
def fabric_dragonfly() -> list[str]:
    """Dragonfly and dragonfly+.

    Above: nine groups, each pair joined by one global link. Below: in a dragonfly group four
    fully meshed routers with two hosts and two global links each; in a dragonfly+ group two
    leaves and two spines, global links at the spines.
    """
    parts = [
        text(
            190,
            24,
            ("Dragonfly：9 组，每两组一条", "Dragonfly: 9 groups, 1 link a pair"),
            bold=True,
        )
    ]
    places = []
    for n in range(9):
        turn = 2 * math.pi * n / 9
        places.append((190 + 148 * math.sin(turn), 208 - 148 * math.cos(turn)))
    for n, one in enumerate(places):
        parts += [link(*one, *two, "net") for two in places[n + 1 :]]
    for n, (x, y) in enumerate(places):
        parts.append(switch(x - 36, y - 15, 72, 30, (f"组 {n}", f"Grp {n}"), size=13))
    below: list[str] = []
    said = ("一个 dragonfly 组（a=4, p=2, h=2）", "A dragonfly group (a=4, p=2, h=2)")
    below.append(text(570, 24, said, bold=True))
    below.append(group(395, 40, 350, 152))
    routers = _row(4, 400, 340)
    for n, x in enumerate(routers):
        below += [
            link(x, 118, routers[m], 118, "net", bend=0 if m == n + 1 else 14 * (m - n))
            for m in range(n + 1, 4)
        ]
        below += [link(x, 120, x + d, 168, "net") for d in (-16, 16)]
        below += [link(x, 104, x + d, 40, "net") for d in (-30, -22)]
    for n, x in enumerate(routers):
        below.append(switch(x - 34, 104, 68, 30, f"R{n}"))
        below += [nic(x + d - 13, 164, 26, 18) for d in (-16, 16)]
    said = ("一个 dragonfly+ 组（组内叶脊）", "A dragonfly+ group (leaf-spine)")
    below.append(text(570, 232, said, bold=True))
    below.append(group(395, 248, 350, 152))
    tops, leaves = _row(2, 440, 260), _row(2, 440, 260)
    for top in tops:
        below += [link(leaf, 330, top, 304, "net") for leaf in leaves]
        below += [link(top, 282, top + d, 248, "net") for d in (-10, 10)]
    for leaf in leaves:
        below += [link(leaf, 346, leaf + d, 376, "net") for d in (-20, 20)]
    below += [switch(top - 45, 276, 90, 28, ("脊", "Spine"), size=13) for top in tops]
    below += [switch(leaf - 45, 322, 90, 28, ("叶", "Leaf"), size=13) for leaf in leaves]
    below += [nic(leaf + d - 13, 374, 26, 18) for leaf in leaves for d in (-20, 20)]
    parts.append(moved(-380, 380, *below))
    parts.append(legend(20, 832, "net"))
    note: Label = (
        "伸出框上方：去其他组的全局链路",
        "Lines leaving a frame: global links to groups",
    )
    parts.append(remark(20, 802, note, "start"))
    return parts


@drawn(370, 774)
def fabric_torus() -> list[str]:
    """2D torus, and a 3D torus made of blocks and optical circuit switches.

    Above: sixteen nodes in a 4 by 4 grid, rows and columns closed into rings. Below: blocks 0
    to 63 of 64 chips each, joined through optical circuit switches 0 to 47.
    """
    parts = [text(180, 24, ("4 × 4 二维环面", "4 x 4 torus (2D)"), bold=True)]
    xs, ys = [60.0, 140, 220, 300], [86.0, 156, 226, 296]
    for n in range(4):
        for m in range(3):
            parts.append(link(xs[m], ys[n], xs[m + 1], ys[n], "net"))
            parts.append(link(xs[n], ys[m], xs[n], ys[m + 1], "net"))
        parts.append(link(xs[0], ys[n], xs[3], ys[n], "net", bend=24))
        parts.append(link(xs[n], ys[0], xs[n], ys[3], "net", bend=24))
    parts += [gpu(x - 17, y - 14, 34, 28) for x in xs for y in ys]
    parts.append(
        remark(180, 350, ("对半切：4 行 × 2 条 = 8 条链路", "Cut in half: 4 rows x 2 = 8 links"))
    )
    below: list[str] = []
    below.append(
        text(560, 24, ("TPU v4：64 个 4³ 块接 48 台 OCS", "TPU v4: 64 blocks, 48 OCS"), bold=True)
    )
    blocks = [96.0, 172.0, 280.0]
    for n, y in enumerate(blocks):
        below += [link(520, y, 620, oy, "net", count=2) for oy in blocks]
        name = (f"块 {n if n < 2 else 63}", f"Block {n if n < 2 else 63}")
        below.append(gpu(400, y - 28, 120, 56, name, ("64 芯片", "64 chips"), size=13))
    for n, oy in enumerate(blocks):
        below.append(switch(620, oy - 22, 120, 44, f"OCS {n if n < 2 else 47}"))
    below += [text(460, 232, "…", size=18), text(680, 232, "…", size=18)]
    said = ("每块 6 面 × 16 条 = 96 条光链路，", "6 faces x 16 = 96 optical links a block,")
    below.append(remark(560, 336, said))
    below.append(
        remark(
            560, 356, ("相对两面的同号链路接同一台 OCS", "same link of opposite faces: same OCS")
        )
    )
    parts.append(moved(-380, 370, *below))
    parts.append(legend(20, 754, "net"))
    return parts


@drawn(510, 468)
def fabric_planes() -> list[str]:
    """Multi-plane fat tree.

    Two servers; the card of GPU n goes to plane n, a complete leaf-spine network of its own.
    Planes are not joined to each other; NVSwitch in a server is the only way between them.
    """
    parts = [
        text(
            255,
            24,
            (
                "多平面：每个 GPU 与网卡各在一个平面",
                "Multi-plane: each GPU and its card in a plane",
            ),
            bold=True,
        )
    ]
    planes = _row(4, 5, 500)
    ids = (0, 1, 2, 7)
    for n, x in zip(ids, planes, strict=True):
        parts.append(group(x - 60, 44, 120, 132, (f"平面 {n}", f"Plane {n}")))
        tops, lows = (x - 29, x + 29), (x - 29, x + 29)
        parts += [link(low, 138, top, 98, "net") for top in tops for low in lows]
        parts += [switch(top - 28, 72, 56, 26, ("脊", "Spine"), size=13) for top in tops]
        parts += [switch(low - 28, 138, 56, 26, ("叶", "Leaf"), size=13) for low in lows]
    for server in range(2):
        left = 5 + 252 * server
        name: Label = (f"服务器 {server}", f"Server {server}")
        parts.append(group(left, 232, 246, 172))
        parts.append(remark(left + 8, 398, name, "start"))
        for n, (plane, gx) in enumerate(zip(planes, _row(4, left + 3, 240), strict=True)):
            parts.append(link(gx, 262, plane - 29 + 58 * server, 164, "net"))
            parts.append(link(gx, 312, gx, 286, "pcie"))
            parts.append(link(gx, 348, left + 123, 372, "nvlink"))
            parts.append(nic(gx - 24, 262, 48, 24, "NIC", size=13))
            parts.append(gpu(gx - 27, 312, 54, 36, f"GPU{ids[n]}", size=13))
        parts.append(switch(left + 63, 364, 120, 28, "NVSwitch", size=13))
    parts.append(legend(20, 428, "net", "pcie", "nvlink"))
    note: Label = ("只画 8 个平面中的 4 个", "4 of the 8 planes are drawn")
    parts.append(remark(20, 454, note, "start"))
    return parts


_DRAWN = (dgx1_cube_mesh, dgx1_v100, dgx1_rings, dgx1_power, fabric_clos, fabric_rails)
FIGURES = {
    one.__name__.replace("_", "-") + ".svg": one
    for one in (*_DRAWN, fabric_dragonfly, fabric_torus, fabric_planes)
}
