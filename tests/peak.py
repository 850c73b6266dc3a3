"""The memory that a process has held."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_kilobytes() -> int:
    """Return the most memory that this process has held at once.

    Linux hands `ru_maxrss` on from the process that started this one, which may be larger.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        held = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(held.split()[1])
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // 1024 if sys.platform == "darwin" else most
