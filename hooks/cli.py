"""The commands of `python -m hooks`."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hooks.findings import Finding, has_errors

# What only one command needs is imported there: a check on every save must start at once.
if TYPE_CHECKING:
    from hooks.notes import Catalogue

ROOT = Path(__file__).resolve().parent.parent
FORMATS = ("text", "github", "sarif", "json")
ARCHIVE = "ai-infra-hpc-handbook-offline"


ELSEWHERE = {
    "links": "hooks.links.external.cli:links",
    "search": "hooks.search.terminal:search",
}
"""Commands that are imported when somebody asks for them: module and function."""


class _Commands(click.Group):
    """The commands of this module, and those of `ELSEWHERE`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *ELSEWHERE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in ELSEWHERE:
            module, _, function = ELSEWHERE[cmd_name].partition(":")
            command: click.Command = getattr(importlib.import_module(module), function)
            return command
        return super().get_command(ctx, cmd_name)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Check and search the notes, keep generated parts fresh, start new notes, pack the site."""


@main.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--docs",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Check the notes in this folder, whoever wrote them (default: this handbook's).",
)
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
@click.option("--format", "style", type=click.Choice(FORMATS), default="text")
@click.option("--external", is_flag=True, help="Ask other sites too whether links to them live.")
@click.option("--since", help="Tell too which notes changed in one language since this branch.")
@click.option(
    "--rules", "list_rules", is_flag=True, help="List every rule: what, why, how to mend."
)
def check(
    paths: tuple[Path, ...],
    docs: Path | None,
    site: Path | None,
    site_url: str,
    repo_url: str,
    style: str,
    external: bool,
    since: str | None,
    list_rules: bool,
) -> None:
    """Check notes, data, diagrams and figures without building (PATHS: only what lies there).

    Exit status: 0 clean, 1 findings of severity error, 2 could not run.
    """
    from hooks.findings import report

    if list_rules:
        from hooks.findings import rules

        click.echo(rules.as_text())
        return
    missing = next((path for path in paths if not path.exists()), None)
    if missing is not None:
        raise click.UsageError(f"'{missing}' does not exist")
    try:
        count, findings, root = _find(docs, site, site_url, repo_url, external, since)
    except Exception as error:  # whatever it is: a check that broke down has not passed
        if not isinstance(error, OSError):
            import traceback

            traceback.print_exc()
        click.echo(f"check: could not run: {report.visible(str(error))}", err=True)
        sys.exit(2)
    if paths:
        findings = [finding for finding in findings if _lies_in(finding, paths, root)]
    if findings or style in ("json", "sarif"):
        colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
        click.echo(report.render(style, findings, root, colour=colour), color=colour)
    errors = sum(finding.severity == "error" for finding in findings)
    click.echo(
        f"check: {count} notes, {errors} errors, {len(findings) - errors} warnings", err=True
    )
    sys.exit(1 if has_errors(findings) else 0)


def _find(
    docs: Path | None,
    site: Path | None,
    site_url: str,
    repo_url: str,
    external: bool,
    since: str | None,
) -> tuple[int, list[Finding], Path]:
    """Return the number of notes, the findings, and the folder that they are relative to."""
    notes: Catalogue
    if docs is None or docs.resolve() == ROOT / "docs":
        from hooks import handbook

        docs, root = ROOT / "docs", ROOT
        tree = handbook.read_tree(ROOT, repo_url=repo_url, site_url=site_url)
        notes, findings = tree.notes, tree.findings + handbook.readme_findings(tree)
        if since:
            from hooks.notes import history

            findings = findings + history.one_language(notes, history.changed_since(root, since))
    else:
        from hooks.links.elsewhere import folder
        from hooks.notes import FOLDER

        docs = docs.resolve()
        root = docs.parent
        # The cache is this handbook's, never a file in somebody else's tree.
        notes, findings = folder.check_folder(
            docs, repo_url=repo_url, site_url=site_url, cache=ROOT / FOLDER
        )
    if external:
        from hooks.links.external import cli as external_cli

        cache = ROOT / external_cli.CACHE
        cache = cache if root == ROOT else cache.with_name("elsewhere.json")
        findings = findings + external_cli.findings_of(notes, docs, root, cache)
    if site is not None:
        from hooks.site import check as site_check

        name = site.as_posix().rstrip("/")
        findings = findings + site_check.check_site(site, site_url=site_url, name=name)
    return len(notes.notes), sorted(set(findings)), root


def _lies_in(finding: Finding, paths: tuple[Path, ...], root: Path) -> bool:
    file = (root / finding.file).resolve()
    return any(file == path.resolve() or path.resolve() in file.parents for path in paths)


@main.command()
@click.option("--write", is_flag=True, help="Rewrite the blocks (default: only compare).")
@click.option("--site-url", default="", envvar="SITE_URL", help="Where the site is, for README.")
def contents(write: bool, site_url: str) -> None:
    """Keep the contents in CONTENTS.md and CONTENTS.en.md fresh, and the address in README."""
    from hooks import handbook

    tree = handbook.read_tree(ROOT)
    findings = handbook.readme_findings(tree, write=write, site_url=site_url if write else "")
    if write:
        click.echo(f"contents: {'written' if findings else 'fresh already'}", err=True)
        return
    for finding in findings:
        click.echo(finding.text)
    click.echo(f"contents: {len(findings)} stale", err=True)
    sys.exit(1 if findings else 0)


@main.command()
@click.option("--write", is_flag=True, help="Add them (default: only compare).")
def register(write: bool) -> None:
    """Register the addresses of every page and heading, so that they are kept: at a release."""
    from hooks import handbook

    findings = handbook.register_findings(handbook.read_tree(ROOT), write=write)
    for finding in [] if write else findings:
        click.echo(finding.text)
    click.echo(f"register: {('written' if write else 'stale') if findings else 'fresh'}", err=True)
    sys.exit(1 if findings and not write else 0)


@main.command()
@click.argument("note")
def new(note: str) -> None:
    """Start NOTE (such as link/topo/example): a draft in two files, listed in the navigation."""
    from hooks.notes import new_note

    try:
        files = new_note.new_note(ROOT, note)
    except new_note.ScaffoldError as error:
        raise click.ClickException(str(error)) from None
    for file in files:
        click.echo(f"wrote {file.relative_to(ROOT)}")
    click.echo("A draft: seen with `make serve`, not on the site until `draft: true` is taken out.")


@main.command("zip")
@click.option("--site", default="site", type=click.Path(exists=True, path_type=Path))
def pack(site: Path) -> None:
    """Pack the built site for reading offline: unzip anywhere, open index.html."""
    from hooks.site import publish

    archive = ROOT / "dist" / f"{ARCHIVE}.zip"
    count = publish.pack(site, archive, ARCHIVE)
    size = archive.stat().st_size / 1e6
    click.echo(f"zip: {archive.relative_to(ROOT)} ({count} files, {size:.1f} MB)")
