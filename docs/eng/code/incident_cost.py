"""GPU hours that published incidents cost, and the same with earlier detection.

Run:  python docs/eng/code/incident_cost.py

Hours lost and GPUs are as their authors state them (see the note); what detection would have saved
is arithmetic: the hours in which nobody knew, as far as the account states them, replaced by the
minutes of an alarm. The rest, such as diagnosis and lost work, stays.
"""

from __future__ import annotations

from typing import NamedTuple


class Incident(NamedTuple):
    """An account: hours lost in all, and of these the stated hours until somebody noticed."""

    title: str
    gpus: int
    lost: float
    unnoticed: float


BLOOM = 384
ACCOUNTS = (
    Incident("BLOOM 2022-03-21, crash just before a save", BLOOM, 7.3, 0.0),
    Incident("BLOOM 2022-04-30, hang in evaluation", BLOOM, 18.0, 3.0),
    Incident("BLOOM 2022-05-09, the same hang", BLOOM, 6.0, 0.0),
    Incident("BLOOM 2022-05-18, the same hang", BLOOM, 11.0, 0.0),
)
ALARM = 10 / 60  # hours: no finished step for some ten minutes, one alarm


def saved(incident: Incident) -> float:
    """Return the GPU hours that an alarm on the last step's age would have saved."""
    return max(0.0, incident.unnoticed - ALARM) * incident.gpus


def hang(gpus: int, timeout_minutes: float) -> float:
    """Return the GPU hours that one hang costs before the timeout even fires."""
    return gpus * timeout_minutes / 60


def main() -> None:
    """Print both tables."""
    for one in ACCOUNTS:
        early = saved(one)
        print(f"{one.title:<44}{one.lost * one.gpus:>8,.0f} GPU hours, alarm saves {early:>6,.0f}")
    print(f"{'together':<44}{sum(one.lost * one.gpus for one in ACCOUNTS):>8,.0f}")
    print("one hang, before its timeout fires, GPU hours")
    for gpus in (64, 384, 1024, 9600):
        row = "".join(f"{f'{t} min':>8}{hang(gpus, t):>8,.0f}" for t in (60, 30, 10, 1))
        print(f"{gpus:>6} GPUs{row}")


if __name__ == "__main__":
    main()
