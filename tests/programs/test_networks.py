"""Networks between hosts and on a chip: metrics, routing, flow control, deadlock."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from hooks.drawings import figure_check
from tests.programs import printed
from tools.figures import topo as figures_topo

(fm,) = printed.load("link/topo/code", "fabric_metrics")
topologies, grid, traffic, noc, deadlock, load_latency = printed.load(
    "link/noc/code",
    *("topologies", "noc_routing", "noc_traffic", "noc", "deadlock", "load_latency"),
)


def parts(fabric: Any) -> tuple[int, int, int]:
    """Return endpoints, switches and links between switches."""
    switches, _, trunks = fabric.parts()
    return len(fabric.ends), switches, trunks


def radix(fabric: Any) -> set[int]:
    return {degree for node, degree in fabric.graph.degree if node not in fabric.ends}


# fabric_metrics: against closed formulas and published figures


@pytest.mark.parametrize("k", [4, 6, 8])
def test_three_tier_fat_tree_follows_al_fares(k: int) -> None:
    fabric, hosts, half = fm.fat_tree(k), k**3 // 4, k // 2
    assert parts(fabric) == fm.three_tier(k)
    assert parts(fabric)[:2] == (hosts, 5 * k * k // 4)
    same_edge, same_pod = half - 1, half * half - half
    expected = {2: same_edge, 4: same_pod, 6: hosts - half * half}
    assert fabric.hops() == {n: count * hosts for n, count in expected.items()}
    assert radix(fabric) == {k}


def test_leaf_and_spine_have_full_bisection_divided_by_oversubscription() -> None:
    for k in (4, 8, 16):
        assert parts(fm.leaf_spine(k)) == fm.two_tier(k)
    for fabric, share in (
        *((fm.fat_tree(8), 1), (fm.leaf_spine(8), 1)),
        *((fm.leaf_spine(8, 2), 2 / 6), (fm.leaf_spine(12, 3), 3 / 9)),
    ):
        whole = len(fabric.ends) / 2 * fm.NET
        assert fabric.bisection()[0] == pytest.approx(whole * share)


@pytest.mark.parametrize(("p", "a", "h"), [(1, 2, 1), (2, 4, 2), (3, 6, 3)])
def test_dragonfly_follows_kim(p: int, a: int, h: int) -> None:
    fabric = fm.dragonfly(p, a, h)
    assert parts(fabric) == fm.dragonfly_size(p, a, h)
    assert len(fabric.ends) == a * p * (a * h + 1)
    assert radix(fabric) == {p + h + a - 1}
    assert max(fabric.hops()) == 5  # host, local, global, local, host
    if a == 2 * p == 2 * h:
        assert len(fabric.ends) == 4 * h**4 + 2 * h**2


def test_dragonfly_is_narrowest_where_one_group_is_cut_in_two() -> None:
    """Four groups against four and a group halved: 16 global + 4 local links."""
    fabric = fm.dragonfly(2, 4, 2)
    assert [fabric.cut(half) / fm.NET for half in fabric.halves] == [24, 20]
    assert all(len(half) == len(fabric.ends) // 2 for half in fabric.halves)


def test_dragonfly_plus_has_one_link_between_each_pair_of_groups() -> None:
    fabric = fm.dragonfly_plus(2, 2, 2, 2)
    between = [
        tuple(sorted(end[5:].split(".")[0] for end in edge))
        for edge in fabric.graph.edges
        if all(end.startswith("spine") for end in edge)
    ]
    assert len(between) == len(set(between)) == math.comb(5, 2)
    assert max(fabric.hops()) == 5  # leaf, spine, spine, leaf between the hosts
    assert {d for n, d in fabric.graph.degree if n.startswith("spine")} == {2 + 2}


@pytest.mark.parametrize(
    "dims", [(4, 4), (2, 4), (8, 8), (4, 4, 4), (4, 4, 8), (2, 2, 2), (8, 8, 8)]
)
def test_torus_bisection_diameter_and_links(dims: tuple[int, ...]) -> None:
    fabric = fm.torus(*dims)
    nodes, longest = math.prod(dims), max(dims)
    assert fabric.bisection()[0] == (2 if longest > 2 else 1) * nodes / longest * fm.NET
    assert max(fabric.hops()) == sum(size // 2 for size in dims)
    assert fabric.parts()[1] == sum(nodes if size > 2 else nodes // 2 for size in dims)


def test_tori_of_the_note() -> None:
    """A mesh has half the bisection of its torus; TPU v4, whose halves are tried."""
    mesh, torus = fm.torus(4, 4, wrap=False), fm.torus(4, 4)
    value, how = torus.bisection()
    assert how.startswith("exact")
    assert mesh.bisection()[0] * 2 == value == min(map(torus.cut, torus.halves))
    assert max(mesh.hops()) == 6
    tpu = fm.torus(16, 16, 16)
    assert tpu.bisection() == (512 * fm.NET, "halves, tried: 3")
    assert max(tpu.hops()) == 24


def test_cube_mesh_is_that_of_the_papers() -> None:
    """Pascal whitepaper: two fully linked quads, 4 links a GPU; Li et al.: relays of G0."""
    mesh = fm.cube_mesh()
    drawn = {*figures_topo.QUADS, *figures_topo.ACROSS}
    assert set(mesh.graph.edges) == {(f"g{a}", f"g{b}") for a, b in drawn}
    assert mesh.injection() == 80
    assert mesh.hops() == {1: 32, 2: 24}
    assert mesh.bisection() == (80, "exact, splits: 35")
    relays = {5: {"g1", "g4"}, 6: {"g2", "g4"}, 7: {"g3", "g4"}}
    for far, wanted in relays.items():
        assert set(mesh.graph["g0"]) & set(mesh.graph[f"g{far}"]) == wanted
    # the relay neighbour of PyTorch's hybrid-cube-mesh all-reduce: it reaches all the rest
    for gpu in mesh.graph:
        alone = [far for far in mesh.graph if not set(mesh.graph[gpu]) & set(mesh.graph[far])]
        assert alone == [f"g{(int(gpu[1:]) + 4) % 8}"]


def test_v100_mesh_has_six_links_a_gpu_and_a_doubled_ring() -> None:
    mesh = fm.cube_mesh_v100()
    links = {
        gpu: {n: mesh.graph.edges[gpu, n]["links"] for n in mesh.graph[gpu]} for gpu in mesh.graph
    }
    assert {sum(one.values()) for one in links.values()} == {6}
    # NCCL issue 671: links of GPU 0 on a DGX-1 with V100
    assert links["g0"] == {"g1": 1, "g2": 1, "g3": 2, "g4": 2}
    assert mesh.bisection()[0] == 150


def test_rings_are_those_of_the_whitepapers() -> None:
    mesh = fm.cube_mesh()
    assert fm.rings(mesh, mesh.ends) == 2
    assert fm.rings(fm.cube_mesh_v100(), mesh.ends) == 3
    for size, with_ring in {2: 16, 3: 8, 4: 8, 5: 24, 6: 28, 7: 8, 8: 1}.items():
        found = [fm.rings(mesh, chosen) for chosen in combinations(mesh.ends, size)]
        assert sum(map(bool, found)) == with_ring
    # three GPUs of one quad have one ring, each way round
    assert fm.cycles(mesh, ("g0", "g1", "g2")) == [(("g0", "g1"), ("g0", "g2"), ("g1", "g2"))]


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
    assert with_spines.hops().keys() == {2, 4}


def test_published_sizes() -> None:
    """Table 3 of the DeepSeek paper (FT2, MPFT, FT3, DF), Kim's example, H100 SuperPODs."""
    two = fm.two_tier(64)
    assert two == (2048, 96, 2048)
    assert tuple(8 * n for n in two) == (16384, 768, 16384)
    assert fm.three_tier(64) == (65536, 5120, 131072)
    assert fm.dragonfly_size(16, 32, 16, 511) == (261632, 16352, 384272)
    assert fm.dragonfly_size(2, 4, 2)[0] == 72
    for units, switches in ((1, 8 + 4), (2, 16 + 8), (4, 32 + 16)):
        assert fm.rail_pod(units) == (256 * units, switches, 256 * units)


def test_ecmp_limits() -> None:
    assert fm.ecmp(1, 8) == (1.0, pytest.approx(1 / 8))
    assert fm.ecmp(2, 2) == (0.5, pytest.approx(0.75))
    assert fm.ecmp(9, 8)[0] == 0
    assert fm.ecmp(10**4, 10**4)[1] == pytest.approx(1 - 1 / math.e, abs=1e-4)


def test_drawings_pass_the_figure_check_and_what_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "figures" / "x.svg"
    path.parent.mkdir()
    for name in ("dgx1-p100", "torus-4x4", "fat-tree-4", "dragonfly", "rail-only"):
        fm.draw(fm.BUILDERS[name](), path)
        assert figure_check.check_svg(path, "x.svg") == [], name
    with pytest.raises(SystemExit, match="512 endpoints"):
        fm.draw(fm.torus(8, 8, 8), path)


# On a chip: topologies


@pytest.mark.parametrize("n", [16, 64])
@pytest.mark.parametrize("name", topologies.BUILDERS)
def test_metrics_follow_the_formulas(name: str, n: int) -> None:
    if name == "fat tree" and n == 16:
        n = 8  # a cube
    found = topologies.BUILDERS[name](n)
    counted = (found.degree, *found.hops(), found.bisection())
    assert counted == pytest.approx(topologies.formula(name, n))


def test_no_other_half_is_cheaper_to_cut_off() -> None:
    for name in ("ring", "hypercube"):
        found = topologies.BUILDERS[name](8)
        assert found.exact_bisection() == found.bisection()
    # all 6435 halves, by counting links: in a direct network every node is on a given side
    found = topologies.mesh(16)
    number = {node: i for i, node in enumerate(found.sends)}
    edges = [(number[a], number[b]) for a, b in found.graph.edges]
    halves = [{0, *rest} for rest in combinations(range(1, 16), 7)]
    assert min(sum((a in h) != (b in h) for a, b in edges) for h in halves) == found.bisection()


# noc_routing, noc, deadlock


def turns(routing: str) -> set[str]:
    """Return every turn that a routing may make on a mesh of 5 x 5."""
    shape, found = grid.Shape(5, 5), set()
    names = {1: "E", -1: "W", 5: "N", -5: "S"}
    for src in range(25):
        for dst in set(range(25)) - {src}:
            packet = grid.Packet(src, dst, 1, 0.0)
            todo = [(src, "")]
            while todo:
                node, came = todo.pop()
                if node == dst:
                    continue
                for there, _ in grid.ROUTINGS[routing](shape, packet, node):
                    way = names[there - node]
                    if came and came != way:
                        found.add(came + way)
                    todo.append((there, way))
    return found


@pytest.mark.parametrize(
    ("routing", "forbidden"),
    [
        ("xy", "NE NW SE SW"),
        ("west-first", "NW SW"),
        ("negative-first", "NW ES"),
        ("unrestricted", ""),
    ],
)
def test_turns_that_a_routing_forbids(routing: str, forbidden: str) -> None:
    assert turns(routing) == set("EN ES WN WS NE NW SE SW".split()) - set(forbidden.split())


@pytest.mark.parametrize("name", ["mesh", "torus", "ring"])
def test_one_packet_takes_hops_times_cycles_plus_its_length(name: str) -> None:
    shape = grid.SHAPES[name]
    for dst in (1, 9 if name != "ring" else 20, 63):
        network = noc.Network(shape, grid.dimension_order, 2, dateline=shape.wraps)
        network.send(grid.Packet(0, dst, 4, 0.0))
        network.env.run(until=200)
        x, y = shape.at(dst)
        hops = abs(shape.way(0, x, shape.width)) + abs(shape.way(0, y, shape.height))
        [(_, arrived)] = network.delivered
        assert arrived == hops * network.hop + 3


@pytest.mark.parametrize("curve", load_latency.TOPOLOGY[:3])
def test_latency_without_load_follows_the_formula(curve: tuple[str, str, str, int, str]) -> None:
    found = load_latency.measured(curve, 0.01).latency
    assert found == pytest.approx(load_latency.zero_load(grid.SHAPES[curve[1]]), rel=0.05)


def test_credits_never_let_a_buffer_overflow_and_all_arrives() -> None:
    network = noc.Network(grid.Shape(4, 4), grid.west_first, 2, depth=3)
    for packet in range(400):
        src = network.random.randrange(16)
        network.send(grid.Packet(src, (src + 1 + packet % 15) % 16, 5, 0.0))
    while len(network.delivered) < 400:
        network.env.run(until=network.env.now + 1)
        assert all(len(b) <= 3 for b in network.buffer[: network.inject])
        assert network.env.now < 5000
    network.env.run(until=network.env.now + 5)
    assert (set(network.credits), set(network.owner)) == ({3}, {None})


def test_a_small_credit_loop_halves_the_rate() -> None:
    """One flit of buffer: a flit, then `hop` + `back` cycles until its credit is back."""
    times = {}
    for depth in (1, 2, 3, 4):
        network = noc.Network(grid.Shape(2, 1), grid.dimension_order, 1, depth=depth)
        network.send(grid.Packet(0, 1, 60, 0.0))
        network.env.run(until=400)
        times[depth] = network.delivered[0][1]
    assert times[1] == pytest.approx(59 * 3 + 2)
    assert 61 == times[3] == times[4] < times[2] < times[1]


def test_the_ring_deadlocks_and_the_dateline_cures_it() -> None:
    *_, (_, _, dead) = deadlock.story(dateline=False)
    assert dead == ["0->1 vc0", "1->2 vc0", "2->3 vc0", "3->0 vc0"]
    network = deadlock.ring(dateline=False)
    network.env.run(until=1000)
    assert (network.delivered, network.moved) == ([], 0)
    *_, (_, _, dead) = deadlock.story(dateline=True)
    assert dead == []


def test_no_cycle_is_reported_while_flits_still_leave_it() -> None:
    """What `deadlock` names never moves again."""
    network = noc.Network(grid.SHAPES["mesh"], grid.unrestricted, 1)
    for node in range(64):
        network.source(node, 0.35, 4, traffic.uniform(network))
    while not (dead := network.deadlock()):
        network.env.run(until=network.env.now + 10)
        assert network.env.now < 2000
    before = {b: list(network.buffer[b]) for b in dead}
    network.env.run(until=network.env.now + 200)
    assert all(list(network.buffer[b])[: len(flits)] == flits for b, flits in before.items())
