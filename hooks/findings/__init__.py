"""What is wrong with a text, where it stands, and how it is said; the rules; YAML with places."""

from __future__ import annotations

from hooks.findings.finding import Finding, has_errors, nearest
from hooks.findings.schema import Document, Fast, YamlError, load, past_day, read, validate
