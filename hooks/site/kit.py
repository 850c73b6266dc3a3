"""The field kit: programs of one file, what they compare with, and records that readers send."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import statistics
import tarfile
from pathlib import Path
from typing import Any

import yaml

from hooks.data import FactBase, load_facts, load_record

_IMPORT = re.compile(r"^from common import (?:\([^)]*\)|[^\n]*)\n", re.MULTILINE)
_PACKED = (".py", ".txt", ".sh", ".sbatch", ".yaml")
_KEPT, _VERSIONS = ("date", "program", "kit"), ("driver", "torch", "cuda", "hip", "nccl")
_MACHINE = ("gpu", "count", *_VERSIONS, "kernel", "cpu")
_SAID = re.compile(r"\d{4}-\d\d-\d\d \w+\.py \d{4}-\d\d-\d\d [0-9a-f]{7}( \d[\w.+-]*)+")
_FIGURE = "what key value unit reference reference_from specification verdict".split()
_NAMES = re.compile(  # of people, hosts, devices, networks, folders of somebody
    r"[\w.+-]+@[\w.-]+|\b\d{1,3}(\.\d{1,3}){3}\b|\b([0-9a-fA-F]{2}:){3,}[0-9a-fA-F:.]+"
    r"|GPU-[0-9a-f-]{8,}|/(home|Users|mnt|tmp)/[^\s\x22]+|\b[\w.-]+\.(local|internal|com|net)\b"
)


def reference(docs: Path, base: FactBase, site_url: str) -> dict[str, Any]:
    """Return what the programs compare with: figures of records, by GPU, and its specification."""
    plan = yaml.safe_load((docs / "data/kit.yml").read_text(encoding="utf-8"))
    accelerators, columns = base.families["accelerators"].rows, plan["columns"]
    gpus, rules, newest = dict[str, Any](), dict[str, Any](), ""
    for rule in plan["figures"]:
        rules.setdefault(rule["what"], rule)
        files = [path.relative_to(docs).as_posix() for path in docs.glob(rule["records"])]
        records = [(load_record(file, docs), file) for file in files]
        for record, file in sorted(records, key=lambda one: (one[0].date, one[1])):
            machine, found = record.machine, dict[str, list[float]]()
            (result,) = (one for one in record.results if one.id == rule["result"])
            for point in result.points:
                at = {**point, "gpus": machine.gpu_count}
                if all(str(at.get(axis)) == str(v) for axis, v in rule.get("where", {}).items()):
                    key = ".".join([rule["what"], *(str(at[one]) for one in rule.get("each", []))])
                    found.setdefault(key, []).append(point["value"])
            where = f"{machine.gpu_count} x {machine.gpu}, {record.date}, {file}"
            newest = max(newest, str(record.date))
            for key, values in found.items():  # those of an earlier record give way
                value = float(f"{statistics.median(values):.4g}")
                gpus.setdefault(str(machine.gpu), {})[key] = [value, result.unit, where]
    cells = {gpu: accelerators[row].cells.items() for gpu, row in plan["gpus"].items()}
    said = {gpu: {c: one.value for c, one in own if c in columns} for gpu, own in cells.items()}
    table = {"site": site_url, "gpus": gpus, "figures": rules, "specification": said}
    mark = hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:7]
    return {"kit": f"{newest} {mark}", **table}


def files(docs: Path, base: FactBase, site_url: str) -> dict[str, str | bytes]:
    """Return the programs, and the archive of them all, by paths in the site; none without them."""
    if not (docs / "kit").is_dir():
        return {}
    table, folder, out = reference(docs, base, site_url), docs / "kit/code", io.BytesIO()
    paths = [one for one in folder.rglob("*.*") if one.suffix in _PACKED]
    texts = {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in paths}
    common = texts.pop("common.py").partition("import annotations\n")[2].strip() + "\n\n\n"
    common = common.replace("REFERENCE: dict = {}", f"REFERENCE: dict = {table!r}  # noqa: E501")
    made = {name: _IMPORT.sub(lambda _: common, text, count=1) for name, text in texts.items()}
    licence = (docs.parent / "LICENSES/Apache-2.0.txt").read_text(encoding="utf-8")
    packed = {**made, "reference.json": json.dumps(table, indent=1) + "\n", "LICENSE": licence}
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, text in sorted(packed.items()):
            entry = tarfile.TarInfo(f"handbook-kit/{name}")
            entry.size, entry.mode = len(text.encode()), 0o755 if name.endswith(".py") else 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    single = {f"kit/{name}": text for name, text in made.items() if name.endswith(".py")}
    return {**single, "kit/handbook-kit.tar.gz": gzip.compress(out.getvalue(), mtime=0)}


def take(docs: Path, file: Path, by: str) -> Path:
    """Write a reader's record to the data, without names; ValueError where it cannot be true."""
    raw = json.loads(_NAMES.sub("<removed>", file.read_text("utf-8")))
    machine = {key: raw["machine"].get(key) for key in _MACHINE}
    figures = [{key: one.get(key) for key in _FIGURE} for one in raw["figures"]]
    promised = reference(docs, load_facts(docs / "data")[0], "")["specification"]
    known = [None, *promised.get(machine["gpu"], {}).values()]
    measured = [(one["value"], one["specification"]) for one in figures if one["key"]]
    wrong = [
        f"{value} of {most}; we know {known[1:]}"
        for value, most in measured
        if value is not None and not (most in known and 0 < value + 0 <= 1.05 * (most or 1e9))
    ]
    said = " ".join(str(one or 0) for one in (*map(raw.get, _KEPT), *map(machine.get, _VERSIONS)))
    if wrong or not _SAID.fullmatch(said) or not 0 < len(figures) <= 2000:
        raise ValueError("; ".join([f"{len(figures)} figures of {said}", *wrong]))
    record = {"by": by, **{key: raw[key] for key in _KEPT}, "machine": machine, "figures": figures}
    mark = hashlib.sha256(json.dumps(record).encode()).hexdigest()[:7]
    path = docs / f"data/records/{raw['date']}-{mark}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path
