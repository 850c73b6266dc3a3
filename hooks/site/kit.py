"""The field kit as files of the site: programs of one file each, with what they compare with."""

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

from hooks.data import FactBase, Known, load_record

ARCHIVE = "handbook-kit.tar.gz"
_IMPORT = re.compile(r"^from common import (?:\([^)]*\)|[^\n]*)\n", re.MULTILINE)
_TABLE = "REFERENCE: dict = {}\n"


def reference(docs: Path, base: FactBase, known: Known, site_url: str) -> dict[str, Any]:
    """Return what the programs compare with: figures of records, by GPU, and its specification."""
    plan = yaml.safe_load((docs / "data/kit.yml").read_text(encoding="utf-8"))
    rows, gpus, rules = base.families["accelerators"].rows, dict[str, Any](), dict[str, Any]()
    newest = dict[tuple[str, str], str]()
    for rule in plan["figures"]:
        said = {key: rule[key] for key in ("specification", "at_least", "note") if key in rule}
        rules.setdefault(rule["what"], {}).update(said)
        for path in sorted(docs.glob(rule["records"])):
            file = path.relative_to(docs).as_posix()
            record = load_record(file, docs, known)
            machine, found = record.machine, dict[str, list[float]]()
            (result,) = (one for one in record.results if one.id == rule["result"])
            for point in result.points:
                at = {**point, "gpus": machine.gpu_count}
                if all(str(at.get(axis)) == str(v) for axis, v in rule.get("where", {}).items()):
                    key = ".".join([rule["what"], *(str(at[one]) for one in rule.get("each", []))])
                    found.setdefault(key, []).append(point["value"])
            day, gpu = record.date.isoformat(), machine.gpu or ""
            for key, values in found.items():
                if day >= newest.get((gpu, key), ""):
                    newest[gpu, key] = day
                    where = f"{machine.gpu_count} x {gpu}, {day}, {file}"
                    value = float(f"{statistics.median(values):.4g}")
                    gpus.setdefault(gpu, {})[key] = [value, result.unit, where]
    columns = {rule["specification"] for rule in rules.values() if "specification" in rule}
    cells = {gpu: rows[row].cells for gpu, row in plan["gpus"].items()}
    named = {gpu: {c: own[c].value for c in columns & own.keys()} for gpu, own in cells.items()}
    table = {"site": site_url, "gpus": gpus, "specification": named, "figures": rules}
    mark = hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:7]
    return {"kit": f"{max(newest.values())} {mark}", **table}


def programs(docs: Path, table: dict[str, Any]) -> dict[str, str]:
    """Return the programs by name, each with the common part and the table put into it."""
    folder = docs / "kit/code"
    common = (folder / "common.py").read_text(encoding="utf-8")
    common = common.partition("from __future__ import annotations\n")[2].strip("\n") + "\n\n\n"
    common = common.replace(_TABLE, f"REFERENCE: dict = {table!r}  # noqa: E501\n")
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}
    del texts["common.py"]
    return {name: _IMPORT.sub(lambda _: common, text, count=1) for name, text in texts.items()}


def files(docs: Path, base: FactBase, known: Known, site_url: str) -> dict[str, str | bytes]:
    """Return the programs and the archive of them all, by paths in the site."""
    table = reference(docs, base, known, site_url)
    made = programs(docs, table)
    packed = {"reference.json": json.dumps(table, indent=1) + "\n", **made}
    packed["LICENSE"] = (docs.parent / "LICENSES/Apache-2.0.txt").read_text(encoding="utf-8")
    for path in sorted((docs / "kit/code").rglob("*")):
        if path.is_file() and path.suffix in (".txt", ".sh", ".yaml", ".yml", ".sbatch"):
            name = path.relative_to(docs / "kit/code").as_posix()
            packed[name] = path.read_text(encoding="utf-8")
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, text in sorted(packed.items()):
            entry = tarfile.TarInfo(f"handbook-kit/{name}")
            entry.size, entry.mode = len(text.encode()), 0o755 if name.endswith(".py") else 0o644
            archive.addfile(entry, io.BytesIO(text.encode()))
    site: dict[str, str | bytes] = {f"kit/{name}": text for name, text in made.items()}
    return {**site, f"kit/{ARCHIVE}": gzip.compress(out.getvalue(), mtime=0)}
