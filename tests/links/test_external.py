"""What lychee's answers mean, against a server on this machine (where lychee is installed)."""

from __future__ import annotations

import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from hooks.links.external import cli as external_cli
from hooks.links.external import lychee
from hooks.links.external.records import AGENT, Document, Outcome, Reason, Verdict, for_address
from tests.external_stage import Handler, Stage, ask

pytest_plugins = ["tests.external_stage"]
try:
    lychee.program()
    IS_HERE = True
except lychee.MissingError:
    IS_HERE = False
live = pytest.mark.skipif(not IS_HERE, reason="lychee is not installed (make links)")
PAGE = '<h2 id="part">'


@live
def test_what_servers_answer(stage: Stage) -> None:
    expected: dict[str, tuple[Verdict, Reason, int]] = {
        "/ok": (Verdict.ALIVE, Reason.NONE, 200),
        "/a|b": (Verdict.ALIVE, Reason.NONE, 200),
        "/401": (Verdict.FORBIDDEN, Reason.STATUS, 401),
        "/403": (Verdict.FORBIDDEN, Reason.STATUS, 403),
        "/404": (Verdict.GONE, Reason.STATUS, 404),
        "/410": (Verdict.GONE, Reason.STATUS, 410),
        "/429": (Verdict.FORBIDDEN, Reason.STATUS, 429),
        "/500": (Verdict.UNREACHABLE, Reason.STATUS, 500),
        "/999": (Verdict.FORBIDDEN, Reason.STATUS, 999),
        "/old": (Verdict.MOVED, Reason.NONE, 200),
        "/post": (Verdict.MOVED, Reason.FRONT_PAGE, 200),
        "/doi": (Verdict.ALIVE, Reason.NONE, 200),
        "/lost": (Verdict.GONE, Reason.STATUS, 404),
        "/loop": (Verdict.UNREACHABLE, Reason.HOPS, 301),
    }
    for path in ("/ok", "/a|b", "/"):
        stage.always(path, 200)
    for status in (401, 403, 410, 429, 500, 999):
        stage.always(f"/{status}", status)
    stage.always("/old", 301, location="/doi")
    stage.always("/doi", 302, location="/ok")
    stage.always("/post", 308, location="/")
    stage.always("/lost", 301, location="/404")
    stage.always("/loop", 301, location="/loop")
    outcomes = ask(*(Document(stage.url(path)) for path in expected))
    said = [(one.verdict, one.reason, one.status) for one in outcomes]
    assert dict(zip(expected, said, strict=True)) == expected
    moved = outcomes[list(expected).index("/old")]
    assert moved.new == stage.url("/doi")  # no further than the redirects are for ever
    assert {headers["user-agent"] for headers in stage.headers()} == {AGENT}


@live
def test_fragments(stage: Stage) -> None:
    stage.always("/page", 200, PAGE)
    stage.always("/paper", 200, "%PDF", content_type="application/pdf")
    outcomes = ask(
        Document(stage.url("/page"), ("else", "part", "L10", ":~:text=x")),
        Document(stage.url("/paper"), ("page=3",)),
    )
    assert [one.fragments for one in outcomes] == [
        {"else": False, "part": True, "L10": None, ":~:text=x": None},
        {"page=3": None},
    ]
    assert for_address(outcomes[0], "else").verdict is Verdict.FRAGMENT
    assert for_address(outcomes[0], "part").verdict is Verdict.ALIVE


@live
def test_what_gives_no_answer(stage: Stage) -> None:
    def hang(handler: Handler) -> None:
        stage.end.wait(20)

    stage.routes["/slow"] = hang
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: refuses
        closed = f"http://127.0.0.1:{taken.getsockname()[1]}/"
        addresses = [f"https://127.0.0.1:{stage.port}/", closed, "http://[::1"]
        outcomes = ask(*map(Document, addresses))
        outcomes += ask(Document(stage.url("/slow")), timeout=1)
    reasons = [Reason.TLS, Reason.CONNECT, Reason.BAD_ADDRESS, Reason.TIMEOUT]
    assert [one.reason for one in outcomes] == reasons
    assert {one.verdict for one in outcomes} == {Verdict.UNREACHABLE}


@live
def test_a_host_that_is_not_there_is_asked_once(stage: Stage) -> None:
    def hang(handler: Handler) -> None:
        stage.end.wait(20)

    stage.routes["/1"] = stage.routes["/2"] = hang
    outcomes = ask(Document(stage.url("/1")), Document(stage.url("/2")), timeout=1)
    assert {one.reason for one in outcomes} == {Reason.TIMEOUT}
    assert stage.asked("/2") == []


@live
def test_who_asks_to_wait_long_is_left_alone(stage: Stage) -> None:
    stage.always("/page", 429, retry_after="3600")
    documents = [Document(stage.url("/page")), Document(stage.url("/page?2"))]
    outcomes = ask(*documents, longest_wait=1, retries=1)
    assert {one.reason for one in outcomes} == {Reason.TIMEOUT}


@live
def test_private_networks_are_not_asked(stage: Stage) -> None:
    (outcome,) = ask(Document(stage.url("/page")), allow_private=False)
    assert (outcome.verdict, outcome.reason) == (Verdict.UNREACHABLE, Reason.PRIVATE)
    assert stage.log == []


@pytest.mark.parametrize("fragment", ["installation", "issuecomment-1"])
def test_a_fragment_of_github_is_left_to_its_scripts(fragment: str) -> None:
    address = "https://github.com/example/handbook"
    answers: dict[str, Any] = {address: {"status": {"text": "200 OK", "code": 200}}}
    outcome = lychee.outcome(Document(address, (fragment,)), answers)
    assert outcome == Outcome(Verdict.ALIVE, status=200, fragments={fragment: None})
    assert list(lychee._addresses(Document(address, (fragment,)))) == [address]


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


def test_without_lychee_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(lychee.MissingError, match="make links"):
        ask(Document("http://127.0.0.1/"))
