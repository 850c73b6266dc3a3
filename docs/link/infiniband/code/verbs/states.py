"""Queue pair states and the attributes that each transition needs.

The table is the content of `qp_state_table` and `ib_modify_qp_is_ok` in Linux,
drivers/infiniband/core/verbs.c (commit f4d8f354d753), for RC, UC and UD; the required columns
agree with ibv_modify_qp(3) of rdma-core v64.0. A transition that is not listed is refused, so
is one with a required attribute missing or with an attribute that is neither required nor
optional; nothing changes then.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum


class State(Enum):
    """ibv_qp_state."""

    RESET = "RESET"
    INIT = "INIT"
    RTR = "RTR"
    RTS = "RTS"
    SQD = "SQD"
    SQE = "SQE"
    ERR = "ERR"


class Service(Enum):
    """Transport service of a queue pair."""

    RC = "RC"
    UC = "UC"
    UD = "UD"


class VerbsError(Exception):
    """A verb that returned an errno at once; no completion will come."""

    def __init__(self, errno: str, reason: str) -> None:
        super().__init__(f"{errno}: {reason}")
        self.errno = errno


Needs = tuple[frozenset[str], frozenset[str]]  # required, optional


def _needs(required: str = "", optional: str = "") -> Needs:
    return frozenset(required.split()), frozenset(optional.split())


_ADDRESS = "av path_mtu dest_qpn rq_psn"
_RETRY = "timeout retry_cnt rnr_retry sq_psn max_rd_atomic"
_R, _I, _T, _S = State.RESET, State.INIT, State.RTR, State.RTS
_D, _Q, _E = State.SQD, State.SQE, State.ERR

TRANSITIONS: dict[Service, dict[tuple[State, State], Needs]] = {
    Service.RC: {
        (_R, _I): _needs("pkey_index port access_flags"),
        (_I, _I): _needs("", "pkey_index port access_flags"),
        (_I, _T): _needs(
            _ADDRESS + " max_dest_rd_atomic min_rnr_timer", "alt_path access_flags pkey_index"
        ),
        (_T, _S): _needs(_RETRY, "cur_state alt_path access_flags min_rnr_timer path_mig_state"),
        (_S, _S): _needs("", "cur_state access_flags alt_path path_mig_state min_rnr_timer"),
        (_S, _D): _needs("", "en_sqd_async_notify"),
        (_D, _S): _needs("", "cur_state alt_path access_flags min_rnr_timer path_mig_state"),
        (_D, _D): _needs(
            "",
            "port av timeout retry_cnt rnr_retry max_rd_atomic max_dest_rd_atomic alt_path "
            "access_flags pkey_index min_rnr_timer path_mig_state",
        ),
        (_Q, _S): _needs(),
    },
    Service.UC: {
        (_R, _I): _needs("pkey_index port access_flags"),
        (_I, _I): _needs("", "pkey_index port access_flags"),
        (_I, _T): _needs(_ADDRESS, "alt_path access_flags pkey_index"),
        (_T, _S): _needs("sq_psn", "cur_state alt_path access_flags path_mig_state"),
        (_S, _S): _needs("", "cur_state access_flags alt_path path_mig_state"),
        (_S, _D): _needs("", "en_sqd_async_notify"),
        (_D, _S): _needs("", "cur_state alt_path access_flags path_mig_state"),
        (_D, _D): _needs("", "av alt_path access_flags pkey_index path_mig_state"),
        (_Q, _S): _needs("", "cur_state access_flags"),
    },
    Service.UD: {
        (_R, _I): _needs("pkey_index port qkey"),
        (_I, _I): _needs("", "pkey_index port qkey"),
        (_I, _T): _needs("", "pkey_index qkey"),
        (_T, _S): _needs("sq_psn", "cur_state qkey"),
        (_S, _S): _needs("", "cur_state qkey"),
        (_S, _D): _needs("", "en_sqd_async_notify"),
        (_D, _S): _needs("", "cur_state qkey"),
        (_D, _D): _needs("", "pkey_index qkey"),
        (_Q, _S): _needs("", "cur_state qkey"),
    },
}
for _table in TRANSITIONS.values():
    _table[_R, _R] = _needs()
    for _state in (_I, _T, _S, _D, _Q, _E):
        _table[_state, _R] = _needs()
        _table[_state, _E] = _needs()


@dataclass
class Attributes:
    """What ibv_modify_qp may set; `av` is the name of the other host."""

    pkey_index: int = 0
    port: int = 0
    access_flags: int = 0
    qkey: int = 0
    av: str = ""
    path_mtu: int = 1024
    dest_qpn: int = 0
    rq_psn: int = 0
    max_dest_rd_atomic: int = 0
    min_rnr_timer: int = 0
    sq_psn: int = 0
    timeout: int = 0
    retry_cnt: int = 0
    rnr_retry: int = 0
    max_rd_atomic: int = 0


LIMITS = {
    "rq_psn": 0xFFFFFF,
    "sq_psn": 0xFFFFFF,
    "dest_qpn": 0xFFFFFF,
    "min_rnr_timer": 31,
    "timeout": 31,
    "retry_cnt": 7,
    "rnr_retry": 7,
}
MTUS = (256, 512, 1024, 2048, 4096)
KNOWN = {field.name for field in fields(Attributes)}


def check(service: Service, old: State, new: State, given: dict[str, int | str]) -> None:
    """Raise EINVAL unless `given` may accompany the transition."""
    needs = TRANSITIONS[service].get((old, new))
    if needs is None:
        raise VerbsError("EINVAL", f"{old.value} to {new.value} is no transition")
    required, optional = needs
    missing = sorted(required - given.keys())
    if missing:
        raise VerbsError("EINVAL", f"missing: {', '.join(missing)}")
    extra = sorted(given.keys() - required - optional)
    if extra:
        raise VerbsError("EINVAL", f"not allowed here: {', '.join(extra)}")
    for name, value in given.items():
        limit = LIMITS.get(name)
        if limit is not None and not (isinstance(value, int) and 0 <= value <= limit):
            raise VerbsError("EINVAL", f"{name} is 0 to {limit}")
    if given.get("path_mtu", 1024) not in MTUS:
        raise VerbsError("EINVAL", "path_mtu is 256 to 4096, a power of two")
