"""The simulator of verbs keeps the rules a user would notice being broken.

Each case is a trap: what a program sees when it steps into it. Rules and their sources stand in
the modules under docs/link/infiniband/code/verbs/.
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.programs import printed
from tools.figures.files import ROOT

CODE = ROOT / "docs/link/infiniband/code"
(program,) = printed.load("link/infiniband/code", "verbs_trace")  # brings its package along
lab, states, work, memory, qp_module, packet, psn, timers = (
    importlib.import_module(f"verbs.{name}")
    for name in ("lab", "states", "work", "memory", "qp", "packet", "psn", "timers")
)
State, Service, Op = states.State, states.Service, packet.Op
Opcode, Flag, Sge, SendWR, RecvWR = work.Opcode, work.Flag, work.Sge, work.SendWR, work.RecvWR
Access, WRITE, READ = memory.Access, Opcode.RDMA_WRITE, Opcode.RDMA_READ
OK, FLUSHED = "SUCCESS", "WR_FLUSH_ERR"
BAD = 0xBAD
"""A key of nothing."""


class Bench:
    """Two connected queue pairs with 32 KiB registered on each side."""

    def __init__(self, service: Any = Service.RC, **options: Any) -> None:
        self.lab = lab.Lab()
        pair = self.lab.pair(service, **options)
        self.a, self.b = pair.a, pair.b
        self.ra = self.lab.region(self.lab.a, 0, 1 << 15)
        self.rb = self.lab.region(self.lab.b, 0, 1 << 15)

    def send(self, wr_id: int, length: int, opcode: Any = Opcode.SEND, **more: Any) -> Any:
        """A request over A's memory; one-sided ones go to B's region at 0."""
        if opcode not in work.SENDS:
            more = {"rkey": self.rb.rkey, **more}
        return lab.send(wr_id, self.ra, length, opcode, **more)

    def recv(self, wr_id: int, length: int, offset: int = 0) -> Any:
        return lab.receive(wr_id, self.rb, length, offset)

    def writes(self, *numbers: int, **more: Any) -> list[Any]:
        """Requests that write eight bytes each."""
        return [self.send(n, 8, WRITE, **more) for n in numbers]

    def run(self, until: float | None = None) -> None:
        self.lab.run(until)

    def play(self, *requests: Any, receives: Any = (), until: float | None = None) -> Any:
        """Post receives at B and requests at A, run, and return what each side polls."""
        self.b.post_recv(*receives)
        self.a.post_send(*requests)
        self.run(until)
        return self.ends()

    def labels(self, **where: Any) -> list[str]:
        """The English labels of the events at a place."""
        return [
            one["label"]["en"]
            for one in self.lab.recorder.events
            if all(one[key] == value for key, value in where.items())
        ]

    def ends(self) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
        """What each side polls: (wr_id, status)."""
        one, two = (
            [(c.wr_id, c.status.name) for c in qp.send_cq.poll()] for qp in (self.a, self.b)
        )
        return one, two


def refuses(errno: str, call: Any, *arguments: Any, **more: Any) -> None:
    with pytest.raises(states.VerbsError, match=errno):
        call(*arguments, **more)


# States: RESET to RTS, ibv_modify_qp(3) and qp_state_table

ORDER = [(State.RESET, State.INIT), (State.INIT, State.RTR), (State.RTR, State.RTS)]
SIDEWAYS = [
    *((State.INIT, State.INIT), (State.RTS, State.RTS), (State.RTS, State.SQD)),
    *((State.SQD, State.SQD), (State.SQD, State.RTS), (State.SQE, State.RTS)),
]


@pytest.mark.parametrize("service", list(Service))
@pytest.mark.parametrize("step", range(3))
def test_each_required_attribute_is_required(service: Any, step: int) -> None:
    needs = lab.STEPS[service][step].split()
    table = states.TRANSITIONS[service][ORDER[step]]
    assert set(needs) == table[0]
    for missing in needs:
        setting = lab.Lab()
        qp = qp_module.QueuePair(setting.a, 1, service)
        other = qp_module.QueuePair(setting.b, 2, service)
        lab.connect(other, qp, 0, 0)
        qp.state = ORDER[step][0]
        full = dict.fromkeys(needs, 1) | ({"path_mtu": 1024} if "path_mtu" in needs else {})
        without = {name: value for name, value in full.items() if name != missing}
        refuses("EINVAL", qp.modify, ORDER[step][1], **without)
        refuses("EINVAL", qp.modify, ORDER[step][1], **full, path_mig_statee=1)
        assert qp.state is ORDER[step][0], "nothing has changed"


@pytest.mark.parametrize("service", list(Service))
def test_every_other_way_between_states(service: Any) -> None:
    for old in State:
        for new in State:
            allowed = (
                (old, new) in [*ORDER, *SIDEWAYS]
                or new is State.RESET
                or (new is State.ERR and old is not State.RESET)
            )
            # RC: the kernel's table lets it pass, the state is never reached
            if (old, new, service) != (State.SQE, State.RTS, Service.RC):
                assert ((old, new) in states.TRANSITIONS[service]) == allowed, (old, new)


def test_av_and_timeout_change_only_in_sqd() -> None:
    bench = Bench()
    refuses("EINVAL", bench.a.modify, State.RTS, timeout=18)
    bench.a.modify(State.SQD)
    bench.a.modify(State.SQD, timeout=18)
    assert bench.a.attributes.timeout == 18


def test_receives_from_init_and_sends_from_rts() -> None:
    qp = qp_module.QueuePair(lab.Lab().a, 1)
    refuses("EINVAL", qp.post_recv, RecvWR(1))
    qp.modify(State.INIT, pkey_index=0, port=1, access_flags=0)
    qp.post_recv(RecvWR(1))
    refuses("EINVAL", qp.post_send, SendWR(1, Opcode.SEND))


@pytest.mark.parametrize(
    ("name", "value"),
    [("timeout", 32), ("rnr_retry", 8), ("min_rnr_timer", 32), ("path_mtu", 9000)],
)
def test_values_out_of_range_are_refused(name: str, value: int) -> None:
    setting = lab.Lab()
    a, b = (qp_module.QueuePair(host, 1) for host in (setting.a, setting.b))
    refuses("EINVAL", lab.connect, a, b, 0, 0, **{name: value})


# Which request takes a receive


TAKES_ONE = [Opcode.SEND, Opcode.SEND_WITH_IMM, Opcode.RDMA_WRITE_WITH_IMM]
TAKES_NONE = [WRITE, READ, Opcode.ATOMIC_FETCH_AND_ADD, Opcode.ATOMIC_CMP_AND_SWP]


@pytest.mark.parametrize("opcode", TAKES_ONE + TAKES_NONE, ids=lambda one: one.value)
def test_which_requests_take_a_receive(opcode: Any) -> None:
    bench = Bench()
    more = {"immediate": 7} if opcode.name.endswith("IMM") else {}
    taken = [(1, OK)] if opcode in TAKES_ONE else []
    receives = [bench.recv(1, 64, 4096)]
    assert bench.play(bench.send(1, 8, opcode, **more), receives=receives) == ([(1, OK)], taken)


def test_write_with_immediate_leaves_the_receive_buffer_alone() -> None:
    bench = Bench()
    bench.lab.b.memory.write(4096, b"untouched")
    bench.b.post_recv(bench.recv(1, 64, 4096))
    bench.a.post_send(bench.send(1, 3000, Opcode.RDMA_WRITE_WITH_IMM, immediate=42))
    bench.run()
    (wc,) = bench.b.recv_cq.poll()
    assert (wc.opcode, wc.byte_len, wc.immediate) == ("RECV_RDMA_WITH_IMM", 3000, 42)
    assert bench.lab.b.memory.read(4096, 9) == b"untouched"


# READs, atomics, fences


def test_a_read_takes_one_psn_a_response_and_later_requests_wait_for_max_rd_atomic() -> None:
    bench = Bench()
    bench.play(
        bench.send(1, 3000, READ),
        bench.send(2, 0, READ),
        *bench.writes(3, remote_address=8192, offset=8192),
    )
    assert bench.labels(**{"kind": "packet", "from": "nic-a"}) == [
        *("READ request PSN=100", "READ request PSN=103", "WRITE PSN=104")
    ]
    times = {e["label"]["en"]: e["t"] for e in bench.lab.recorder.events}
    assert times["READ request PSN=103"] > times["READ data last PSN=102"]


def test_more_reads_than_the_peer_can_hold_are_an_invalid_request() -> None:
    bench = Bench()
    bench.a.attributes.max_rd_atomic = 4  # the peer said 1
    ours, _ = bench.play(*(bench.send(n, 4096, READ) for n in (1, 2)))
    assert (2, "REM_INV_REQ_ERR") in ours
    bench = Bench()
    bench.b.attributes.max_dest_rd_atomic = 0
    assert bench.play(bench.send(1, 8, READ))[0] == [(1, "REM_INV_REQ_ERR")]


@pytest.mark.parametrize("lost", [Op.FETCH_ADD, Op.ATOMIC_ACK])
def test_an_atomic_is_executed_once(lost: Any) -> None:
    bench = Bench(timeout=1)
    bench.lab.wire.lose(lambda p: p.op is lost, 3)
    add = bench.send(1, 8, Opcode.ATOMIC_FETCH_AND_ADD, compare_add=5)
    assert bench.play(add)[0] == [(1, OK)]
    assert int.from_bytes(bench.lab.b.memory.read(0, 8), "little") == 5
    assert bench.lab.a.memory.read(0, 8) == bytes(8)


@pytest.mark.parametrize(("compare", "after"), [(3, 9), (4, 3)])
def test_compare_and_swap_returns_the_old_value(compare: int, after: int) -> None:
    bench = Bench()
    bench.lab.b.memory.write(0, (3).to_bytes(8, "little"))
    operands = {"compare_add": compare, "swap": 9, "offset": 64}
    bench.play(bench.send(1, 8, Opcode.ATOMIC_CMP_AND_SWP, **operands))
    assert int.from_bytes(bench.lab.b.memory.read(0, 8), "little") == after
    assert int.from_bytes(bench.lab.a.memory.read(64, 8), "little") == 3


@pytest.mark.parametrize(("flags", "got"), [(Flag.FENCE, b"new!"), (Flag.NONE, b"old!")])
def test_a_fence_makes_a_send_wait_for_the_data_of_a_read(flags: Any, got: bytes) -> None:
    bench = Bench()
    bench.lab.a.memory.write(0, b"old!")
    bench.lab.b.memory.write(0, b"new!")
    bench.play(
        bench.send(1, 4, READ),
        bench.send(2, 4, flags=flags | Flag.SIGNALED),
        receives=[bench.recv(1, 64, 4096)],
    )
    assert bench.lab.b.memory.read(4096, 4) == got


def test_a_fence_does_not_wait_for_writes() -> None:
    bench = Bench()
    bench.play(*bench.writes(1), *bench.writes(2, flags=Flag.FENCE))
    first, second, *_ = (e["t"] for e in bench.lab.recorder.events if e["from"] == "nic-a")
    assert second - first < 0.1


# Receiver not ready


def test_the_rnr_wait_is_the_receivers_and_the_psn_stays() -> None:
    bench = Bench()
    bench.b.attributes.min_rnr_timer = 1  # 10 us
    bench.a.attributes.min_rnr_timer = 31  # not asked
    bench.play(bench.send(1, 64), bench.send(2, 64), until=5)
    both = [(1, OK), (2, OK)]
    assert bench.play(receives=[bench.recv(1, 64), bench.recv(2, 64, 64)]) == (both, both)
    events = bench.lab.recorder.events
    first = [e["t"] for e in events if e["label"]["en"] == "SEND PSN=100" and e["to"] == "nic-b"]
    assert 10 < first[1] - first[0] < 14
    naks = [one for one in bench.labels() if "NAK" in one]
    assert naks == ["RNR NAK PSN=100"], "silence for what follows"


@pytest.mark.parametrize(("retries", "tries"), [(0, 1), (1, 2), (6, 7)])
def test_rnr_retries_end_in_13_without_a_completion_at_the_receiver(
    retries: int, tries: int
) -> None:
    bench = Bench(rnr_retry=retries, min_rnr_timer=1)
    assert bench.play(bench.send(1, 64)) == ([(1, "RNR_RETRY_EXC_ERR")], [])
    assert len(bench.labels(to="nic-b")) == tries
    assert bench.b.state is State.RTS, "the receiver's queue pair goes on"


def test_rnr_retry_7_never_gives_up() -> None:
    bench = Bench(rnr_retry=7, min_rnr_timer=1)
    assert bench.play(bench.send(1, 64), until=5000) == ([], [])
    assert bench.a.state is State.RTS


def test_rnr_code_0_is_the_longest_and_25_is_61_44() -> None:
    delays = [timers.rnr_delay(code) for code in range(32)]
    assert max(delays) == delays[0] == 655_360
    assert delays[1:] == sorted(delays[1:]) and delays[12] == 640 and delays[25] == 61_440


# Loss


def test_one_nak_for_a_gap_and_everything_from_there_again() -> None:
    bench = Bench()
    bench.lab.wire.lose(lambda p: p.op is Op.SEND and p.psn == 101)
    ours, _ = bench.play(
        *(bench.send(n, 64) for n in range(5)), receives=[bench.recv(n, 64) for n in range(5)]
    )
    assert ours == [(n, OK) for n in range(5)]
    labels = bench.labels(kind="packet")
    assert labels.count("NAK sequence PSN=101") == 1
    assert [labels.count(f"SEND PSN={100 + n}") for n in range(5)] == [1, 1, 2, 2, 2]


def test_a_later_ack_stands_in_for_a_lost_one_but_not_for_a_read() -> None:
    bench = Bench()
    bench.lab.wire.lose(lambda p: p.op is Op.ACK)
    assert bench.play(*bench.writes(1, 2), until=20)[0] == [(1, OK), (2, OK)], "without a timer"
    bench = Bench()
    bench.lab.wire.lose(lambda p: p.op is Op.READ_RESPONSE)
    bench.lab.b.memory.write(0, b"data")
    write = bench.send(2, 4, WRITE, offset=64, remote_address=64)
    assert bench.play(bench.send(1, 4, READ), write, until=20)[0] == [(1, OK), (2, OK)]
    assert bench.lab.a.memory.read(0, 4) == b"data"
    assert sum("READ request" in one for one in bench.labels(to="nic-b")) == 2


def test_what_has_arrived_of_a_message_is_not_sent_again() -> None:
    bench = Bench()
    bench.lab.wire.lose(lambda p: p.op is Op.SEND and p.psn == 101)
    bench.lab.wire.lose(lambda p: p.op is Op.READ_RESPONSE and p.psn == 104)
    ours, _ = bench.play(
        *(bench.send(1, 3000), bench.send(2, 3000, READ), bench.send(3, 0)),
        receives=[bench.recv(1, 4096), bench.recv(2, 0)],
        until=40,
    )
    assert ours == [(n, OK) for n in (1, 2, 3)]
    labels = bench.labels(to="nic-b")
    assert labels.count("SEND first PSN=100") == 1 and labels.count("SEND middle PSN=101") == 2
    assert labels.count("READ request PSN=104") == 1, "only what is missing"


def test_one_lost_response_costs_one_retry_and_progress_gives_all_back() -> None:
    bench = Bench(retry_cnt=1)
    for number in (100, 104):
        bench.lab.wire.lose(lambda p, n=number: p.op is Op.READ_RESPONSE and p.psn == n)
    there = {"offset": 64, "remote_address": 64}
    posts = [
        post
        for n in (0, 4)
        for post in (bench.send(n, 8, READ), *bench.writes(n + 1, n + 2, n + 3, **there))
    ]
    assert bench.play(*posts, until=60)[0] == [(n, OK) for n in range(8)]


@pytest.mark.parametrize("retries", [0, 2, 7])
def test_retry_cnt_7_is_seven_retries_and_not_endless(retries: int) -> None:
    bench = Bench(timeout=1, retry_cnt=retries)
    del bench.lab.wire.hosts["b"]
    ours, _ = bench.play(bench.send(1, 64), bench.send(2, 64))
    assert ours == [(1, "RETRY_EXC_ERR"), (2, FLUSHED)]
    last = bench.lab.recorder.events[-1]["t"]
    assert (retries + 1) * 8.192 < last < (retries + 1) * 8.7 + 1


def test_timeout_14_is_67_ms_and_0_is_never() -> None:
    assert timers.ack_timeout(14) == pytest.approx(67_108.864)
    bench = Bench(timeout=0)
    del bench.lab.wire.hosts["b"]
    assert bench.play(bench.send(1, 64))[0] == []


def test_psns_are_compared_modulo_2_to_the_24() -> None:
    assert psn.minus(3, 0xFFFFFE) == 5 and psn.minus(0xFFFFFE, 3) == -5
    setting = lab.Lab()
    a, b = (qp_module.QueuePair(host, 1, signal_all=True) for host in (setting.a, setting.b))
    lab.connect(a, b, 0xFFFFFE, 0)
    lab.connect(b, a, 0, 0xFFFFFE)
    ra, rb = setting.region(setting.a, 0, 8192), setting.region(setting.b, 0, 8192)
    setting.wire.lose(lambda p: p.op is Op.SEND and p.psn == 0)
    setting.a.memory.write(0, bytes(range(256)) * 16)
    b.post_recv(lab.receive(1, rb, 4096))
    a.post_send(lab.send(1, ra, 4096))
    setting.run()
    assert [c.status.name for c in a.send_cq.poll()] == [OK]
    assert setting.b.memory.read(0, 4096) == bytes(range(256)) * 16


@settings(max_examples=60, deadline=None)
@given(
    kinds=st.lists(st.sampled_from(["send", "write", "read", "add"]), min_size=1, max_size=8),
    sizes=st.lists(st.integers(1, 3500), min_size=8, max_size=8),
    losses=st.sets(st.integers(0, 60), max_size=12),
    late=st.booleans(),
)
def test_reliable_means_once_in_order_and_whole(
    kinds: list[str], sizes: list[int], losses: set[int], late: bool
) -> None:
    bench = Bench(timeout=1, min_rnr_timer=1)
    count = iter(range(10**6))
    bench.lab.wire.lose(lambda p: next(count) in losses, 100)
    bench.a.attributes.retry_cnt = 7
    source, target = bench.lab.a.memory, bench.lab.b.memory
    counter, place = 30_000 // 8 * 8, 0
    expected: list[tuple[Any, int, bytes]] = []
    posts, receives = [], []
    for number, (kind, size) in enumerate(zip(kinds, sizes, strict=False)):
        data = bytes((number * 37 + i) % 251 for i in range(size))
        more = {"offset": place, "remote_address": place}
        if kind == "read":
            target.write(place, data)
            posts.append(bench.send(number, size, READ, **more))
            expected.append((source, place, data))
        elif kind == "add":
            more["remote_address"] = counter
            add = Opcode.ATOMIC_FETCH_AND_ADD
            posts.append(bench.send(number, 8, add, compare_add=1, **more))
        else:
            source.write(place, data)
            opcode = Opcode.SEND if kind == "send" else Opcode.RDMA_WRITE
            posts.append(bench.send(number, size, opcode, **({} if kind == "send" else more)))
            if kind == "send":
                sges = (Sge(place, size, bench.ra.lkey),)
                posts[-1] = SendWR(number, Opcode.SEND, sges)
                receives.append(bench.recv(number, size, place))
            expected.append((target, place, data))
        place += 3600
    if not late:
        bench.b.post_recv(*receives)
    bench.a.post_send(*posts)
    bench.run(15)
    if late:
        bench.b.post_recv(*receives)
    bench.run()
    if bench.a.state is State.ERR:
        return  # so many losses in a row that the retries were used up
    done = bench.ends()
    assert done[0] == [(n, OK) for n in range(len(kinds))]
    assert done[1] == [(n, OK) for n, kind in enumerate(kinds) if kind == "send"]
    assert int.from_bytes(target.read(counter, 8), "little") == kinds.count("add")
    for where, address, data in expected:
        assert where.read(address, len(data)) == data


# Errors: which side sees which status


def wrong_domain(bench: Any) -> Any:
    other = memory.ProtectionDomain("other")
    region = bench.lab.b.memory.register(other, 0, 64, lab.EVERYTHING)
    return bench.send(1, 8, Opcode.RDMA_WRITE, rkey=region.rkey)


REMOTE = ("REM_ACCESS_ERR", FLUSHED, "IBV_EVENT_QP_ACCESS_ERR")
REQUEST = ("REM_INV_REQ_ERR", FLUSHED, "IBV_EVENT_QP_REQ_ERR")
IMM, ADD = Opcode.RDMA_WRITE_WITH_IMM, Opcode.ATOMIC_FETCH_AND_ADD
FAULTS: dict[str, tuple[Any, str, str, str]] = {  # request, A's status, B's status, B's event
    "unknown rkey": (lambda t: t.send(1, 8, WRITE, rkey=BAD), *REMOTE),
    "out of range": (lambda t: t.send(1, 8, WRITE, remote_address=(1 << 15) - 4), *REMOTE),
    "rkey of another domain": (wrong_domain, *REMOTE),
    "bad rkey with immediate": (lambda t: t.send(1, 8, IMM, rkey=BAD, immediate=1), *REMOTE),
    "atomic not aligned to 8": (lambda t: t.send(1, 8, ADD, remote_address=4), *REQUEST),
    "receive too short": (lambda t: t.send(1, 65), "REM_INV_REQ_ERR", "LOC_LEN_ERR", ""),
    "bad lkey": (lambda t: SendWR(1, Opcode.SEND, (Sge(0, 8, BAD),)), "LOC_PROT_ERR", "", ""),
    "beyond the region": (lambda t: t.send(1, 64, offset=(1 << 15) - 8), "LOC_PROT_ERR", "", ""),
    "no window": (lambda t: SendWR(1, Opcode.LOCAL_INV, invalidate=BAD), "LOC_QP_OP_ERR", "", ""),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_gives_this_status_on_either_side(name: str) -> None:
    make, ours, theirs, event = FAULTS[name]
    bench = Bench()
    requests = (make(bench), bench.send(2, 8, flags=Flag.NONE))
    ends = bench.play(*requests, receives=[bench.recv(1, 64)])
    assert ends == ([(1, ours), (2, FLUSHED)], [(1, theirs)] if theirs else [])
    assert bench.a.state is State.ERR
    assert bench.b.events == ([event] if event else [])


def test_a_receive_with_a_bad_lkey_is_the_responders_fault() -> None:
    bench = Bench()
    ends = bench.play(bench.send(1, 8), receives=[RecvWR(1, (Sge(0, 64, BAD),))])
    assert ends == ([(1, "REM_OP_ERR")], [(1, "LOC_PROT_ERR")])


@pytest.mark.parametrize(
    ("opcode", "right"),
    [
        (WRITE, Access.REMOTE_WRITE),
        (READ, Access.REMOTE_READ),
        (Opcode.ATOMIC_FETCH_AND_ADD, Access.REMOTE_ATOMIC),
    ],
)
def test_the_right_is_needed_on_the_region_and_on_the_queue_pair(opcode: Any, right: Any) -> None:
    bench = Bench()
    bench.rb.access = lab.EVERYTHING & ~right
    assert bench.play(bench.send(1, 8, opcode))[0] == [(1, "REM_ACCESS_ERR")]
    bench = Bench()
    bench.b.attributes.access_flags = lab.EVERYTHING & ~right
    assert bench.play(bench.send(1, 8, opcode))[0] == [(1, "REM_INV_REQ_ERR")]


def test_no_bytes_need_no_key() -> None:
    bench = Bench()
    request = SendWR(1, Opcode.SEND, (Sge(0, 0, BAD), Sge(0, 8, bench.ra.lkey)))
    receive = RecvWR(1, (Sge(0, 0, BAD), Sge(1024, 64, bench.rb.lkey)))
    assert bench.play(request, receives=[receive]) == ([(1, OK)], [(1, OK)])
    assert Bench().play(SendWR(1, WRITE, rkey=BAD))[0] == [(1, OK)]


def test_flushing_is_in_order_and_includes_unsignaled_ones_and_later_posts() -> None:
    bench = Bench()
    bench.a.post_send(*bench.writes(1, 2, flags=Flag.NONE))
    bench.a.modify(State.ERR)
    bench.a.post_send(bench.send(3, 8, flags=Flag.NONE))
    bench.a.post_recv(RecvWR(4))
    assert bench.ends()[0] == [(n, FLUSHED) for n in (1, 2, 3, 4)]


def test_reset_throws_away_without_completions() -> None:
    bench = Bench()
    bench.a.post_recv(RecvWR(1))
    bench.a.post_send(bench.send(1, 8))
    bench.a.modify(State.RESET)
    bench.run()
    assert bench.ends()[0] == []


def test_a_shared_receive_queue_is_not_flushed_and_warns_once() -> None:
    shared = work.ReceiveQueue(shared=True)
    shared.limit = 2
    bench = Bench(b_options={"receives": shared})
    for number in range(3):
        shared.post(bench.recv(number, 64))
    bench.a.post_send(*(bench.send(n, 8) for n in (1, 2)))
    bench.run()
    assert (shared.limit_events, shared.limit) == (1, 0)
    bench.b.modify(State.ERR)
    assert [c.status.name for c in bench.b.recv_cq.poll()] == [OK] * 2
    assert len(shared.waiting) == 1 and bench.b.events == ["QP_LAST_WQE_REACHED"]


# Posting


@pytest.mark.parametrize("service", [Service.RC, Service.UC])
@pytest.mark.parametrize("domain", ["its own", "the queue pair's"])
def test_receives_of_a_shared_queue_are_checked_in_its_domain(service: Any, domain: str) -> None:
    own = memory.ProtectionDomain("srq")
    shared = work.ReceiveQueue(shared=True, pd=own)
    bench = Bench(service, b_options={"receives": shared})
    pd = own if domain == "its own" else bench.b.pd
    region = bench.lab.b.memory.register(pd, 0, 64, Access.LOCAL_WRITE)
    shared.post(RecvWR(1, (Sge(0, 64, region.lkey),)))
    status = OK if domain == "its own" else "LOC_PROT_ERR"
    assert bench.play(bench.send(1, 8))[1] == [(1, status)]


def test_unsignaled_requests_hold_their_place_until_a_later_completion_is_polled() -> None:
    bench = Bench(a_options={"max_send": 3})
    bench.a.post_send(*bench.writes(1, 2, flags=Flag.NONE), *bench.writes(3))
    bench.run(10)
    refuses("ENOMEM", bench.a.post_send, *bench.writes(4))
    assert bench.ends()[0] == [(3, OK)]
    bench.a.post_send(*bench.writes(4, 5, 6))
    refuses("ENOMEM", bench.a.post_send, *bench.writes(7))


def test_inline_copies_at_once_and_needs_no_lkey() -> None:
    bench = Bench()
    bench.lab.a.memory.write(0, b"first")
    bench.b.post_recv(bench.recv(1, 64))
    sges = (Sge(0, 5, BAD),)
    bench.a.post_send(SendWR(1, Opcode.SEND, sges, Flag.SIGNALED | Flag.INLINE))
    bench.lab.a.memory.write(0, b"other")
    bench.run()
    assert bench.lab.b.memory.read(0, 5) == b"first"
    refuses("EINVAL", bench.a.post_send, bench.send(2, 65, flags=Flag.INLINE))
    refuses("EINVAL", bench.a.post_send, bench.send(2, 8, READ, flags=Flag.INLINE))


@pytest.mark.parametrize("service", [Service.UC, Service.UD])
def test_services_offer_what_the_manual_page_lists(service: Any) -> None:
    bench = Bench(service)
    for opcode in set(Opcode) - work.ALLOWED[service]:
        refuses("EINVAL", bench.a.post_send, bench.send(1, 8, opcode))


# Completion queues


def test_an_overrun_kills_the_completion_queue() -> None:
    small = work.CompletionQueue(capacity=1)
    bench = Bench(a_options={"send_cq": small})
    bench.a.post_send(*bench.writes(1, 2))
    bench.run()
    assert bench.a.events == ["CQ_ERR"] and bench.a.state is State.ERR
    refuses("EIO", small.poll)


def test_a_notification_comes_once_until_it_is_asked_for_again() -> None:
    bench = Bench()
    bench.a.send_cq.request_notify()
    bench.a.post_send(*bench.writes(1, 2))
    bench.run()
    assert bench.a.send_cq.notifications == 1
    bench.b.recv_cq.request_notify(solicited_only=True)
    bench.b.post_recv(*(bench.recv(n, 64) for n in (1, 2)))
    bench.a.post_send(bench.send(3, 8))
    bench.run()
    assert bench.b.recv_cq.notifications == 0
    bench.a.post_send(bench.send(4, 8, flags=Flag.SOLICITED))
    bench.run()
    assert bench.b.recv_cq.notifications == 1


# UD and UC


def datagram(bench: Any, wr_id: int, length: int, qkey: int = 0x1234) -> Any:
    return bench.send(wr_id, length, host="b", qpn=bench.b.qpn, qkey=qkey)


def test_a_datagram_begins_40_bytes_into_the_buffer() -> None:
    bench = Bench(Service.UD)
    bench.lab.a.memory.write(0, b"hello")
    bench.b.post_recv(bench.recv(1, 45), bench.recv(2, 44, 1024))
    bench.a.post_send(datagram(bench, 1, 5), datagram(bench, 2, 5))
    bench.run()
    (wc,) = bench.b.recv_cq.poll()
    assert (wc.byte_len, wc.source_qpn) == (45, bench.a.qpn)
    assert bench.lab.b.memory.read(40, 5) == b"hello"
    assert [c.status.name for c in bench.a.send_cq.poll()] == [OK, OK]


@pytest.mark.parametrize(
    ("length", "qkey", "receives"),
    [
        pytest.param(64, 1, 1, id="wrong Q_Key"),
        pytest.param(64, 0x1234, 0, id="no receive"),
        pytest.param(1025, 0x1234, 1, id="longer than the MTU"),
    ],
)
def test_datagrams_are_dropped_in_silence_and_completed_with_success(
    length: int, qkey: int, receives: int
) -> None:
    bench = Bench(Service.UD)
    sent = datagram(bench, 1, length, qkey)
    assert bench.play(sent, receives=[bench.recv(1, 8192)] * receives) == ([(1, OK)], [])


@pytest.mark.parametrize("service", [Service.UC, Service.UD])
def test_a_receive_with_a_bad_lkey_fails_here_and_is_unknown_to_the_sender(service: Any) -> None:
    bench = Bench(service)
    bench.lab.a.memory.write(0, b"hello")
    receives = [RecvWR(1, (Sge(0, 64, BAD),)), bench.recv(2, 64, 1024)]
    ends = bench.play(datagram(bench, 1, 5), receives=receives)
    assert ends == ([(1, OK)], [(1, "LOC_PROT_ERR"), (2, FLUSHED)])
    assert (bench.a.state, bench.b.state) == (State.RTS, State.ERR)
    assert bench.lab.b.memory.read(0, 64) == bytes(64)


def test_a_bad_send_on_uc_stops_only_the_send_queue() -> None:
    bench = Bench(Service.UC)
    bench.a.post_recv(lab.receive(9, bench.ra, 64))
    bad = SendWR(1, Opcode.SEND, (Sge(0, 8, BAD),))
    assert bench.play(bad, bench.send(2, 8))[0] == [(1, "LOC_PROT_ERR"), (2, FLUSHED)]
    assert bench.a.state is State.SQE
    bench.b.post_send(lab.send(5, bench.rb, 8))
    bench.run()
    assert bench.ends()[0] == [(9, OK)]
    bench.a.modify(State.RTS)


# Memory


@pytest.mark.parametrize("right", [Access.REMOTE_WRITE, Access.REMOTE_ATOMIC])
def test_remote_writing_needs_local_write(right: Any) -> None:
    setting = lab.Lab()
    refuses("EINVAL", setting.region, setting.a, 0, 64, right)


def test_a_read_into_memory_without_local_write_fails_locally() -> None:
    bench = Bench()
    bench.ra.access = Access.REMOTE_READ
    assert bench.play(bench.send(1, 8, READ))[0] == [(1, "LOC_PROT_ERR")]


def window_bench(kind: int, access: Any, region_access: Any) -> tuple[Any, Any]:
    bench = Bench()
    bench.rb.access = region_access
    window = bench.lab.b.memory.allocate_window(bench.lab.b.pd, kind)
    bind = memory.Bind(bench.rb, 1024, 512, access, key=2)
    bench.b.post_send(SendWR(1, Opcode.BIND_MW, window=window, bind=bind))
    bench.run()
    return bench, window


def within(window: Any) -> dict[str, int]:
    """Where a request finds the window."""
    return {"remote_address": 1024, "rkey": window.rkey}


ALL = lab.EVERYTHING | Access.MW_BIND


@pytest.mark.parametrize(
    ("kind", "access", "region_access", "status"),
    [
        (2, Access.REMOTE_WRITE, ALL, OK),
        (1, Access.REMOTE_WRITE, ALL, OK),
        (2, Access.REMOTE_WRITE, lab.EVERYTHING, "MW_BIND_ERR"),
        (2, Access.REMOTE_WRITE, Access.MW_BIND, "MW_BIND_ERR"),
        (2, Access.REMOTE_READ, Access.MW_BIND, OK),
    ],
)
def test_what_a_window_needs_of_its_region(
    kind: int, access: Any, region_access: Any, status: str
) -> None:
    bench, _ = window_bench(kind, access, region_access)
    assert bench.ends()[1] == [(1, status)]


def test_a_window_gives_rights_that_its_region_does_not() -> None:
    bench, window = window_bench(2, Access.REMOTE_WRITE, Access.MW_BIND | Access.LOCAL_WRITE)
    assert bench.play(*bench.writes(1, **within(window)))[0] == [(1, OK)]
    refuses("EBUSY", bench.lab.b.memory.deregister, bench.rb)


@pytest.mark.parametrize(("kind", "status"), [(1, OK), (2, "REM_ACCESS_ERR")])
def test_a_type_2_window_serves_one_queue_pair(kind: int, status: str) -> None:
    bench, window = window_bench(kind, Access.REMOTE_WRITE, ALL)
    other = bench.lab.pair(qpn=0x15)
    other.a.post_send(*bench.writes(1, **within(window)))
    bench.run()
    assert [c.status.name for c in other.a.send_cq.poll()] == [status]


def test_send_with_invalidate_ends_the_window_before_the_receive_completes() -> None:
    bench, window = window_bench(2, Access.REMOTE_WRITE, ALL)
    there = within(window)
    bench.b.post_recv(bench.recv(2, 64))
    bench.a.post_send(bench.send(1, 8, Opcode.SEND_WITH_INV, invalidate=there["rkey"]))
    bench.run()
    assert bench.b.recv_cq.poll()[1].invalidated == there["rkey"]
    assert bench.play(*bench.writes(2, **there))[0] == [(1, OK), (2, "REM_ACCESS_ERR")]


# Traces


def test_committed_traces_are_what_the_simulator_gives() -> None:
    """Their figures are drawn from them, which refuses what cannot be drawn."""
    assert program.differing() == []
