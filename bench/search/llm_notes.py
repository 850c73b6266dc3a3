"""More repositories of notes in Chinese on this field, for which the search was never tuned.

Their text is not kept here: it is read from copies of the repositories, at the commits that their
queries were judged on; pages without prose are left out by the rule of `llm_action`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bench.search import llm_action


@dataclass(slots=True)
class Notes:
    """A public repository of notes, as `bench.search.notes` wants it."""

    name: str
    ADDRESS: str
    COMMIT: str
    VARIABLE: str
    """The environment variable that names a local copy."""
    CHANGED: str = llm_action.CHANGED

    def export(self, repository: Path, docs: Path) -> None:
        """Write the pages below a folder.

        Raises subprocess.CalledProcessError when the repository lacks the commit.
        """
        llm_action.write(repository, self.COMMIT, docs, self.name)


LLM_NOTE = Notes(
    "llm-note",
    "https://github.com/HarleysZhang/llm_note",
    "9bf96c8cd305c8a368a12678e633d27f3abbe6df",
    "LLM_NOTE",
)
"""One engineer's articles: inference, serving, CUDA, Triton."""
LLM_INTERVIEW = Notes(
    "llm-interview",
    "https://github.com/wdndev/llm_interview_note",
    "581d54dd9a72e1d0a4eb28ae50859db83901b783",
    "LLM_INTERVIEW",
)
"""Notes for interviews, from attention to distributed training."""
AI_INFRA_HPC = Notes(
    "ai-infra-hpc",
    "https://github.com/jinbooooom/ai-infra-hpc",
    "c068e3a8244775f1c448255b49047aa6cfa7f23b",
    "AI_INFRA_HPC",
)
"""Chips, CUDA, RDMA, NCCL: few and long pages."""
