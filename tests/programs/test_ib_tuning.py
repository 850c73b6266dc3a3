"""The simulations behind the notes on tuning RDMA, against formulas and printed numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tools.figures.files import load_program

pcie, window, caches = (
    load_program(f"link/infiniband/code/{name}.py")
    for name in ("pcie_message", "read_window", "nic_caches")
)


class TestPcie:
    """Numbers that Kalia et al. (ATC 2016) print, then the simulation against the formula."""

    def test_bytes_of_ten_wqes_of_two_lines(self) -> None:
        # "for N = 10 and D = 65 Doorbell transfers 1534 bytes, whereas WQE-by-MMIO 1800"
        batched = pcie.Way("", inline=True, chain=10, signal_every=10**9)
        single = pcie.Way("", inline=True, blueflame=True, signal_every=10**9)
        payload = 65 - 36
        assert batched.wqe(payload) == single.wqe(payload) == 128
        assert round(10 * pcie.bytes_per_message(batched, payload)[0]) == 1534
        assert round(10 * pcie.bytes_per_message(single, payload)[0]) == 1800

    def test_rates_that_the_bytes_allow(self) -> None:
        lines = pcie.RAW / (64 + pcie.REQUEST)
        assert 1000 * lines == pytest.approx(175, rel=0.005)  # million cache lines a second
        useful = pcie.RAW * 128 / (128 + pcie.COMPLETION)
        assert 1000 * useful == pytest.approx(13443, rel=0.001)  # MB/s
        datagram = pcie.Way("", inline=True, blueflame=True, signal_every=64, header=68)
        assert datagram.wqe(60) == 128  # the largest payload of two lines
        down, _ = pcie.bytes_per_message(datagram, 60)
        assert 1000 * pcie.RAW / down == pytest.approx(87.5, rel=0.005)

    @pytest.mark.parametrize("payload", [8, 32, 220, 1024])
    @pytest.mark.parametrize("way", pcie.WAYS, ids=lambda way: way.name)
    def test_simulated_bytes_are_those_of_the_formula(self, way: Any, payload: int) -> None:
        count = 256
        bus = pcie.simulate(way, payload, count)[1]
        down, up = pcie.bytes_per_message(way, payload)
        assert bus.sent["down"] == pytest.approx(count * down)
        assert bus.sent["up"] == pytest.approx(count * up)

    def test_each_dma_read_costs_its_round_trip(self) -> None:
        none, one, two = (
            pcie.latency_us(pcie.Way("", inline=inline, blueflame=flame), 32)
            for inline, flame in ((True, True), (False, True), (False, False))
        )
        assert one - none == pytest.approx(pcie.READ_NS / 1000, abs=0.02)
        assert two - one == pytest.approx(pcie.READ_NS / 1000, abs=0.02)

    @pytest.mark.parametrize(("header", "default"), [(36, 220), (20, 236), (68, 188)])
    def test_inline_defaults_of_perftest_fill_the_blueflame_buffer(
        self, header: int, default: int
    ) -> None:
        way = pcie.Way("", inline=True, blueflame=True, header=header)
        assert way.copies(default) and not way.copies(default + 1)

    def test_the_fitted_point_is_hit(self) -> None:
        way = pcie.Way("", inline=True, blueflame=True, header=20)
        assert pcie.latency_us(way, 32) == pytest.approx(pcie.PUBLISHED[32], abs=0.005)


class TestWindow:
    """The simulation agrees with the bandwidth-delay formula."""

    @pytest.mark.parametrize("places", [1, 3, 16, 64])
    @pytest.mark.parametrize("size", [4096, 65536, 1048576])
    @pytest.mark.parametrize("network", ["InfiniBand", "RoCEv2"])
    def test_formula(self, network: str, size: int, places: int) -> None:
        path = window.Path(window=places, network=network, mtu=1024)
        assert window.simulate(path, size) == pytest.approx(window.formula(path, size), rel=0.01)

    def test_the_window_it_names_fills_the_link_and_one_less_does_not(self) -> None:
        path = window.Path(rtt_ns=10_000)
        need = window.window_to_fill(path, 65536)
        full = 65536 * 8 / path.wire_ns(65536)
        assert window.simulate(replace(path, window=need), 65536) == pytest.approx(full, rel=0.01)
        assert window.simulate(replace(path, window=need - 1), 65536) < 0.99 * full


class TestCaches:
    """LRU, and the misses that even random access must have."""

    def test_lru_keeps_what_was_used_last(self) -> None:
        cache = caches.Cache(entries=2, ways=2)
        assert [cache.hit(entry) for entry in (1, 2, 1, 3, 1, 2)] == [
            *(False, False, True, False, True, False)
        ]

    def test_what_fits_never_misses(self) -> None:
        assert caches.misses(caches.Cache(1024, 8), 1024, 30_000) == 0

    @pytest.mark.parametrize("entries", [2048, 4096, 16384])
    def test_random_access_misses_what_does_not_fit(self, entries: int) -> None:
        seen = caches.misses(caches.Cache(1024, 8), entries, 60_000)
        assert seen == pytest.approx(caches.expected(entries, 1024), abs=0.02)

    def test_larger_pages_never_do_harm(self) -> None:
        nic = caches.Nic()
        for memory in (2**26, 2**34, 2**38):
            rates = [caches.simulate(nic, 64, memory, page)[2] for page in caches.PAGES.values()]
            assert rates == sorted(rates)
