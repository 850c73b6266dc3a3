"""The external link check, against a server on this machine that plays every case."""

from __future__ import annotations

import dataclasses
import datetime
import gzip
import random
import shutil
import socket
import ssl
import subprocess
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from hooks.links.external import cli as external_cli
from hooks.links.external.check import as_outcome, for_address, retry_after
from hooks.links.external.fragments import check_fragments
from hooks.links.external.http import NoAnswerError, Pace, Reply, Trip, is_private
from hooks.links.external.records import AGENT, Document, Reason, Verdict
from tests.external_stage import QUICK, Handler, Route, Stage, Waits, checker, judge, said

pytest_plugins = ["tests.external_stage"]
pytestmark = pytest.mark.usefixtures("loopback_only")

NOW = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.UTC)


# What servers answer


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, ("alive", "", 200)),
        (204, ("alive", "", 204)),
        (400, ("unreachable-from-here", "status", 400)),
        (401, ("forbidden-to-robots", "status", 401)),
        (403, ("forbidden-to-robots", "status", 403)),
        (404, ("gone", "status", 404)),
        (410, ("gone", "status", 410)),
        (451, ("unreachable-from-here", "status", 451)),
        (500, ("unreachable-from-here", "status", 500)),
        (999, ("forbidden-to-robots", "status", 999)),
    ],
)
def test_status(stage: Stage, status: int, expected: tuple[str, str, int]) -> None:
    stage.always("/page", status)
    assert said(judge(stage.url("/page"))) == expected


def test_head_suffices_where_it_is_answered(stage: Stage) -> None:
    stage.always("/page", 200, "text")
    judge(stage.url("/page"))
    assert stage.asked("/page") == ["HEAD"]


@pytest.mark.parametrize("status", [403, 404, 405, 500, 501])
def test_get_decides_where_head_is_refused(stage: Stage, status: int) -> None:
    stage.routes["/page"] = lambda handler: handler.reply(
        status if handler.command == "HEAD" else 200
    )
    assert said(judge(stage.url("/page"))) == ("alive", "", 200)
    assert stage.asked("/page") == ["HEAD", "GET"]


def test_a_server_that_hangs_up_on_head_is_asked_by_get(stage: Stage) -> None:
    def route(handler: Handler) -> None:
        if handler.command == "HEAD":
            handler.connection.shutdown(socket.SHUT_RDWR)
        else:
            handler.reply(200)

    stage.routes["/page"] = route
    assert judge(stage.url("/page")).verdict is Verdict.ALIVE


def test_a_broken_answer_is_no_traceback(stage: Stage) -> None:
    def route(handler: Handler) -> None:
        handler.wfile.write(b"\x00\xff garbage\r\n\r\n")
        handler.connection.shutdown(socket.SHUT_RDWR)

    stage.routes["/page"] = route
    assert said(judge(stage.url("/page"))) == ("unreachable-from-here", "broken-answer", 0)


def test_a_gatekeeper_is_forbidden_whatever_its_status(stage: Stage) -> None:
    stage.always("/page", 503, cf_mitigated="challenge")
    assert said(judge(stage.url("/page"))) == ("forbidden-to-robots", "status", 503)


def test_the_agent_names_the_project_and_nobody(stage: Stage) -> None:
    stage.always("/page", 200)
    judge(stage.url("/page"))
    headers = stage.log[0][2]
    assert headers["User-Agent"] == AGENT
    assert "@" not in headers["User-Agent"]
    assert not {"Cookie", "Authorization", "Referer", "From"} & set(headers)


@pytest.mark.parametrize(
    ("repository", "ending"),
    [
        ("https://github.com/example/handbook", "(+https://github.com/example/handbook)"),
        ("", AGENT),
        ("https://me:secret@host.example/x", AGENT),
        ("https://host.example/a\r\nX: y", AGENT),
    ],
)
def test_the_agent_carries_the_public_address_only(repository: str, ending: str) -> None:
    assert external_cli.agent({"REPO_URL": repository}).endswith(ending)


# Time


def test_a_server_that_does_not_answer_is_left(stage: Stage) -> None:
    def hang(handler: Handler) -> None:
        stage.end.wait(20)

    stage.routes["/slow"] = hang
    outcome = judge(stage.url("/slow"), read_timeout=0.2, retries=0)
    assert said(outcome) == ("unreachable-from-here", "time-out", 0)


def test_a_head_that_drips_is_cut_off(stage: Stage) -> None:
    def drip(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not stage.end.wait(0.05):
            handler.wfile.write(b"x")

    stage.routes["/drip"] = drip
    outcome = judge(stage.url("/drip"), deadline=0.4, retries=0)
    assert said(outcome) == ("unreachable-from-here", "time-out", 0)


def test_a_body_that_drips_ends_with_the_deadline(stage: Stage) -> None:
    def drip(handler: Handler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        while not stage.end.wait(0.05):
            handler.wfile.write(b"<p>")

    stage.routes["/drip"] = drip
    outcome = judge(stage.url("/drip"), "part", deadline=0.4)
    assert outcome.verdict is Verdict.ALIVE
    assert outcome.fragments == {"part": None}


def test_what_passes_is_asked_again_with_growing_pauses(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random, "uniform", lambda low, high: (low + high) / 2)
    answers = iter([500, 500, 502, 200])
    stage.routes["/page"] = lambda handler: handler.reply(next(answers))
    waits = Waits()
    outcome = judge(stage.url("/page"), waits=waits, back_off=10.0, retries=2)
    assert said(outcome) == ("alive", "", 200)
    assert waits.seconds == [10.0, 20.0]  # HEAD 500, GET 500, pause, GET 502, pause, GET 200


def test_pauses_differ_from_run_to_run() -> None:
    waits = Waits()
    pace = Pace(QUICK, waits, lambda: 0.0)
    for _ in range(8):
        pace.back_off(0)
    assert len(set(waits.seconds)) > 1


def test_what_is_final_is_not_asked_again(stage: Stage) -> None:
    waits = Waits()
    judge(stage.url("/none"), waits=waits)
    assert stage.asked("/none") == ["HEAD", "GET"]
    assert waits.seconds == []


def test_retry_after_is_obeyed(stage: Stage) -> None:
    answers = iter([429, 200])
    stage.routes["/page"] = lambda handler: handler.reply(next(answers), retry_after="7")
    waits = Waits()
    assert judge(stage.url("/page"), waits=waits).verdict is Verdict.ALIVE
    assert waits.seconds == [7.0]


def test_who_asks_to_wait_long_is_left_alone(stage: Stage) -> None:
    stage.always("/page", 429, retry_after="3600")
    outcome = judge(stage.url("/page"))
    assert said(outcome) == ("forbidden-to-robots", "asks-to-wait", 429)
    assert outcome.detail == "3600 s"
    assert len(stage.asked("/page")) == 1


def test_429_to_the_end_is_forbidden(stage: Stage) -> None:
    stage.always("/page", 429, retry_after="1")
    assert said(judge(stage.url("/page"), retries=2)) == ("forbidden-to-robots", "status", 429)
    assert len(stage.asked("/page")) == 3


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30.0),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("٣", None),
        ("9" * 400, 999999999.0),
    ],
)
def test_retry_after_values(value: str, seconds: float | None) -> None:
    assert retry_after(value, NOW) == seconds


def test_requests_to_one_host_are_apart() -> None:
    waits = Waits()
    pace = Pace(dataclasses.replace(QUICK, delay=1.5), waits, lambda: 100.0)
    for host in ("a.org", "a.org", "b.org", "a.org"):
        with pace.turn(host):
            pass
    assert waits.seconds == [1.5, 3.0]


def test_one_host_is_asked_by_few_at_a_time_even_through_redirects(stage: Stage) -> None:
    running = 0
    most = 0
    three = threading.Event()

    def target(handler: Handler) -> None:
        nonlocal running, most
        with stage.lock:
            running += 1
            most = max(most, running)
            if running > 2:
                three.set()
        three.wait(0.3)  # time for a third to come in, if it may
        with stage.lock:
            running -= 1
        handler.reply(200)

    stage.routes["/target"] = target
    stage.always("/go", 302, location=stage.url("/target", "b.lab.org"))
    wanted = [Document(stage.url("/go", f"a{number}.lab.org")) for number in range(6)]
    outcomes = checker(per_host=2, workers=6).check(wanted)
    assert {outcome.verdict for outcome in outcomes.values()} == {Verdict.ALIVE}
    assert most == 2


def test_hosts_are_asked_side_by_side(stage: Stage) -> None:
    all_here = threading.Barrier(4, timeout=60)

    def route(handler: Handler) -> None:
        all_here.wait()
        handler.reply(200)

    stage.routes["/page"] = route
    wanted = [Document(stage.url("/page", f"h{number}.lab.org")) for number in range(4)]
    outcomes = checker(workers=4).check(wanted)
    assert [outcome.verdict for outcome in outcomes.values()] == [Verdict.ALIVE] * 4


# Redirects


def test_a_permanent_move_names_the_new_address(stage: Stage, other: Stage) -> None:
    stage.always("/old", 301, location="/newer")
    stage.always("/newer", 308, location=other.url("/newest?x=1"))
    other.always("/newest?x=1", 200)
    outcome = judge(stage.url("/old"))
    assert said(outcome) == ("moved-permanently", "", 200)
    assert outcome.new == other.url("/newest?x=1")


@pytest.mark.parametrize("status", [302, 303, 307])
def test_a_passing_redirect_is_no_move(stage: Stage, other: Stage, status: int) -> None:
    stage.always("/doi", status, location=other.url("/paper"))
    other.always("/paper", 200)
    outcome = judge(stage.url("/doi"))
    assert (outcome.verdict, outcome.new) == (Verdict.ALIVE, "")
    assert outcome.final == other.url("/paper")


def test_a_move_ends_where_a_passing_redirect_begins(stage: Stage) -> None:
    stage.always("/old", 301, location="/stable")
    stage.always("/stable", 302, location="/today")
    stage.always("/today", 200)
    assert judge(stage.url("/old")).new == stage.url("/stable")


def test_a_move_to_nothing_is_gone(stage: Stage) -> None:
    stage.always("/old", 301, location="/nothing")
    assert said(judge(stage.url("/old"))) == ("gone", "status", 404)


def test_a_page_moved_to_the_front_page_is_told(stage: Stage) -> None:
    stage.always("/blog/post", 301, location="/")
    stage.always("/", 200)
    outcome = judge(stage.url("/blog/post"))
    assert said(outcome) == ("moved-permanently", "front-page", 200)


def test_a_loop_is_told_with_its_chain(stage: Stage) -> None:
    stage.always("/a", 302, location="/b")
    stage.always("/b", 301, location="/a")
    outcome = judge(stage.url("/a"))
    assert said(outcome) == ("unreachable-from-here", "redirect-loop", 0)
    assert outcome.detail == " → ".join(stage.url(path) for path in ("/a", "/b", "/a"))


def test_a_loop_that_sets_cookies_is_for_browsers(stage: Stage) -> None:
    stage.always("/a", 302, location="/a", set_cookie="seen=1")
    assert said(judge(stage.url("/a"))) == ("forbidden-to-robots", "wants-cookies", 0)


def test_a_chain_without_end_is_cut(stage: Stage) -> None:
    for number in range(40):
        stage.always(f"/{number}", 302, location=f"/{number + 1}")
    outcome = judge(stage.url("/0"), redirects=5)
    assert said(outcome) == ("unreachable-from-here", "too-many-redirects", 0)
    assert stage.asked("/6") == []


@pytest.mark.parametrize(
    "target", ["", "ftp://host.example/", "javascript:alert(1)", "http://[::1"]
)
def test_a_redirect_to_nowhere(stage: Stage, target: str) -> None:
    stage.always("/a", 302, location=target)
    assert said(judge(stage.url("/a"))) == ("unreachable-from-here", "bad-redirect", 0)


def test_a_target_in_raw_utf_8_is_followed(stage: Stage) -> None:
    def route(handler: Handler) -> None:
        line = f"Location: {stage.url('/wiki/显存')}\r\n".encode()
        handler.wfile.write(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n" + line + b"\r\n")

    stage.routes["/a"] = route
    stage.always("/wiki/%E6%98%BE%E5%AD%98", 200)
    assert judge(stage.url("/a")).verdict is Verdict.ALIVE


# No answer


def test_a_refused_connection() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: refuses
        port = taken.getsockname()[1]
        waits = Waits()
        outcome = judge(f"http://127.0.0.1:{port}/", waits=waits, retries=2)
    assert said(outcome) == ("unreachable-from-here", "no-connection", 0)
    assert len(waits.seconds) == 2


def test_a_name_that_does_not_resolve() -> None:
    outcome = judge("https://no-such-host.org/page")
    assert said(outcome) == ("unreachable-from-here", "name-not-found", 0)


@pytest.mark.parametrize(
    "address", ["http://", "http://[::1", "http://a..b/", "http://host:port/", "http://\x00/"]
)
def test_what_is_no_address_is_no_traceback(address: str) -> None:
    outcome = judge(address)
    assert outcome.verdict is Verdict.UNREACHABLE


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate that nobody signed but itself, with its key, for `127.0.0.1`."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the openssl command")
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        [
            *(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt"),
            *("ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(key), "-out", str(cert)),
            *("-days", "2", "-subj", "/CN=127.0.0.1"),
            *("-addext", "subjectAltName=IP:127.0.0.1"),
        ],
        check=True,
        capture_output=True,
    )
    both = folder / "both.pem"
    both.write_bytes(cert.read_bytes() + key.read_bytes())
    return both


@pytest.fixture
def secure(certificate: Path) -> Iterator[Stage]:
    """A server with that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    stage = Stage(context)
    stage.always("/page", 200)
    yield stage
    stage.close()


def test_a_certificate_that_is_not_trusted_fails(secure: Stage) -> None:
    outcome = judge(secure.url("/page"))
    assert said(outcome) == ("unreachable-from-here", "tls", 0)
    assert "self" in outcome.detail
    assert secure.log == []


def test_a_certificate_for_another_name_fails(secure: Stage, certificate: Path) -> None:
    trust = ssl.create_default_context(cafile=str(certificate))
    outcome = judge(secure.url("/page", "www.lab.org"), tls=trust)
    assert said(outcome) == ("unreachable-from-here", "tls", 0)
    assert "www.lab.org" in outcome.detail


def test_a_trusted_certificate_is_well(secure: Stage, certificate: Path) -> None:
    trust = ssl.create_default_context(cafile=str(certificate))
    assert judge(secure.url("/page"), tls=trust).verdict is Verdict.ALIVE


def test_plain_text_on_the_port_of_tls_fails(stage: Stage) -> None:
    outcome = judge(f"https://127.0.0.1:{stage.port}/page")
    assert said(outcome) == ("unreachable-from-here", "tls", 0)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("10.1.2.3", True),
        ("169.254.169.254", True),
        ("[::1]", True),
        ("fe80::1%eth0", True),
        ("localhost", True),
        ("8.8.8.8", False),
        ("arxiv.org", False),
    ],
)
def test_private_hosts(host: str, expected: bool) -> None:
    assert is_private(host) is expected


@pytest.mark.parametrize("host", ["127.0.0.1", "public.lab.org"])
def test_private_networks_are_not_asked(stage: Stage, host: str) -> None:
    stage.always("/page", 200)
    outcome = judge(stage.url("/page", host), allow_private=False)
    assert said(outcome) == ("unreachable-from-here", "private-address", 0)
    assert stage.log == []


def test_a_redirect_into_a_private_network_is_not_followed(stage: Stage) -> None:
    client = checker(allow_private=False).client
    with pytest.raises(NoAnswerError) as caught:
        client.follow("GET", stage.url("/secret"))
    assert caught.value.reason is Reason.PRIVATE


def test_a_proxy_of_the_environment_is_used(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urllib.request, "getproxies", lambda: {"http": stage.url("")})
    stage.always("http://far-away.org/page", 200)
    assert judge("http://far-away.org/page").verdict is Verdict.ALIVE
    assert stage.log[0][1] == "http://far-away.org/page"


def test_a_silent_host_is_asked_once() -> None:
    wanted = [Document(f"http://dead.org/{number}") for number in range(5)]
    waits = Waits()
    outcomes = checker(waits, per_host=1, retries=2).check(wanted)
    assert [outcome.reason for outcome in outcomes.values()] == [
        Reason.DNS,
        *[Reason.HOST_SILENT] * 4,
    ]
    assert len(waits.seconds) == 2


def test_without_a_network_the_rest_is_not_asked() -> None:
    wanted = [Document(f"http://host{number}.org/") for number in range(200)]
    one = checker(silent_hosts=8, workers=4)
    outcomes = one.check(wanted)
    assert one.is_offline
    assert len(outcomes) == 200
    reasons = [outcome.reason for outcome in outcomes.values()]
    assert reasons.count(Reason.OFFLINE) > 150
    assert {outcome.verdict for outcome in outcomes.values()} == {Verdict.UNREACHABLE}


def test_one_answer_shows_that_there_is_a_network(stage: Stage) -> None:
    stage.always("/page", 200)
    one = checker(silent_hosts=3, workers=1)
    one.check([Document(stage.url("/page"))])
    outcomes = one.check([Document(f"http://host{number}.org/") for number in range(9)])
    assert not one.is_offline
    assert Reason.OFFLINE not in {outcome.reason for outcome in outcomes.values()}


# Bodies and fragments


def endless(sent: list[int], stage: Stage, head: bytes = b"") -> Route:
    """Return a route that sends up to 500 MB and counts them."""

    def route(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html")
        handler.send_header("Content-Length", "500000000")
        handler.end_headers()
        handler.wfile.write(head)
        for _ in range(500):
            if handler.command == "HEAD" or stage.end.is_set():
                break
            sent.append(handler.wfile.write(b"x" * 1_000_000))

    return route


@pytest.mark.parametrize(
    ("head", "fragment", "expected"),
    [
        (b'<p id="here">', "here", True),  # within the limit
        (b"", "there", None),  # beyond it, or nowhere: cannot be told
    ],
)
def test_a_huge_page_is_not_read_whole(
    stage: Stage, head: bytes, fragment: str, expected: bool | None
) -> None:
    sent: list[int] = []
    stage.routes["/huge"] = endless(sent, stage, head)
    outcome = judge(stage.url("/huge"), fragment, body_limit=100_000)
    assert outcome.verdict is Verdict.ALIVE
    assert outcome.fragments == {fragment: expected}
    assert sum(sent) < 50_000_000


def test_a_huge_file_without_fragment_is_not_read(stage: Stage) -> None:
    sent: list[int] = []
    route = endless(sent, stage)
    stage.routes["/huge"] = lambda handler: (
        handler.reply(405) if handler.command == "HEAD" else route(handler)
    )
    assert judge(stage.url("/huge"), body_limit=400_000_000).verdict is Verdict.ALIVE
    assert sum(sent) < 50_000_000


def test_a_compressed_bomb_is_cut_at_the_limit(stage: Stage) -> None:
    stage.always("/bomb", 200, gzip.compress(b"<p>" * 20_000_000, mtime=0), content_encoding="gzip")
    reply = checker().client.ask("GET", stage.url("/bomb"), limit=100_000)
    assert len(reply.body) <= 100_000
    assert not reply.is_whole


@pytest.mark.parametrize(
    ("body", "headers", "fragment", "expected"),
    [
        ('<h2 id="part">', {}, "part", True),
        ('<h2 id="part">', {}, "Part", False),  # ids differ by letter case
        ('<a name="old">', {}, "old", True),
        ('<p name="old">', {}, "old", False),
        ("<!-- <p id='x'> -->", {}, "x", False),
        ("<script>\"<p id='x'>\"</script>", {}, "x", False),
        ('<h2 id="显存">', {}, "%E6%98%BE%E5%AD%98", True),
        ('<h2 id="显存">', {}, "显存", True),
        ('<h2 id="a%20b">', {}, "a%20b", True),
        ('<h2 id="a&amp;b">', {}, "a&b", True),
        ("<p>", {}, "top", None),
        ("<p>", {}, ":~:text=word", None),
        ('<p id="a">', {}, "a:~:text=word", True),
        ("<p>", {}, "/route", None),  # a script's
        ("%PDF", {"content_type": "application/pdf"}, "page=3", None),
        ("%PDF", {"content_type": "application/pdf"}, "sec", None),
        # Encodings: right, unknown, wrong, contradicting, not the one of the body
        ('<h2 id="显存">'.encode("gbk"), {"content_type": "text/html; charset=gbk"}, "显存", True),
        ('<h2 id="显存">', {"content_type": "text/html; charset=no-such"}, "显存", True),
        ('<p id="a">显存'.encode("gbk"), {"content_type": "text/html; charset=utf-8"}, "a", True),
        (
            '<meta charset="gbk"><p id="显">'.encode("gbk"),
            {"content_type": "text/html"},
            "显",
            True,
        ),
        ('<p id="a">\udcff'.encode("utf-8", "surrogateescape"), {}, "a", True),
        ('<p id="a">'.encode("utf-16"), {}, "a", True),
        ('<p id="a">', {"content_type": "text/html; charset=hex"}, "a", True),
        (gzip.compress(b'<p id="a">', mtime=0), {"content_encoding": "gzip"}, "a", True),
        ('<p id="a">', {"content_encoding": "gzip"}, "a", None),  # says gzip, is not
    ],
)
def test_fragments(
    stage: Stage,
    body: str | bytes,
    headers: dict[str, str],
    fragment: str,
    expected: bool | None,
) -> None:
    stage.always("/page", 200, body, **headers)
    outcome = judge(stage.url("/page"), fragment)
    assert outcome.verdict is Verdict.ALIVE
    assert outcome.fragments == {fragment: expected}
    whole = for_address(outcome, fragment)
    assert whole.verdict is (Verdict.FRAGMENT if expected is False else Verdict.ALIVE)


def test_a_missing_fragment_comes_with_the_nearest(stage: Stage) -> None:
    stage.always("/page", 200, '<h2 id="memory-bandwidth"><h2 id="other">')
    outcome = judge(stage.url("/page"), "memory-bandwith", "other")
    assert outcome.fragments == {"memory-bandwith": False, "other": True}
    assert outcome.nearest == {"memory-bandwith": "memory-bandwidth"}
    assert stage.asked("/page") == ["GET"]


def test_a_fragment_is_looked_for_at_the_end_of_redirects(stage: Stage) -> None:
    stage.always("/old", 301, '<p id="part">', location="/new")
    stage.always("/new", 200, '<p id="else">')
    outcome = for_address(judge(stage.url("/old"), "part"), "part")
    assert (outcome.verdict, outcome.new) == (Verdict.FRAGMENT, stage.url("/new"))


def test_a_page_that_breaks_off_tells_nothing_of_fragments(stage: Stage) -> None:
    stage.always("/page", 200, '<p id="a">', content_length="1000", connection="close")
    assert judge(stage.url("/page"), "a", "b").fragments == {"a": True, "b": None}


@pytest.mark.parametrize(
    ("body", "fragment", "expected"),
    [
        ('<h2 id="user-content-nvlink-发展">', "NVLink-发展", True),
        ('{"anchor":"install"}', "install", True),
        ("<p>", "L10-L20", None),
        ("<p>", "issuecomment-123", None),
        ("<p>", "nothing", False),
    ],
)
def test_fragments_of_github(body: str, fragment: str, expected: bool | None) -> None:
    url = "https://github.com/example/repository/blob/main/README.md"
    reply = Reply(url, 200, {"content-type": "text/html"}, body.encode())
    assert check_fragments(reply, (fragment,))[0] == {fragment: expected}


# Conditional requests


def with_etag(stage: Stage, path: str, body: str = "") -> None:
    """Serve a page that knows its own tag."""

    def route(handler: Handler) -> None:
        if handler.headers.get("If-None-Match") == '"v1"':
            handler.reply(304)
        else:
            handler.reply(200, body, etag='"v1"', last_modified="Sat, 01 Aug 2026 00:00:00 GMT")

    stage.routes[path] = route


def test_an_unchanged_page_is_not_sent_again(stage: Stage) -> None:
    with_etag(stage, "/page", '<p id="a">')
    first = judge(stage.url("/page"), "a", "b")
    again = judge(stage.url("/page"), "a", "b", known=first)
    assert (again.verdict, again.status) == (Verdict.ALIVE, 304)
    assert again.fragments == {"a": True, "b": False}
    headers = stage.log[-1][2]
    assert headers["If-None-Match"] == '"v1"'
    assert headers["If-Modified-Since"] == "Sat, 01 Aug 2026 00:00:00 GMT"


def test_a_new_fragment_needs_the_page_anew(stage: Stage) -> None:
    with_etag(stage, "/page", '<p id="a"><p id="c">')
    first = judge(stage.url("/page"), "a")
    again = judge(stage.url("/page"), "a", "c", known=first)
    assert (again.status, again.fragments) == (200, {"a": True, "c": True})


def test_a_tag_is_told_to_nobody_but_its_page(stage: Stage, other: Stage) -> None:
    stage.always("/old", 301, location=other.url("/page"))
    with_etag(other, "/page")
    first = judge(stage.url("/old"))
    again = judge(stage.url("/old"), known=first)
    assert said(again) == ("moved-permanently", "", 304)
    assert again.new == other.url("/page")
    assert "If-None-Match" not in stage.log[-1][2]
    assert "If-None-Match" in other.log[-1][2]


def test_304_without_a_condition_is_believed_by_nobody() -> None:
    trip = Trip((), Reply("http://a.org/", 304, {}))
    assert as_outcome(trip, Document("http://a.org/")).verdict is Verdict.UNREACHABLE
