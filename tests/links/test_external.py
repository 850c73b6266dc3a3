"""What lychee answers becomes a table on a page, and a run asks a server of this machine."""

from __future__ import annotations

import datetime
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from hooks.links import external

ROOT = Path(__file__).resolve().parents[2]
DAY = datetime.date(2026, 11, 28)


def answers(*told: tuple[str, str, int], unique: int = 9, excludes: int = 2) -> dict[str, Any]:
    """What lychee writes of addresses that did not answer well: address, file, code."""
    errors: dict[str, Any] = {}
    for number, (url, file, code) in enumerate(told, 1):
        status = {"text": f"Rejected status code: {code}", "code": code}
        row = {"url": url, "status": status, "span": {"line": number, "column": 1}}
        errors.setdefault(file, []).append(row)
    return {"unique": unique, "excludes": excludes, "error_map": errors, "timeout_map": {}}


def test_rows_hold_every_place_once_an_address() -> None:
    told = answers(
        ("https://b/", "/r/docs/x.md", 404),
        ("https://a/", "/r/docs/y.md", 500),
        ("https://b/", "/r/docs/data/z.yml", 404),
    )
    told["timeout_map"] = {
        "/r/docs/y.md": [
            {"url": "https://t/", "status": {"text": "Timeout"}, "span": {"line": 9, "column": 1}}
        ]
    }
    found = external.summary(told, Path("/r"), DAY)
    assert (found["date"], found["addresses"]) == ("2026-11-28", 7)
    assert [(row["address"], row["code"], row["places"]) for row in found["rows"]] == [
        ("https://a/", 500, ["docs/y.md:2"]),
        ("https://b/", 404, ["docs/data/z.yml:3", "docs/x.md:1"]),
        ("https://t/", 0, ["docs/y.md:9"]),
    ]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("zh", ("2026-11-28", "7 个外部地址", "| `https://a/%7C` | `Rejected status code: 404` |")),
        ("en", ("2026-11-28", "7 external addresses", "`x.md:1`<br>`x.md:2`<br>`x.md:3`<br>4 pla")),
    ],
)
def test_table_on_the_page(tmp_path: Path, language: str, said: tuple[str, ...]) -> None:
    report = tmp_path / "report.json"
    assert "make links" in external.render(report, language)
    told = [("https://a/|", "/r/docs/x.md", 404)] * 4
    found = external.summary(answers(*told), Path("/r"), DAY)
    report.write_text(json.dumps(found), encoding="utf-8")
    table = external.render(report, language)
    assert all(one in table for one in said)


class Pages(BaseHTTPRequestHandler):
    """`/ok` is there with one id; nothing else is."""

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/ok" else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b'<h2 id="here">x</h2>')

    do_HEAD = do_GET  # noqa: N815 (the name that the library calls)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[str]:
    httpd = HTTPServer(("127.0.0.1", 0), Pages)
    thread = threading.Thread(target=httpd.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{httpd.server_port}"
    httpd.shutdown()
    httpd.server_close()
    thread.join()


def asked(root: Path, note: str, data: str = "") -> str:
    """Write a note and a data file, and ask, machines of private networks too."""
    (root / "docs" / "data").mkdir(parents=True, exist_ok=True)
    (root / "docs" / "x.md").write_text(note, encoding="utf-8")
    (root / "docs" / "data" / "y.yml").write_text(data, encoding="utf-8")
    config = (ROOT / "lychee.toml").read_text(encoding="utf-8")
    config = config.replace("exclude_all_private = true", "").replace('"1s"', '"1ms"')
    (root / "lychee.toml").write_text(config.replace("max_retries = 2", "max_retries = 0"))
    return external.ask(root, root / "report.json")


def test_lychee_asks_as_configured(tmp_path: Path, server: str) -> None:
    note = (
        f"# T\n\n[a]({server}/ok#here) [b]({server}/ok#nope) [c](gone.md)\n\n"
        f"见 {server}/ok；2026-11-28\n\n`{server}/code` https://host.example/x\n"
    )
    assert asked(tmp_path, note, f"- url: {server}/gone\n").startswith("4 addresses, 2 did not")
    table = external.render(tmp_path / "report.json", "en")
    assert f"| `{server}/gone` | `Rejected status code: 404 Not Found` | `data/y.yml:1` |" in table
    assert f"| `{server}/ok#nope` | `Cannot find fragment` | `x.md:3` |" in table


def test_report_stays_where_no_host_answers(tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text("earlier", encoding="utf-8")
    assert "nothing was learnt" in asked(tmp_path, "# T\n\n[a](http://127.0.0.1:1/x)\n")
    assert (tmp_path / "report.json").read_text(encoding="utf-8") == "earlier"
