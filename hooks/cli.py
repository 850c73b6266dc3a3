"""The commands of `python -m hooks`."""

from __future__ import annotations

import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hooks.findings import Finding, report

if TYPE_CHECKING:
    from hooks.handbook import Tree

# What only one command needs is imported there: a check on every save must start at once.

ROOT = Path(__file__).resolve().parent.parent
ARCHIVE = "ai-infra-hpc-handbook-offline"


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Check and search the notes, keep generated parts fresh, start new notes, pack the site."""


@main.command()
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--site",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Check the built pages in this folder too.",
)
@click.option(
    "--site-url", default="", envvar="SITE_URL", help="The address the site is published at."
)
@click.option(
    "--repo-url", default="", envvar="REPO_URL", help="The address of the repository on GitHub."
)
@click.option("--format", "style", type=click.Choice(report.FORMATS), default="text")
@click.option("--since", help="Tell too which notes changed in one language since this branch.")
def check(
    paths: tuple[Path, ...],
    site: Path | None,
    site_url: str,
    repo_url: str,
    style: str,
    since: str | None,
) -> None:
    """Check notes, data, diagrams and figures without building (PATHS: only what lies there).

    Exit status: 0 clean, 1 findings of severity error, 2 could not run.
    """
    try:
        count, findings = _find(site, site_url, repo_url, since)
    except Exception as error:  # whatever it is: a check that broke down has not passed
        if not isinstance(error, OSError):
            traceback.print_exc()
        click.echo(f"check: could not run: {report.visible(str(error))}", err=True)
        sys.exit(2)
    if paths:
        places = [path.resolve() for path in paths]
        files = {one: (ROOT / one.file).resolve() for one in findings}
        findings = [one for one in findings if any(map(files[one].is_relative_to, places))]
    if findings or style == "json":
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        click.echo(report.render(style, findings, ROOT, colour=colour), color=colour)
    errors = sum(finding.severity == "error" for finding in findings)
    said = f"check: {count} notes, {errors} errors, {len(findings) - errors} warnings"
    click.echo(said, err=True)
    sys.exit(1 if errors else 0)


def _find(
    site: Path | None, site_url: str, repo_url: str, since: str | None
) -> tuple[int, list[Finding]]:
    """Return the number of notes, and the findings."""
    from hooks import handbook

    tree = handbook.read_tree(ROOT, repo_url=repo_url, site_url=site_url)
    findings = tree.findings + _contents(tree)
    if since:
        from hooks.notes import history

        findings += history.one_language(tree.notes, history.changed_since(ROOT, since))
    if site is not None:
        from hooks.site import check as site_check

        name = site.as_posix().rstrip("/")
        findings += site_check.check_site(site, site_url=site_url, name=name)
    return len(tree.notes.notes), sorted(set(findings))


def _contents(tree: Tree, *, write: bool = False) -> list[Finding]:
    from hooks.notes import published
    from hooks.pages import contents

    return contents.check_root(ROOT, tree.entries, published(tree.notes), write=write)


@main.command()
@click.option("--write", is_flag=True, help="Rewrite the blocks (default: only compare).")
def contents(write: bool) -> None:
    """Keep the contents in CONTENTS.md and CONTENTS.en.md fresh."""
    from hooks import handbook

    tree = handbook.read_tree(ROOT)
    findings = _contents(tree, write=write)
    if write:
        click.echo(f"contents: {'written' if findings else 'fresh already'}", err=True)
        return
    for finding in findings:
        click.echo(finding.text)
    click.echo(f"contents: {len(findings)} stale", err=True)
    sys.exit(1 if findings else 0)


@main.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--language", type=click.Choice(["zh", "en"]), default="zh", show_default=True)
@click.option("--limit", type=click.IntRange(1, 100), default=8, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print a list of objects.")
def search(words: tuple[str, ...], language: str, limit: int, as_json: bool) -> None:
    """Find the sections that answer WORDS, as the site's search does: of the built site, else of
    the notes.

    Also: kind:paper, tag:NVLink, "exact words", !word. Exit status: 0 found, 1 nothing found.
    """
    from hooks.search import terminal

    found = terminal.answer(ROOT, " ".join(words), language, limit, as_json=as_json)
    sys.exit(0 if found else 1)


@main.command()
def release() -> None:
    """Write down the pages and headings of a release, which are kept from then on.

    Exit status: 0 where they stood there, 1 where docs/data/published.txt must be committed.
    """
    from hooks import handbook
    from hooks.data import Layout
    from hooks.links import moved
    from hooks.notes import published

    tree = handbook.read_tree(ROOT)
    changed = moved.publish(Layout(tree.docs), published(tree.notes), tree.moved)
    said = "written: commit docs/data/published.txt" if changed else "fresh"
    click.echo(f"release: addresses {said}", err=True)
    sys.exit(1 if changed else 0)


@main.command()
@click.argument("note")
def new(note: str) -> None:
    """Start NOTE (such as link/topo/example): a draft in two files, listed in the navigation."""
    from hooks.notes import drafts

    try:
        files = drafts.new_note(ROOT, note)
    except drafts.ScaffoldError as error:
        raise click.ClickException(str(error)) from None
    for file in files:
        click.echo(f"wrote {file.relative_to(ROOT)}")
    click.echo("A draft: seen with `make serve`, not on the site until `draft: true` is taken out.")


@main.command("new-record")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--by", default="", help="Who sent it, as the page may name them.")
def new_record(file: Path, by: str) -> None:
    """Check a reader's record of the field kit, and put it under docs/data/records/."""
    from hooks.data import kit, load_facts

    docs = ROOT / "docs"
    try:
        path = kit.take(docs, file, by, kit.read_kit(docs, load_facts(docs / "data")[0])[0].table)
    except ValueError as error:
        raise click.ClickException(f"{file.name} was not taken:\n{error}") from None
    click.echo(f"wrote {path.relative_to(ROOT)}: look through it, then commit it")


@main.command("zip")
@click.option("--site", default="site", type=click.Path(exists=True, path_type=Path))
def pack(site: Path) -> None:
    """Pack the built site for reading offline: unzip anywhere, open index.html."""
    from hooks.site import publish

    archive = ROOT / "dist" / f"{ARCHIVE}.zip"
    count = publish.pack(site, archive, ARCHIVE)
    size = archive.stat().st_size / 1e6
    click.echo(f"zip: {archive.relative_to(ROOT)} ({count} files, {size:.1f} MB)")
