"""What the field kit compares with, and what readers measured with it: forms, and what is wrong."""

from __future__ import annotations

import hashlib
import json
import re
import statistics
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from hooks.data.measured import Number, Written, load_record
from hooks.data.options import BlockError, pick
from hooks.data.wording import Strict
from hooks.findings import Finding, load, validate

if TYPE_CHECKING:
    from pathlib import Path

    from hooks.data.facts import FactBase

RULE = "kit"
_MACHINE = "gpu count driver torch cuda hip nccl kernel cpu".split()
"""What is kept of where it ran; nothing names the host."""
_NAMES = re.compile(  # of people, hosts, devices, networks, folders of somebody
    r"[\w.+-]+@[\w.-]+|\b\d{1,3}(\.\d{1,3}){3}\b|\b([0-9a-fA-F]{2}:){3,}[0-9a-fA-F:.]+"
    r"|GPU-[0-9a-f-]{8,}|/(home|Users|mnt|tmp)/[^\s\x22]+|\b[\w.-]+\.(local|internal|com|net)\b"
)


class Rule(Strict):
    """A figure of the programs, and the points of records that are its reference (`kit.yml`)."""

    what: str
    records: str
    result: str
    where: dict[str, str | int] = Field(default_factory=dict)
    each: tuple[str, ...] = ()
    specification: str = ""
    at_least: float = Field(default=0.9, gt=0, le=1)
    note: str = ""


class Plan(Strict):
    """All figures, and the row of the facts for each GPU."""

    gpus: dict[str, str]
    figures: list[Rule]


class _Sent(BaseModel):
    # Whatever else was sent is not kept: it may name somebody.
    model_config = ConfigDict(extra="ignore", frozen=True)


class Figure(_Sent):
    """A line of a program's report; what was measured, and not only looked up, has a key."""

    what: str
    key: str
    value: Number | str | None
    unit: str = ""
    reference: Number | str | None = None
    specification: Number | None = None

    @model_validator(mode="after")
    def _can_be(self) -> Figure:
        value, most = self.value, 1.05 * (self.specification or 1e9)
        if self.key and value is not None and (isinstance(value, str) or not 0 < value <= most):
            raise ValueError(f"'{self.what}' cannot be {value} of {self.specification}")
        return self


class Sent(_Sent):
    """A record as a program of the kit writes it, and who sent it."""

    by: str = ""
    date: Written
    program: str = Field(pattern=r"^\w+\.py$")
    kit: str = Field(pattern=r"^\d{4}-\d\d-\d\d [0-9a-f]{7}$")
    machine: Annotated[
        dict[str, str | int | None],
        AfterValidator(lambda value: {key: value.get(key) for key in _MACHINE}),
    ]
    figures: list[Figure] = Field(min_length=1, max_length=2000)


class Kit(NamedTuple):
    """What the programs are given, and what readers sent."""

    table: dict[str, Any]
    """`gpus`, `specification`, `figures`, and `kit`, a name of all of it; empty without a plan."""
    records: list[Sent]


def read_kit(docs: Path, base: FactBase) -> tuple[Kit, list[Finding]]:
    """Return what is good of the plan and of the records, and what is wrong with them."""
    path, table, records = docs / "data/kit.yml", dict[str, Any](), []
    if not path.is_file():
        return Kit({}, []), []
    document, findings = load(path.read_text("utf-8"), f"{docs.name}/data/kit.yml", RULE)
    plan, mistakes = validate(Plan, document, RULE) if document else (None, [])
    findings += mistakes
    if plan and document:
        family, at = base.families["accelerators"], tuple[str | int, ...](("figures",))
        table, newest = {"gpus": {}, "figures": {}, "specification": {}}, ""
        columns = {one.specification for one in plan.figures} - {""}
        try:
            pick(columns, family.columns, "column")
            for number, rule in enumerate(plan.figures):
                at = ("figures", number)
                said = rule.model_dump(include={"specification", "at_least", "note"})
                table["figures"].setdefault(rule.what, said)
                newest = max(newest, _add(table["gpus"], rule, docs))
            at = ("gpus",)
            for gpu, row in plan.gpus.items():
                cells = pick([row], family.rows, "accelerator")[row].cells
                said = {name: cell.value for name, cell in cells.items() if name in columns}
                table["specification"][gpu] = said
        except BlockError as error:
            findings.append(document.finding(RULE, at, str(error), ""))
        mark = hashlib.sha256(json.dumps(table, sort_keys=True).encode()).hexdigest()[:7]
        table["kit"] = f"{newest} {mark}"
    for file in sorted((docs / "data/records").glob("*.json")):
        name = f"{docs.name}/data/records/{file.name}"
        sent, mistakes = read_sent(file.read_text("utf-8"), name, table)
        findings += mistakes
        records += [sent] if sent is not None else []
    return Kit(table, records), findings


def _add(gpus: dict[str, Any], rule: Rule, docs: Path) -> str:
    """Put the figures of a rule's records under their GPUs, the newest last; return its day."""
    names = [one.relative_to(docs).as_posix() for one in docs.glob(rule.records)] or [rule.records]
    records = [(load_record(name, docs), name) for name in names]
    records.sort(key=lambda one: one[0].date)
    for record, name in records:
        machine, found = record.machine, dict[str, list[float]]()
        results = {one.id: one for one in record.results}
        result = pick([rule.result], results, "result")[rule.result]
        for point in result.points:
            at = {**point, "gpus": machine.gpu_count}
            if all(str(at.get(axis)) == str(one) for axis, one in rule.where.items()):
                key = ".".join([rule.what, *(str(at[one]) for one in rule.each)])
                found.setdefault(key, []).append(point["value"])
        where = f"{machine.gpu_count} x {machine.gpu}, {record.date}, {name}"
        for key, values in found.items():
            value = float(f"{statistics.median(values):.4g}")
            gpus.setdefault(str(machine.gpu), {})[key] = [value, result.unit, where]
    return str(records[-1][0].date)


def read_sent(text: str, file: str, table: dict[str, Any]) -> tuple[Sent | None, list[Finding]]:
    """Return a record, without names; None where it is none, or says another specification."""
    document, findings = load(_NAMES.sub("<removed>", text), file, RULE)
    if document is None:
        return None, findings
    sent, mistakes = validate(Sent, document, RULE)
    known = table.get("specification", {}).get(sent.machine["gpu"], {}).values() if sent else ()
    for number, one in enumerate(sent.figures if sent else ()):
        if one.specification not in (None, *known):
            message = f"the specification {one.specification} is none of ours: {[*known]}"
            place = ("figures", number, "specification")
            mistakes.append(document.finding(RULE, place, message, str(one.specification)))
    return (None if mistakes or findings else sent), findings + mistakes


def take(docs: Path, file: Path, by: str, table: dict[str, Any]) -> Path:
    """Write a reader's record to the data, without names; ValueError with every finding."""
    sent, findings = read_sent(file.read_text("utf-8"), file.name, table)
    if sent is None:
        raise ValueError("\n".join(one.text for one in findings))
    text = sent.model_copy(update={"by": by}).model_dump_json(indent=1) + "\n"
    path = docs / f"data/records/{sent.date}-{hashlib.sha256(text.encode()).hexdigest()[:7]}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
