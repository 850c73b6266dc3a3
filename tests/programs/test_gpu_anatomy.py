"""What the note on the inside of a GPU says of its record."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tools.figures import anatomy

Results = dict[str, list[dict[str, Any]]]


def results(name: str) -> Results:
    """Return the points of each result of a record."""
    record = json.loads(anatomy.RECORD.with_name(name).read_text("utf-8"))
    return {one["id"]: one["points"] for one in record["results"]}


RESULTS = results("gpu_anatomy_h100.json")
SECOND = results("gpu_anatomy_h100_b.json")


def value(result: str, **where: object) -> float:
    """Return the one value of a result at a place."""
    found = [
        float(point["value"])
        for point in RESULTS[result]
        if all(str(point[axis]) == str(at) for axis, at in where.items())
    ]
    assert len(found) == 1, (result, where)
    return found[0]


@pytest.mark.parametrize(("size", "clusters"), [(2, 66), (4, 30), (6, 17), (8, 15), (16, 7)])
def test_clusters_of_the_table(size: int, clusters: int) -> None:
    assert value("resident", cluster=size) == clusters
    assert value("reached", cluster=size) == clusters * size


def test_groups_of_the_figure() -> None:
    groups, sides, lone = anatomy.measured()
    shapes = {gpc: sorted(2 * len(tpcs) for tpcs in rows.values()) for gpc, rows in groups.items()}
    assert sorted(shapes.values()) == [[4, 6, 6]] * 6 + [[6, 6, 6]] * 2
    assert lone == [124, 126, 128, 130]
    for side in "AB":
        assert sum(sum(shapes[gpc]) for gpc in shapes if sides[gpc] == side) == 66


def test_first_blocks_go_to_twelve_groups() -> None:
    placed = [int(point["value"]) for point in RESULTS["placed"]]
    assert placed[:12] == [124, 126, 128, 130, *range(0, 16, 2)]
    assert [sm - 1 for sm in placed[12:24]] == placed[:12]


@pytest.mark.parametrize(
    ("said", "share", "less", "more"),
    [
        ("18 SMs of one GPC bring 12 % less", 0.88, ("one GPC", 18), ("all GPCs", 18)),
        ("16 SMs of one GPC bring 6 % less", 0.94, ("one GPC", 16), ("all GPCs", 16)),
        ("64 bring 90 %", 0.90, ("all GPCs", 64), None),
        ("96 bring 97.5 %", 0.975, ("all GPCs", 96), None),
    ],
)
def test_shares_of_hbm(
    said: str, share: float, less: tuple[str, int], more: tuple[str, int] | None
) -> None:
    whole = value("ladder", where=more[0], sms=more[1]) if more else value("all")
    assert value("ladder", where=less[0], sms=less[1]) / whole == pytest.approx(share, abs=5e-3)


def test_near_and_far_atomics_do_not_overlap() -> None:
    bins = {
        kind: [p["cycles"] for p in RESULTS["spread"] if p["kind"] == kind]
        for kind in ("atomic near", "atomic far")
    }
    assert max(map(float, bins["atomic near"])) + 10 < min(map(float, bins["atomic far"]))


def members(card: Results) -> dict[str, str]:
    """Return the group by cluster of each SM."""
    return {str(point["sm"]): str(point["gpc"]) for point in card["from_sm"]}


def halves(card: Results) -> dict[str, str]:
    """Return the side of each SM, A being that of SM 0."""
    return {str(point["sm"]): str(point["side"]) for point in card["from_sm"]}


@pytest.mark.parametrize("result", ["resident", "reached", "gpc_sms", "placed"])
def test_second_card_offers_the_same_clusters(result: str) -> None:
    assert SECOND[result] == RESULTS[result]
    assert members(SECOND) == members(RESULTS)


def test_second_card_is_another_with_lone_sms_on_both_halves() -> None:
    assert halves(SECOND) != halves(RESULTS)
    lone = [sm for sm, gpc in members(SECOND).items() if gpc == anatomy.LONE]
    assert sorted(halves(SECOND)[sm] for sm in lone) == ["A"] * 6 + ["B"] * 2


@pytest.mark.parametrize("result", ["all", "one", "tpc", "gpc", "ladder"])
def test_second_card_reads_hbm_as_fast(result: str) -> None:
    for one, other in zip(RESULTS[result], SECOND[result], strict=True):
        assert other["value"] == pytest.approx(one["value"], rel=0.01)
