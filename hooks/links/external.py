"""Addresses of other sites: lychee asks whether they live, a page shows which do not.

What is asked, how often and what is accepted stands in `lychee.toml`. What one machine cannot
reach, readers may well reach: the answers are a table on a page, and never a finding.
"""

from __future__ import annotations

import datetime
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

CACHE = Path(".cache/external")
_SHOWN = 3
_WORDS = {
    "zh": (
        "还没有检查记录。维护者在能上网的机器上运行 `make links` 后，结果会列在这里。",
        "最近一次检查：{date}，{addresses} 个外部地址，{dead} 个没有正常答复。",
        ("地址", "答复", "出现处"),
        "等 {} 处",
    ),
    "en": (
        "No check has been recorded yet. Once a maintainer has run `make links` on a machine with "
        "a network, the result is shown here.",
        "Last check: {date}, {addresses} external addresses, {dead} of which did not answer well.",
        ("Address", "Answer", "Where"),
        "{} places in all",
    ),
}


def ask(root: Path, report: Path) -> str:
    """Ask for every address in the notes and data below `root`; say in a sentence what came of it.

    Where no host answered, the report stays as it was.
    """
    lychee = shutil.which("lychee", path=Path(sys.executable).parent) or shutil.which("lychee")
    if lychee is None:
        raise OSError("lychee is not installed: `make links` installs it and runs this check")
    folder = root / CACHE  # lychee keeps its cache where it runs
    folder.mkdir(parents=True, exist_ok=True)
    files = [*root.glob("docs/**/*.md"), *root.glob("docs/data/**/*.yml")]
    command = [lychee, "--config", str(root / "lychee.toml"), "--format", "json", "--no-progress"]
    command += ["--quiet", "--output", "answers.json", "--files-from", "-"]
    names = "\n".join(map(str, sorted(files)))
    run = subprocess.run(command, cwd=folder, input=names, text=True, check=False)
    if run.returncode not in (0, 2):  # 2: some address does not answer
        raise OSError(f"lychee ended with status {run.returncode}")
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    found = summary(answers, root, datetime.datetime.now(datetime.UTC).date())
    if not answers["successful"] and not any(row["code"] for row in found["rows"]):
        return "no host answered: this machine has no way out, so nothing was learnt"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(json.dumps(found, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    return f"{found['addresses']} addresses, {len(found['rows'])} did not answer well: {report}"


def summary(answers: dict[str, Any], root: Path, today: datetime.date) -> dict[str, Any]:
    """Return what a page shows of the JSON that lychee writes; files are relative to `root`."""
    rows: dict[str, dict[str, Any]] = {}
    for file, found in (*answers["error_map"].items(), *answers["timeout_map"].items()):
        name = Path(file).relative_to(root).as_posix()
        for one in found:
            said = {"said": one["status"]["text"], "code": one["status"].get("code", 0)}
            row = rows.setdefault(one["url"], {"address": one["url"], **said, "places": []})
            row["places"] = sorted([*row["places"], f"{name}:{one['span']['line']}"])
    asked = answers["unique"] - answers["excludes"]
    told = [rows[address] for address in sorted(rows)]
    return {"date": today.isoformat(), "addresses": asked, "rows": told}


def render(report: Path, language: str) -> str:
    """Return a report as Markdown. Addresses stand there as code: many of them lead nowhere."""
    none, intro, head, more = _WORDS[language]
    if not report.is_file():
        return none
    found = json.loads(report.read_text(encoding="utf-8"))
    said = intro.format(**found, dead=len(found["rows"]))
    table = [head, ("---", "---", "---")] if found["rows"] else []
    for row in found["rows"]:
        places = [_code(place.removeprefix("docs/")) for place in row["places"][:_SHOWN]]
        if len(row["places"]) > _SHOWN:
            places.append(more.format(len(row["places"])))
        table.append((_code(row["address"]), _code(row["said"]), "<br>".join(places)))
    return "\n".join([said, "", *(f"| {' | '.join(cells)} |" for cells in table)]).rstrip()


def _code(text: str) -> str:
    """Return text as inline code that a table cell can hold, whatever a server sent."""
    plain = re.sub(r"[\s\x00-\x1f\x7f]+", " ", text).strip()
    return f"`{plain.replace('`', '%60').replace('|', '%7C')}`"
