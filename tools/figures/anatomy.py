"""Draw which SMs of a measured H100 belong together into docs/chip/figures.

All of it comes from docs/chip/measured/gpu_anatomy_h100.json.
"""

from __future__ import annotations

from collections import defaultdict

from tools.figures import draw as pen
from tools.figures import files as figure_files
from tools.figures.draw import figure, text

FOLDER = figure_files.ROOT / "docs/chip/figures"
WIDTH, BOX, CELL, ROW = 420, 200, 60, 27
LONE = "none"  # of SMs that no cluster of more than two uses
Groups = dict[str, dict[int, list[int]]]  # GPC -> pattern -> the even SM of each TPC


def measured() -> tuple[Groups, dict[str, str], list[int]]:
    """Return TPCs by GPC and pattern, the side of each GPC, and the TPCs without a cluster."""
    results = figure_files.load_record("chip/measured/gpu_anatomy_h100.json")
    pattern = {int(p["sm"]): int(p["value"]) for p in results["pattern"]}
    groups: Groups = defaultdict(lambda: defaultdict(list))
    sides, lone = {}, []
    for point in results["from_sm"]:
        sm, gpc = int(point["sm"]), str(point["gpc"])
        if point["kind"] != "read near" or sm % 2:
            continue
        if gpc == LONE:
            lone.append(sm)
        else:
            groups[gpc][pattern[sm]].append(sm)
            sides[gpc] = str(point["side"])
    partial = min(groups, key=lambda gpc: sum(map(len, groups[gpc].values())))
    for sm in lone:  # where its pattern occurs, in the group that is too small
        groups[partial][pattern[sm]].append(sm)
    return groups, sides, lone


def tpc(x: float, y: float, sm: int, *, dashed: bool) -> str:
    """Return a TPC as a box with the numbers of its SMs."""
    dashes = "4 3" * dashed
    fill = "paper" if dashed else "gpu"
    box = pen.rect(x, y, CELL - 4, ROW - 5, fill, rx=3, dashes=dashes)
    return box + text(x + (CELL - 4) / 2, y + 16, f"{sm}–{sm + 1}", size=12)


def sms_of_h100() -> str:
    """Return the map: two columns for the halves of L2, a box a GPC, a row for each pattern."""
    groups, sides, lone = measured()
    pieces = []
    for column, side in enumerate("AB"):
        left = 6 + column * (BOX + 8)
        name = (f"离 L2 的 {side} 半近", f"near half {side} of L2")
        pieces.append(text(left + BOX / 2, 20, name, bold=True))
        top = 32.0
        for gpc in sorted(g for g in groups if sides[g] == side):
            rows = groups[gpc]
            count = 2 * sum(map(len, rows.values()))
            pieces.append(pen.rect(left, top, BOX, 28 + 3 * ROW, rx=6, tint="line", edge=1.5))
            head = f"GPC {gpc}: {count} SM"
            pieces.append(text(left + 10, top + 18, (head, head + "s"), size=13, anchor="start"))
            for y, row in enumerate(sorted(rows)):
                for x, sm in enumerate(sorted(rows[row])):
                    at = (left + 10 + x * CELL, top + 27 + y * ROW)
                    pieces.append(tpc(*at, sm, dashed=sm in lone))
            top += 28 + 3 * ROW + 8
    pieces.append(tpc(10, top + 4, lone[0], dashed=True))
    words = ("只进 2 块的簇；位置是推断", "only in clusters of 2; place inferred")
    pieces.append(text(10 + CELL + 6, top + 20, words, size=13, anchor="start"))
    words = (
        "一格一个 TPC；一行延迟模式相同（CPC，推断）",
        "a box: one TPC; a row: same latencies (CPC, inferred)",
    )
    pieces.append(text(10, top + 46, words, size=13, anchor="start"))
    return figure(
        WIDTH,
        top + 58,
        "SMs of one H100 by half of L2, GPC and latency pattern",
        "Two columns of four GPCs. Five GPCs of 16 SMs in rows of 6, 6 and 4, two of 18 in rows of"
        " 6, and one of 8 that becomes 16, in rows of 6, 6 and 4, with the SMs 124 to 131, which"
        " join clusters of two only. Each half of L2 is near to 66 SMs.",
        *pieces,
    )


FIGURES = {"sms-h100.svg": sms_of_h100}
