"""Links between the ranks of a job: who is there, who is slow, who has not arrived.

    torchrun --standalone --nproc-per-node=gpu check_links.py --json links.json
    srun --ntasks-per-node=8 python3 check_links.py
    mpirun -np 16 -x MASTER_ADDR=node1 python3 check_links.py

Bandwidths as nccl-tests defines them: S bytes, n ranks, algbw = S / time, busbw = algbw x 2(n-1)/n
for all-reduce, x (n-1)/n for the others; 1 GB = 10^9 bytes, one direction, per rank.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import sys
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from common import Report, main_of, parser, place, quantile, read, the_torch

SECTIONS = {
    "who": "ranks, hosts, devices, versions, variables of NCCL",
    "pairs": "send and receive between the ranks of a node",
    "nodes": "exchange between pairs of nodes, in rounds: the slow node",
    "collectives": "all-reduce, all-gather, reduce-scatter, all-to-all from 8 B to 4 GiB",
}
NEEDS = """Needs two to five minutes for eight GPUs, and at most 40 % of the free memory of a GPU.
Without GPUs it uses gloo, up to 64 MiB. The names of hosts stay on the screen."""
SIZES = [8, 1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20, 1 << 30, 4 << 30]
LAUNCH, BUSBW, COSTS = "en/kit/launch.html", "en/ccl/busbw.html", "en/ccl/cost-models.html"
BRINGUP = "en/eng/cluster-bringup.html"


def aloud(text: str) -> None:
    """Print from whichever rank: the report is that of rank 0 alone."""
    print(text, file=sys.__stdout__, flush=True)


def roll(at: list[int], alive: list[bool], stages: list[str]) -> str:
    """What is said of the ranks that have not come as far as this one, or have ended."""
    lines = []
    for rank, stage in enumerate(at):
        seen = f"last seen at '{(stages[:stage] or ['connecting'])[-1]}'"
        if not stage and not alive[rank]:
            lines.append(f"rank {rank} has not arrived: it never started")
        elif not alive[rank]:
            lines.append(f"rank {rank} shows no sign of life, {seen}: it has ended, or its host")
        elif stage < len(stages):
            lines.append(f"rank {rank} has not arrived, but lives: {seen}")
    hangs = "all ranks have arrived and live, so the transfer hangs or crawls: NCCL_DEBUG=INFO"
    return "\n".join(f"  {line}" for line in lines or [hangs])


class RollCall:
    """Which rank has come how far, kept in a TCPStore: it works when NCCL or gloo hangs.

    Each rank counts the stages that it enters, and beats from a thread of its own. Who waits longer
    than `patience` tells which ranks are behind and whether they live; after 3 x it ends the run.
    """

    def __init__(self, dist: Any, where: dict[str, Any], patience: float) -> None:
        self.dist, self.rank, self.world = dist, where["rank"], where["world"]
        self.patience, self.every = patience, min(5.0, patience / 10 + self.world / 200)
        self.stages, self.found, self.over, self.told = ["connecting"], "", False, 0
        self.abandon: Callable[[str], None] = lambda _: None
        self.store = self.connect(where, where["hosts"])
        self.own = self.connect(where, False)  # a thread cannot use a connection that waits
        self.since = time.monotonic()
        threading.Thread(target=self.watch, daemon=True).start()

    def connect(self, where: dict[str, Any], hosts: bool) -> Any:
        """A connection to the store, which rank 0 or the agent of torchrun holds."""
        limit, began = timedelta(seconds=self.patience), time.monotonic()
        at, waited = (where["address"], where["port"]), 0.0
        while waited <= 3 * self.patience:
            with contextlib.suppress(RuntimeError):
                made = self.dist.TCPStore(*at, None, hosts, limit, False)
                made.set_timeout(timedelta(days=1))
                restarts = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
                return self.dist.PrefixStore(f"kit{restarts}", made)
            waited = time.monotonic() - began
            aloud(f"rank {self.rank}: no store after {waited:.0f} s. Rank 0 has not arrived, or")
            aloud("  MASTER_ADDR, MASTER_PORT (is it in use?) or a firewall is wrong")
            time.sleep(1)
        os._exit(2)

    def enter(self, stage: str) -> None:
        self.stages.append(stage)
        self.since, self.told = time.monotonic(), 0
        self.store.add(f"stage/{self.rank}", 1)

    def watch(self) -> None:
        """Beat; look around when this rank has waited too long."""
        try:
            while not self.over:
                self.own.add(f"beat/{self.rank}", 1)
                waited = time.monotonic() - self.since
                if waited > (self.told + 1) * self.patience:
                    self.told += 1
                    self.tell(f"HANG? rank {self.rank} has waited {waited:.0f} s at")
                if waited > 3 * self.patience:
                    self.end("gave up")
                time.sleep(self.every)
        except RuntimeError:
            if not self.over:
                self.end("the store is gone: rank 0 or its torchrun has ended; read its log first")

    def tell(self, why: str) -> None:
        """Say who is behind, and how far it came; the first rank that asks says it."""
        stages = list(self.stages[1:])
        first = self.own.add(f"told/{len(stages)}/{self.told}", 1) == 1
        if not first and self.rank:
            return
        beats = [self.own.add(f"beat/{r}", 0) for r in range(self.world)]
        for _ in range(3):
            time.sleep(self.every)
            self.own.add(f"beat/{self.rank}", 1)  # the thread that beats may be this one
        alive = [self.own.add(f"beat/{r}", 0) > beats[r] for r in range(self.world)]
        self.found = roll([self.own.add(f"stage/{r}", 0) for r in range(self.world)], alive, stages)
        if first:
            aloud(f"{why} '{(stages or self.stages)[-1]}':\n{self.found}")

    def end(self, why: str) -> None:
        """End this process; rank 0 keeps what was measured so far."""
        aloud(f"rank {self.rank} at '{self.stages[-1]}': {why}")
        self.abandon(f"{self.stages[-1]}: {why}. {' '.join(self.found.split())}")
        os._exit(2)


def interfaces() -> list[str]:
    """Network interfaces that are up, with their speed, and the ports of RDMA devices."""
    nets = sorted(Path("/sys/class/net").glob("*"))
    up = [one for one in nets if read(one / "operstate") == "up"]  # lo says unknown
    ports = sorted(Path("/sys/class/infiniband").glob("*/ports/*"))
    rdma = [f"{one.parts[-3]} {read(one / 'state')} {read(one / 'rate')}" for one in ports]
    speed = {one: (read(one / "speed") or "?").replace("-1", "?") for one in up}
    return [f"{one.name} {speed[one]} Mb/s" for one in up] + rdma


def rounds(count: int) -> list[list[tuple[int, int]]]:
    """Every pair once, in rounds in which nobody has two partners (a tournament)."""
    seats, plan = list(range(count + count % 2)), []
    for _ in seats[1:]:
        pairs = zip(seats[: len(seats) // 2], reversed(seats))
        plan.append([(a, b) for a, b in pairs if count not in (a, b)])
        seats = [seats[0], seats[-1], *seats[1:-1]]
    return plan


def slowest(rates: dict[tuple[int, int], float]) -> tuple[int, float]:
    """The member with the lowest median over its partners, and that median."""
    members = {one for pair in rates for one in pair}
    middle = {m: quantile([r for pair, r in rates.items() if m in pair]) for m in members}
    worst = min(middle, key=lambda m: middle[m])
    return worst, middle[worst]


def shown(size: int) -> str:
    units = ((30, "GiB"), (20, "MiB"), (10, "KiB"), (0, "B"))
    power, unit = next(one for one in units if size >= 1 << one[0])
    return f"{size / (1 << power):.4g}{unit}"


class Links:
    """The measurements; every method is called by every rank."""

    def __init__(self, torch: Any, args: Any, where: dict[str, Any]) -> None:
        self.torch, self.dist, self.args = torch, torch.distributed, args
        self.rank, self.world = where["rank"], where["world"]
        self.gpu, self.nodes = args.backend == "nccl", [[]]
        if self.gpu:
            torch.cuda.set_device(where["local"] % torch.cuda.device_count())
        self.device = torch.device("cuda", torch.cuda.current_device()) if self.gpu else "cpu"
        self.call = RollCall(self.dist, where, args.patience)
        self.report = Report("check_links.py", args, torch)
        self.call.abandon = lambda why: (self.report.missing("the rest", why), self.finish())

    def finish(self) -> int:
        """Judge, and keep what was measured, before a hang too."""
        more = {"ranks": self.world, "nodes": len(self.nodes), "backend": self.args.backend}
        return self.report.finish("The links are as expected: go on with check_storage.py.", **more)

    def end(self) -> int:
        """End together: the store lives until all have said that they are done."""
        self.call.enter("end")
        status, until = self.finish(), time.monotonic() + 30
        self.call.over = True
        self.call.store.add("done", 1)
        while self.call.store.add("done", 0) < self.world and time.monotonic() < until:
            time.sleep(0.1)
        time.sleep(0.5 if self.rank == 0 else 0)  # for the last question of the others
        self.dist.destroy_process_group()
        return status if self.rank == 0 else 0

    def state(self, what: str, bad: Any, rule: str, then: str, note: str = LAUNCH) -> None:
        """Judge something that is either so or not: `bad` names what is not."""
        self.report.add(what, str(bad or rule), good=not bad, rule=rule, then=then, note=note)

    def begin(self) -> None:
        """Tell who is here before the first collective, then build the group."""
        torch, me = self.torch, {"host": platform.node(), "gpu": None, "bus": self.rank}
        if self.gpu:
            properties = torch.cuda.get_device_properties(self.device)
            seen = f"{os.environ.get('CUDA_VISIBLE_DEVICES')} {self.device}"
            me.update(gpu=properties.name, bus=str(getattr(properties, "uuid", seen)))
        me.update(torch=torch.__version__, cuda=torch.version.cuda, links=interfaces())
        me["variables"] = {k: v for k, v in sorted(os.environ.items()) if k.startswith("NCCL_")}
        self.call.store.set(f"who/{self.rank}", json.dumps(me))
        self.call.enter("meeting of all ranks")
        if self.rank == 0:
            people = [json.loads(self.call.store.get(f"who/{r}")) for r in range(self.world)]
            on = defaultdict(list)
            for r, one in enumerate(people):
                on[one["host"]].append(r)
            self.call.store.set("nodes", json.dumps(list(on.values())))
        self.nodes = json.loads(self.call.store.get("nodes"))
        if self.rank == 0 and "who" in self.args.sections:
            self.who(people)
        self.call.enter("making the process group")
        how = {"store": self.dist.PrefixStore("group", self.call.store), "rank": self.rank}
        how.update(world_size=self.world, timeout=timedelta(seconds=4 * self.args.patience + 60))
        self.dist.init_process_group(self.args.backend, **how)
        self.call.enter("first all-reduce")
        began, ones = time.perf_counter(), torch.ones(1, device=self.device)
        self.dist.all_reduce(ones)
        met = int(ones.item())
        self.report.add("first all-reduce, with connecting", time.perf_counter() - began, "s")
        bad = "" if met == self.world else str(met)
        self.state("ranks that meet", bad, str(self.world), "Count the ranks")

    def who(self, people: list[dict[str, Any]]) -> None:
        """Hosts, devices and interfaces go to the screen only; what must be alike is judged."""
        self.report.section("who (the names stay on this screen)")
        for number, ranks in enumerate(self.nodes):
            one = people[ranks[0]]
            print(f"  node {number}: {one['host']}, ranks {ranks}, {one['gpu'] or 'CPU'}")
            told = [f"{name}={value}" for name, value in one["variables"].items()]
            print(f"    {', '.join(one['links'] + told)}")
        for what in ("gpu", "torch", "cuda", "variables"):
            kinds = [json.dumps(one[what]) for one in people]
            common = max(set(kinds), key=kinds.count)
            odd = [r for r, kind in enumerate(kinds) if kind != common]
            self.state(f"ranks whose {what} differ", odd, "none", f"Make {what} alike on {odd}")
        used = [(one["host"], one["bus"]) for one in people]
        twice = [r for r, at in enumerate(used) if used.count(at) > 1]
        self.state("ranks that share a GPU", twice, "none", "Choose the GPU by the local rank")

    def slowest_of(self, values: list[float]) -> list[float]:
        """The largest of each value over all ranks."""
        mine = self.torch.tensor(values, dtype=self.torch.float64, device=self.device)
        self.dist.all_reduce(mine, op=self.dist.ReduceOp.MAX)
        return [float(one) for one in mine.tolist()]

    def timed(self, call: Callable[[], object], repeats: int) -> list[float]:
        """Seconds per call of this rank in five trials; the first call of each aligns the ranks."""
        taken = []
        for _ in range(6):
            for part in (1, repeats):
                began = time.perf_counter()
                for _ in range(part):
                    call()
                if self.gpu:
                    self.torch.cuda.synchronize()
            taken.append((time.perf_counter() - began) / repeats)
        return taken[1:]

    def exchange(self, pairs: list[tuple[int, int]]) -> list[float]:
        """GB/s each way of each pair, while all of them send both ways at once."""
        dist, size = self.dist, (256 << 20) if self.gpu else (4 << 20)
        seconds = [0.0] * len(pairs)
        for number, pair in enumerate(pairs):
            if self.rank in pair:
                peer, out = sum(pair) - self.rank, self.torch.ones(size // 4, device=self.device)
                ways = [(dist.isend, out), (dist.irecv, self.torch.empty_like(out))]

                def both(peer: int = peer, ways: list[Any] = ways) -> None:
                    ops = [dist.P2POp(way, data, peer) for way, data in ways]
                    for work in dist.batch_isend_irecv(ops):
                        work.wait()

                seconds[number] = quantile(self.timed(both, 4))
        return [size / one / 1e9 for one in self.slowest_of(seconds)]

    def judge_pairs(self, rates: dict[tuple[int, int], float], name: str) -> None:
        """The spread among pairs, and the member that is slow with all its partners."""
        middle, pair = quantile(list(rates.values())), min(rates, key=lambda one: rates[one])
        key = f"links.{name}s.{self.args.backend}"
        self.report.add(f"pairs of {name}s, each way, both at once", middle, "GB/s", key=key)
        row = (f"slowest pair, {name}s {pair}", rates[pair], "Look at the links of both")
        rows = [row] if len(rates) > 1 else []
        if len(rates) > 2:
            worst, its = slowest(rates)
            text = f"slowest {name} with its partners, {name} {worst}"
            rows.append((text, its, f"Take {name} {worst} out, and run check_node.py there"))
        rule = f"90 % of the median of {len(rates)} pairs"
        for what, value, then in rows:
            how = {"good": value >= 0.9 * middle, "rule": rule, "then": then, "note": BRINGUP}
            self.report.add(what, value, "GB/s", **how)

    def tournament(self, name: str) -> None:
        """Pairs in rounds: ranks of a node; nodes, by rank i of one with rank i of another."""
        sets = [self.nodes] if name == "node" else [[[r] for r in ranks] for ranks in self.nodes]
        most = self.args.rounds if name == "node" else self.world
        if max(map(len, sets)) < 2:
            return  # one node, or one rank on each
        self.report.section(f"pairs of {name}s")
        rates: dict[tuple[int, int], float] = defaultdict(float)
        for number, plan in enumerate(rounds(max(map(len, sets)))[:most]):
            self.call.enter(f"pairs of {name}s, round {number + 1}")
            links = []
            for a, b in plan:
                for members in (one for one in sets if max(a, b) < len(one)):
                    two = (a, b) if name == "node" else (members[a][0], members[b][0])
                    links += [(two, link) for link in zip(members[a], members[b])]
            for (two, _), rate in zip(links, self.exchange([link for _, link in links])):
                rates[two] += rate
        self.judge_pairs(rates, name)

    def collective(self, kind: str, data: Any, out: Any) -> Callable[[], object]:
        """The call that moves S = data's bytes."""
        dist, part = self.dist, data.numel() // self.world
        if kind == "all_reduce":
            return lambda: dist.all_reduce(data)
        if kind == "all_gather":
            own = data[self.rank * part : (self.rank + 1) * part]
            return lambda: dist.all_gather_into_tensor(out, own)
        if kind == "reduce_scatter":
            return lambda: dist.reduce_scatter_tensor(out[:part], data)
        return lambda: dist.all_to_all_single(out, data)

    def collectives(self) -> None:
        """Each kind at each size, until a call takes too long."""
        n, most = self.world, 64 << 20
        if self.gpu:
            most = -self.slowest_of([-0.2 * self.torch.cuda.mem_get_info()[0]])[0]
        most = min(most, self.args.max_size)
        for kind in ("all_reduce", "all_gather", "reduce_scatter", "all_to_all"):
            name = kind.replace("_", "-")
            self.report.section(f"{name} of {n} ranks")
            self.call.enter(f"{name}, first call")
            data = self.torch.ones(n, device=self.device)
            try:
                self.collective(kind, data, self.torch.empty_like(data))()
            except (RuntimeError, AttributeError) as error:
                if self.gpu or "onnection" in str(error):
                    raise
                print(f"  {self.args.backend} has none here: {str(error).splitlines()[0][:80]}")
                continue
            factor = (2 if kind == "all_reduce" else 1) * (n - 1) / n
            before, last = 1, 0.0
            for wanted in SIZES:
                size = max(4 * n, wanted // (4 * n) * 4 * n)
                if size > most or last * size / before * 18 > self.args.seconds:
                    print(f"  {shown(size)} and more: beyond --seconds, --max-size or the memory")
                    break
                self.call.enter(f"{name}, {shown(size)}")
                data = self.torch.zeros(size // 4, device=self.device)
                repeats = int(max(2, min(20, 0.2 / last))) if last else 20
                call = self.collective(kind, data, self.torch.empty_like(data))
                before, last = size, quantile(self.slowest_of(self.timed(call, repeats)))
                text, rate = f"{name}, {shown(size)}", size / last / 1e9
                near = self.gpu and len(self.nodes) == 1  # what the references are of
                where = n if near else f"{self.args.backend}.{len(self.nodes)}x{n}"
                key = f"links.{kind}.{{}}.{where}.{wanted}"
                if wanted < 16 << 20:  # there it is the time that counts
                    how = {"key": key.format("time"), "lower": True, "note": COSTS}
                    self.report.add(text, last * 1e6, "us", **how)
                else:
                    text += f", busbw (algbw {rate:.4g})"
                    self.report.add(text, rate * factor, "GB/s", key=key.format("rate"), note=BUSBW)


def main() -> int:
    made = parser(__doc__.splitlines()[0], NEEDS, SECTIONS)
    made.add_argument("--backend", choices=("nccl", "gloo"), help="nccl where there are GPUs")
    made.add_argument(
        "--patience", type=float, default=60, help="seconds until it tells who lags (60)"
    )
    made.add_argument(
        "--seconds", type=float, default=10, help="limit for one size of one kind (10)"
    )
    made.add_argument("--max-size", type=int, default=SIZES[-1], help="largest message in bytes")
    made.add_argument("--rounds", type=int, default=8, help="partners of each node (8)")
    args, torch, where = made.parse_args(), the_torch(), place()
    gpus = torch.cuda.device_count() if torch and torch.cuda.is_available() else 0
    args.backend = args.backend or ("nccl" if gpus else "gloo")
    if torch is None or where["world"] < 2:
        why = "one process has no links" if torch else "PyTorch is missing"
        print(f"could not measure: {why}. Start one process for each GPU, by torchrun or launch/")
        return 2
    warnings.simplefilter("ignore", FutureWarning)  # names that newer releases of PyTorch change
    if where["rank"]:
        args.json, sys.stdout = None, Path(os.devnull).open("w")  # noqa: SIM115
    links = Links(torch, args, where)
    try:
        links.begin()
        for name in args.sections:
            if name in ("pairs", "nodes"):
                links.tournament({"pairs": "rank", "nodes": "node"}[name])
            elif name == "collectives":
                links.collectives()
    except RuntimeError as error:
        said = str(error).splitlines()[0][:160]
        links.call.tell(f"FAILED: rank {where['rank']} was told '{said}' at")
        links.call.end("a transfer failed")
    return links.end()


if __name__ == "__main__":
    main_of(main)
