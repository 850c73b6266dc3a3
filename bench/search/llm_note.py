"""One engineer's articles in Chinese on large models: inference, serving, CUDA, Triton.

The search was never tuned for them. Their text is not kept here: it is read from a copy of their
repository, at the commit that its queries were judged on; pages without prose are left out by the
rule of `llm_action`.
"""

from __future__ import annotations

from pathlib import Path

from bench.search import llm_action

ADDRESS = "https://github.com/HarleysZhang/llm_note"
COMMIT = "9bf96c8cd305c8a368a12678e633d27f3abbe6df"
VARIABLE = "LLM_NOTE"
"""The environment variable that names a local copy."""
CHANGED = llm_action.CHANGED


def export(repository: Path, docs: Path) -> None:
    """Write the pages below a folder. Raises subprocess.CalledProcessError without the commit."""
    llm_action.write(repository, COMMIT, docs, "llm-note")
