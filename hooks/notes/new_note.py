"""Start a new note: a pair of files with valid front matter, registered in the navigation."""

from __future__ import annotations

import re
from pathlib import Path

from hooks.notes.navigation import Entry, read_navigation

_NOTE_ID = re.compile(r"[a-z0-9][a-z0-9-]*(?:/[a-z0-9][a-z0-9-]*)+\Z")
_TWO_LETTERS = re.compile(r"(?:^|/)[a-z]{2}(?:/|$)")

_SECTIONS = {
    "zh": (
        ("一句话结论", "用两三句话告诉读者可以据此行动的结论。"),
        ("为什么需要它", "它解决什么问题？用一个有出处的数字说明问题有多大。"),
        ("工作原理", "从机制讲到后果，至少一张图。"),
        ("常见误区", "流传的错误说法、正确的事实与出处。"),
        ("自测", "三到五个问题，答案折叠，数字由程序算出。"),
        ("参考资料", "一手资料在前，写明阅读日期。"),
    ),
    "en": (
        ("Takeaway", "Two or three sentences a reader can act on."),
        ("Why it exists", "Which problem does it solve? Show its size with a sourced number."),
        ("How it works", "From mechanism to consequence, with one figure at least."),
        ("Common misconceptions", "Wrong claims that circulate, the right fact and its source."),
        ("Check yourself", "Three to five questions with folded answers computed by a program."),
        ("References", "Primary sources first, each with the date it was read."),
    ),
}


_DESCRIPTIONS = {
    "zh": "一句话说明本文回答什么问题。",
    "en": "One sentence that says which question this note answers.",
}
MARKS = ("（草稿）", " (draft)")
"""How the title of a scaffold ends, by language: Chinese, English."""


def hints() -> frozenset[str]:
    """Return the sentences that a scaffold holds for its author to replace."""
    texts = (hint for sections in _SECTIONS.values() for _, hint in sections)
    return frozenset({*_DESCRIPTIONS.values(), *texts})


class ScaffoldError(ValueError):
    """The note cannot be started; the message says why and what to do."""


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
    title = name.replace("-", " ").capitalize()
    texts = {
        root / "docs" / f"{note_id}.md": _text("zh", title + MARKS[0]),
        root / "docs" / f"{note_id}.en.md": _text("en", title + MARKS[1]),
    }
    for path in texts:
        if path.exists():
            raise ScaffoldError(f"{path.relative_to(root)} exists already")
    config = root / "mkdocs.yml"
    changed = register(config.read_text(encoding="utf-8"), config, note_id)
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    config.write_text(changed, encoding="utf-8")
    return [*texts, config]


def register(text: str, config: Path, note_id: str) -> str:
    """Return the text of mkdocs.yml with the note added behind the last one of its topic."""
    topic = note_id.rpartition("/")[0]
    last = _last_line(read_navigation(config), topic)
    if last is None:
        raise ScaffoldError(f"nav in mkdocs.yml lists nothing of topic '{topic}'; add its index")
    lines = text.split("\n")
    indent = lines[last - 1][: len(lines[last - 1]) - len(lines[last - 1].lstrip())]
    lines.insert(last, f"{indent}- {note_id}.md")
    return "\n".join(lines)


def _last_line(entries: tuple[Entry, ...], topic: str) -> int | None:
    found = [
        page.line
        for entry in entries
        for page in entry.pages()
        if page.path.rpartition("/")[0] == topic
    ]
    return max(found, default=None)


def _text(language: str, title: str) -> str:
    head = (
        f"---\ntitle: {title}\ndescription: {_DESCRIPTIONS[language]}\nkind: note\n"
        f"draft: true\ntags: []\nverified:\nprerequisites: []\n---\n\n# {title}\n"
    )
    return head + "".join(f"\n## {name}\n\n{hint}\n" for name, hint in _SECTIONS[language])
