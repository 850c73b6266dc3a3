"""Say from two snapshots of counters whether RoCE ran in its class, with marks and without loss.

Units: counts. The cases of --demo are made up, not recorded.

A snapshot is any text with lines `name: value` or `name value`: the output of `ethtool -S` and of
`rdma statistic show link` one after the other. Counters of the two snapshots are subtracted, so
take one before the load and one after it, on the same host. Exit status 1 if a line fails.

Under incast the receiver sees the marks and sends the CNPs, and the senders handle them: say with
--role which one this host was. In an all-to-all each host is both.

Usage
    python docs/link/ethernet/code/roce_proof.py before.txt after.txt --prio 3 --role receiver
    python docs/link/ethernet/code/roce_proof.py --demo
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

Counters = dict[str, int]
MARKS = "np_ecn_marked_roce_packets"
ROLES = {"sender": ("sender",), "receiver": ("receiver",), "both": ("sender", "receiver")}

# --8<-- [start:rules]
MOVES = {  # role: counter: what it means if it stays
    "sender": {"tx_prio{p}_bytes": "data does not leave in this class: tclass, trust, dscp2prio"},
    "receiver": {
        "rx_prio{p}_bytes": "data does not arrive in this class: the map of a switch or of the peer"
    },
}
UNDER_LOAD = {  # the same, only when several senders share a port
    "sender": {"rp_cnp_handled": "no CNP arrives here: none was sent, or its class loses it"},
    "receiver": {
        MARKS: "no marks arrive: ECN is off in the queue, or Kmin above XOFF",
        "np_cnp_sent": "marks arrive, but no CNP is sent: notification is off for this priority",
    },
}
STAYS = {  # counter: what it means if it moves
    "rx_prio{p}_discards": "this port had no buffer for the lossless class",
    "rx_discards_phy": "this port dropped packets for lack of buffer",
    "packet_seq_err": "the peer saw a gap: packets were lost on the way there",
    "out_of_sequence": "this host saw a gap: packets were lost, or reordered by spraying",
    "local_ack_timeout_err": "no acknowledgement came in time",
    "rx_pcs_symbol_err_phy": "the link itself loses data: see link health",
    "link_down_events_phy": "the link went down",
}
# --8<-- [end:rules]

QUIET = dict.fromkeys([name for d in (MOVES, UNDER_LOAD) for r in d for name in d[r]] + [*STAYS], 0)
GOOD = QUIET | {
    "tx_prio{p}_bytes": 40_000_000_000,
    "rx_prio{p}_bytes": 40_000_000_000,
    MARKS: 51_000,
    "np_cnp_sent": 9_400,
    "rp_cnp_handled": 9_100,
}
DEMO = {
    "healthy": GOOD,
    "TC left at 0": QUIET | {"packet_seq_err": 812, "out_of_sequence": 795},
    "queue does not mark": GOOD | {MARKS: 0, "np_cnp_sent": 0, "rp_cnp_handled": 0},
}


def read(text: str) -> Counters:
    """Return every `name: value` or `name value` of a text; names ending in numbers included."""
    return {name: int(value) for name, value in re.findall(r"([A-Za-z]\w*)[: ]+(\d+)", text)}


def verdicts(
    change: Counters, prio: int, congested: bool, role: str = "both"
) -> Iterator[tuple[str, str, str]]:
    """Yield (result, counter, what it means) for each rule that applies to a host of this role."""
    wanted: dict[str, str] = {}
    for rules in (MOVES, UNDER_LOAD) if congested else (MOVES,):
        for part in ROLES[role]:
            wanted |= rules[part]
    if change.get(MARKS) == 0:  # without marks there is nothing to notify
        wanted.pop("np_cnp_sent", None)
    for template, meaning in (wanted | STAYS).items():
        name = template.format(p=prio)
        if name not in change:
            yield "absent", name, "this device or driver does not have it"
        elif (change[name] > 0) == (template in wanted):
            yield "ok", name, f"+{change[name]}"
        else:
            yield "FAIL", name, meaning


def difference(before: Counters, after: Counters) -> Counters:
    """Return how far each counter moved."""
    return {name: value - before.get(name, 0) for name, value in after.items()}


def demo(prio: int) -> None:
    """Print what fails in the made-up cases."""
    print("made up, priority", prio)
    for case, templates in DEMO.items():
        change = {name.format(p=prio): value for name, value in templates.items()}
        print(case)
        lines = [line for line in verdicts(change, prio, congested=True) if line[0] == "FAIL"]
        for _, name, meaning in lines:
            print(f"  FAIL {name}: {meaning}")
        if not lines:
            print("  ok")


def main() -> int:
    """Compare two files, or show the made-up cases."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", type=Path, metavar="before after")
    parser.add_argument("--prio", type=int, default=3)
    parser.add_argument("--role", choices=ROLES, default="both")
    parser.add_argument("--no-congestion", action="store_true", help="one sender per receiver")
    parser.add_argument("--demo", action="store_true")
    asked = parser.parse_args()
    if asked.demo:
        demo(asked.prio)
        return 0
    if len(asked.files) != 2:
        parser.error("two files, before and after")
    before, after = (read(file.read_text("utf-8")) for file in asked.files)
    change = difference(before, after)
    lines = list(verdicts(change, asked.prio, not asked.no_congestion, asked.role))
    for result, name, meaning in lines:
        print(f"{result:<7}{name:<29}{meaning}")
    return int(any(result == "FAIL" for result, *_ in lines))


if __name__ == "__main__":
    sys.exit(main())
