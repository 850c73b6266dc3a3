"""Read what dcgm-exporter says and judge each GPU by four ratios. Standard library only.

python docs/eng/code/exporter.py metrics.txt
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SAMPLE = re.compile(r"^([A-Za-z_:][\w:]*)\{(.*)\}\s+(\S+)(?:\s+-?\d+)?$")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
BLANK = 2.0**47  # DCGM's blank of a ratio; that of a 64-bit integer is far above it
NAMES = {  # old names and those of DCGM 4.6
    "DCGM_FI_DEV_GPU_UTIL": "util",
    "DCGM_FI_DEV_GPU_UTIL_RATIO": "util",
    "DCGM_FI_PROF_SM_ACTIVE": "sm",
    "DCGM_FI_PROF_SM_UTIL_RATIO": "sm",
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": "tensor",
    "DCGM_FI_PROF_TENSOR_UTIL_RATIO": "tensor",
    "DCGM_FI_PROF_DRAM_ACTIVE": "dram",
    "DCGM_FI_PROF_DRAM_UTIL_RATIO": "dram",
    "DCGM_FI_DEV_POWER_USAGE": "power",
    "DCGM_FI_DEV_BOARD_POWER_WATTS": "power",
}


def read(text: str) -> dict[str, dict[str, float | None]]:
    """Return the values of each GPU; None where DCGM had none."""
    gpus: dict[str, dict[str, float | None]] = {}
    for line in text.splitlines():
        if not (match := SAMPLE.match(line)) or match[1] not in NAMES:
            continue
        gpu = dict(LABEL.findall(match[2]))["gpu"]
        number = float(match[3])
        gpus.setdefault(gpu, {})[NAMES[match[1]]] = None if number >= BLANK else number
    return gpus


def judge(got: dict[str, float | None]) -> str:
    util, sm, tensor, dram = (got.get(name) for name in ("util", "sm", "tensor", "dram"))
    if util is None or sm is None or tensor is None or dram is None:
        return "no ratios: profiler, MIG, or fields not watched"
    if util < 5:
        return "idle"
    if tensor < 0.05 and dram < 0.05:  # a waiting NCCL kernel holds few SMs, so sm says nothing
        return "waiting: SMs held, nothing moves"
    if sm < 0.5:
        return "busy in time, not in space: few blocks, gaps"
    if tensor >= 0.5:
        return "tensor cores at work"
    if dram >= 0.6:
        return "memory at work"
    return "neither full: profile it"


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    gpus = read(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print("GPU  util    SM  tensor  DRAM  power  judgement")
    for gpu, got in sorted(gpus.items()):
        cells = [
            "-" if got.get(name) is None else f"{got[name]:{form}}"
            for name, form in zip(
                ("util", "sm", "tensor", "dram", "power"),
                (".0f", ".2f", ".2f", ".2f", ".0f"),
                strict=True,
            )
        ]
        widths = (3, 5, 5, 7, 5, 6)
        line = " ".join(f"{cell:>{w}}" for cell, w in zip([gpu, *cells], widths, strict=True))
        print(f"{line}  {judge(got)}")


if __name__ == "__main__":
    main()
