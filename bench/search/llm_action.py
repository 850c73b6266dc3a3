"""Notes on large models and their infrastructure, for which the search was never tuned.

One person's public working notes in Chinese, some long and some a command and its output. Their
text is not kept here: it is read from a copy of their repository, at the commit that its queries
were judged on. What is no prose is left out by a rule that only counts.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from bench.search.fenced import marked
from bench.search.repository import archived

ADDRESS = "https://github.com/liguodongiot/llm-action"
COMMIT = "923449432b6bd00674efd5965fdb70365a88ce5e"
VARIABLE = "LLM_ACTION"
"""The environment variable that names a local copy."""
LEAST_WORDS = 100
"""Words of prose below which a page holds nothing to be found: stubs, titles, one command."""
LEAST_SHARE = 0.1
"""Share of a page's words that are prose below which it is a log or a program."""
MOST_LINKED = 0.5
"""Share of a page's lines with a link, from which on it is a list of links (headings and pictures
do not count)."""
CHANGED = (
    f"left out: pages with fewer than {LEAST_WORDS} words of prose, with less than "
    f"{LEAST_SHARE:.0%} of their words in prose, or with a link on {MOST_LINKED:.0%} or more of "
    "their lines; a first page that holds a title only was added; nothing else was changed"
)

_LINKED = re.compile(r"!?\[[^\]\n]*\]\([^)\n]*\)|<?https?://[^\s<>()]+>?|<[^>\n]{1,300}>")
_PICTURE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)|<img\b[^>\n]*>")
_LINK = re.compile(r"https?://|\]\(")
_WORD = re.compile(r"[\u3400-\u9fff]|[A-Za-z][A-Za-z'-]+")


def is_taken(text: str) -> bool:
    """Return whether a page holds prose: no stub, no log, no program, no list of links.

    A word is a Chinese character, or two or more letters. Prose is what stands outside fenced
    blocks, without links and their labels, pictures, addresses and HTML tags.
    """
    outside = "\n".join(line for line, is_fenced in marked(text) if not is_fenced)
    words = len(_WORD.findall(_LINKED.sub(" ", outside)))
    if words < LEAST_WORDS or words < LEAST_SHARE * len(_WORD.findall(text)):
        return False
    lines = [
        line
        for line in _PICTURE.sub("", outside).split("\n")
        if line.strip() and not line.startswith("#")
    ]
    return sum(bool(_LINK.search(line)) for line in lines) < MOST_LINKED * len(lines)


def export(repository: Path, docs: Path) -> None:
    """Write the pages below a folder. Raises subprocess.CalledProcessError without the commit."""
    write(repository, COMMIT, docs, "llm-action")


def write(repository: Path, commit: str, docs: Path, name: str) -> None:
    """Write those pages of a repository that hold prose below a folder, and a first page if needed.

    Raises subprocess.CalledProcessError when the repository lacks the commit.
    """
    shutil.rmtree(docs, ignore_errors=True)
    docs.mkdir(parents=True)
    for path, data in archived(repository, commit, "*.md"):
        text = data.decode("utf-8")
        if not is_taken(text):
            continue
        file = docs / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    if not (docs / "index.md").is_file():  # a site has a first page
        (docs / "index.md").write_text(f"# {name}\n", encoding="utf-8")
