#!/usr/bin/python3
"""Ping-pong over RC with pyverbs, the connection made by hand: the partner of rc_pingpong.c.

    python3 rc_pingpong.py           # on the first machine
    python3 rc_pingpong.py FIRST     # on the second

It says the same over TCP as the program in C, so that one side may be Python and the other C.
Ends with 0: all right; 1: something failed; 77: no RDMA device (or no pyverbs).
"""

import argparse
import random
import socket
import sys
import time
from ipaddress import IPv6Address

NO_DEVICE = 77
PING, SIZE, PORT, WAIT_SECONDS = 64, 4096, 18520, 20

try:
    from pyverbs.addr import GID, AHAttr, GlobalRoute
    from pyverbs.cq import CQ
    from pyverbs.device import Context, get_device_list
    from pyverbs.enums import (
        IBV_ACCESS_LOCAL_WRITE,
        IBV_GID_TYPE_ROCE_V2,
        IBV_LINK_LAYER_ETHERNET,
        IBV_QPT_RC,
        IBV_SEND_SIGNALED,
        IBV_WC_RECV,
        IBV_WC_SUCCESS,
        IBV_WR_SEND,
    )
    from pyverbs.mr import MR
    from pyverbs.pd import PD
    from pyverbs.pyverbs_error import PyverbsError, PyverbsRDMAError
    from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
    from pyverbs.wr import SGE, RecvWR, SendWR
except ImportError as error:
    print(f"no pyverbs for {sys.executable}: {error}", file=sys.stderr)
    print("  to do: apt-get install python3-pyverbs, and run /usr/bin/python3", file=sys.stderr)
    sys.exit(NO_DEVICE)


def open_device(wanted: str | None) -> Context:
    """Open the named device or the first; end with 77 where there is none."""
    try:
        names = [device.name.decode() for device in get_device_list()]
    except PyverbsRDMAError:  # the kernel knows no RDMA at all
        names = []
    if not names or (wanted and wanted not in names):
        where = f"of the name {wanted}" if wanted and names else "on this machine"
        print(f"no RDMA device {where}", *names, sep="\n  there is: ", file=sys.stderr)
        print("  to do: see `rdma link`; without an adapter, tools/rdma_vm.sh", file=sys.stderr)
        sys.exit(NO_DEVICE)
    return Context(name=wanted or names[0])


# --8<-- [start:gid]
def choose_gid(device: Context, length: int, roce: bool) -> tuple[int, IPv6Address]:
    """Return index and value of the GID: on Ethernet RoCE v2, if possible with an IPv4 address."""
    found = []
    for index in range(length):
        try:
            entry = device.query_gid_ex(port_num=1, gid_index=index)
        except PyverbsRDMAError:  # an empty place of the table
            continue
        if roce and entry.gid_type != IBV_GID_TYPE_ROCE_V2:
            continue
        gid = IPv6Address(device.query_gid(1, index).gid)
        found.append((gid.ipv4_mapped is None, index, gid))
    if not found:
        sys.exit("no usable GID on port 1\n  to do: give the network interface an address")
    _, index, gid = min(found)
    return index, gid


# --8<-- [end:gid]


class End:
    """One end: device, PD, MR, CQ, QP, and the TCP connection to the peer."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.device = open_device(options.device)
        self.port = self.device.query_port(1)
        self.roce = self.port.link_layer == IBV_LINK_LAYER_ETHERNET
        self.index, self.gid = choose_gid(self.device, self.port.gid_tbl_len, self.roce)
        self.pd = PD(self.device)
        self.mr = MR(self.pd, SIZE, IBV_ACCESS_LOCAL_WRITE)
        self.cq = CQ(self.device, 16)
        cap = QPCap(max_send_wr=8, max_recv_wr=8, max_send_sge=1, max_recv_sge=1)
        ask = QPInitAttr(qp_type=IBV_QPT_RC, scq=self.cq, rcq=self.cq, cap=cap)
        self.qp = QP(self.pd, ask)
        self.qp.to_init(QPAttr(port_num=1))
        self.psn = random.getrandbits(24)
        self.sent = self.received = 0
        self.post_receive()

    # --8<-- [start:meet]
    def meet(self, server: str | None, port: int) -> None:
        """Exchange LID, QPN, PSN, MTU, rkey, address and GID with the peer, as one line of text."""
        if server:
            peer = socket.create_connection((server, port), timeout=WAIT_SECONDS)
        else:
            with socket.create_server(("", port)) as listening:
                print(f"listening on port {port}", flush=True)
                peer, _ = listening.accept()
        self.line = peer.makefile("rw")
        mine = [self.port.lid, self.qp.qp_num, self.psn, int(self.port.active_mtu), self.mr.rkey]
        self.tell(" ".join(f"{part:x}" for part in [*mine, self.mr.buf]) + f" {self.gid}")
        print(
            f"mine:   QPN 0x{mine[1]:06x} PSN 0x{mine[2]:06x} GID {self.gid} (index {self.index})"
        )
        *numbers, gid = self.line.readline().split()
        self.theirs = [int(number, 16) for number in numbers]
        self.their_gid = IPv6Address(gid)
        print(f"theirs: QPN 0x{self.theirs[1]:06x} PSN 0x{self.theirs[2]:06x} GID {gid}")

    # --8<-- [end:meet]

    # --8<-- [start:connect]
    def connect(self) -> None:
        """INIT -> RTR -> RTS."""
        lid, qpn, psn, mtu, _, _ = self.theirs
        route = GlobalRoute(dgid=GID(self.their_gid.exploded), sgid_index=self.index, hop_limit=64)
        attr = QPAttr(port_num=1)
        attr.ah_attr = AHAttr(dlid=lid, is_global=int(self.roce), port_num=1, gr=route)
        attr.path_mtu = min(mtu, int(self.port.active_mtu))
        attr.dest_qp_num, attr.rq_psn, attr.sq_psn = qpn, psn, self.psn
        attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
        attr.min_rnr_timer, attr.timeout, attr.retry_cnt, attr.rnr_retry = 12, 14, 7, 7
        self.qp.to_rts(attr)  # through RTR

    # --8<-- [end:connect]

    def tell(self, words: str) -> None:
        """Write a line to the peer."""
        self.line.write(words + "\n")
        self.line.flush()

    def wait_for_peer(self) -> None:
        """Both sides come here before one goes on."""
        self.tell("ready")
        if not self.line.readline():
            sys.exit("the peer is gone\n  to do: look at the other one's message")

    def post_receive(self) -> None:
        """Post a RECV into the second message's place of the buffer."""
        self.qp.post_recv(RecvWR(sg=[SGE(self.mr.buf + PING, PING, self.mr.lkey)], num_sge=1))

    def post_send(self) -> None:
        """Send the first message's place of the buffer."""
        piece = SGE(self.mr.buf, PING, self.mr.lkey)
        ping = SendWR(num_sge=1, sg=[piece], opcode=IBV_WR_SEND, send_flags=IBV_SEND_SIGNALED)
        self.qp.post_send(ping)

    def wait(self, *, sent: int = 0, received: int = 0) -> None:
        """Poll until so many SENDs and RECVs are over."""
        limit = time.monotonic() + WAIT_SECONDS
        while self.sent < sent or self.received < received:
            for wc in self.cq.poll()[1] or []:
                if wc.status != IBV_WC_SUCCESS:
                    sys.exit(f"completion with status {wc.status}; ibv_poll_cq(3) says which")
                if wc.opcode & IBV_WC_RECV:
                    self.received += 1
                else:
                    self.sent += 1
            if time.monotonic() > limit:
                sys.exit("no completion\n  to do: is the peer alive?")


def main() -> None:
    """Read the options and play."""
    parser = argparse.ArgumentParser(description="ping-pong over RC with pyverbs")
    parser.add_argument(
        "server", nargs="?", help="name or address of the first; none: be the first"
    )
    parser.add_argument("-d", "--device", help="RDMA device (default: the first)")
    parser.add_argument("-p", "--port", type=int, default=PORT, help="TCP port")
    parser.add_argument("-n", "--rounds", type=int, default=1000, help="how often")
    options = parser.parse_args()
    end = End(options)
    end.meet(options.server, options.port)
    end.connect()
    end.wait_for_peer()
    for number in range(options.rounds):
        ping = bytes([number % 251]) * PING
        end.mr.write(ping, PING)
        if options.server:
            end.post_send()
        end.wait(received=number + 1)
        if end.mr.read(PING, PING) != ping:
            sys.exit("content of the message")
        end.post_receive()
        if not options.server:
            end.post_send()
        end.wait(sent=number + 1)
    print(f"{options.rounds} round trips of {PING} B, every byte as sent")
    end.wait_for_peer()


if __name__ == "__main__":
    try:
        main()
    except (OSError, PyverbsError) as error:
        sys.exit(
            f"{error}\n  to do: start the server first; see ibv_devinfo for the state of the port"
        )
