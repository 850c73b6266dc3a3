"""Say why ibv_modify_qp refused a transition: attributes that are missing, or not allowed.

    python docs/link/infiniband/code/qp_states.py RC INIT RTR AV PATH_MTU DEST_QPN RQ_PSN
    python docs/link/infiniband/code/qp_states.py UD RTR RTS       # what is needed

The table is that of `qp_state_table` in Linux's drivers/infiniband/core/verbs.c for RC, UC, UD
and the two ends of XRC, with the names of the mask bits (IBV_QP_...). The rule is that of
`ib_modify_qp_is_ok`: every required bit, and none beyond the required and optional ones.
"""

from __future__ import annotations

import argparse
import sys

TYPES = ("RC", "UC", "UD", "XRC_SEND", "XRC_RECV")
STATES = ("RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR")
Attributes = dict[str, tuple[str, str]]

ACCESS, DATAGRAM = "PKEY_INDEX PORT ACCESS_FLAGS", "PKEY_INDEX PORT QKEY"
PATH = "AV PATH_MTU DEST_QPN RQ_PSN"
RESPONDER = f"{PATH} MAX_DEST_RD_ATOMIC MIN_RNR_TIMER"
REQUESTER = "TIMEOUT RETRY_CNT RNR_RETRY SQ_PSN MAX_QP_RD_ATOMIC"
LATER = "CUR_STATE ALT_PATH ACCESS_FLAGS PATH_MIG_STATE"
REPATH = "ALT_PATH ACCESS_FLAGS PKEY_INDEX"
DRAINED = "PORT AV TIMEOUT ALT_PATH ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE"

# --8<-- [start:table]
TABLE: dict[tuple[str, str], Attributes] = {
    ("RESET", "INIT"): {
        **dict.fromkeys(("RC", "UC", "XRC_SEND", "XRC_RECV"), (ACCESS, "")),
        "UD": (DATAGRAM, ""),
    },
    ("INIT", "RTR"): {
        "RC": (RESPONDER, REPATH),
        "UC": (PATH, REPATH),
        "UD": ("", "PKEY_INDEX QKEY"),
        "XRC_SEND": (PATH, REPATH),
        "XRC_RECV": (RESPONDER, REPATH),
    },
    ("RTR", "RTS"): {
        "RC": (REQUESTER, f"{LATER} MIN_RNR_TIMER"),
        "UC": ("SQ_PSN", LATER),
        "UD": ("SQ_PSN", "CUR_STATE QKEY"),
        "XRC_SEND": (REQUESTER, LATER),
        "XRC_RECV": ("TIMEOUT SQ_PSN", f"{LATER} MIN_RNR_TIMER"),
    },
    # --8<-- [end:table]
    ("INIT", "INIT"): {
        **dict.fromkeys(("RC", "UC", "XRC_SEND", "XRC_RECV"), ("", ACCESS)),
        "UD": ("", DATAGRAM),
    },
    ("RTS", "RTS"): {
        **dict.fromkeys(("RC", "XRC_RECV"), ("", f"{LATER} MIN_RNR_TIMER")),
        **dict.fromkeys(("UC", "XRC_SEND"), ("", LATER)),
        "UD": ("", "CUR_STATE QKEY"),
    },
    ("RTS", "SQD"): dict.fromkeys(TYPES, ("", "EN_SQD_ASYNC_NOTIFY")),
    ("SQD", "RTS"): {
        **dict.fromkeys(("RC", "XRC_RECV"), ("", f"{LATER} MIN_RNR_TIMER")),
        **dict.fromkeys(("UC", "XRC_SEND"), ("", LATER)),
        "UD": ("", "CUR_STATE QKEY"),
    },
    ("SQD", "SQD"): {
        "RC": (
            "",
            f"{DRAINED} RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC MAX_DEST_RD_ATOMIC MIN_RNR_TIMER",
        ),
        "UC": ("", "AV ALT_PATH ACCESS_FLAGS PKEY_INDEX PATH_MIG_STATE"),
        "UD": ("", "PKEY_INDEX QKEY"),
        "XRC_SEND": ("", f"{DRAINED} RETRY_CNT RNR_RETRY MAX_QP_RD_ATOMIC"),
        "XRC_RECV": ("", f"{DRAINED} MAX_DEST_RD_ATOMIC MIN_RNR_TIMER"),
    },
    ("SQE", "RTS"): {
        "UC": ("", "CUR_STATE ACCESS_FLAGS"),
        "UD": ("", "CUR_STATE QKEY"),
        **dict.fromkeys(("RC", "XRC_SEND", "XRC_RECV"), ("", "")),
    },
}


def attributes(kind: str, old: str, new: str) -> tuple[set[str], set[str]]:
    """Return the required and the optional attributes of a transition; refuse an invalid one."""
    if (old, new) in TABLE:
        required, optional = TABLE[old, new][kind]
        return set(required.split()), set(optional.split())
    if new == "RESET" or (new == "ERR" and old != "RESET"):
        return set(), set()
    raise ValueError(f"no transition leads from {old} to {new}")


def verdict(kind: str, old: str, new: str, given: set[str]) -> list[str]:
    """Return why the call fails with EINVAL; nothing if it is accepted."""
    required, optional = attributes(kind, old, new)
    reasons = []
    if missing := required - given:
        reasons.append(f"missing: {' '.join(sorted(missing))}")
    if extra := given - required - optional:
        reasons.append(f"not allowed here: {' '.join(sorted(extra))}")
    return reasons


def main() -> None:
    """Judge the transition of the command line."""
    parser = argparse.ArgumentParser(description="Why did ibv_modify_qp return EINVAL?")
    parser.add_argument("type", choices=TYPES)
    parser.add_argument("old", choices=STATES)
    parser.add_argument("new", choices=STATES)
    parser.add_argument("attributes", nargs="*", help="mask bits without IBV_QP_, without STATE")
    options = parser.parse_args()
    required, optional = attributes(options.type, options.old, options.new)
    print(f"{options.type} {options.old} -> {options.new}")
    print(f"required  {' '.join(sorted(required)) or '-'}")
    print(f"optional  {' '.join(sorted(optional)) or '-'}")
    if options.attributes:
        reasons = verdict(options.type, options.old, options.new, set(options.attributes))
        print("\n".join(f"EINVAL    {reason}" for reason in reasons) or "accepted")


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:
        sys.exit(f"EINVAL    {error}")
