"""Models of chips: their counts beside walks that do the work, and beside published figures."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.programs import printed
from tests.samples import read_yaml
from tools.figures import anatomy
from tools.figures.files import ROOT

cdna, flow, gaudi_mesh, hbm, npu, machines, cim, systolic = printed.load(
    "chip/code",
    *("cdna", "dataflow", "gaudi_mesh", "hbm_channel", "npu_tile", "sram_machines"),
    *("cim_array", "systolic"),
)

# cdna: what tests of LLVM and XLA and AMD's tables expect

# llvm/test/CodeGen/AMDGPU/occupancy-levels.ll: registers, gfx900, gfx950
LLVM = [
    (24, 10, 8), (28, 9, 8), (32, 8, 8), (36, 7, 8), (40, 6, 8), (44, 5, 8), (48, 5, 8), (56, 4, 8),
    (64, 4, 8), (72, 3, 7), (80, 3, 6), (84, 3, 5), (88, 2, 5), (96, 2, 5), (100, 2, 4),
    (112, 2, 4), (128, 2, 4), (144, 1, 3), (168, 1, 3), (200, 1, 2), (256, 1, 2),
]  # fmt: skip
# the same file, 8252 bytes of LDS: work-items of a workgroup, gfx900, gfx950
LLVM_LDS = [
    (32, 2, 5), (64, 2, 5), (96, 4, 8), (128, 4, 8), (192, 6, 8), (256, 7, 8), (512, 10, 8),
    (1024, 8, 8),
]  # fmt: skip
# XLA's occupancy model (pull request 47468): registers, accumulators, waves
XLA = [(5, 128, 3), (128, 128, 2), (168, 248, 1), (100, 0, 4), (176, 0, 2)]


def test_waves_are_those_of_the_compilers() -> None:
    for registers, *waves in LLVM:
        assert [cdna.by_registers(one, registers) for one in (cdna.GCN, cdna.CDNA4)] == waves
    for threads, *waves in LLVM_LDS:
        assert [cdna.by_lds(one, 8252, threads) for one in (cdna.GCN, cdna.CDNA4)] == waves
    for registers, accumulators, expected in XLA:
        assert cdna.by_registers(cdna.CDNA3, registers, accumulators) == expected


@pytest.mark.parametrize(
    ("kind", "kib", "groups"), [(cdna.CDNA3, 32, 2), (cdna.CDNA4, 32, 5), (cdna.CDNA4, 40, 4)]
)
def test_groups_of_four_waves_in_lds(kind: Any, kib: int, groups: int) -> None:
    assert cdna.by_lds(kind, kib * 1024, 256) == groups


@pytest.mark.parametrize(("name", "row", "column", "instruction"), cdna.RATES)
def test_one_instruction_gives_the_published_peak(
    name: str, row: str, column: str, instruction: Any
) -> None:
    chip = cdna.figures()[row]
    made = cdna.peak(instruction, int(chip["sm_count"]), chip["clock"])
    old = row == "mi355x" and instruction == cdna.Mfma(32, 32, 8, 32)
    assert made == pytest.approx(chip[column] * (0.5 if old else 1), rel=0.01), name
    assert cdna.peak(cdna.Mfma(32, 32, 8, 64), 208, 1700) == pytest.approx(362.1, abs=0.1)  # MI250


def test_a_wave_of_32_by_32_needs_lds_all_the_time() -> None:
    assert cdna.Tile(64, 64, 32, 2, 2).feeding(2048) == pytest.approx(1)
    assert cdna.Tile(128, 128, 32, 2, 2).feeding(2048) == pytest.approx(0.5)


# dataflow: traffic of a convolution beside walks that fetch every element

LAYERS = [
    flow.Layer(*one)
    for one in ((5, 6, 4, 6, 3, 1), (7, 5, 3, 4, 3, 0), (6, 6, 5, 3, 1, 0), (1, 1, 8, 5, 1, 0))
]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", flow.ORDERS)
def test_an_order_computes_the_convolution_with_the_fetches_it_says(layer: Any, name: str) -> None:
    order, small = flow.ORDERS[name], flow.Array(atom_c=2, atom_k=2, stripe=3)
    fetched, result = flow.walk(layer, small, order)
    assert result == flow.plain(layer)
    if layer in LAYERS[:2]:
        assert flow.fetches(layer, small, order) == fetched


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("stays", ["inputs", "weights"])
@pytest.mark.parametrize(("rows", "kernels"), [(1, 1), (2, 2), (3, 4), (100, 1), (1, 100)])
def test_bytes_from_dram_are_those_of_the_walk(
    layer: Any, stays: str, rows: int, kernels: int
) -> None:
    split = flow.Split(rows, kernels, stays)
    assert flow.traffic(layer, split) == flow.walk_traffic(layer, split)


@pytest.mark.parametrize("machine", [flow.SMALL, flow.LARGE])
def test_a_chosen_split_fits_the_buffer(machine: Any) -> None:
    layer = flow.CONV
    for split in flow.splits(layer, machine, "inputs"):
        sets = 1 if split.kernels == layer.kernels else 2
        weights = sets * split.kernels * layer.channels * layer.filter**2
        inputs = (split.rows + layer.filter - 1) * layer.width * layer.channels
        assert weights + inputs <= machine.banks * machine.bank_bytes


# gaudi_mesh: made, read and checked; the bounds beside figures that others give

SERVERS = {server.name.split(",")[0]: server for server in gaudi_mesh.SERVERS}
# three cards, one link per pair, one port out; written by hand in the form that HCL uses
TEXT = """
static const Config g_X_card_location_0_mapping = {
    std::make_tuple(1, 1, 0),                   // NIC=0
    std::make_tuple(2, 0, 0),                   // NIC=1
    std::make_tuple(SCALEOUT_DEVICE_ID, 2, 0),  // NIC=2
};
static const Config g_X_card_location_1_mapping = {
    std::make_tuple(2, 1, 0),                   // NIC=0
    std::make_tuple(0, 0, 0),                   // NIC=1
    std::make_tuple(SCALEOUT_DEVICE_ID, 2, 0),  // NIC=2
};
static const Config g_X_card_location_2_mapping = {
    std::make_tuple(0, 1, 0),                        // NIC=0
    std::make_tuple(1, 0, 0),                        // NIC=1
    std::make_tuple(NOT_CONNECTED_DEVICE_ID, 2, 0),  // NIC=2
};
const Vector all = {g_X_card_location_0_mapping, g_X_card_location_1_mapping};
"""


@pytest.mark.parametrize("cards", [2, 4, 6, 8, 16])
def test_rounds_pair_all_with_all_once(cards: int) -> None:
    rounds = gaudi_mesh.matchings(cards)
    assert all(sorted(sum(pairs, ())) == list(range(cards)) for pairs in rounds)
    met = [frozenset(pair) for pairs in rounds for pair in pairs]
    assert len(met) == len(set(met)) == cards * (cards - 1) // 2


def test_faults_of_a_mesh_are_found_and_two_meshes_are_none() -> None:
    wiring = gaudi_mesh.mesh(8, 3, 3)
    assert len(wiring) == 8 * 24
    assert gaudi_mesh.faults(wiring) == []
    assert set(gaudi_mesh.links(wiring, range(8)).values()) == {3}
    assert all(far is None or far[1] == port for (_, port), far in wiring.items())
    swapped = wiring | {(0, 0): wiring[0, 3], (0, 3): wiring[0, 0]}
    assert any(fault.startswith("(0, 0) leads to") for fault in gaudi_mesh.faults(swapped))
    cut = {plug: far for plug, far in wiring.items() if plug != (0, 3) and far != (0, 3)}
    assert [re.sub(r"^.*: ", "", fault) for fault in gaudi_mesh.faults(cut)] == ["2 links, not 3"]
    near = gaudi_mesh.mesh(4, 2, 1)
    far = {(c + 4, p): to and (to[0] + 4, to[1]) for (c, p), to in near.items()}
    assert gaudi_mesh.groups(near | far) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert gaudi_mesh.faults(near | far) == []


def test_text_of_the_library_is_read_and_checked_from_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wiring = gaudi_mesh.read(TEXT)
    assert gaudi_mesh.faults(wiring) == []
    assert wiring[0, 0] == (1, 1) and wiring[1, 2] is None and (2, 2) not in wiring
    assert gaudi_mesh.groups(wiring) == [[0, 1, 2]]
    good, bad = tmp_path / "good.cpp", tmp_path / "bad.cpp"
    good.write_text(TEXT)
    bad.write_text(TEXT.replace("make_tuple(2, 0, 0)", "make_tuple(2, 1, 0)"))
    assert [gaudi_mesh.main([str(good)]), gaudi_mesh.main([str(good), str(bad)])] == [0, 1]
    assert "(0, 1) leads to (2, 1), which leads to (1, 0)" in capsys.readouterr().out


def test_sums_are_those_of_the_makers() -> None:
    """Habana's network configuration and its peak among boxes; the table of accelerators."""
    facts = read_yaml(ROOT / "docs/data/facts/accelerators.yml")["rows"]
    for name, inside, out, many in (
        ("Gaudi 2", 262.5, 37.5, (300, 300)),
        ("Gaudi 3", 525, 75, (600, 600)),
    ):
        server = SERVERS[name]
        assert (server.inside(8), server.out) == (inside, out)
        assert server.many() == pytest.approx(many)
    for name, row in (("MI300X", "mi300x"), ("H100", "h100-sxm")):
        assert SERVERS[name].inside(8) == facts[row]["cells"]["scale_up_uni"]["value"]
    assert SERVERS["H100"].many() == pytest.approx((400, 514), abs=1)


def test_least_times_follow_from_what_a_card_sends() -> None:
    size = 256 * gaudi_mesh.MIB
    for server in SERVERS.values():
        for members in (2, 4, 8):
            busbw = 2 * (members - 1) / members * size / server.all_reduce(size, members) / 1e9
            assert busbw == pytest.approx(server.inside(members))
    # Habana's own run: 293.118 GB/s of data, so a little more than the least time
    assert 0.97 < SERVERS["Gaudi 3"].all_reduce(size, 8) / (size / 293.118e9) < 0.98


# hbm_channel

RATE, BURSTS = 5.238, 1500
AWAKE = 1 - hbm.REFRESH / hbm.EVERY


def ordered(channel: Any, bursts: int = BURSTS, **how: int) -> float:
    return float(hbm.share(channel, hbm.in_order(channel, bursts, **how)))


def scattered(chunk: int, **made: int) -> float:
    channel = hbm.Channel(RATE, **made)
    return float(hbm.share(channel, hbm.scattered(channel, BURSTS, chunk)))


def test_an_ordered_read_fills_the_pins_but_for_the_refresh_and_changes_of_kind() -> None:
    assert ordered(hbm.Channel(RATE, refresh=False)) == pytest.approx(1, abs=0.02)
    assert ordered(hbm.Channel(RATE), 4 * BURSTS) == pytest.approx(AWAKE, abs=0.02)
    shares = [ordered(hbm.Channel(RATE), batch=batch) for batch in (16, 64, 256)]
    assert shares == sorted(shares)


@pytest.mark.parametrize("ranks", [1, 2])
def test_scattered_pieces_are_bound_by_rows_opened(ranks: int) -> None:
    """Four rows in `FOUR` nanoseconds for each group of layers, one row for each piece."""
    bound = ranks * 4 * 32 / hbm.FOUR / (4 * RATE)  # bytes a nanosecond over those of the pins
    assert bound * AWAKE * 0.9 < scattered(32, ranks=ranks, refresh=True) <= bound
    assert scattered(64, ranks=ranks) == pytest.approx(2 * scattered(32, ranks=ranks), rel=0.05)


# npu_tile: bytes conserved, waits real, limits where it says

SHAPE = npu.Shape(160, 96, 320)
TILES = [npu.Tile(64, 48, 64, 16), npu.Tile(160, 96, 320, 64), npu.Tile(48, 80, 48, 48)]


@pytest.mark.parametrize("tile", TILES)
@pytest.mark.parametrize("core", [npu.L2, npu.DRAM])
def test_all_is_moved_between_the_busiest_units_time_and_no_overlap(core: Any, tile: Any) -> None:
    two, paths, products = npu.schedule(core, SHAPE, tile)
    assert paths == npu.moved(SHAPE, tile)
    assert paths["to L1"] == paths["to L0A"] + paths["to L0B"]
    assert products == SHAPE.m * SHAPE.n * SHAPE.k
    work = npu.busy(core, SHAPE, tile).values()
    one = npu.schedule(core, SHAPE, tile, halves=1)[0]
    assert max(work) <= two <= one <= sum(work) + 1e-6


def test_one_large_tile_has_nothing_to_overlap() -> None:
    tile = npu.Tile(160, 96, 320, 320)
    total = npu.schedule(npu.L2, SHAPE, tile)[0]
    assert total == pytest.approx(sum(npu.busy(npu.L2, SHAPE, tile).values()))


@pytest.mark.parametrize("core", [npu.L2, npu.DRAM])
def test_the_choice_is_near_the_best_of_all(core: Any) -> None:
    shape = npu.Shape(128, 96, 512)
    chosen = npu.schedule(core, shape, npu.choose(core, shape))[0]
    best = min(npu.schedule(core, shape, tile)[0] for tile in npu.candidates(core, shape))
    assert chosen <= 1.05 * best


@pytest.mark.parametrize(("rows", "bound"), [(16, "MTE1"), (32, "MTE1"), (48, "cube")])
def test_few_rows_are_bound_by_the_way_into_l0b(rows: int, bound: str) -> None:
    """Whatever feeds L1: 256 bytes a cycle are 128 columns of B for each row of 16 products."""
    fast = dataclasses.replace(npu.L2, memory=10**9)
    work = npu.busy(fast, npu.Shape(rows, 1024, 1024), npu.Tile(rows, 512, 16, 16))
    assert max(work, key=lambda unit: work[unit]) == bound


def test_catlass_default_tile_fills_the_buffers_of_atlas_a2() -> None:
    core = dataclasses.replace(npu.L2, l0c=128 * 1024, l1=512 * 1024)
    assert npu.fits(core, npu.Tile(128, 256, 256, 64))
    for larger in [(144, 256, 256, 64), (128, 272, 256, 64), (128, 256, 256, 80)]:
        assert not npu.fits(core, npu.Tile(*larger))


# sram_machines, cim_array

INPUTS, WEIGHTS = cim.data()
TRUTH = INPUTS @ WEIGHTS


@pytest.mark.parametrize("one", machines.MACHINES)
def test_a_machine_has_as_many_chips_as_it_needs_and_reads_no_faster(one: Any) -> None:
    """All chips together, just enough of them: the rate is how often each is read whole."""
    count = machines.chips(one, 16)
    assert (count - 1) * one.capacity < machines.PARAMETERS * 2 <= count * one.capacity
    whole = one.bandwidth / one.capacity
    assert whole <= machines.together(one, 16, count) < 1.55 * whole  # the last chip is not full


def test_batch_that_feeds_an_h100_is_its_ridge_point() -> None:
    """In 16 bits a sequence adds one FLOP per byte; the roofline note has 295."""
    assert machines.batch(machines.MACHINES[0], 16) == pytest.approx(295, abs=0.5)


@pytest.mark.parametrize("rows", [32, 100, 128, 256, 1024])
def test_an_adder_tree_gives_the_exact_product_and_so_do_enough_bits(rows: int) -> None:
    assert np.array_equal(cim.product(INPUTS, WEIGHTS, rows), TRUTH)
    if rows in (32, 128):
        bits = cim.exact_bits(rows)
        assert cim.error(cim.product(INPUTS, WEIGHTS, rows, bits), TRUTH) == 0
        assert cim.error(cim.product(INPUTS, WEIGHTS, rows, bits - 1), TRUTH) > 0


def test_a_converter_stays_in_its_range_and_within_half_a_step() -> None:
    counts = np.arange(0, 129)
    codes = cim.adc(counts, 4, 128)
    assert (len(set(codes)), codes.max()) == (16, 128)
    assert np.abs(codes - counts).max() <= 128 / 15 / 2


@pytest.mark.parametrize("bits", [3, 5])
def test_half_the_range_is_worth_a_bit(bits: int) -> None:
    half = cim.error(cim.product(INPUTS, WEIGHTS, 128, bits, clip=0.5), TRUTH)
    whole = cim.error(cim.product(INPUTS, WEIGHTS, 128, bits + 1), TRUTH)
    assert half == pytest.approx(whole, rel=0.05)


def test_cells_that_vary_spoil_even_an_ideal_converter() -> None:
    spoilt = [cim.error(cim.product(INPUTS, WEIGHTS, 128, spread=s), TRUTH) for s in (0.01, 0.1)]
    assert 0 < spoilt[0] < spoilt[1]


# systolic


@pytest.mark.parametrize("edge", [2, 4, 8])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (3, 8, 8), (8, 8, 8), (5, 7, 9), (20, 11, 3), (2, 12, 12), (33, 8, 16)]
)
def test_values_that_only_move_to_neighbours_give_the_product(
    edge: int, shape: tuple[int, int, int]
) -> None:
    rows, depth, columns = shape
    random = np.random.default_rng(sum(shape))
    x = random.integers(-99, 99, (rows, depth))
    w = random.integers(-99, 99, (depth, columns))
    result, took = systolic.multiply(edge, x, w)
    assert np.array_equal(result, x @ w)
    assert took == systolic.cycles(edge, *shape)


@pytest.mark.parametrize("edge", [128, 256])
def test_products_and_memory_cost_whole_tiles(edge: int) -> None:
    """Fewer columns or less depth than a tile save nothing; one more than a tile costs another."""
    whole = systolic.cycles(edge, 1000, edge, edge)
    for side in (1, 64, 100, 128):
        assert systolic.cycles(edge, 1000, side, side) == whole
    assert systolic.cycles(edge, 1000, edge, edge + 1) == whole + 1000
    for rows, columns, times in ((8, 128, 1), (4096, 100, 1.28), (4096, 1, 128), (1, 128, 8)):
        assert systolic.padded(rows, columns) == pytest.approx(times)


def test_fewer_rows_than_the_edge_wait_for_the_next_weights() -> None:
    for rows in (1, 8, 128):
        assert systolic.cycles(128, rows, 4096, 4096) >= (32 * 32 - 1) * 128
    assert systolic.used(128, 8, 4096, 4096) == pytest.approx(8 / 128, rel=0.01)


def test_each_row_passes_each_cell_once() -> None:
    seen = Counter(
        (place, cell)
        for line in systolic.wave(3, 4)
        for place, cell in enumerate(line.split())
        if cell != "."
    )
    assert len(seen) == 9 * 4
    assert set(seen.values()) == {1}


# The inside of a GPU: what the note says of its two records

RESULTS, SECOND = (printed.record(f"chip/measured/gpu_anatomy_h100{card}") for card in ("", "_b"))


def value(result: str, **where: object) -> float:
    """Return the one value of a result at a place."""
    (found,) = printed.at(RESULTS[result], **where)
    return float(found)


@pytest.mark.parametrize(("size", "clusters"), [(2, 66), (4, 30), (6, 17), (8, 15), (16, 7)])
def test_clusters_of_the_table(size: int, clusters: int) -> None:
    assert value("resident", cluster=size) == clusters
    assert value("reached", cluster=size) == clusters * size


def test_groups_of_the_figure_and_where_the_first_blocks_go() -> None:
    groups, sides, lone = anatomy.measured()
    shapes = {gpc: sorted(2 * len(tpcs) for tpcs in rows.values()) for gpc, rows in groups.items()}
    assert sorted(shapes.values()) == [[4, 6, 6]] * 6 + [[6, 6, 6]] * 2
    assert lone == [124, 126, 128, 130]
    for side in "AB":
        assert sum(sum(shapes[gpc]) for gpc in shapes if sides[gpc] == side) == 66
    placed = [int(one) for one in printed.at(RESULTS["placed"])]
    assert placed[:12] == [*lone, *range(0, 16, 2)]
    assert [sm - 1 for sm in placed[12:24]] == placed[:12]


def test_shares_of_hbm() -> None:
    one = {sms: value("ladder", where="one GPC", sms=sms) for sms in (16, 18)}
    all_ = {sms: value("ladder", where="all GPCs", sms=sms) for sms in (16, 18, 64, 96)}
    assert one[18] / all_[18] == pytest.approx(0.88, abs=5e-3), "18 SMs of one GPC bring 12 % less"
    assert one[16] / all_[16] == pytest.approx(0.94, abs=5e-3), "16 SMs of one GPC bring 6 % less"
    assert all_[64] / value("all") == pytest.approx(0.90, abs=5e-3), "64 bring 90 %"
    assert all_[96] / value("all") == pytest.approx(0.975, abs=5e-3), "96 bring 97.5 %"


def test_near_and_far_atomics_do_not_overlap() -> None:
    near, far = (
        [float(p["cycles"]) for p in RESULTS["spread"] if p["kind"] == f"atomic {kind}"]
        for kind in ("near", "far")
    )
    assert max(near) + 10 < min(far)


def test_second_card_offers_the_same_clusters_and_reads_as_fast_with_other_halves() -> None:
    for result in ("resident", "reached", "gpc_sms", "placed"):
        assert SECOND[result] == RESULTS[result]
    for result in ("all", "one", "tpc", "gpc", "ladder"):
        made = printed.at(RESULTS[result])
        assert printed.at(SECOND[result]) == pytest.approx(made, rel=0.01)
    groups, halves = (
        [{str(p["sm"]): str(p[axis]) for p in card["from_sm"]} for card in (RESULTS, SECOND)]
        for axis in ("gpc", "side")
    )
    assert groups[0] == groups[1]
    assert halves[0] != halves[1]
    lone = [halves[1][sm] for sm, gpc in groups[1].items() if gpc == anatomy.LONE]
    assert sorted(lone) == ["A"] * 6 + ["B"] * 2
