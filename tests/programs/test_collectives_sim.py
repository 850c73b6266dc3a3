"""The simulated collectives: results, counts, and the calculator's formulas proved by them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hooks.calc import engine
from hooks.calc.engine import Engine
from tests import ours
from tools.figures.files import load_program

sim = load_program("ccl/code/collectives.py")
busbw = load_program("ccl/code/busbw.py")
fits = load_program("ccl/code/fit_alpha_beta.py")
s = sim.schedules
RANKS = [2, 3, 4, 5, 6, 7, 8, 12, 13, 16]
POWERS = [2, 4, 8, 16, 32]
ALPHA, RATE = 3e-6, 50e9
NODES = [(2, 2), (4, 2), (8, 2), (4, 3), (4, 4), (8, 4), (2, 8), (1, 8), (1, 7)]


@pytest.fixture(scope="module")
def calc() -> Engine:
    return engine.default(ours.facts())


def run(operation: str, schedule: Any, n: int, chunks: int) -> tuple[Any, int]:
    """Return counts and S, which all chunks divide."""
    size = chunks * n * 840
    return sim.run(operation, schedule, n, chunks, size), size


def ring(n: int) -> Any:
    return s.all_reduce(s.ring_gather(n), s.ring_left(n))


@pytest.mark.parametrize("n", RANKS)
@pytest.mark.parametrize("size", [1, 1000, 999_983])
def test_every_algorithm_is_right_at_any_size(n: int, size: int) -> None:
    for operation, name, schedule, chunks in sim.examples(n, n):
        counts = sim.run(operation, schedule, n, chunks, size)
        assert counts.sent.total() == counts.received.total() == counts.links.total(), name


@pytest.mark.parametrize(
    ("per_node", "nodes"),
    [pytest.param(*one, marks=[pytest.mark.slow] if one == (8, 4) else []) for one in NODES],
)
def test_every_algorithm_over_nodes_is_right(per_node: int, nodes: int) -> None:
    for operation, _, schedule, chunks in sim.examples(per_node * nodes, per_node):
        sim.run(operation, schedule, per_node * nodes, chunks, 10_007)


def test_a_wrong_schedule_is_found() -> None:
    good = ring(5)
    with pytest.raises(ValueError, match="wrong result"):
        sim.run("all-reduce", good[:-1], 5, 5, 1000)
    with pytest.raises(ValueError, match="wrong result"):  # a contribution counted twice
        sim.run("all-reduce", good[:1] + good, 5, 5, 1000)
    with pytest.raises(ValueError, match="does not have"):
        sim.run("all-gather", s.ring_gather(5)[::-1], 5, 5, 1000)
    with pytest.raises(ValueError, match="power of two"):
        s.doubling_gather(6)


@pytest.mark.parametrize("n", RANKS)
def test_flat_formulas_for_any_number_of_ranks(n: int, calc: Engine) -> None:
    gathers = [("ringHalf", s.ring_gather(n)), ("ringHalf", s.ring_left(n))]
    gathers += [("recursiveHalf", s.bruck_gather(n)), ("recursiveHalf", s.pat_gather(n))]
    for name, gather in gathers:
        for operation, schedule in (("all-gather", gather), ("reduce-scatter", s.reverse(gather))):
            counts, size = run(operation, schedule, n, n)
            wanted = calc.formula(name, n, size, ALPHA, RATE)
            assert counts.time(ALPHA, RATE) == pytest.approx(wanted)
    counts, size = run("all-reduce", ring(n), n, n)
    wanted = calc.formula("ringAllReduce", n, size, ALPHA, RATE)
    assert counts.time(ALPHA, RATE) == pytest.approx(wanted)
    assert set(counts.sent.values()) == {2 * (n - 1) * size // n}  # every rank, not only one
    counts, size = run("broadcast", s.binomial(n), n, 1)
    wanted = calc.formula("binomial", n, size, ALPHA, RATE)
    assert counts.time(ALPHA, RATE) == pytest.approx(wanted)
    counts, size = run("broadcast", s.scatter(n) + s.ring_gather(n), n, n)
    wanted = calc.formula("scatterGather", n, size, ALPHA, RATE)
    assert counts.time(ALPHA, RATE) == pytest.approx(wanted)


@pytest.mark.parametrize("n", POWERS)
def test_formulas_for_powers_of_two(n: int, calc: Engine) -> None:
    cases = [
        ("halvingDoublingAllReduce", "all-reduce", s.all_reduce(s.doubling_gather(n)), n),
        ("doublingAllReduce", "all-reduce", s.doubling_reduce(n), 1),
        ("bruckAllToAll", "all-to-all", s.bruck_exchange(n), n * n),
    ]
    for name, operation, schedule, chunks in cases:
        counts, size = run(operation, schedule, n, chunks)
        wanted = calc.formula(name, n, size, ALPHA, RATE)
        assert counts.time(ALPHA, RATE) == pytest.approx(wanted), name


@pytest.mark.parametrize("n", RANKS)
def test_bruck_exchange_of_other_numbers_costs_no_more(n: int, calc: Engine) -> None:
    counts, size = run("all-to-all", s.bruck_exchange(n), n, n * n)
    wanted = calc.formula("bruckAllToAll", n, size, ALPHA, RATE)
    assert counts.time(ALPHA, RATE) <= wanted * (1 + 1e-12)


@pytest.mark.parametrize("n", range(2, 49))
def test_double_tree_rounds_and_bytes(n: int, calc: Engine) -> None:
    counts, size = run("all-reduce", s.double_tree_reduce(n), n, 2)
    assert counts.busiest == calc.formula("treeBuffers", n) * size
    assert len(counts.rounds) * ALPHA == pytest.approx(
        calc.formula("treeAllReduce", n, 0, ALPHA, 1)
    )
    for parents in (s.binary_tree(n), s.second_tree(n)):
        assert max(s.depths(parents)) == s.levels(n)
        assert max(parents.count(rank) for rank in range(n)) <= 2


@pytest.mark.parametrize("n", [4, 8, pytest.param(16, marks=pytest.mark.slow)])
def test_pipelined_trees_near_the_formula(n: int, calc: Engine) -> None:
    """With many segments a round is full on the busiest rank, and latency is left out."""
    counts, size = run("all-reduce", s.double_tree_reduce(n, 400), n, 800)
    assert counts.time(0, RATE) == pytest.approx(
        calc.formula("treeAllReduce", n, size, 0, RATE), rel=0.03
    )


@pytest.mark.parametrize("n", RANKS)
def test_chain_of_segments(n: int) -> None:
    for segments in (1, 7, 64):
        counts, size = run("broadcast", s.chain(n, segments), n, segments)
        assert counts.rounds == [size // segments] * (n - 2 + segments)


def in_and_out(counts: Any, per_node: int) -> tuple[set[int], set[int]]:
    """Return what ranks send inside their node and out of it."""
    out = sim.out_of_nodes(counts, per_node)
    return {counts.sent[r] - out[r] for r in counts.sent}, {out[r] for r in counts.sent}


def cost(calc: Engine, name: str, *arguments: Any) -> dict[str, float]:
    """Return a cost with bytes for the times of the links and rounds for alpha."""
    unit = {"alpha": 1, "bandwidth": 1}
    found: dict[str, float] = calc.formula(name, *arguments[:3], unit, unit, *arguments[3:])
    return found


@pytest.mark.parametrize(("per_node", "nodes"), NODES)
def test_rings_on_rails(per_node: int, nodes: int, calc: Engine) -> None:
    n = per_node * nodes
    gather = s.rail_rings(per_node, nodes)
    schedule = s.all_reduce(gather, s.rail_rings(per_node, nodes, -1))
    for operation, passes, found in (("all-gather", 1, gather), ("all-reduce", 2, schedule)):
        counts, size = run(operation, found, n, n * per_node)
        wanted = cost(calc, "railRing", per_node, nodes, size, passes)
        assert in_and_out(counts, per_node) == ({round(wanted["link"])}, {round(wanted["net"])})
        assert len(counts.rounds) == wanted["alpha"]


@pytest.mark.parametrize(("per_node", "nodes"), NODES)
def test_a_chunk_crosses_between_nodes_as_tuning_cc_counts(per_node: int, nodes: int) -> None:
    """Of a chunk's n-1 hops N-1 leave a node when it starts where a ring enters one, else N."""
    crossed: dict[int, int] = {}
    for messages in s.rail_rings(per_node, nodes):
        for m in messages:
            leaves = m.source // per_node != m.target // per_node
            for chunk in m.chunks:
                crossed[chunk] = crossed.get(chunk, 0) + leaves
    assert set(crossed.values()) == ({nodes - 1, nodes} if per_node > 1 else {nodes - 1})


@pytest.mark.parametrize(("per_node", "nodes"), NODES)
def test_trees_on_rails(per_node: int, nodes: int, calc: Engine) -> None:
    n = per_node * nodes
    counts, size = run("all-reduce", s.rail_trees(per_node, nodes), n, 2 * per_node)
    wanted = cost(calc, "railTree", per_node, nodes, size)
    inside, out = in_and_out(counts, per_node)
    assert inside == {round(wanted["link"])} and max(out) == wanted["net"]
    assert len(counts.rounds) == wanted["alpha"]


@pytest.mark.parametrize(("per_node", "nodes"), NODES)
def test_hierarchical(per_node: int, nodes: int, calc: Engine) -> None:
    n = per_node * nodes
    cases = [("hierarchical", s.hierarchical_reduce(n, nodes))]
    if n & (n - 1) == 0:
        halves = s.hierarchical_gather(n, nodes, s.doubling_gather)
        cases.append(("recursiveRails", s.all_reduce(halves)))
    for name, schedule in cases:
        counts, size = run("all-reduce", schedule, n, n)
        wanted = cost(calc, name, per_node, nodes, size, 2)
        assert in_and_out(counts, per_node) == ({round(wanted["link"])}, {round(wanted["net"])})
        assert len(counts.rounds) == wanted["alpha"]
        assert counts.busiest == 2 * (n - 1) * size // n


@pytest.mark.parametrize(("per_node", "nodes"), NODES)
def test_direct_exchange_over_nodes(per_node: int, nodes: int, calc: Engine) -> None:
    n = per_node * nodes
    counts, size = run("all-to-all", s.direct_exchange(n), n, n * n)
    wanted = cost(calc, "directAllToAll", per_node, nodes, size)
    assert in_and_out(counts, per_node) == ({round(wanted["link"])}, {round(wanted["net"])})


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 4), (4, 4), (3, 5), (8, 4)])
def test_torus_uses_both_ways_at_once(rows: int, columns: int) -> None:
    n = rows * columns
    counts, size = run("all-reduce", s.torus_reduce(rows, columns), n, 2 * n)
    assert len(counts.rounds) == 2 * (rows - 1) + 2 * (columns - 1)
    assert set(counts.sent.values()) == {2 * (n - 1) * size // n}
    if rows == columns:  # each of two links carries half
        assert len(set(counts.links.values())) == 1


@pytest.mark.parametrize("n", RANKS)
def test_bus_factor_is_what_a_rank_sends(n: int, calc: Engine) -> None:
    cases = [
        ("all-reduce", ring(n), n),
        ("all-gather", s.ring_gather(n), n),
        ("reduce-scatter", s.reverse(s.ring_left(n)), n),
        ("all-to-all", s.direct_exchange(n), n * n),
        ("broadcast", s.chain(n, 9), 9),
    ]
    for operation, schedule, chunks in cases:
        counts, size = run(operation, schedule, n, chunks)
        assert counts.busiest / size == pytest.approx(calc.formula("busFactor", operation, n))


def test_far_ranks_first_sends_less_between_nodes() -> None:
    n, per_node = 16, 4
    across = {}
    for name in ("ring", "bruck", "pat"):
        counts, size = run("all-gather", getattr(s, f"{name}_gather")(n), n, n)
        across[name] = sim.out_of_nodes(counts, per_node).total() / size
    assert across == {"ring": 3.75, "bruck": 13.25, "pat": 7.0}
    small = [len(s.pat_gather(n, most)) for most in (0, 4, 2, 1)]
    assert small == [math.ceil(math.log2(n)), 5, 8, 15]


@pytest.mark.parametrize("n", [2, 3, 8, 64])
def test_the_conversion_has_the_calculators_factors(n: int, calc: Engine) -> None:
    known = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "reduce")
    for operation in known:
        assert busbw.FACTORS[operation](n) == pytest.approx(calc.formula("busFactor", operation, n))
    assert busbw.in_bytes("4GiB") == 4 << 30 and busbw.in_bytes("4GB") == 4 * 10**9


def test_a_fit_finds_the_line_it_is_given() -> None:
    sizes = [float(1 << k) for k in range(12, 31, 2)]
    found = fits.fit(sizes, [2e-5 + size / 2e11 for size in sizes])
    assert found.alpha == pytest.approx(2e-5) and found.bandwidth == pytest.approx(2e11)
    assert found.worst < 1e-9
