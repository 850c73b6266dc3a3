"""The network metrics against closed formulas and published figures."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path

import pytest

from hooks.drawings import figure_check
from tools.figures import topo as figures_topo
from tools.figures.files import load_program

fm = load_program("link/topo/code/fabric_metrics.py")


@pytest.mark.parametrize("k", [4, 6, 8])
def test_three_tier_fat_tree_follows_al_fares(k: int) -> None:
    fabric = fm.fat_tree(k)
    switches, at_ends, trunks = fabric.parts()
    assert (len(fabric.ends), switches, trunks) == fm.three_tier(k)
    assert len(fabric.ends) == k**3 // 4
    assert switches == 5 * k * k // 4
    assert at_ends == len(fabric.ends)
    half = k // 2
    same_edge, same_pod = half - 1, half * half - half
    expected = {2: same_edge, 4: same_pod, 6: len(fabric.ends) - half * half}
    assert fabric.hops() == {n: c * len(fabric.ends) for n, c in expected.items()}
    assert all(degree == k for node, degree in fabric.graph.degree if node not in fabric.ends)


@pytest.mark.parametrize("k", [4, 8])
def test_a_non_blocking_tree_has_full_bisection(k: int) -> None:
    for fabric in (fm.fat_tree(k), fm.leaf_spine(k)):
        value, _ = fabric.bisection()
        assert value == len(fabric.ends) / 2 * fm.NET


@pytest.mark.parametrize("k", [4, 8, 16])
def test_leaf_spine_sizes(k: int) -> None:
    fabric = fm.leaf_spine(k)
    switches, _, trunks = fabric.parts()
    assert (len(fabric.ends), switches, trunks) == fm.two_tier(k)


@pytest.mark.parametrize(("k", "up"), [(8, 2), (12, 3)])
def test_oversubscription_divides_the_bisection(k: int, up: int) -> None:
    fabric = fm.leaf_spine(k, up)
    value, _ = fabric.bisection()
    assert value / (len(fabric.ends) / 2 * fm.NET) == pytest.approx(up / (k - up))


@pytest.mark.parametrize(("p", "a", "h"), [(1, 2, 1), (2, 4, 2), (3, 6, 3)])
def test_dragonfly_follows_kim(p: int, a: int, h: int) -> None:
    fabric = fm.dragonfly(p, a, h)
    groups = a * h + 1
    switches, _, trunks = fabric.parts()
    assert (len(fabric.ends), switches, trunks) == fm.dragonfly_size(p, a, h)
    assert len(fabric.ends) == a * p * groups
    radix = {degree for node, degree in fabric.graph.degree if node not in fabric.ends}
    assert radix == {p + h + a - 1}
    assert max(fabric.hops()) == 5  # host, local, global, local, host
    if a == 2 * p == 2 * h:
        assert len(fabric.ends) == 4 * h**4 + 2 * h**2


def test_dragonfly_example_of_kim_has_72_hosts() -> None:
    assert fm.dragonfly_size(2, 4, 2)[0] == 72


def test_dragonfly_is_narrowest_where_one_group_is_cut_in_two() -> None:
    """Four groups against four and a group halved: 16 global + 4 local links."""
    fabric = fm.dragonfly(2, 4, 2)
    assert [fabric.cut(half) / fm.NET for half in fabric.halves] == [24, 20]
    assert all(len(half) == len(fabric.ends) // 2 for half in fabric.halves)


def test_dragonfly_plus_has_one_link_between_each_pair_of_groups() -> None:
    fabric = fm.dragonfly_plus(2, 2, 2, 2)
    between = [
        (a, b) for a, b in fabric.graph.edges if a.startswith("spine") and b.startswith("spine")
    ]
    pairs = {tuple(sorted((a[5:].split(".")[0], b[5:].split(".")[0]))) for a, b in between}
    assert len(between) == len(pairs) == math.comb(5, 2)
    assert max(fabric.hops()) == 5  # leaf, spine, spine, leaf between the hosts
    assert {d for n, d in fabric.graph.degree if n.startswith("spine")} == {2 + 2}


@pytest.mark.parametrize(
    "dims", [(4, 4), (2, 4), (8, 8), (4, 4, 4), (4, 4, 8), (2, 2, 2), (8, 8, 8)]
)
def test_torus_bisection_diameter_and_links(dims: tuple[int, ...]) -> None:
    fabric = fm.torus(*dims)
    nodes, longest = math.prod(dims), max(dims)
    value, _ = fabric.bisection()
    assert value == (2 if longest > 2 else 1) * nodes / longest * fm.NET
    assert max(fabric.hops()) == sum(size // 2 for size in dims)
    assert fabric.parts()[1] == sum(nodes if size > 2 else nodes // 2 for size in dims)


def test_a_mesh_has_half_the_bisection_of_its_torus() -> None:
    mesh, torus = fm.torus(4, 4, wrap=False), fm.torus(4, 4)
    assert mesh.bisection()[0] * 2 == torus.bisection()[0]
    assert max(mesh.hops()) == 6


def test_exact_and_canonical_bisection_agree_where_both_can_be_had() -> None:
    for fabric in (fm.fat_tree(4), fm.torus(4, 4)):
        value, how = fabric.bisection()
        assert how.startswith("exact")
        assert value == min(map(fabric.cut, fabric.halves))


def test_tpu_v4_torus() -> None:
    fabric = fm.torus(16, 16, 16)
    assert len(fabric.ends) == 4096
    value, how = fabric.bisection()
    assert value / fm.NET == 512
    assert how == "halves, tried: 3"
    assert max(fabric.hops()) == 24


def test_cube_mesh_is_that_of_the_papers() -> None:
    """Pascal whitepaper: two fully linked quads, 4 links a GPU; Li et al.: relays of G0."""
    mesh = fm.cube_mesh()
    assert set(mesh.graph.edges) == {(f"g{a}", f"g{b}") for a, b in figures_topo.QUADS} | {
        (f"g{a}", f"g{b}") for a, b in figures_topo.ACROSS
    }
    assert mesh.injection() == 80
    assert mesh.hops() == {1: 32, 2: 24}
    assert mesh.bisection() == (80, "exact, splits: 35")
    relays = {5: {"g1", "g4"}, 6: {"g2", "g4"}, 7: {"g3", "g4"}}
    for far, wanted in relays.items():
        assert set(mesh.graph["g0"]) & set(mesh.graph[f"g{far}"]) == wanted


def test_each_gpu_has_one_neighbour_that_reaches_all_it_does_not() -> None:
    """The relay neighbour of PyTorch's hybrid-cube-mesh all-reduce."""
    graph = fm.cube_mesh().graph
    for gpu in graph:
        alone = [other for other in graph if not set(graph[gpu]) & set(graph[other])]
        assert alone == [f"g{(int(gpu[1:]) + 4) % 8}"]


def test_v100_mesh_has_six_links_a_gpu_and_a_doubled_ring() -> None:
    mesh = fm.cube_mesh_v100()
    graph = mesh.graph
    for gpu in graph:
        assert sum(graph.edges[gpu, other]["links"] for other in graph[gpu]) == 6
    # NCCL issue 671: links of GPU 0 on a DGX-1 with V100
    assert {n: graph.edges["g0", n]["links"] for n in graph["g0"]} == {
        "g1": 1,
        "g2": 1,
        "g3": 2,
        "g4": 2,
    }
    assert mesh.bisection()[0] == 150


def test_rings_are_those_of_the_whitepapers() -> None:
    eight = tuple(f"g{n}" for n in range(8))
    assert fm.rings(fm.cube_mesh(), eight) == 2
    assert fm.rings(fm.cube_mesh_v100(), eight) == 3


@pytest.mark.parametrize(
    ("size", "with_ring"), [(2, 16), (3, 8), (4, 8), (5, 24), (6, 28), (7, 8), (8, 1)]
)
def test_subsets_with_a_ring(size: int, with_ring: int) -> None:
    mesh = fm.cube_mesh()
    found = [fm.rings(mesh, chosen) for chosen in combinations(mesh.ends, size)]
    assert sum(map(bool, found)) == with_ring


def test_three_gpus_of_one_quad_have_one_ring_each_way_round() -> None:
    assert fm.cycles(fm.cube_mesh(), ("g0", "g1", "g2")) == [
        (("g0", "g1"), ("g0", "g2"), ("g1", "g2"))
    ]


@pytest.mark.parametrize(
    ("build", "gpus", "rate", "chips"), [("dgx-h100", 8, 450, 4), ("gb200-nvl72", 72, 900, 18)]
)
def test_nvswitch_systems_have_full_bisection(
    build: str, gpus: int, rate: float, chips: int
) -> None:
    fabric = fm.BUILDERS[build]()
    assert fabric.injection() == rate
    assert fabric.bisection() == (gpus / 2 * rate, "exact, splits: 1")
    assert fabric.parts()[0] == chips
    assert set(fabric.hops()) == {2}


def test_rail_only_keeps_the_bisection_between_servers() -> None:
    with_spines, without = fm.rails(8, 8, 4), fm.rails(8, 8, 0)
    by_server, by_rail = without.halves
    assert with_spines.cut(by_server) == without.cut(by_server) == 32 * fm.NET
    assert without.cut(by_rail) == 8 * 4 * 450  # only NVLink joins rails
    assert fm.rails(8, 8, 4).hops().keys() == {2, 4}


@pytest.mark.parametrize(
    ("size", "published"),
    [
        (lambda: fm.two_tier(64), (2048, 96, 2048)),
        (lambda: tuple(8 * n for n in fm.two_tier(64)), (16384, 768, 16384)),
        (lambda: fm.three_tier(64), (65536, 5120, 131072)),
        (lambda: fm.dragonfly_size(16, 32, 16, 511), (261632, 16352, 384272)),
    ],
    ids=["FT2", "MPFT", "FT3", "DF"],
)
def test_table_3_of_the_deepseek_paper(size, published: tuple[int, int, int]) -> None:  # type: ignore[no-untyped-def]
    assert size() == published


@pytest.mark.parametrize(("units", "switches"), [(1, 8 + 4), (2, 16 + 8), (4, 32 + 16)])
def test_switches_of_the_h100_superpod(units: int, switches: int) -> None:
    assert fm.rail_pod(units) == (256 * units, switches, 256 * units)


def test_ecmp_limits() -> None:
    assert fm.ecmp(1, 8) == (1.0, pytest.approx(1 / 8))
    assert fm.ecmp(2, 2) == (0.5, pytest.approx(0.75))
    assert fm.ecmp(9, 8)[0] == 0
    assert fm.ecmp(10**4, 10**4)[1] == pytest.approx(1 - 1 / math.e, abs=1e-4)


@pytest.mark.parametrize("name", ["dgx1-p100", "torus-4x4", "fat-tree-4", "dragonfly", "rail-only"])
def test_drawings_pass_the_figure_check(name: str, tmp_path: Path) -> None:
    path = tmp_path / "figures" / "x.svg"
    path.parent.mkdir()
    fm.draw(fm.BUILDERS[name](), path)
    assert figure_check.check_svg(path, "x.svg") == []


def test_what_is_too_large_to_draw_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="512 endpoints"):
        fm.draw(fm.torus(8, 8, 8), tmp_path / "x.svg")
