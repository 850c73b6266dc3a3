"""Check a folder of notes that somebody else wrote, without the rules that are only ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import yaml

from hooks.findings import Finding, rules
from hooks.links import assets, check, digest, includes, redirects
from hooks.links.elsewhere import trees
from hooks.notes import Catalogue, Memory, catalogue, navigation


def check_folder(
    docs: Path, *, repo_url: str = "", site_url: str = "", cache: Path | None = None
) -> tuple[Catalogue, list[Finding]]:
    """Check the notes below a folder; return them and what was found, sorted.

    Args:
        docs: The folder; findings are relative to its parent.
        repo_url: The repository's address: then GitHub's view is checked too.
        site_url: The address the notes are published at.
        cache: Where earlier runs have left what they found; None keeps nothing.
    """
    tree = trees.detect(docs, repo_url=repo_url, site_url=site_url)
    memory = Memory(cache, f"{docs} {tree.settings!r}") if cache else None
    notes, findings = catalogue.load(
        docs, docs.parent, tree.settings.dialect, is_ours=False, memory=memory
    )
    digests = digest.of_all(notes, tree.settings, memory)
    if memory is not None:
        memory.save()
    texts = includes.Texts(docs, notes.other_files)
    findings += check.check_sources(notes, texts, tree.settings, digests)
    for one in digests.values():
        findings += one.safety
    beside = [path for path in docs.parent.glob("*") if path.is_file()]
    findings += assets.orphans(notes, docs, digests, tree.settings, beside)
    if tree.config is not None:
        file = tree.config.relative_to(docs.parent).as_posix()
        findings += redirects.check(tree.redirects, set(notes.notes), file)
        findings += _navigation(tree, notes, file)
    return notes, sorted(set(_elsewhere(findings)))


def _navigation(tree: trees.Tree, notes: Catalogue, file: str) -> Iterator[Finding]:
    assert tree.config is not None
    try:
        entries = navigation.read_navigation(tree.config)
    except (yaml.YAMLError, ValueError, RecursionError):
        return  # what MkDocs itself will refuse
    if not entries:
        return
    known = {*notes.notes, *notes.other_files}
    texts = (note.text for note in notes.notes.values() if note.may_include)
    included = {one.path for text in texts for one in includes.located(text, known, tree.settings)}
    for finding in navigation.check_navigation(entries, notes, file):
        if finding.rule == "nav-absent":
            # A page that others include is no page of its own; the home page needs no entry.
            if not tree.has_plain_navigation or finding.target in included:
                continue
        elif finding.target.endswith("/") or "*" in finding.target or _exists(finding, notes):
            continue
        yield finding


def _exists(finding: Finding, notes: Catalogue) -> bool:
    return finding.target in notes.other_files or ":" in finding.target


def _elsewhere(findings: list[Finding]) -> Iterator[Finding]:
    """Yield the findings with the severity they have in other trees; ours alone are left out."""
    for finding in findings:
        severity = rules.severity_elsewhere(finding.rule)
        if severity != "off":
            yield replace(finding, severity=severity) if severity == "warning" else finding
