"""From a folder of captured output to the files of docs/, still in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from tools.measure import versions
from tools.measure.topo import (
    captures,
    collectives,
    contention,
    gpudirect,
    host_link,
    latency,
    memory,
    nvlink,
    p2p,
    parse,
    storage,
)
from tools.measure.topo.model import MeasureError, Program, Record
from tools.measure.topo.raw import Raw
from tools.measure.topo.record import Draft, finished
from tools.measure.topo.wording import both

INCLUDE = re.compile(r'^#include "(.+)"', re.MULTILINE)
SMI, REPORT, ERRORS = "nvidia_smi.txt", "nvidia_smi_q.txt", "nvlink_errors.txt"
HOST, CPU, NCCL = "machine.txt", "lscpu.txt", "nccl_probe.log"


def drafts(raw: Raw) -> Iterator[Draft]:
    """Yield every record of a run; raises MeasureError where a file does not hold it."""
    copies = raw.series("p2p.jsonl")
    report, host, nccl = raw.text(REPORT), raw.text(HOST), raw.text(NCCL)
    yield nvlink.status(raw.json("nvlink_status.json"), parse.link_errors(raw.text(ERRORS), ERRORS))
    yield p2p.with_peer_access(copies)
    yield p2p.without_peer_access(raw.series("p2p_off.jsonl"), copies)
    yield contention.draft(raw.series("contention.jsonl"))
    yield latency.draft(raw.series("latency.jsonl"))
    yield host_link.draft(raw.series("host_link.jsonl"), parse.pcie_link(report, REPORT))
    yield collectives.draft(
        collectives.read_run(raw.rows("allreduce.jsonl")),
        collectives.read_run(raw.rows("allreduce_no_p2p.jsonl")),
        parse.nccl_choices(nccl, NCCL),
        parse.nccl_nvlink_rate(nccl, NCCL),
    )
    yield nvlink.counters(raw.rows("nvlink_counters.jsonl"), copies)
    yield memory.draft(raw.rows("gpu_properties.jsonl"), raw.series("gpu_properties.jsonl"))
    yield gpudirect.draft(
        raw.json("gpudirect_caps.json"),
        parse.bar1_mib(report, REPORT),
        parse.peer_modules(host),
        parse.rdma_devices(host),
    )
    bare, prepared = (
        storage.Run(raw.rows(f"{name}.jsonl"), raw.text(f"{name}.log"), f"{name}.log")
        for name in ("gds_compat", "gds_compat_udev")
    )
    yield storage.draft(bare, prepared)


def machine(raw: Raw, versions: dict[str, str]) -> dict[str, Any]:
    """Return the machine of a run, with the versions of libraries that a record names."""
    smi, host = raw.text(SMI), raw.text(HOST)
    names = parse.gpu_names(smi, SMI)
    count, name = len(names), names[0]
    return {
        "description": both(
            f"{count} 块 {name}（SXM，NVSwitch 主机），Firecracker 虚拟机",
            f"{count}x {name} (SXM, NVSwitch host), Firecracker VM",
        ),
        "gpu": name,
        "gpu_count": count,
        "driver": parse.driver_version(smi, SMI),
        "cuda": parse.nvcc_release(host, HOST),
        **versions,
        "os_kernel": host.splitlines()[0],
        "cpu": f"{parse.cpu(raw.text(CPU), CPU)} vCPU",
    }


def programs(root: Path, raw: Raw, program: str) -> list[Program]:
    """Return a program and what it includes, directly or not, with their hashes when it ran.

    Raises MeasureError when one is not there, or was not hashed at the run.
    """
    sources = [root / program]
    for source in sources:  # grows while it is read
        if not source.is_file():
            raise MeasureError(f"{source}: there is no such program, which {program} needs")
        included = (
            (source.parent / name).resolve() for name in INCLUDE.findall(source.read_text("utf-8"))
        )
        sources += [path for path in included if path not in sources]
    found: list[Program] = []
    for source in sources:
        path = source.relative_to(root).as_posix()
        digest = raw.ran().get(path)
        if digest is None:
            raise MeasureError(
                f"{raw.folder / versions.RAN}: has no hash of {path}; "
                "run tools/measure/run_topo.sh, which takes it before it measures"
            )
        one: Program = {"path": path, "sha256": digest}
        if same := [other for other, name in raw.reformatted() if name == path]:
            one["same"] = same
        found.append(one)
    return found


def finish(draft: Draft, raw: Raw, root: Path) -> Record:
    """Return a draft as a record: with the day, the machine and the programs."""
    return finished(
        draft,
        date=parse.captured_on(raw.text(SMI), SMI).isoformat(),
        machine=machine(raw, draft.versions),
        programs=programs(root, raw, draft.program),
    )


def files(raw: Raw, root: Path) -> dict[str, bytes]:
    """Return path, from the repository's root, and content of every file that a run gives.

    Arguments:
        raw: What run_topo.sh kept.
        root: The repository's root, where programs name what they include.
    """
    out = {}
    for draft in drafts(raw):
        # docs/link/topo/code/x.cu -> docs/link/topo/measured/ID.json
        path = PurePosixPath(draft.program).parents[1] / "measured" / f"{draft.id}.json"
        text = json.dumps(finish(draft, raw, root), ensure_ascii=False, indent=2)
        out[path.as_posix()] = f"{text}\n".encode()
    return out | captures.files(raw)
