"""Collectives: schedules that prove the calculator's formulas, compression, NCCL's own choices."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any

import numpy as np
import pytest

from hooks.calc import engine
from hooks.calc.engine import Engine
from tests import ours
from tests.programs import printed
from tests.samples import read_yaml
from tools.figures.files import ROOT

sim, busbw, fits, compression, lines, model = printed.load(
    "ccl/code",
    *("collectives", "busbw", "fit_alpha_beta", "compression", "nccl_lines", "nccl_model"),
)
choose, expected, in_network = printed.load("ccl/nccl/code", "choose", "expected", "in_network")
NCCL = ROOT / "docs/ccl/nccl"
s = sim.schedules
RANKS = pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7, 8, 12, 13, 16])
ALPHA, RATE = 3e-6, 50e9
NODES = pytest.mark.parametrize(
    ("per_node", "nodes"), [(2, 2), (4, 2), (8, 2), (4, 3), (4, 4), (8, 4), (2, 8), (1, 8), (1, 7)]
)

# collectives: results, counts, formulas


@pytest.fixture(scope="module")
def calc() -> Engine:
    return engine.default(ours.facts())


def run(operation: str, schedule: Any, n: int, chunks: int) -> tuple[Any, int]:
    """Return counts and S, which all chunks divide."""
    size = chunks * n * 840
    return sim.run(operation, schedule, n, chunks, size), size


def ring(n: int) -> Any:
    return s.all_reduce(s.ring_gather(n), s.ring_left(n))


@RANKS
@pytest.mark.parametrize("size", [1, 1000, 999_983])
def test_every_algorithm_is_right_at_any_size(n: int, size: int) -> None:
    for operation, name, schedule, chunks in sim.examples(n, n):
        counts = sim.run(operation, schedule, n, chunks, size)
        assert counts.sent.total() == counts.received.total() == counts.links.total(), name


@pytest.mark.parametrize(
    ("per_node", "nodes"),
    [(2, 2), (4, 3), (8, 2), (1, 7), pytest.param(8, 4, marks=pytest.mark.slow)],
)
def test_every_algorithm_over_nodes_is_right(per_node: int, nodes: int) -> None:
    for operation, _, schedule, chunks in sim.examples(per_node * nodes, per_node):
        sim.run(operation, schedule, per_node * nodes, chunks, 10_007)


def test_a_wrong_schedule_is_found() -> None:
    good = ring(5)
    for wrong in (good[:-1], good[:1] + good):  # one round short; a contribution counted twice
        with pytest.raises(ValueError, match="wrong result"):
            sim.run("all-reduce", wrong, 5, 5, 1000)
    with pytest.raises(ValueError, match="does not have"):
        sim.run("all-gather", s.ring_gather(5)[::-1], 5, 5, 1000)
    with pytest.raises(ValueError, match="power of two"):
        s.doubling_gather(6)


@RANKS
def test_formulas_of_flat_schedules(n: int, calc: Engine) -> None:
    exchange = ("bruckAllToAll", "all-to-all", s.bruck_exchange(n), n * n)
    cases = [
        ("ringAllReduce", "all-reduce", ring(n), n),
        ("binomial", "broadcast", s.binomial(n), 1),
        ("scatterGather", "broadcast", s.scatter(n) + s.ring_gather(n), n),
    ]
    for name, gather in (
        *(("ringHalf", s.ring_gather(n)), ("ringHalf", s.ring_left(n))),
        *(("recursiveHalf", s.bruck_gather(n)), ("recursiveHalf", s.pat_gather(n))),
    ):
        cases += [(name, "all-gather", gather, n), (name, "reduce-scatter", s.reverse(gather), n)]
    if n & (n - 1) == 0:
        halved = s.all_reduce(s.doubling_gather(n))
        cases += [
            ("halvingDoublingAllReduce", "all-reduce", halved, n),
            ("doublingAllReduce", "all-reduce", s.doubling_reduce(n), 1),
            exchange,
        ]
    for name, operation, schedule, chunks in cases:
        counts, size = run(operation, schedule, n, chunks)
        wanted = calc.formula(name, n, size, ALPHA, RATE)
        assert counts.time(ALPHA, RATE) == pytest.approx(wanted), name
    counts, size = run(*exchange[1:3], n, exchange[3])  # other numbers of ranks cost no more
    assert counts.time(ALPHA, RATE) <= calc.formula(exchange[0], n, size, ALPHA, RATE) * (1 + 1e-12)
    for segments in (1, 7, 64):
        counts, size = run("broadcast", s.chain(n, segments), n, segments)
        assert counts.rounds == [size // segments] * (n - 2 + segments)


@pytest.mark.parametrize("n", range(2, 49))
def test_double_tree_rounds_and_bytes(n: int, calc: Engine) -> None:
    counts, size = run("all-reduce", s.double_tree_reduce(n), n, 2)
    assert counts.busiest == calc.formula("treeBuffers", n) * size
    latency = calc.formula("treeAllReduce", n, 0, ALPHA, 1)
    assert len(counts.rounds) * ALPHA == pytest.approx(latency)
    for parents in (s.binary_tree(n), s.second_tree(n)):
        assert max(s.depths(parents)) == s.levels(n)
        assert max(parents.count(rank) for rank in range(n)) <= 2


@pytest.mark.parametrize("n", [4, 8, pytest.param(16, marks=pytest.mark.slow)])
def test_pipelined_trees_near_the_formula(n: int, calc: Engine) -> None:
    """With many segments a round is full on the busiest rank, and latency is left out."""
    counts, size = run("all-reduce", s.double_tree_reduce(n, 400), n, 800)
    wanted = calc.formula("treeAllReduce", n, size, 0, RATE)
    assert counts.time(0, RATE) == pytest.approx(wanted, rel=0.03)


@NODES
def test_formulas_over_nodes(per_node: int, nodes: int, calc: Engine) -> None:
    """Bytes inside a node and out of it, and rounds, of every rank; trees: of the busiest."""
    n = per_node * nodes
    rails = s.rail_rings(per_node, nodes)
    both = s.all_reduce(rails, s.rail_rings(per_node, nodes, -1))
    cases: list[tuple[str, tuple[int, ...], str, Any, int]] = [
        ("railRing", (1,), "all-gather", rails, n * per_node),
        ("railRing", (2,), "all-reduce", both, n * per_node),
        ("railTree", (), "all-reduce", s.rail_trees(per_node, nodes), 2 * per_node),
        ("hierarchical", (2,), "all-reduce", s.hierarchical_reduce(n, nodes), n),
        ("directAllToAll", (), "all-to-all", s.direct_exchange(n), n * n),
    ]
    if n & (n - 1) == 0:
        halves = s.hierarchical_gather(n, nodes, s.doubling_gather)
        cases.append(("recursiveRails", (2,), "all-reduce", s.all_reduce(halves), n))
    unit = {"alpha": 1, "bandwidth": 1}  # bytes for the times of the links, rounds for alpha
    for name, passes, operation, schedule, chunks in cases:
        counts, size = run(operation, schedule, n, chunks)
        wanted = calc.formula(name, per_node, nodes, size, unit, unit, *passes)
        out = sim.out_of_nodes(counts, per_node)
        inside = {counts.sent[rank] - out[rank] for rank in counts.sent}
        outside = {out[rank] for rank in counts.sent}
        assert inside == {round(wanted["link"])}, name
        assert (max(outside) if name == "railTree" else outside) == (
            wanted["net"] if name == "railTree" else {round(wanted["net"])}
        ), name
        if name != "directAllToAll":
            assert len(counts.rounds) == wanted["alpha"], name
        if name in ("hierarchical", "recursiveRails"):
            assert counts.busiest == 2 * (n - 1) * size // n


@NODES
def test_a_chunk_crosses_between_nodes_as_tuning_cc_counts(per_node: int, nodes: int) -> None:
    """Of a chunk's n-1 hops N-1 leave a node when it starts where a ring enters one, else N."""
    crossed: dict[int, int] = {}
    for messages in s.rail_rings(per_node, nodes):
        for m in messages:
            leaves = m.source // per_node != m.target // per_node
            for chunk in m.chunks:
                crossed[chunk] = crossed.get(chunk, 0) + leaves
    assert set(crossed.values()) == ({nodes - 1, nodes} if per_node > 1 else {nodes - 1})


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (2, 4), (4, 4), (3, 5), (8, 4)])
def test_torus_uses_both_ways_at_once(rows: int, columns: int) -> None:
    n = rows * columns
    counts, size = run("all-reduce", s.torus_reduce(rows, columns), n, 2 * n)
    assert len(counts.rounds) == 2 * (rows - 1) + 2 * (columns - 1)
    assert set(counts.sent.values()) == {2 * (n - 1) * size // n}
    if rows == columns:  # each of two links carries half
        assert len(set(counts.links.values())) == 1


@RANKS
def test_bus_factor_is_what_a_rank_sends(n: int, calc: Engine) -> None:
    for operation, schedule, chunks in (
        ("all-reduce", ring(n), n),
        ("all-gather", s.ring_gather(n), n),
        ("reduce-scatter", s.reverse(s.ring_left(n)), n),
        ("all-to-all", s.direct_exchange(n), n * n),
        ("broadcast", s.chain(n, 9), 9),
    ):
        counts, size = run(operation, schedule, n, chunks)
        factor = calc.formula("busFactor", operation, n)
        assert counts.busiest / size == pytest.approx(factor)
        assert busbw.FACTORS[operation](n) == pytest.approx(factor)


def test_far_ranks_first_sends_less_between_nodes() -> None:
    n, across = 16, {}
    for name in ("ring", "bruck", "pat"):
        counts, size = run("all-gather", getattr(s, f"{name}_gather")(n), n, n)
        across[name] = sim.out_of_nodes(counts, 4).total() / size
    assert across == {"ring": 3.75, "bruck": 13.25, "pat": 7.0}
    small = [len(s.pat_gather(n, most)) for most in (0, 4, 2, 1)]
    assert small == [math.ceil(math.log2(n)), 5, 8, 15]


def test_a_fit_finds_the_line_it_is_given_and_sizes_are_read() -> None:
    sizes = [float(1 << k) for k in range(12, 31, 2)]
    found = fits.fit(sizes, [2e-5 + size / 2e11 for size in sizes])
    assert found.alpha == pytest.approx(2e-5) and found.bandwidth == pytest.approx(2e11)
    assert found.worst < 1e-9
    assert busbw.in_bytes("4GiB") == 4 << 30 and busbw.in_bytes("4GB") == 4 * 10**9


# compression: the roundings, the sums, error feedback, and the break-even rate


def test_e4m3_has_the_values_of_the_format() -> None:
    """Every finite E4M3 number stays, and halves between neighbours go to the even one."""
    numbers = [m * 2.0**-9 for m in range(8)]
    numbers += [(1 + m / 8) * 2.0**e for e in range(-6, 9) for m in range(8)]
    kept = np.array(numbers[:127])  # the last code is no number
    assert max(kept) == 448
    assert (compression.e4m3(kept) == kept).all() and (compression.e4m3(-kept) == -kept).all()
    halves = (kept[:-1] + kept[1:]) / 2
    even = np.where(np.arange(126) % 2 == 0, kept[:-1], kept[1:])
    assert (compression.e4m3(halves) == even).all()
    assert compression.e4m3(np.array([1e6]))[0] == 448


@pytest.mark.parametrize("bits", [4, 8])
def test_integers_err_by_half_a_step_at_most(bits: int) -> None:
    values = compression.drawn(2)[0]
    blocks = np.abs(values).reshape(-1, compression.BLOCK)
    step = blocks.max(axis=1) / (2 ** (bits - 1) - 1)
    error = np.abs(compression.integer(bits)(values) - values)
    assert (error.reshape(-1, compression.BLOCK).max(axis=1) <= step / 2 * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    "ranks",
    [pytest.param(n, marks=[pytest.mark.slow] if n > 16 else []) for n in compression.RANKS],
)
def test_sums_are_exact_without_rounding_and_err_as_the_note_says(ranks: int) -> None:
    """Independent values: e sqrt((n + 1) / 2) by a ring, e sqrt 2 by two shots."""
    values, rounding = compression.drawn(ranks), compression.integer(8)
    once = compression.relative_error(rounding(values[0]), values[:1])
    for way, factor in ((compression.ring, (ranks + 1) / 2), (compression.two_shot, 2)):
        assert np.allclose(way(values, lambda v: v), values.sum(axis=0))
        found = compression.relative_error(way(values, rounding), values)
        assert found == pytest.approx(once * math.sqrt(factor), rel=0.05)


@pytest.mark.slow
def test_feedback_reaches_what_compression_alone_does_not() -> None:
    last = {name: compression.train(*way)[-1] for name, way in compression.METHODS.items()}
    assert last["full"] < 1e-3
    for name in ("1 bit", "top 1/16"):
        assert last[name] > 0.25
        assert last[f"{name}, feedback"] < 0.02


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize("size", [2**20, 2**28])
def test_at_the_break_even_rate_both_take_the_same_time(bits: int, size: int) -> None:
    rate = compression.break_even(8, size, bits)
    (plain, small), slow, fast = (
        compression.times(8, size, one, bits) for one in (rate, rate / 2, rate * 2)
    )
    assert plain == pytest.approx(small)
    assert slow[0] > slow[1] and fast[0] < fast[1]


# nccl_lines: lines that can be read back

MESSAGE = bytes(range(240)) * 16  # two slices of a warp


@pytest.mark.parametrize(("protocol", "data", "wire"), [("ll", 1, 2), ("ll128", 15, 16)])
def test_lines_come_back_and_cost_what_the_note_says(protocol: str, data: int, wire: int) -> None:
    pack, unpack = (getattr(lines, f"{way}_{protocol}") for way in ("pack", "unpack"))
    packed = pack(MESSAGE, 7)
    assert len(MESSAGE) * wire == len(packed) * data
    assert unpack(packed, 7) == MESSAGE
    for stale, flag in ((packed, 8), (bytes(128), 0)):  # of another step; a fresh buffer
        with pytest.raises(lines.NotReadyError):
            unpack(stale, flag)


def test_a_torn_store_is_seen_by_ll_and_not_by_ll128() -> None:
    """Why LL128 needs order: here the flag has come and bytes before it have not."""
    torn = bytearray(lines.pack_ll(MESSAGE, 0))
    torn[8:16] = bytes(8)  # the second half of the first line is still missing
    with pytest.raises(lines.NotReadyError):
        lines.unpack_ll(bytes(torn), 0)
    late = bytearray(lines.pack_ll128(MESSAGE, 0))
    late[16:32] = bytes(16)
    assert lines.unpack_ll128(bytes(late), 0) != MESSAGE


# nccl_model: against what NCCL 2.30.7 printed for ranks that share one H100

SHARED_GPU = model.Machine(4, 1, 32, 60.0, tree_bw=6.0, nvlink=False)
CAPTURE = (NCCL / "measured/captures/choose_h100.txt").read_text("utf-8")
CAPTURED = {block.partition("\n")[0]: block.splitlines()[1:] for block in CAPTURE.split("\n$ ")[1:]}
"""The lines that follow each command."""


def test_latency_and_bandwidth_are_those_nccl_printed() -> None:
    row = next(text for text in CAPTURE.splitlines() if "AllReduce |" in text)
    cells = [cell.replace(" ", "") for cell in row.split("|")[1:7]]
    found = [model.line(SHARED_GPU, a, p) for a in ("Tree", "Ring") for p in model.PROTOCOLS]
    assert [f"{one.latency:.1f}/{one.bandwidth:.1f}" for one in found] == cells


@pytest.mark.parametrize("protocol", ["", "LL", "LL128", "Simple"])
def test_predicted_times_are_those_of_nccl(protocol: str) -> None:
    """Of ncclGroupSimulateEnd, with each protocol forced and with none."""
    start = f"NCCL_PROTO={protocol} " if protocol else "NCCL_DEBUG"
    (command,) = (c for c in CAPTURED if c.endswith("choose predict 4") and c.startswith(start))
    said = [text.split() for text in CAPTURED[command] if "predicted" in text]
    assert len(said) == 8
    for size, _, _, time, _ in said:
        times = [
            model.time(SHARED_GPU, (a, p), int(size))
            for a in ("Tree", "Ring")
            for p in model.PROTOCOLS
            if protocol in ("", p)
        ]
        assert f"{min(times):.1f}" == time, size


def test_forcing_selects_and_every_sum_is_right() -> None:
    for protocol in ("LL", "LL128", "Simple"):
        end = f"NCCL_PROTO={protocol} choose run 4"
        block = next(b for c, b in CAPTURED.items() if c.endswith(end))
        chosen = [text.split("proto ")[1].split()[0] for text in block if "-> Algo" in text]
        assert chosen == [protocol.upper()] * 8
        assert sum(text.endswith(" 0 wrong") for text in block) == 8


def test_choices_on_four_h200_are_those_of_the_log_and_change_at_the_switches() -> None:
    machine = model.Machine()
    for point in printed.record("link/topo/measured/allreduce")["all_reduce_choice"]:
        chosen = tuple(word.upper() for word in model.choice(machine, point["bytes"]))
        assert chosen == (point["algorithm"], point["protocol"]), point["bytes"]
    for size, name in model.switches(machine):
        assert model.choice(machine, size) == name
        assert size == 1024 or model.choice(machine, size - 1024) != name
    one_each = model.line(model.Machine(4, 4), "Ring", "LL")  # takes the latency of trees
    assert one_each.latency == pytest.approx(6.6 + 6 * 5.0)


# several nodes: what the NICs allow, and what reduction in the network saves


@pytest.mark.parametrize("nodes", in_network.NODES)
@pytest.mark.parametrize("gpus", [2, 4, 8])
def test_latencies_of_rings_and_trees_are_those_of_the_model(nodes: int, gpus: int) -> None:
    machine = model.Machine(ranks=nodes * gpus, nodes=nodes)
    found = in_network.latencies(nodes, gpus)
    for algorithm in ("Ring", "Tree"):
        one = model.line(machine, algorithm, "LL")
        assert found[f"{algorithm} LL"] == pytest.approx(one.latency)


@pytest.mark.parametrize("nodes", in_network.NODES)
def test_full_nics_are_the_bytes_they_send(nodes: int) -> None:
    top, sent = expected.ceilings(nodes, 8, 8, 50.0), in_network.sent(nodes, 8)
    factor = busbw.FACTORS["all-reduce"](nodes * 8)
    for name in ("ring", "tree"):
        assert top[f"all-reduce, {name}"] == pytest.approx(400 * factor / sent[name])
    assert top["all-to-all"] == pytest.approx(50 * (nodes * 8 - 1) / (nodes * 8 - 8))


# choose: the model of tuning against NCCL's own log, and the table of the note

OTHER = r"# the same with (?=.*: choices)"
CHOSEN = r"AllReduce: (\d+) Bytes -> Algo (\w+) proto (\w+)"


@pytest.mark.parametrize(
    ("name", "choices"), [("one_host", 3), ("two_hosts", 3), ("four_hosts", 2), ("nvlink_two", 5)]
)
def test_the_model_chooses_what_nccl_chose(name: str, choices: int) -> None:
    log = re.split(OTHER, (NCCL / f"measured/captures/{name}.txt").read_text("utf-8"))[0]
    cells, form = choose.table(log), choose.shape(log)
    chosen = re.findall(CHOSEN, log)
    assert len(chosen) == choices
    for size, algorithm, protocol in chosen:
        best = min(cells, key=lambda cell: choose.microseconds(cell, int(size), *form))
        assert (best[0].upper(), best[1].upper()) == (algorithm, protocol), size


def test_the_table_of_the_tuning_note_is_in_the_log() -> None:
    log = (NCCL / "measured/captures/nvlink_two.txt").read_text("utf-8")
    rows = printed.text("ccl/nccl/tuning.en").splitlines()
    for number, part in enumerate(re.split(OTHER, log)):
        setting = f"{part.partition(': choices')[0].split()[-1]}` |" if number else "| nothing |"
        for size, algorithm, protocol, last in re.findall(CHOSEN + r" channel.*\.\.(\d+)", part):
            if int(size) in (1024, 1 << 20):
                row = next(row for row in rows if setting in row)
                assert f"{algorithm} {protocol}, {int(last) + 1}" in row, (setting, size)


# Variables against the list from the source

VARIABLES = json.loads((NCCL / "params.json").read_text("utf-8"))["variables"]
ROWS = read_yaml(ROOT / "docs/data/facts/nccl-env.yml")["rows"]
NO_VARIABLES = {
    "NCCL_HOME",  # of the shell
    "NCCL_TIMEOUT",  # shown as one that does not exist
    "NCCL_NCCL_ALLOC_P2P_NET_LL_BUFFERS",  # what old versions asked for
    "NCCL_LL_THRESHOLD",  # these are gone
    "NCCL_TREE_THRESHOLD",
    "NCCL_RINGS",
    "NCCL_SHM_USE_CUDA_MEMCPY",
}


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_variable_is_in_the_source(row: dict[str, Any]) -> None:
    known, cells = VARIABLES[row["title"]], row["cells"]
    path, line = cells["where"]["value"].rsplit(":", 1)
    assert f"src/{path}#L{line}" in known["where"]
    assert known["first"].rsplit("-", 1)[0] == f"v{cells['first']['value']}"
    if re.fullmatch(r"\d+", known["default"] or ""):
        assert cells["default"]["value"] == known["default"]


@pytest.mark.parametrize("name", ["tuning", "tuning.en", "internals", "internals.en"])
def test_names_in_a_note_exist(name: str) -> None:
    named = set(re.findall(r"\bNCCL_[A-Z0-9_]+\b", printed.text(f"ccl/nccl/{name}")))
    assert named <= VARIABLES.keys() | NO_VARIABLES
    assert not NO_VARIABLES & VARIABLES.keys()


# Faults: the programs are those that ran


def as_it_ran(name: str) -> bytes:
    """Return the program without what has changed since the run: how --help begins."""
    text = (NCCL / "code" / name).read_bytes()
    if name == "kill_a_rank.h":
        text = text.replace(b'"usage: kill_a_rank ', b'"kill_a_rank ')
        text = text.replace(b'    "                   [--', b'    "            [--')
    return text


def test_programs_are_those_that_ran_and_the_last_survivors_have_the_right_sum() -> None:
    for line in (NCCL / "measured/captures/programs.sha256").read_text().splitlines():
        digest, name = line.split()
        assert hashlib.sha256(as_it_ran(name)).hexdigest() == digest, name
    cures = {"local": "shrink revoke", "hosts": "reinit shrink revoke shrink-blocking"}
    for where, sums in (("local", 4), ("hosts", 3)):
        for cure in cures[where].split():
            text = (NCCL / f"measured/captures/kill-{cure}-{where}.txt").read_text()
            assert f"sum {sums}" in text and "# exit 0" in text and "WRONG" not in text, cure
