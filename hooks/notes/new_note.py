"""Start a new note: a pair of files with valid front matter, registered in the navigation."""

from __future__ import annotations

import re
from pathlib import Path

from hooks.notes.navigation import read_navigation

_NOTE_ID = re.compile(r"[a-z0-9][a-z0-9-]*(?:/[a-z0-9][a-z0-9-]*)+\Z")
_TWO_LETTERS = re.compile(r"(?:^|/)[a-z]{2}(?:/|$)")
_HINT = re.compile(r"^(?:description: )?(?P<hint>[^#\n:-][^\n:]*[.。])$", re.MULTILINE)
_SCAFFOLD = Path(__file__).with_name("scaffold")
MARKS = ("（草稿）", " (draft)")
"""How the title of a scaffold ends."""


class ScaffoldError(ValueError):
    """The note cannot be started; the message says why and what to do."""


def hints() -> frozenset[str]:
    """Return the sentences that a scaffold holds for its author to replace."""
    texts = (path.read_text(encoding="utf-8") for path in _SCAFFOLD.glob("*.md"))
    return frozenset(match["hint"] for text in texts for match in _HINT.finditer(text))


def new_note(root: Path, note_id: str) -> list[Path]:
    """Write `docs/<note_id>.md` and `.en.md` and add the note to the navigation.

    Returns the files written or changed.

    Raises:
        ScaffoldError: When the id is not valid, taken, or its topic has no index page.
    """
    if not _NOTE_ID.match(note_id):
        raise ScaffoldError(
            f"'{note_id}' is not a note id; write topic/name in lower case, such as "
            "link/topo/example"
        )
    if _TWO_LETTERS.search(note_id):
        raise ScaffoldError(
            f"'{note_id}' has a part of two letters, which would be read as a language; "
            "use a longer name"
        )
    topic, _, name = note_id.rpartition("/")
    if not (root / "docs" / topic / "index.md").is_file():
        raise ScaffoldError(f"topic '{topic}' has no docs/{topic}/index.md; write that page first")
    paths = {"zh": root / "docs" / f"{note_id}.md", "en": root / "docs" / f"{note_id}.en.md"}
    for path in paths.values():
        if path.exists():
            raise ScaffoldError(f"{path.relative_to(root)} exists already")
    _register(root / "mkdocs.yml", topic, note_id)
    for language, path in paths.items():
        text = (_SCAFFOLD / f"{language}.md").read_text(encoding="utf-8")
        title = name.replace("-", " ").capitalize()
        path.write_text(text.replace("{title}", title), encoding="utf-8")
    return [*paths.values(), root / "mkdocs.yml"]


def _register(config: Path, topic: str, note_id: str) -> None:
    """Add a note to the navigation, behind the last one of its topic."""
    pages = [page for entry in read_navigation(config) for page in entry.pages()]
    beside = [page.line for page in pages if page.path.rpartition("/")[0] == topic]
    if not beside:
        raise ScaffoldError(f"nav in mkdocs.yml lists nothing of topic '{topic}'; add its index")
    lines, last = config.read_text(encoding="utf-8").split("\n"), max(beside)
    indent = re.match(" *", lines[last - 1])
    lines.insert(last, f"{indent.group() if indent else ''}- {note_id}.md")
    config.write_text("\n".join(lines), encoding="utf-8")
