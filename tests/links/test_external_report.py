"""What surrounds the requests of the external link check: cache, list, report, command."""

from __future__ import annotations

import datetime
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hooks.data import Layout
from hooks.links.external import allow as external_allow
from hooks.links.external import cache as external_cache
from hooks.links.external import cli as external_cli
from hooks.links.external import collect as external_collect
from hooks.links.external import report as external_report
from hooks.links.external.records import Document, Outcome, Place, Reason, Use, Verdict, documents
from tests.external_stage import Stage
from tests.links.test_external import live
from tests.samples import FIRST_LINE, note, tree

pytest_plugins = ["tests.external_stage"]

TODAY = datetime.date(2026, 11, 21)
NOW = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.UTC)

# The cache


def known(verdict: Verdict, days: float, **outcome: Any) -> external_cache.Known:
    """Return what was found some days ago."""
    checked = NOW - datetime.timedelta(days=days)
    return external_cache.Known(Outcome(verdict, **outcome), checked, checked.date())


@pytest.mark.parametrize(
    ("verdict", "days", "fragments", "expected"),
    [
        (Verdict.ALIVE, 1, (), True),
        (Verdict.ALIVE, 13.9, (), True),
        (Verdict.ALIVE, 14, (), False),
        (Verdict.ALIVE, 1, ("new",), False),
        (Verdict.GONE, 1, ("new",), True),
        (Verdict.GONE, 3, (), False),
        (Verdict.UNREACHABLE, 0, (), False),
        (Verdict.ALIVE, -1, (), False),  # a clock that went back
    ],
)
def test_ages(verdict: Verdict, days: float, fragments: tuple[str, ...], expected: bool) -> None:
    assert known(verdict, days).is_fresh(NOW, fragments) is expected


def test_dates_are_carried_on() -> None:
    first = external_cache.remember(None, Outcome(Verdict.ALIVE), NOW)
    later = NOW + datetime.timedelta(days=20)
    gone = external_cache.remember(first, Outcome(Verdict.GONE), later)
    last = external_cache.remember(gone, Outcome(Verdict.GONE), later + datetime.timedelta(days=9))
    assert (gone.since, last.since) == (later.date(), later.date())
    assert last.alive == NOW.date()


def test_the_cache_comes_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "addresses.json"
    outcome = Outcome(Verdict.ALIVE, status=200, detail="显", fragments={"a": True, "b": None})
    entries = {"https://a.org/": external_cache.remember(None, outcome, NOW)}
    external_cache.save(path, entries)
    assert external_cache.load(path) == entries
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": 0, "addresses": {}}',
        '{"format": 1, "addresses": {"a": {}}}',
        '{"format": 1, "addresses": {"a": {"outcome": {"verdict": "odd"}}}}',
        "\udcff",
    ],
)
def test_a_damaged_cache_is_no_cache(tmp_path: Path, text: str) -> None:
    path = tmp_path / "addresses.json"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    assert external_cache.load(path) == {}


# Which addresses


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("见 https://a.org/x ；", ["https://a.org/x"]),
        ("见https://a.org/x，后文", ["https://a.org/x"]),
        ("https://a.org/x。", ["https://a.org/x"]),
        ("https://a.org/x；https://b.org/y）", ["https://a.org/x", "https://b.org/y"]),
        ("「https://a.org/x」", ["https://a.org/x"]),
        ("（https://a.org/x）", ["https://a.org/x"]),
        ("https://a.org/x、https://b.org", ["https://a.org/x", "https://b.org"]),
        ("https://a.org/x的说明", ["https://a.org/x"]),
        ("https://a.org的说明", ["https://a.org"]),
        ("https://zh.wiki.org/wiki/显存带宽", ["https://zh.wiki.org/wiki/显存带宽"]),
        ("https://a.org/x#显存，", ["https://a.org/x#显存"]),
        ("(https://a.org/x_(y)), then", ["https://a.org/x_(y)"]),
        ("see https://a.org/x.", ["https://a.org/x"]),
        ("https://a.org/x; read", ["https://a.org/x"]),
        ("https://a.org/?a=1&b=2!", ["https://a.org/?a=1&b=2"]),
        ("**https://a.org/x**", ["https://a.org/x"]),
        ("https://a.org:8443/x?", ["https://a.org:8443/x"]),
        ("https://a.org/x…", ["https://a.org/x"]),
        ("https://a.org/x“引”", ["https://a.org/x"]),
        ("https://a.org/x\u200b后", ["https://a.org/x"]),
        ("https://", []),
        ("xhttps://a.org", []),
        ("HTTPS is good", []),
    ],
)
def test_bare_addresses(text: str, expected: list[str]) -> None:
    assert [address for _, address in external_collect.bare_addresses(text)] == expected


NOTE_CASES = [
    ("[t](https://a.org/x)", [("https://a.org/x", 0, 5)]),
    ("![t](https://a.org/x.png)", [("https://a.org/x.png", 0, 6)]),
    ("[t](https://a.org/x.)", [("https://a.org/x.", 0, 5)]),
    ("<https://a.org/x>", [("https://a.org/x", 0, 2)]),
    ("[t][r]\n\n[r]: https://a.org/x", [("https://a.org/x", 2, 6)]),
    ('<a href="https://a.org/x">t</a>', [("https://a.org/x", 0, 1)]),
    (
        '<img srcset="https://a.org/1 1x, https://a.org/2 2x" alt="">',
        [("https://a.org/1", 0, 1), ("https://a.org/2", 0, 1)],
    ),
    ("[t](//a.org/x)", [("https://a.org/x", 0, 5)]),
    ("text https://a.org/x ；end", [("https://a.org/x", 0, 6)]),
    ("u[^1]\n\n[^1]: NVIDIA，*T*，https://a.org/x ，2024；", [("https://a.org/x", 2, 18)]),
    ("u[^1]\n\n[^1]: first\n\n    https://a.org/x", [("https://a.org/x", 4, 5)]),
    ("| a | b |\n|---|---|\n| c | https://a.org/x |", [("https://a.org/x", 2, 7)]),
    ("- https://a.org/x", [("https://a.org/x", 0, 3)]),
    ('!!! note "t"\n    https://a.org/x', [("https://a.org/x", 1, 5)]),
    ("[https://a.org/…](https://a.org/x)", [("https://a.org/x", 0, 19)]),
    ("https://a.org/?a=1&amp;b=2&copy=3", [("https://a.org/?a=1&b=2&copy=3", 0, 1)]),
    ('```mermaid\nclick A "https://a.org/x"\n```', [("https://a.org/x", 1, 10)]),
    # Not addresses of the note
    ("`https://a.org/x`", []),
    ("```\nhttps://a.org/x\n```", []),
    ("    https://a.org/x", []),
    ("<!-- https://a.org/x -->", []),
    ("[t](other.md) and mailto:a@a.org", []),
    ("https://example.com/x http://localhost:8000 http://127.0.0.1/ http://10.0.0.1", []),
    ("[t](https://a.example/)", []),
]


@pytest.mark.parametrize(("body", "expected"), NOTE_CASES)
def test_addresses_of_a_note(
    tmp_path: Path, body: str, expected: list[tuple[str, int, int]]
) -> None:
    notes, _ = tree(tmp_path, {"a.md": note(body)})
    uses = external_collect.collect(notes, tmp_path / "docs", tmp_path)
    places = [(use.address, use.place.line - FIRST_LINE, use.place.column) for use in uses]
    assert places == expected
    assert all(use.place.file == "docs/a.md" for use in uses)


def test_addresses_of_data(tmp_path: Path) -> None:
    data = (
        "# https://comment.org/\n"
        "s:\n"
        "  url: https://a.org/x?a=(b),c\n"
        '  quoted: "https://b.org/y"\n'
        "  title: {zh: 见 https://c.org/z，完}\n"
        "  long: >\n"
        "    some words and\n"
        "    https://d.org/w.\n"
    )
    notes, _ = tree(tmp_path, {"data/sources/s.yml": data, "data/topics.yml": "- https://e.org/\n"})
    uses = external_collect.collect(notes, tmp_path / "docs", tmp_path)
    assert [(use.address, use.place) for use in uses] == [
        ("https://a.org/x?a=(b),c", Place("docs/data/sources/s.yml", 3, 8)),
        ("https://b.org/y", Place("docs/data/sources/s.yml", 4, 12)),
        ("https://c.org/z", Place("docs/data/sources/s.yml", 5, 17)),
        ("https://d.org/w", Place("docs/data/sources/s.yml", 8, 5)),
        ("https://e.org/", Place("docs/data/topics.yml", 1, 3)),
    ]


def test_data_that_is_no_yaml_is_searched_all_the_same() -> None:
    assert [use.address for use in external_collect.data_uses("a: [\nhttps://a.org/x", "f")] == [
        "https://a.org/x"
    ]


def test_yaml_that_holds_itself_ends() -> None:
    assert external_collect.data_uses("a: &x\n  b: *x\n  c: https://a.org/", "f") == [
        Use("https://a.org/", Place("f", 3, 6))
    ]


def test_fragments_share_a_request() -> None:
    assert documents({"https://a.org/x#b", "https://a.org/x#a", "https://a.org/x"}) == [
        Document("https://a.org/x", ("a", "b"))
    ]


# The maintainer's list

ALLOWED = """\
allowed:
  - address: https://a.org/*
    verdicts: [forbidden-to-robots]
    reason: answers browsers only
    until: 2027-01-01
  - address: https://b.org/x
    verdicts: [gone]
    reason: kept as a historical source
    until: 2026-11-20
archived:
  - address: https://b.org/x
    date: 2024-03-09
"""


def allow_list(
    tmp_path: Path, text: str, addresses: list[str] | None = None
) -> tuple[external_allow.AllowList, list[Any]]:
    """Write and read a list."""
    layout = Layout(tmp_path)
    layout.allowed.parent.mkdir(parents=True)
    layout.allowed.write_text(text, encoding="utf-8")
    return external_allow.load(layout, TODAY, addresses)


def test_the_list_accepts_what_it_says_and_no_more(tmp_path: Path) -> None:
    allow, _ = allow_list(tmp_path, ALLOWED)
    assert allow.accepts("https://a.org/x", Verdict.FORBIDDEN) is not None
    assert allow.accepts("https://a.org/x", Verdict.GONE) is None
    assert allow.accepts("https://a.orgs/x", Verdict.FORBIDDEN) is None
    assert allow.archived == {
        "https://b.org/x": "https://web.archive.org/web/20240309/https://b.org/x"
    }


def test_an_expired_entry_is_a_warning_at_its_line_and_out_of_force(tmp_path: Path) -> None:
    allow, findings = allow_list(tmp_path, ALLOWED)
    assert [(one.line, one.severity, one.target) for one in findings] == [
        (6, "warning", "https://b.org/x")
    ]
    assert "expired on 2026-11-20" in findings[0].message
    assert allow.accepts("https://b.org/x", Verdict.GONE) is None


def test_the_last_day_counts(tmp_path: Path) -> None:
    allow, findings = allow_list(tmp_path, ALLOWED.replace("2026-11-20", "2026-11-21"))
    assert findings == []
    assert allow.accepts("https://b.org/x", Verdict.GONE) is not None


def test_entries_about_nothing_are_told(tmp_path: Path) -> None:
    _, findings = allow_list(
        tmp_path, ALLOWED.replace("2026-11-20", "2027-01-01"), ["https://c.org/"]
    )
    assert [(one.line, one.target) for one in findings] == [
        (2, "https://a.org/*"),
        (6, "https://b.org/x"),
        (11, "https://b.org/x"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("2027-01-01", "2029-01-01", 2),  # a year is the most
        ("reason: answers browsers only", "reason: ''", 4),
        ("    reason: answers browsers only\n", "", 2),
        ("[forbidden-to-robots]", "[alive]", 3),
        ("[forbidden-to-robots]", "[]", 3),
        ("until: 2027-01-01", "until: soon", 5),
        ("allowed:", "alowed:", 1),
        ("https://a.org/*", "a.org", 2),
        ("allowed:", "allowed: [", 2),
    ],
)
def test_a_list_with_a_mistake_names_the_line(
    tmp_path: Path, old: str, new: str, line: int
) -> None:
    _, findings = allow_list(tmp_path, ALLOWED.replace(old, new, 1))
    assert findings[0].line == line


@pytest.mark.parametrize("text", ["", "allowed: []\n", "# nothing yet\n"])
def test_an_empty_list_is_well(tmp_path: Path, text: str) -> None:
    assert allow_list(tmp_path, text) == (external_allow.AllowList(), [])


def test_the_handbooks_own_list_is_well() -> None:
    root = Path(__file__).resolve().parents[2]
    _, findings = external_allow.load(Layout(root / "docs"), datetime.date(2026, 11, 21))
    assert findings == []


# The report


def report_of(outcomes: dict[str, Outcome], allow: str = "", tmp_path: Path | None = None) -> Any:
    """Return the report of addresses that stand at line 3 of a note each."""
    chosen = allow_list(tmp_path, allow)[0] if tmp_path else external_allow.AllowList()
    uses = [Use(address, Place("docs/a.md", 3, 1)) for address in outcomes]
    entries = {
        address.partition("#")[0]: external_cache.remember(None, outcome, NOW)
        for address, outcome in outcomes.items()
    }
    return external_report.build(uses, entries, chosen, TODAY)


OUTCOMES = {
    "https://a.org/1": Outcome(Verdict.ALIVE),
    "https://a.org/2": Outcome(Verdict.MOVED, new="https://a.org/new"),
    "https://a.org/3#frag": Outcome(Verdict.MOVED, new="https://a.org/n"),
    "https://a.org/4#x": Outcome(Verdict.ALIVE, fragments={"x": False}),
    "https://a.org/5": Outcome(Verdict.FORBIDDEN, Reason.STATUS, status=403),
    "https://a.org/6": Outcome(Verdict.UNREACHABLE, Reason.TLS, "bad | `cert` <b>"),
    "https://a.org/7": Outcome(Verdict.MOVED, Reason.FRONT_PAGE, new="https://a.org/"),
    "https://b.org/x": Outcome(Verdict.GONE, Reason.STATUS, status=404),
}


def test_the_report_counts_and_orders(tmp_path: Path) -> None:
    report = report_of(OUTCOMES, ALLOWED, tmp_path)
    assert (report["date"], report["addresses"], report["hosts"]) == ("2026-11-21", 8, 2)
    assert {name: count for name, count in report["counts"].items() if count} == {
        "alive": 1,
        "moved-permanently": 3,
        "gone": 1,
        "fragment-missing": 1,
        "forbidden-to-robots": 1,
        "unreachable-from-here": 1,
    }
    rows = {row["address"]: row for row in report["rows"]}
    assert next(iter(rows)) == "https://b.org/x"  # what is gone comes first
    assert "https://a.org/1" not in rows
    assert rows["https://b.org/x"]["archived"].endswith("/20240309/https://b.org/x")
    assert rows["https://a.org/3#frag"]["new"] == "https://a.org/n#frag"
    assert rows["https://a.org/5"]["allowed"]["until"] == "2027-01-01"
    assert rows["https://a.org/6"]["allowed"] is None
    assert json.loads(json.dumps(report)) == report


def test_findings_are_warnings_with_the_repair(tmp_path: Path) -> None:
    findings = external_report.findings(report_of(OUTCOMES, ALLOWED, tmp_path))
    assert {(one.rule, one.target, one.suggestion) for one in findings} == {
        ("external-moved-permanently", "https://a.org/2", "https://a.org/new"),
        ("external-moved-permanently", "https://a.org/3#frag", "https://a.org/n#frag"),
        ("external-moved-permanently", "https://a.org/7", ""),
        ("external-fragment-missing", "https://a.org/4#x", ""),
        (
            "external-gone",
            "https://b.org/x",
            "https://web.archive.org/web/20240309/https://b.org/x",
        ),
    }
    assert {one.severity for one in findings} == {"warning"}
    assert {(one.file, one.line) for one in findings} == {("docs/a.md", 3)}


def test_no_archive_is_suggested_that_is_not_recorded() -> None:
    report = report_of({"https://b.org/x": Outcome(Verdict.GONE, Reason.STATUS, status=404)})
    assert "web.archive.org" not in json.dumps(report)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("zh", ["已失效", "状态码 404", "最近一次检查"]),
        ("en", ["gone", "status 404", "Last check"]),
    ],
)
def test_the_page_shows_the_report(tmp_path: Path, language: str, words: list[str]) -> None:
    text = external_report.render_report(report_of(OUTCOMES, ALLOWED, tmp_path), language)
    assert all(word in text for word in words)
    rows = [line for line in text.split("\n") if line.startswith("|")]
    assert {line.count("|") for line in rows} == {3, 6}  # nothing of a server breaks a row
    assert "](" not in text  # what is dead is no link
    assert "<b>" not in text
    assert "a.org/1`" not in text


def test_an_address_breaks_no_row() -> None:
    report = report_of({"https://a.org/a|b`c": Outcome(Verdict.GONE, Reason.STATUS, status=404)})
    row = external_report.render_report(report, "en").split("\n")[-1]
    assert row.startswith("| `https://a.org/a%7Cb%60c` | gone |")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_page_without_a_report_and_without_a_network_says_so(language: str) -> None:
    nothing = external_report.render_report(None, language)
    report = report_of(OUTCOMES)
    report["offline"] = True
    offline = external_report.render_report(report, language)
    assert "python -m hooks links" in nothing
    assert "2026-11-21" in offline
    assert "|" not in nothing + offline


def test_every_verdict_and_reason_has_its_words() -> None:
    for language in ("zh", "en"):
        for reason in Reason:
            outcome = Outcome(Verdict.UNREACHABLE, reason, "detail", 500)
            text = external_report.render_report(report_of({"https://a.org/": outcome}), language)
            assert (reason.value in text) <= (reason.value in ("status", "tls", ""))
        for verdict in Verdict:
            report = report_of({"https://a.org/": Outcome(verdict)})
            assert external_report.render_report(report, language)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"format": 9, "rows": []}'])
def test_a_damaged_report_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    assert external_report.load(path) is None


# The command

DEAD = " ".join(f"<http://127.0.0.1:{port}/>" for port in range(1, 21))


def site_of(tmp_path: Path, body: str) -> Path:
    """Write a small handbook and return its docs folder."""
    tree(tmp_path, {"a.md": note(body)})
    return tmp_path / "docs"


def command(docs: Path, *arguments: str) -> Any:
    """Run `links` on a docs folder, local addresses included."""
    return CliRunner().invoke(
        external_cli.links,
        ["--docs", str(docs), "--local", "--delay", "0", "--retries", "0", *arguments],
    )


@live
def test_the_command_reports_and_never_fails(tmp_path: Path, stage: Stage) -> None:
    stage.always("/well", 200)
    stage.always("/old", 301, location="/well")
    body = f"<{stage.url('/well')}> {stage.url('/old')} ；<{stage.url('/none')}>"
    docs = site_of(tmp_path, body)
    result = command(docs)
    assert result.exit_code == 0, result.output
    assert f"docs/a.md:{FIRST_LINE}: warning[external-gone]" in result.stdout
    assert f"did you mean '{stage.url('/well')}'?" in result.stdout
    report = external_report.load(Layout(tmp_path / "docs").report)
    assert report is not None
    assert (report["counts"]["alive"], report["counts"]["gone"]) == (1, 1)


@live
def test_a_second_run_asks_nothing_that_is_fresh(tmp_path: Path, stage: Stage) -> None:
    stage.always("/well", 200)
    docs = site_of(tmp_path, f"<{stage.url('/well')}> <{stage.url('/none')}>")
    first = command(docs)
    count = len(stage.log)
    second = command(docs)
    assert len(stage.log) == count
    assert first.stdout == second.stdout
    shutil.rmtree(tmp_path / ".cache")
    assert command(docs).stdout == first.stdout
    assert len(stage.log) == 2 * count


@live
def test_limit_and_host_choose(tmp_path: Path, stage: Stage) -> None:
    stage.always("/1", 200)
    stage.always("/2", 200)
    addresses = [stage.url("/1"), stage.url("/2", "localhost")]
    docs = site_of(tmp_path, " ".join(f"<{address}>" for address in addresses))
    target = tmp_path / "out.json"
    command(docs, "--host", "localhost", "--report", str(target))
    assert [path for _, path, _ in stage.log] == ["/2"]
    report = external_report.load(target)
    assert report is not None
    assert (report["counts"]["alive"], report["counts"]["not-checked-yet"]) == (1, 1)
    command(docs, "--limit", "0")
    assert len(stage.log) == 1
    command(docs, "--limit", "1")
    assert [path for _, path, _ in stage.log] == ["/2", "/1"]
    assert not Layout(tmp_path / "docs").report.read_text(encoding="utf-8").startswith("[")


@live
def test_without_a_network_the_command_says_so_and_spoils_nothing(
    tmp_path: Path, stage: Stage
) -> None:
    stage.always("/well", 200)
    docs = site_of(tmp_path, f"<{stage.url('/well')}>")
    command(docs)
    report = Layout(tmp_path / "docs").report.read_bytes()
    cache = (tmp_path / external_cli.CACHE).read_bytes()
    (tmp_path / external_cli.CACHE).unlink()
    stage.close()
    (docs / "a.md").write_text(note(DEAD), encoding="utf-8")
    result = command(docs)
    assert result.exit_code == 0
    assert "no way out" in result.stderr
    assert Layout(tmp_path / "docs").report.read_bytes() == report
    assert not (tmp_path / external_cli.CACHE).exists()
    assert cache


@live
def test_dead_hosts_alone_are_not_taken_for_a_missing_network(tmp_path: Path, stage: Stage) -> None:
    stage.always("/well", 200)
    docs = site_of(tmp_path, f"<{stage.url('/well')}> {DEAD}")
    command(docs, "--limit", "1")
    result = command(docs)  # only the dead are left to ask
    assert "no way out" not in result.stderr
    report = external_report.load(Layout(tmp_path / "docs").report)
    assert report is not None
    assert not report["offline"]
    assert report["counts"]["unreachable-from-here"] == 20


def test_an_expired_entry_is_said_by_the_command(tmp_path: Path) -> None:
    docs = site_of(tmp_path, "words")
    path = Layout(docs).allowed
    path.parent.mkdir(parents=True)
    path.write_text(ALLOWED, encoding="utf-8")
    result = command(docs)
    assert "docs/data/external/allowed.yml:6:5: warning[external-allow-list]" in result.stdout
    assert result.exit_code == 0
