"""The command `python -m hooks links`."""

from __future__ import annotations

import datetime
import os
from dataclasses import replace
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

import click

from hooks.data import Layout
from hooks.findings import FORMATS, Finding
from hooks.links.external import allow as external_allow
from hooks.links.external import cache as external_cache
from hooks.links.external import collect as external_collect
from hooks.links.external import report as external_report
from hooks.links.external.lychee import Checker
from hooks.links.external.records import AGENT, Document, Settings, Use, Verdict, documents, host_of
from hooks.notes import Catalogue, catalogue

ROOT = Path(__file__).resolve().parents[3]
_CONTROLS = 3
CACHE = Path(".cache/external/addresses.json")


def agent(environment: dict[str, str]) -> str:
    """Return the user agent: the project's name, and its public address where that is known."""
    repository = environment.get("REPO_URL", "")
    is_plain = repository.startswith("https://") and repository.isascii() and "@" not in repository
    return f"{AGENT} (+{repository})" if is_plain and not repository.split()[1:] else AGENT


def choose(
    wanted: list[Document],
    known: dict[str, external_cache.Known],
    now: datetime.datetime,
    *,
    host: str = "",
    limit: int | None = None,
) -> list[Document]:
    """Return the documents to ask for: not fresh, never checked before oldest, at most `limit`."""
    stale = [
        document
        for document in wanted
        if (one := known.get(document.address)) is None or not one.is_fresh(now, document.fragments)
    ]
    if host:
        stale = [document for document in stale if _is_on(document.address, host)]
    never = datetime.datetime.min.replace(tzinfo=datetime.UTC)
    stale.sort(
        key=lambda document: (
            known[document.address].checked if document.address in known else never,
            document.address,
        )
    )
    return stale if limit is None else stale[:limit]


def controls(
    wanted: list[Document], chosen: list[Document], known: dict[str, external_cache.Known]
) -> list[Document]:
    """Return a few documents of different hosts that answered last time, to ask first.

    None when the chosen ones hold such a document themselves.
    """

    def was_good(document: Document) -> bool:
        one = known.get(document.address)
        return one is not None and one.outcome.verdict in (Verdict.ALIVE, Verdict.MOVED)

    if any(was_good(document) for document in chosen):
        return []
    by_host = {host_of(document.address): document for document in wanted if was_good(document)}
    return list(by_host.values())[:_CONTROLS]


def _is_on(address: str, host: str) -> bool:
    try:
        name = urlsplit(address).hostname or ""
    except ValueError:
        return False
    return name == host.lower() or name.endswith(f".{host.lower()}")


def run(
    uses: list[Use],
    allow: external_allow.AllowList,
    checker: Checker,
    cache: Path,
    *,
    host: str = "",
    limit: int | None = None,
    now: datetime.datetime | None = None,
) -> external_report.Report:
    """Check what is not fresh, remember it, and return the report of everything.

    A run that reached no host leaves the cache as it was.
    """
    now = now or datetime.datetime.now(datetime.UTC)
    known = external_cache.load(cache)
    wanted = documents({use.address for use in uses})
    chosen = choose(wanted, known, now, host=host, limit=limit)
    try:
        # Where only dead hosts are left to ask, silence would be taken for a lack of network.
        hosts = {host_of(document.address) for document in chosen}
        if len(hosts) >= checker.settings.silent_hosts:
            checker.check(controls(wanted, chosen, known))
        checker.check(chosen)
    finally:
        fresh = dict(known)
        for address, outcome in checker.outcomes.items():
            fresh[address] = external_cache.remember(known.get(address), outcome, now)
        if not checker.is_offline:
            in_use = {document.address for document in wanted}
            kept = {address: one for address, one in fresh.items() if address in in_use}
            external_cache.save(cache, kept)
    if checker.is_offline:
        fresh |= known
    return external_report.build(uses, fresh, allow, now.date(), offline=checker.is_offline)


def _listed(layout: Layout, uses: list[Use]) -> tuple[external_allow.AllowList, list[Finding]]:
    """Return what the allow-list says today of the addresses in use, and what is wrong with it."""
    addresses = {use.address for use in uses}
    known = addresses | {urldefrag(address).url for address in addresses}
    return external_allow.load(layout, datetime.datetime.now(datetime.UTC).date(), known)


def findings_of(notes: Catalogue, docs: Path, root: Path, cache: Path) -> list[Finding]:
    """Ask for the external addresses of some notes; return what was found, as warnings.

    Args:
        notes: The notes.
        docs: Their folder.
        root: The folder that findings are relative to, which may hold an allow-list.
        cache: Where answers are remembered.
    """
    uses = external_collect.collect(notes, docs, root)
    allow, said = _listed(Layout(docs), uses)
    checker = Checker(Settings(agent=agent(dict(os.environ))))
    found = external_report.findings(run(uses, allow, checker, cache))
    return [replace(finding, severity="warning") for finding in (*said, *found)]


@click.command()
@click.option("--limit", type=click.IntRange(min=0), help="Ask for at most so many documents.")
@click.option("--host", default="", help="Ask only this host and its subdomains.")
@click.option(
    "--report",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report here (default: docs/data/external/report.json).",
)
@click.option("--docs", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--delay", type=click.FloatRange(min=0), default=Settings().delay, show_default=True)
@click.option(
    "--retries", type=click.IntRange(min=0), default=Settings().retries, show_default=True
)
@click.option("--local", is_flag=True, help="Also ask addresses of private networks.")
@click.option("--format", "style", type=click.Choice(sorted(FORMATS)), default="text")
def links(
    limit: int | None,
    host: str,
    target: Path | None,
    docs: Path | None,
    delay: float,
    retries: int,
    local: bool,
    style: str,
) -> None:
    """Check the external addresses of notes and data, and write a report.

    What was checked lately is not asked again; remove .cache/external to begin anew. Exit status:
    0 whatever the addresses answer, 2 could not run.
    """
    docs = (docs or ROOT / "docs").resolve()
    root = docs.parent
    notes, _ = catalogue.load(docs, root)
    uses = external_collect.collect(notes, docs, root, local=local)
    allow, said = _listed(Layout(docs), uses)
    checker = Checker(
        Settings(delay=delay, retries=retries, allow_private=local, agent=agent(dict(os.environ)))
    )
    report = run(uses, allow, checker, root / CACHE, host=host, limit=limit)
    _write(report, target, Layout(docs).report)
    found: list[Finding] = sorted([*said, *external_report.findings(report)])
    if found or style == "json":
        click.echo(FORMATS[style](found))
    click.echo(summary(report, len(checker.outcomes)), err=True)


def _write(report: external_report.Report, target: Path | None, default: Path) -> None:
    """Write the report; one without a network never replaces one with."""
    if target is None and report["offline"]:
        earlier = external_report.load(default)
        if earlier is not None and not earlier["offline"]:
            click.echo(f"links: {default.name} of {earlier['date']} is kept", err=True)
            return
    external_report.save(target or default, report)


def summary(report: external_report.Report, asked: int) -> str:
    """Return the closing line of the command."""
    counts = ", ".join(f"{count} {name}" for name, count in report["counts"].items() if count)
    line = f"links: {report['addresses']} addresses on {report['hosts']} hosts: {counts or 'none'}"
    line += f"; {asked} documents looked at now, the others known from earlier"
    if report["offline"]:
        line += "\nlinks: no host answered: this machine has no way out, so nothing was learnt"
    return line
