"""Reading what programs print: pure functions from text to values.

Each raises `MeasureError` when the text does not hold what it looks for. `file` names the text
in the message; lines and columns count from 1.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tools.measure.topo.model import Json, MeasureError, Number, Series

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
DRIVER = re.compile(r"Driver Version: ([\d.]+)")
# The name ends where the column of persistence mode begins; it may hold single spaces.
GPU_NAME = re.compile(r"^\|\s+\d+\s+(NVIDIA \S+(?: \S+)*)\s+(?:On|Off)\s+\|", re.M)
NVCC = re.compile(r"release ([\d.]+), V[\d.]+")
DRIVER_CUDA = re.compile(r"CUDA Version: ([\d.]+)")
PCIE_GENERATION = re.compile(r"PCIe Generation\s+Max\s+: \d+\s+Current\s+: (\d+)")
PCIE_WIDTH = re.compile(r"Link Width\s+Max\s+: \d+x\s+Current\s+: (\d+)x")
BAR1 = re.compile(r"BAR1 Memory Usage\s+Total\s+: (\d+) MiB")
LINK_ERRORS = re.compile(r"Errors: (\d+)")
PEER_MODULE = re.compile(r"^(nvidia_peermem|nvidia_fs|gdrdrv) ", re.M)
RDMA_DEVICE = re.compile(r"^(mlx\S*|ib\S*)$", re.M)
NCCL_CHOICE = re.compile(
    r"AllReduce: (?P<bytes>\d+) Bytes -> Algo (?P<algorithm>\w+) proto (?P<protocol>\w+) "
    r"channel\{Lo\.\.Hi\}=\{(?P<low>\d+)\.\.(?P<high>\d+)\}"
)
NCCL_NVLINK = re.compile(r"NVL\[([\d.]+)\]")
CUFILE_ERROR = re.compile(r"ERROR\s+\S+ (udev property not found: \S+)")
CUFILE_LIBRARY = re.compile(r"libcufile version: ([\d.]+)")
GDS_RELEASE = re.compile(r"GDS release version: ([\d.]+)")
SERIES_FIELDS = frozenset({"result", "unit", "n", "median", "p5", "p95"})


@dataclass(frozen=True, slots=True)
class PcieLink:
    """A PCIe port as it runs: generation and number of lanes."""

    generation: int
    width: int


@dataclass(frozen=True, slots=True)
class NcclChoice:
    """What NCCL chose for an all-reduce of a size."""

    bytes: int
    algorithm: str
    protocol: str
    channels: int


def every(pattern: re.Pattern[str], text: str, file: str) -> list[str]:
    """Return the first group of every match; at least one."""
    if found := [match[1] for match in pattern.finditer(text)]:
        return found
    raise MeasureError(
        f"{file}: nothing in it matches '{pattern.pattern}'; run that step of "
        "tools/measure/run_topo.sh again, or teach tools/measure/topo/parse.py the new wording"
    )


def first(pattern: re.Pattern[str], text: str, file: str) -> str:
    """Return the first group of the first match."""
    return every(pattern, text, file)[0]


def without_escapes(text: str) -> str:
    """Return a captured text without the terminal's colours and underlines."""
    return ESCAPE.sub("", text)


def json_lines(text: str, file: str) -> list[tuple[str, Json]]:
    """Return FILE:LINE and the object of each line."""
    out: list[tuple[str, Json]] = []
    for number, line in enumerate(text.splitlines(), 1):
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise MeasureError(
                f"{file}:{number}:{error.colno}: not JSON ({error.msg}): {line[:60]!r}; "
                "a program that stopped half-way leaves this, run its step again"
            ) from None
        if not isinstance(value, dict):
            raise MeasureError(f"{file}:{number}:1: a JSON object was expected, found {line[:60]}")
        out.append((f"{file}:{number}", value))
    return out


def series(rows: Iterable[tuple[str, Json]]) -> list[Series]:
    """Return the results among the lines of a CUDA program; other lines are passed over."""
    return [
        _series(place, row, row.keys() - SERIES_FIELDS, row, row.get("unit"))
        for place, row in rows
        if "result" in row
    ]


def collective_series(rows: Iterable[tuple[str, Json]], quantity: str, unit: str) -> list[Series]:
    """Return one quantity (`busbw` or `time_us`) of the lines that allreduce.py prints."""
    sizes = {"bytes", "algorithm", "protocol"}
    return [
        _series(place, row, row.keys() & sizes, row.get(quantity, {}), unit, ("algbw",))
        for place, row in rows
        if "result" in row
    ]


def _series(
    place: str,
    row: Json,
    labels: Iterable[str],
    values: Mapping[str, Number],
    unit: str | None,
    extra: tuple[str, ...] = (),
) -> Series:
    try:
        return Series(
            name=row["result"],
            labels={key: row[key] for key in sorted(labels)},
            unit=str(unit),
            n=row["n"],
            median=values["median"],
            p5=values["p5"],
            p95=values["p95"],
            place=place,
            extra={key: row[key] for key in extra},
        )
    except KeyError as error:
        raise MeasureError(
            f"{place}: the result {row['result']!r} has no {error.args[0]!r}; "
            "each needs n, median, p5 and p95"
        ) from None


def cpu(listing: str, file: str) -> str:
    """Return the CPU from lscpu: 'NAME, family N model N, COUNT'."""
    pairs = (line.partition(":") for line in listing.splitlines())
    values = {key.strip(): value.strip() for key, _, value in pairs}
    try:
        return (
            f"{values['Model name']}, family {values['CPU family']} model {values['Model']}, "
            f"{values['CPU(s)']}"
        )
    except KeyError as error:
        raise MeasureError(
            f"{file}: no line '{error.args[0]}:'; keep the output of plain lscpu"
        ) from None


def captured_on(smi: str, file: str) -> datetime.date:
    """Return the day on which nvidia-smi ran, from its first line."""
    line = smi.partition("\n")[0].strip()
    try:
        return datetime.datetime.strptime(line, "%a %b %d %H:%M:%S %Y").date()
    except ValueError:
        raise MeasureError(
            f"{file}:1:1: a date such as 'Sat Nov 21 09:06:44 2026' was expected, found {line!r}; "
            "keep the output of plain nvidia-smi, in the C locale"
        ) from None


def driver_version(smi: str, file: str) -> str:
    """Return the driver's version from nvidia-smi's heading."""
    return first(DRIVER, smi, file)


def gpu_names(smi: str, file: str) -> list[str]:
    """Return the name of each GPU in nvidia-smi's table; at least one."""
    return every(GPU_NAME, smi, file)


def driver_cuda(smi: str, file: str) -> str:
    """Return the CUDA release that the driver serves, from the head of nvidia-smi's table."""
    return first(DRIVER_CUDA, smi, file)


def nvcc_release(listing: str, file: str) -> str:
    """Return the CUDA release from nvcc --version."""
    return first(NVCC, listing, file)


def pcie_link(report: str, file: str) -> PcieLink:
    """Return the link that every GPU in nvidia-smi -q has now (not the most it could have).

    Raises MeasureError also when they differ: a record compares all of them with one rate.
    """
    generations, widths = every(PCIE_GENERATION, report, file), every(PCIE_WIDTH, report, file)
    links = {PcieLink(int(g), int(w)) for g, w in zip(generations, widths, strict=True)}
    if len(links) > 1:
        raise MeasureError(
            f"{file}: the GPUs' PCIe links differ: "
            + ", ".join(sorted(f"generation {x.generation} x{x.width}" for x in links))
            + "; an idle link may have slowed down, so ask for the report under load"
        )
    return links.pop()


def bar1_mib(report: str, file: str) -> list[int]:
    """Return the size of each GPU's BAR1 window in MiB, from nvidia-smi -q; at least one."""
    return [int(size) for size in every(BAR1, report, file)]


def link_errors(listing: str, file: str) -> list[int]:
    """Return every counter of nvidia-smi nvlink -e: replay, recovery, CRC; at least one."""
    return [int(count) for count in every(LINK_ERRORS, listing, file)]


def peer_modules(listing: str) -> list[str]:
    """Return which of nvidia-peermem, nvidia-fs and gdrdrv /proc/modules lists."""
    return PEER_MODULE.findall(listing)


def rdma_devices(listing: str) -> list[str]:
    """Return the names that ls /sys/class/infiniband printed, one a line."""
    return RDMA_DEVICE.findall(listing)


def nccl_choices(log: str, file: str) -> list[NcclChoice]:
    """Return NCCL's choices by size from its log (subsystem TUNING); the last of a size counts."""
    first(NCCL_CHOICE, log, file)
    found = {
        int(match["bytes"]): NcclChoice(
            int(match["bytes"]),
            match["algorithm"],
            match["protocol"],
            int(match["high"]) - int(match["low"]) + 1,
        )
        for match in NCCL_CHOICE.finditer(log)
    }
    return [found[size] for size in sorted(found)]


def nccl_nvlink_rate(log: str, file: str) -> str:
    """Return the GB/s that NCCL takes a GPU's NVLinks to have, as its log (GRAPH) prints it."""
    return first(NCCL_NVLINK, log, file)
