"""The networks on chip of the notes: metrics by formula, routing, flow control, deadlock."""

from __future__ import annotations

import pytest

from tools.figures.files import load_program

topologies = load_program("link/noc/code/topologies.py")
grid = load_program("link/noc/code/noc_routing.py")
traffic = load_program("link/noc/code/noc_traffic.py")
noc = load_program("link/noc/code/noc.py")
deadlock = load_program("link/noc/code/deadlock.py")
load_latency = load_program("link/noc/code/load_latency.py")


@pytest.mark.parametrize("n", [16, 64])
@pytest.mark.parametrize("name", topologies.BUILDERS)
def test_metrics_follow_the_formulas(name: str, n: int) -> None:
    if name == "fat tree" and n == 16:
        n = 8  # a cube
    found = topologies.BUILDERS[name](n)
    diameter, mean = found.hops()
    counted = (found.degree, diameter, mean, found.bisection())
    assert counted == pytest.approx(topologies.formula(name, n))


@pytest.mark.parametrize(("name", "n"), [("ring", 8), ("hypercube", 8)])
def test_no_other_half_is_cheaper_to_cut_off(name: str, n: int) -> None:
    found = topologies.BUILDERS[name](n)
    assert found.exact_bisection() == found.bisection()


def test_no_half_of_a_mesh_of_sixteen_is_cheaper() -> None:
    """All 6435 halves, by counting links: in a direct network every node is on a given side."""
    found = topologies.mesh(16)
    number = {node: i for i, node in enumerate(found.sends)}
    edges = [(number[a], number[b]) for a, b in found.graph.edges]
    halves = [{0, *rest} for rest in topologies.combinations(range(1, 16), 7)]
    assert min(sum((a in h) != (b in h) for a, b in edges) for h in halves) == found.bisection()


def turns(routing: str) -> set[tuple[str, str]]:
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
                        found.add((came, way))
                    todo.append((there, way))
    return found


ALL = {(a, b) for a, b in [*zip("EEWW", "NSNS"), *zip("NNSS", "EWEW")]}  # noqa: B905


@pytest.mark.parametrize(
    ("routing", "forbidden"),
    [
        ("xy", {("N", "E"), ("N", "W"), ("S", "E"), ("S", "W")}),
        ("west-first", {("N", "W"), ("S", "W")}),
        ("negative-first", {("N", "W"), ("E", "S")}),
        ("unrestricted", set()),
    ],
)
def test_turns_that_a_routing_forbids(routing: str, forbidden: set[tuple[str, str]]) -> None:
    assert turns(routing) == ALL - forbidden


@pytest.mark.parametrize("name", ["mesh", "torus", "ring"])
def test_one_packet_takes_hops_times_cycles_plus_its_length(name: str) -> None:
    shape = grid.SHAPES[name]
    for dst in (1, 9 if name != "ring" else 20, 63):
        network = noc.Network(shape, grid.dimension_order, 2, dateline=shape.wraps)
        network.send(grid.Packet(0, dst, 4, 0.0))
        network.env.run(until=200)
        (x, y), hops = shape.at(dst), 0
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
    assert set(network.credits) == {3}
    assert set(network.owner) == {None}


def test_a_small_credit_loop_halves_the_rate() -> None:
    """One flit of buffer: a flit, then `hop` + `back` cycles until its credit is back."""
    times = {}
    for depth in (1, 2, 3, 4):
        network = noc.Network(grid.Shape(2, 1), grid.dimension_order, 1, depth=depth)
        network.send(grid.Packet(0, 1, 60, 0.0))
        network.env.run(until=400)
        times[depth] = network.delivered[0][1]
    assert times[1] == pytest.approx(59 * 3 + 2)
    assert times[3] == times[4] == 61
    assert times[3] < times[2] < times[1]


def test_the_ring_deadlocks_and_the_dateline_cures_it() -> None:
    *_, (_, _, dead) = deadlock.story(dateline=False)
    assert dead == ["0->1 vc0", "1->2 vc0", "2->3 vc0", "3->0 vc0"]
    network = deadlock.ring(dateline=False)
    network.env.run(until=1000)
    assert network.delivered == []
    assert network.moved == 0
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
