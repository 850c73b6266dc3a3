"""Notes in Chinese for interviews about large models, from attention to distributed training.

The search was never tuned for them. Their text is not kept here: it is read from a copy of their
repository, at the commit that its queries were judged on; pages without prose are left out by the
rule of `llm_action`.
"""

from __future__ import annotations

from pathlib import Path

from bench.search import llm_action

ADDRESS = "https://github.com/wdndev/llm_interview_note"
COMMIT = "581d54dd9a72e1d0a4eb28ae50859db83901b783"
VARIABLE = "LLM_INTERVIEW"
"""The environment variable that names a local copy."""
CHANGED = llm_action.CHANGED


def export(repository: Path, docs: Path) -> None:
    """Write the pages below a folder. Raises subprocess.CalledProcessError without the commit."""
    llm_action.write(repository, COMMIT, docs, "llm-interview")
