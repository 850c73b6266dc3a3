"""What a run of the external link check found: as JSON for the maintainer, as a table on a page."""

from __future__ import annotations

import datetime
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag

from hooks.findings import Finding
from hooks.links.external.allow import AllowList
from hooks.links.external.cache import Known
from hooks.links.external.records import Outcome, Reason, Use, Verdict, for_address, host_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_FORMAT = 1
Report = dict[str, Any]
"""`format`; `date` (of the run); `offline` (no host answered); `addresses` and `hosts` (how many);
`counts` (addresses by verdict); `oldest` (day of the oldest verdict); `rows`: one for each address
that is not alive (when offline: nor unreachable), with `address`, `verdict`, `reason`, `detail`,
`status`, `new`, `archived`, `checked`, `since`, `alive`, `allowed` (`reason`, `until`,
or null), and `places`."""


def build(
    uses: Sequence[Use],
    known: Mapping[str, Known],
    allow: AllowList,
    today: datetime.date,
    *,
    offline: bool = False,
) -> Report:
    """Return the report of a run.

    Args:
        uses: Every external address at every place.
        known: What is known of each document, by its address without fragment.
        allow: What is accepted, and where archived copies are.
        today: The day of the run.
        offline: Whether no host answered, so that the run says nothing about addresses.
    """
    places: dict[str, list[str]] = {}
    for use in sorted(uses):
        places.setdefault(use.address, []).append(f"{use.place.file}:{use.place.line}")
    counts = dict.fromkeys((verdict.value for verdict in Verdict), 0)
    rows = []
    days = []
    for address in sorted(places):
        base, fragment = urldefrag(address)
        one = known.get(base)
        outcome = for_address(one.outcome, fragment) if one else Outcome(Verdict.UNCHECKED)
        counts[outcome.verdict.value] += 1
        if one:
            days.append(one.checked.date())
        says_nothing = offline and outcome.verdict is Verdict.UNREACHABLE
        if outcome.verdict not in (Verdict.ALIVE, Verdict.UNCHECKED) and not says_nothing:
            rows.append(_row(address, outcome, one, allow, places[address]))
    return {
        "format": _FORMAT,
        "date": today.isoformat(),
        "offline": offline,
        "addresses": len(places),
        "hosts": len({host_of(address) for address in places}),
        "counts": counts,
        "oldest": min(days).isoformat() if days else None,
        "rows": sorted(rows, key=lambda row: (_ORDER.index(row["verdict"]), row["address"])),
    }


_ORDER = [Verdict.GONE, Verdict.FRAGMENT, Verdict.MOVED, Verdict.UNREACHABLE, Verdict.FORBIDDEN]
"""What needs mending first comes first."""


def _row(
    address: str, outcome: Outcome, one: Known | None, allow: AllowList, places: list[str]
) -> dict[str, Any]:
    base, fragment = urldefrag(address)
    new = outcome.new
    if new and fragment:
        new = f"{new}#{fragment}"
    accepted = allow.accepts(address, outcome.verdict)
    return {
        "address": address,
        "verdict": outcome.verdict.value,
        "reason": outcome.reason.value,
        "detail": outcome.detail,
        "status": outcome.status,
        "new": new,
        "archived": allow.archived.get(address) or allow.archived.get(base, ""),
        "checked": one.checked.date().isoformat() if one else None,
        "since": one.since.isoformat() if one else None,
        "alive": one.alive.isoformat() if one and one.alive else None,
        "allowed": (
            {"reason": accepted.reason, "until": accepted.until.isoformat()} if accepted else None
        ),
        "places": places,
    }


def load(path: Path) -> Report | None:
    """Read a report; None when there is none, or none of this format."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        return report if report["format"] == _FORMAT and "rows" in report else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def save(path: Path, report: Report) -> None:
    """Write a report."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(report, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def findings(report: Report) -> list[Finding]:
    """Return a warning for each place of an address that wants mending and is not accepted.

    What a robot cannot tell (`forbidden-to-robots`) and what may be the fault of this machine's
    network (`unreachable-from-here`) is in the report, and is no finding.
    """
    found = []
    for row in report["rows"]:
        if row["allowed"] or row["verdict"] in (Verdict.FORBIDDEN, Verdict.UNREACHABLE):
            continue
        message = f"'{row['address']}': {row['verdict']}"
        said = _said(row, "en")
        message += f" ({said})" if said else ""
        for place in row["places"]:
            file, _, line = place.rpartition(":")
            rule = f"external-{row['verdict']}"
            target, better = row["address"], _better(row)
            found.append(Finding(file, int(line), 0, rule, message, target, better))
    return sorted(found)


def _better(row: Mapping[str, Any]) -> str:
    """Return the address to write instead, where one is known."""
    if row["verdict"] == Verdict.MOVED and row["reason"] != Reason.FRONT_PAGE:
        return str(row["new"])
    return str(row["archived"])


_TEXT = {
    "zh": {
        "none": "还没有检查记录。维护者在能上网的机器上运行 `python -m hooks links` 后，"
        "结果会列在这里。",
        "offline": "最近一次检查（{date}）时，运行检查的机器连不上任何主机，"
        "所以 {hosts} 个主机上的 {addresses} 个外部地址都没有结论。",
        "intro": "最近一次检查：{date}，{hosts} 个主机上的 {addresses} 个外部地址。",
        "oldest": "其中最早的结论来自 {oldest}。",
        "counts": ("结论", "地址数"),
        "rows": ("地址", "结论", "说明", "可改为", "出现处"),
        "clean": "没有需要处理的地址。",
        "since": "自 {since}",
        "allowed": "已知，{until} 前不处理",
        "more": "等 {count} 处",
        "stop": "；",
    },
    "en": {
        "none": "No check has been recorded yet. Once a maintainer has run `python -m hooks links` "
        "on a machine with a network, the result is shown here.",
        "offline": "At the last check ({date}) the machine could reach no host at all, so nothing "
        "is known of the {addresses} external addresses on {hosts} hosts.",
        "intro": "Last check: {date}, {addresses} external addresses on {hosts} hosts.",
        "oldest": "The oldest verdict is of {oldest}.",
        "counts": ("Verdict", "Addresses"),
        "rows": ("Address", "Verdict", "Explanation", "Write instead", "Where"),
        "clean": "No address needs attention.",
        "since": "since {since}",
        "allowed": "known, accepted until {until}",
        "more": "{count} places in all",
        "stop": "; ",
    },
}
_VERDICTS = {
    "zh": {
        Verdict.ALIVE: "正常",
        Verdict.MOVED: "已永久迁移",
        Verdict.GONE: "已失效",
        Verdict.FRAGMENT: "缺少锚点",
        Verdict.FORBIDDEN: "拒绝机器人",
        Verdict.UNREACHABLE: "此处无法访问",
        Verdict.UNCHECKED: "尚未检查",
    },
    "en": {
        Verdict.ALIVE: "alive",
        Verdict.MOVED: "moved permanently",
        Verdict.GONE: "gone",
        Verdict.FRAGMENT: "fragment missing",
        Verdict.FORBIDDEN: "forbidden to robots",
        Verdict.UNREACHABLE: "unreachable from here",
        Verdict.UNCHECKED: "not checked yet",
    },
}
_REASONS = {
    "zh": {
        Reason.STATUS: "状态码 {status}",
        Reason.CONNECT: "无法建立连接",
        Reason.TIMEOUT: "超时未答复",
        Reason.TLS: "TLS 失败：{detail}",
        Reason.PROTOCOL: "答复不完整或不合协议",
        Reason.HOPS: "重定向过多",
        Reason.FRONT_PAGE: "转到了首页，原页面多半已不在",
        Reason.OFFLINE: "检查时没有网络",
        Reason.PRIVATE: "不是公网地址",
        Reason.BAD_ADDRESS: "地址写法有误",
    },
    "en": {
        Reason.STATUS: "status {status}",
        Reason.CONNECT: "no connection",
        Reason.TIMEOUT: "no answer in time",
        Reason.TLS: "TLS: {detail}",
        Reason.PROTOCOL: "broken answer",
        Reason.HOPS: "too many redirects",
        Reason.FRONT_PAGE: "leads to the front page: the page itself is most likely gone",
        Reason.OFFLINE: "no network at the check",
        Reason.PRIVATE: "not a public address",
        Reason.BAD_ADDRESS: "not a valid address",
    },
}
_PLACES_SHOWN = 3


def _said(row: Mapping[str, Any], language: str) -> str:
    template = _REASONS[language].get(Reason(row["reason"]), "") if row["reason"] else ""
    return template.format(status=row["status"], detail=row["detail"])


def render_report(report: Report | None, language: str) -> str:
    """Return the Markdown that a page shows: a sentence, the counts, and what wants attention.

    Addresses stand there as code, not as links: many of them lead nowhere.
    """
    text = _TEXT[language]
    if report is None:
        return str(text["none"])
    figures = {key: report[key] for key in ("date", "addresses", "hosts", "oldest")}
    if report["offline"]:
        return str(text["offline"]).format(**figures)
    intro = str(text["intro"]).format(**figures)
    if report["oldest"] and report["oldest"] != report["date"]:
        intro += ("" if language == "zh" else " ") + str(text["oldest"]).format(**figures)
    names = _VERDICTS[language]
    counts = [
        (names[Verdict(verdict)], str(count))
        for verdict, count in report["counts"].items()
        if count
    ]
    parts = [intro, _table(text["counts"], counts, numbers=True)]
    if report["rows"]:
        parts.append(_table(text["rows"], [_cells(row, language) for row in report["rows"]]))
    else:
        parts.append(str(text["clean"]))
    return "\n\n".join(parts)


def _cells(row: Mapping[str, Any], language: str) -> tuple[str, ...]:
    text = _TEXT[language]
    notes = [escape(_said(row, language))] if row["reason"] else []
    if row["since"] and row["since"] != row["checked"]:
        notes.append(str(text["since"]).format(since=row["since"]))
    if row["allowed"]:
        notes.append(str(text["allowed"]).format(until=row["allowed"]["until"]))
    better = _better(row)
    places = [_code(place.removeprefix("docs/")) for place in row["places"][:_PLACES_SHOWN]]
    where = "<br>".join(places)
    if len(row["places"]) > _PLACES_SHOWN:
        where += "<br>" + str(text["more"]).format(count=len(row["places"]))
    return (
        _code(row["address"]),
        _VERDICTS[language][Verdict(row["verdict"])],
        str(text["stop"]).join(notes),
        _code(better) if better else "",
        where,
    )


def _code(text: str) -> str:
    """Return text as inline code that a table cell can hold, whatever a server sent."""
    plain = re.sub(r"[\s\x00-\x1f\x7f]+", " ", text).strip()
    return f"`{plain.replace('`', '%60').replace('|', '%7C')}`"


def escape(text: str) -> str:
    """Return text, part of which a server wrote, so that no character of it is markup."""
    plain = re.sub(r"[\s\x00-\x1f\x7f]+", " ", text)
    return re.sub(r"[&<>|`*_\[\]\\{}$~^=+!#]", lambda match: f"&#{ord(match.group(0))};", plain)


def _table(head: object, rows: Sequence[Sequence[str]], *, numbers: bool = False) -> str:
    assert isinstance(head, tuple)
    rule = ["---"] * len(head)
    if numbers:
        rule[-1] = "---:"
    lines = [head, rule, *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
