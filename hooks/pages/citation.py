"""How to cite a page of the handbook: one line to paste, and an entry for BibTeX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hooks.data import tex

if TYPE_CHECKING:
    from hooks.notes import Note

AUTHORS = "AI Infra & HPC Handbook contributors"
HANDBOOK = {"zh": "AI Infra & HPC 手册", "en": "AI Infra & HPC Handbook"}
_LINE = {
    "zh": "{authors}：《{title}》，{handbook}{day}，{address}",
    "en": "{authors}, “{title}”, {handbook}{day}, {address}",
}
_DAY = {"zh": "，核对于 {}", "en": ", verified {}"}


@dataclass(frozen=True, slots=True)
class Citation:
    """A page in the two forms in which others name it."""

    line: str
    bibtex: str


def cite(note: Note, address: str) -> Citation:
    """Return how to cite a note.

    Args:
        note: The note: its title, language and the day on which its facts were verified.
        address: The page in full where the site's address is known, else its path in the site.
    """
    verified = note.meta.verified if note.meta else None
    day = verified.isoformat() if verified else ""
    handbook = HANDBOOK[note.language]
    line = _LINE[note.language].format(
        authors=AUTHORS,
        title=note.title,
        handbook=handbook,
        day=_DAY[note.language].format(day) if day else "",
        address=address,
    )
    # Two pairs of braces: letters stay as they are, and the authors are one name.
    fields = {
        "title": f"{{{tex(note.title)}}}",
        "author": f"{{{tex(AUTHORS)}}}",
        "year": day[:4],
        "note": tex(handbook) + (f"; facts verified {day}" if day else ""),
        "url" if "://" in address else "howpublished": address,
    }
    key = f"aihpc-{note.id.replace('/', '-')}-{note.language}"
    lines = "".join(f"  {name} = {{{text}}},\n" for name, text in fields.items() if text)
    return Citation(line, f"@misc{{{key},\n{lines}}}")
