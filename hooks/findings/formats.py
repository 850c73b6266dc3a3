"""Findings as JSON, and as annotations on GitHub."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hooks.findings.finding import Finding

_FIELDS = ("file", "line", "column", "rule", "severity", "target", "message", "suggestion")


def as_json(findings: Sequence[Finding]) -> str:
    """A JSON list of objects with the fields of `Finding`, in the order people read them."""
    rows = [{name: getattr(finding, name) for name in _FIELDS} for finding in sorted(findings)]
    return json.dumps(rows, ensure_ascii=False, indent=2)


def as_github(findings: Sequence[Finding]) -> str:
    """Workflow commands that GitHub shows as annotations beside the line.

    Escapes follow the documented rules: `%`, CR and LF everywhere, `:` and `,` in properties.
    """
    return "\n".join(_annotation(finding) for finding in sorted(findings))


def _annotation(finding: Finding) -> str:
    def escape(text: str) -> str:
        return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")

    def escape_property(text: str) -> str:
        return escape(text).replace(":", "%3A").replace(",", "%2C")

    hint = f"; did you mean '{finding.suggestion}'?" if finding.suggestion else ""
    properties = [f"file={escape_property(finding.file)}"]
    if finding.line:
        properties.append(f"line={finding.line}")
    if finding.column:
        properties.append(f"col={finding.column}")
    properties.append(f"title={escape_property(finding.rule)}")
    return f"::{finding.severity} {','.join(properties)}::{escape(finding.message + hint)}"
