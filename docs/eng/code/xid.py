"""Sort the Xid lines of a kernel log: which GPU, what came first, what to do. Standard library.

python docs/eng/code/xid.py dmesg.txt
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

LINE = re.compile(r"NVRM: Xid \((PCI:[0-9a-f:.]+)(?: GPU-I:(\w+))?[^)]*\): (\d+), (.*)", re.I)
CHANGED = re.compile(r"recovery action changed from \S+ \(([^)]*)\) to \S+ \(([^)]*)\)", re.I)
FOLLOWERS = {45, 154}  # name what another line caused, or what to do about it

# immediate action, as the catalogue names it: job, reset, reboot, none, or a look at the details
ACTION = {
    **dict.fromkeys((13, 31, 32, 69, 94), "restart the job"),
    **dict.fromkeys((46, 62, 64, 95, 109, 119, 120, 140, 143, 158), "reset the GPU"),
    **dict.fromkeys((43, 63, 92, 121, 137, 157), "none now"),
    **dict.fromkeys((48, 74, 144, 145, 146, 147, 148, 149, 150), "look at the workflow"),
    79: "restart the node",
}
SUSPECT = {13: "program", 31: "program", 43: "program", 137: "program"}
RANK = ["none now", "restart the job", "look at the workflow", "reset the GPU", "restart the node"]
DRIVER = {  # words of Xid 154
    "None": "none now",
    "GPU Reset Required": "reset the GPU",
    "Drain and Reset": "reset the GPU",
    "Drain P2P": "look at the workflow",
    "Node Reboot Required": "restart the node",
}


@dataclass
class Gpu:
    codes: list[int] = field(default_factory=list)
    driver_says: str | None = None
    instances: set[str] = field(default_factory=set)

    @property
    def causes(self) -> list[int]:
        return [code for code in dict.fromkeys(self.codes) if code not in FOLLOWERS]

    def action(self) -> str:
        """What the driver asks for in Xid 154; without it, the strongest action of the list."""
        if self.driver_says:
            return DRIVER.get(self.driver_says, self.driver_says)
        known = [ACTION.get(code, "look at the workflow") for code in self.causes]
        return max(known, key=RANK.index, default="look at what was killed")

    def suspect(self) -> str:
        first = self.causes[0] if self.causes else 0
        return SUSPECT.get(first, "hardware or driver")


def sort(lines: Iterable[str]) -> dict[str, Gpu]:
    found: dict[str, Gpu] = {}
    for line in lines:
        if not (match := LINE.search(line)):
            continue
        address, instance, code, text = match.groups()
        gpu = found.setdefault(address, Gpu())
        gpu.codes.append(int(code))
        if instance:
            gpu.instances.add(instance)
        if changed := CHANGED.search(text):
            gpu.driver_says = changed.group(2)
    return found


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    with Path(sys.argv[1]).open(encoding="utf-8", errors="replace") as log:
        found = sort(log)
    print("GPU               Xids in order        first  suspect             do")
    for address, gpu in found.items():
        codes = " ".join(map(str, gpu.codes))
        first = str(gpu.causes[0]) if gpu.causes else "-"
        print(f"{address:17} {codes:20} {first:>5}  {gpu.suspect():19} {gpu.action()}")


if __name__ == "__main__":
    main()
