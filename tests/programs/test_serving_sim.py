"""The simulation of a serving engine: its parts against rules and formulas, its records fresh."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tools.figures.files import load_program

steps, cache, asked, sim, curves, fleet, route = (
    load_program(f"infer/code/{name}.py")
    for name in (
        "step_time",
        "prefix_cache",
        "serve_requests",
        "serve_sim",
        "serve_curves",
        "fleet_queue",
        "fleet_route",
    )
)


class TestStepTime:
    def test_every_measured_step_within_eight_per_cent(self) -> None:
        errors = steps.errors()
        assert len(errors) == 43
        assert max(abs(error) for *_, error in errors) < 0.08

    def test_constants_are_physical(self) -> None:
        found = steps.fit()
        bandwidth = 131072 / found.cached  # bytes of cache per token
        assert 2e12 < bandwidth < 3.35e12
        assert 15.0e9 / found.token < 989.4e12  # operations per token of the matrices


class TestPrefixCache:
    def test_tree_and_pages_agree_to_a_page(self) -> None:
        draw = random.Random(1)
        pool, tree = cache.PrefixPool(4096), cache.Radix()
        seen: list[list[int]] = []
        for _ in range(200):
            start = draw.choice(seen)[: draw.randrange(200)] if seen else []
            tokens = start + [draw.randrange(5) for _ in range(draw.randrange(1, 120))]
            chain = cache.chain_of(tokens)
            hit = pool.match(chain)
            pool.share(hit)
            table = hit + [pool.take() for _ in range(-(-len(tokens) // 16) - len(hit))]
            for page, key in zip(table, chain, strict=False):
                pool.keep(page, key)
            cache.give_back(pool, table)
            assert len(hit) == tree.insert(tokens) // 16
            seen.append(tokens)
        assert tree.size == sum(len(node.tokens) for node in tree.nodes())
        size = tree.size
        dropped = tree.evict(100)
        assert dropped >= 100
        assert tree.size == size - dropped

    def test_tail_is_evicted_before_head_and_used_pages_never(self) -> None:
        pool = cache.PrefixPool(4)
        chain = cache.chain_of(list(range(64)))
        table = [pool.take() for _ in chain]
        for page, key in zip(table, chain, strict=True):
            pool.keep(page, key)
        cache.give_back(pool, table)
        assert pool.room == 4
        pool.take()
        assert pool.match(chain) == table[:3]
        pool.share(table[:2])
        pool.take()
        assert pool.match(chain) == table[:2]
        with pytest.raises(cache.OutOfPagesError):
            pool.take()


class TestEngine:
    @pytest.mark.parametrize("policy", ["static", "prefill-first", "chunked"])
    @pytest.mark.parametrize("pool", [12_000, sim.POOL_TOKENS])
    @pytest.mark.parametrize("prefix", [True, False])
    def test_everyone_is_served_and_no_page_is_lost(
        self, policy: str, pool: int, prefix: bool
    ) -> None:
        engine = sim.Engine(policy, 1024, pool_tokens=pool, prefix_cache=prefix)
        server = sim.serve(asked.trace(12, 150), engine)
        assert sorted(one.number for one in server.done) == list(range(150))
        assert all(len(one.times) == one.output for one in server.done)
        assert all(one.arrival < one.times[0] for one in server.done)
        assert all(
            a < b for one in server.done for a, b in zip(one.times, one.times[1:], strict=False)
        )
        assert server.pool.room == pool // 16
        assert not any(server.pool.users)
        if pool == 12_000 and policy == "chunked":
            assert server.preemptions
        elif pool > 12_000:
            assert not server.preemptions

    def test_budget_is_never_passed(self) -> None:
        for budget in (64, 512):
            seen: list[int] = []

            class Watched(sim.Server):  # type: ignore[misc, name-defined]
                def cost(self, plan: Any, seen: list[int] = seen) -> float:
                    seen.append(sum(count for _, count in plan.values()))
                    return float(super().cost(plan))

            env = sim.simpy.Environment()
            server = Watched(env, sim.Engine(budget=budget, pool_tokens=20_000))
            requests = asked.trace(10, 100)
            env.process(sim.arrive(env, requests, server))
            while len(server.done) < 100:
                env.step()
            assert min(seen) > 0 and max(seen) <= budget

    def test_one_request_alone_takes_what_its_steps_take(self) -> None:
        one = asked.Request(0, 1.0, 3000, 3)
        server = sim.serve([one], sim.Engine(budget=2048))
        model = steps.fit()
        first = model.time(0, 0, 2048, steps.pairs_of(2048))
        first += model.time(0, 0, 952, steps.pairs_of(952, 2048))
        assert one.ttft == pytest.approx(first)
        assert one.times[1] - one.times[0] == pytest.approx(model.time(1, 3001))
        assert server.step_count == 4

    def test_a_hit_leaves_the_last_token_to_compute(self) -> None:
        a, b = (asked.Request(i, float(i), 64, 2, stream="same") for i in (0, 1))
        sim.serve([a, b], sim.Engine())
        assert (a.hit, b.hit) == (0, 48)

    def test_urgent_requests_pass_and_are_the_last_to_lose_pages(self) -> None:
        requests = curves.urgent(28)[:400]
        server = sim.serve(requests, sim.Engine(by_priority=True, max_seqs=64))
        urgent = [one.ttft for one in server.done if one.priority == 0]
        others = [one.ttft for one in server.done if one.priority == 1]
        assert curves.at(urgent, 0.95) < 0.5 * curves.at(others, 0.95)

    def test_a_request_that_can_never_fit_is_refused(self) -> None:
        with pytest.raises(ValueError, match="does not fit"):
            sim.serve([asked.Request(0, 0.0, 1000, 100)], sim.Engine(pool_tokens=512))


class TestFleet:
    def test_formula_holds_at_low_load_and_is_pessimistic_at_high(self) -> None:
        for one in fleet.one_engine((2, 10, 20)):
            assert one["formula"] == pytest.approx(one["simulated"], rel=0.16)
            assert one["formula"] > 0.97 * one["simulated"]

    def test_rate_inverts_step(self) -> None:
        load = fleet.Load(0.008, 0.033, 170)
        assert load.step(load.rate(0.030)) == pytest.approx(0.030)
        assert load.batch(10) == pytest.approx(10 * 170 * load.step(10))

    def test_every_route_serves_everyone(self) -> None:
        for way in (route.any_one, route.in_turn, route.fewest, route.fewest_tokens):
            servers = route.fleet(asked.trace(20, 80), 3, way)
            assert sum(len(one.done) for one in servers) == 80

    def test_the_same_start_goes_to_the_same_engine(self) -> None:
        requests = route.kinds(asked.trace(8, 60), 5)
        servers = route.fleet(requests, 3, route.same_start)
        homes = [{one.prefix[0] for one in server.done} for server in servers]
        assert not homes[0] & homes[1] and not homes[1] & homes[2] and not homes[0] & homes[2]
