"""From folders of captured output to the records under docs/, still in memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from tools.measure.compute import cards, chip, infer, parallel, train
from tools.measure.compute.lines import Run
from tools.measure.compute.pipeline import pipeline
from tools.measure.topo import parse
from tools.measure.topo.model import MeasureError, Program, Record
from tools.measure.topo.record import Draft, finished
from tools.measure.topo.wording import both

SMI = "nvidia_smi.txt"
DAY = "date.txt"
"""Written by runs that use no GPU, where there may be no nvidia-smi to name the day."""
IMPORT = re.compile(r"^(?:from (\w+) import|import (\w+)$|#include \"(.+)\")", re.MULTILINE)


def drafts(alone: Run, several: Run, second: Run) -> Iterator[tuple[Draft, Run]]:
    """Yield every record with the run it comes from; `second` is another card, measured alone."""
    for make in (
        chip.device,
        chip.bandwidth,
        chip.roofline,
        chip.gemm,
        train.activations,
        train.steps,
        infer.cache,
        infer.decode,
    ):
        yield make(alone), alone
    yield from shared(several)
    yield from of_chip(second, cards.h100())


def of_chip(run: Run, card: cards.Card) -> Iterator[tuple[Draft, Run]]:
    """Yield the records of a chip by itself."""
    for show in (chip.device, chip.bandwidth, chip.roofline, chip.gemm):
        yield show(run, card), run


def shared(run: Run) -> Iterator[tuple[Draft, Run]]:
    """Yield every record of a run on several GPUs, whatever their number."""
    for make in (parallel.collectives, parallel.data, parallel.tensor, pipeline):
        yield make(run), run


def machine(run: Run, versions: dict[str, str]) -> dict[str, Any]:
    """Return the machine of a run."""
    host = run.text("machine.txt")
    if _without_gpu(run):
        return host_only(host)
    smi = run.text(SMI)
    names = parse.gpu_names(smi, SMI)
    count, name = len(names), names[0]
    family, model, cpus = (_field(host, key) for key in (r"CPU family", r"Model", r"CPU\(s\)"))
    return {
        "description": both(
            f"{count} 块 {name}（{run.site['zh']}），Firecracker 虚拟机",
            f"{count}x {name} ({run.site['en']}), Firecracker VM",
        ),
        "gpu": name,
        "gpu_count": count,
        "driver": parse.driver_version(smi, SMI),
        # A run of PyTorch alone has no compiler: then it is what the driver serves.
        "cuda": parse.nvcc_release(host, "machine.txt")
        if "release" in host
        else parse.driver_cuda(smi, SMI),
        **versions,
        "os_kernel": host.splitlines()[0],
        "cpu": f"{_field(host, 'Model name')}, family {family} model {model}, {cpus} vCPU",
    }


def _without_gpu(run: Run) -> bool:
    """Tell whether a run measured processors alone: those note the day by themselves."""
    return (run.folder / DAY).is_file()


def host_only(host: str) -> dict[str, Any]:
    """Return the machine of a run of the CPU alone, from the text of machine.txt."""
    family, model, cpus = (_field(host, key) for key in (r"CPU family", r"Model", r"CPU\(s\)"))
    nodes = _field(host, r"NUMA node\(s\)")
    return {
        "description": both(
            f"{cpus} 个 vCPU 的 Firecracker 虚拟机，{nodes} 个 NUMA 节点",
            f"Firecracker VM with {cpus} vCPUs, NUMA nodes: {nodes}",
        ),
        "compiler": host.splitlines()[1],
        "os_kernel": host.splitlines()[0],
        "cpu": f"{_field(host, 'Model name')}, family {family} model {model}, {cpus} vCPU",
    }


def _field(text: str, key: str) -> str:
    match = re.search(rf"^ *{key}: +(.+)$", text, re.MULTILINE)
    if match is None:
        raise MeasureError(f"machine.txt: no line '{key}:'")
    return match[1].strip()


def programs(run: Run, root: Path, program: str) -> list[Program]:
    """Return a program and those of its own that it imports or includes, with hashes as it ran.

    Raises MeasureError when the run did not note one of them.
    """
    noted = (line.split(maxsplit=1) for line in run.text("programs.sha256").splitlines())
    ran = {path: sha256 for sha256, path in noted}
    listed, todo = [], [program]
    for path in todo:  # grows while it is read
        if path not in ran:
            raise MeasureError(f"{run.folder / 'programs.sha256'}: no line for {path}")
        listed.append(path)
        for first, second, included in IMPORT.findall((root / path).read_text("utf-8")):
            name = included or f"{first or second}.py"
            for folder in (PurePosixPath(path).parent, PurePosixPath("docs/chip/code")):
                full = _resolved(folder / name)
                if full in ran and full not in todo:
                    todo.append(full)
    return [{"path": path, "sha256": ran[path]} for path in listed]


def _resolved(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def finish(draft: Draft, run: Run, root: Path) -> Record:
    """Return a draft as a record: with the day, the machine and the programs."""
    used = programs(run, root, draft.program)
    if draft.program.endswith("/roofline.cu"):  # its second half
        used += programs(run, root, "docs/chip/code/gemm.py")
    by_smi = not _without_gpu(run)
    day = parse.captured_on(run.text(SMI), SMI).isoformat() if by_smi else run.text(DAY).strip()
    return finished(
        draft,
        date=day,
        machine=machine(run, draft.versions),
        programs=used,
    )


def files(alone: Run, several: Run, second: Run, root: Path) -> dict[str, bytes]:
    """Return path, from the repository's root, and content of every record."""
    return rendered(drafts(alone, several, second), root)


def rendered(made: Iterable[tuple[Draft, Run]], root: Path) -> dict[str, bytes]:
    """Return path and content of these records."""
    out = {}
    for draft, run in made:
        path = PurePosixPath(draft.program).parents[1] / "measured" / f"{draft.id}.json"
        text = json.dumps(finish(draft, run, root), ensure_ascii=False, indent=2)
        out[path.as_posix()] = f"{text}\n".encode()
    return out
