"""PingCAP's documentation of TiDB in Chinese, which the search was never tuned for.

Its text is not kept here: it is read from a copy of its repository, at the commit that its queries
were judged on, and written as plain Markdown, which every engine can read.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from bench.search.fenced import marked
from bench.search.repository import archived, git

ADDRESS = "https://github.com/pingcap/docs-cn"
COMMIT = "ae9ab0fd89873986fabc4c8873d77d46ba76f066"
VARIABLE = "DOCS_CN"
"""The environment variable that names a local copy."""
LEFT_OUT = ("releases/", "resources/")
"""Release notes, which mention everything without explaining it; templates for writers."""
CHANGED = (
    "release notes, writers' templates, tables of contents and the repository's own papers left "
    "out; _index.md renamed index.md; names in braces replaced; labels of tabs and of folded parts "
    "written as text, other component tags and copy buttons left out; earlier addresses "
    "(aliases) left out of the front matter"
)

_NAME = re.compile(r"\{\{\{\s*\.([\w-]+)\s*\}\}\}")
_COPY_BUTTON = re.compile(r"^[ \t]*\{\{<.*?>\}\}[ \t]*$")
_ALIASES = re.compile(r"^aliases:.*\n(?:[ \t]+.*\n|- .*\n|\].*\n)*", re.MULTILINE)
_LABELLED = re.compile(
    r"^(?P<indent>[ \t]*)<(?:div|TabsPanel|LearningPath|DevToolCard|DocHomeCard|DevLangAccordion)\b"
    r"[^>]*?\b(?:label|title)=\"(?P<label>[^\"]*)\"[^>]*>[ \t]*$"
)
_SUMMARY = re.compile(r"^(?P<indent>[ \t]*)<summary>(?P<label>.*?)</summary>[ \t]*$")
_COMPONENT = re.compile(r"^[ \t]*</?(?:div|details|[A-Z][a-z][A-Za-z]*)\b[^>]*>[ \t]*$")


def is_taken(path: str) -> bool:
    """Return whether a file of the repository is a page of the documentation."""
    name = path.rpartition("/")[2]
    own_paper = "/" not in path and bool(re.match(r"[A-Z]|_docHome", name))
    hidden = any(part.startswith(".") for part in path.split("/"))
    return path.endswith(".md") and not own_paper and not hidden and not path.startswith(LEFT_OUT)


def plain(text: str, names: dict[str, str]) -> str:
    """Return a page as Markdown without what only its own site generator knows.

    Args:
        text: The file's text.
        names: What names in triple braces stand for.
    """
    head, middle, body = "", "", text
    if text.startswith("---\n") and "\n---\n" in text:
        head, middle, body = text.partition("\n---\n")
        head = _ALIASES.sub("", head + "\n").removesuffix("\n")
    lines = []
    for line, is_fenced in marked(body):
        if not is_fenced:
            if labelled := _LABELLED.match(line) or _SUMMARY.match(line):
                # A paragraph of its own; the blank lines end what stands around it.
                lines += ["", f"{labelled['indent']}**{labelled['label'].strip()}**", ""]
                continue
            if _COPY_BUTTON.match(line) or _COMPONENT.match(line):
                lines.append("")
                continue
        lines.append(line)
    body = "\n".join(lines)
    return _NAME.sub(lambda name: names.get(name[1], name[1]), head + middle + body)


def export(repository: Path, docs: Path) -> None:
    """Write the pages below a folder. Raises subprocess.CalledProcessError without the commit."""
    names: dict[str, str] = json.loads(git("show", f"{COMMIT}:variables.json", cwd=repository))
    shutil.rmtree(docs, ignore_errors=True)
    docs.mkdir(parents=True)
    for path, data in archived(repository, COMMIT, "*.md"):
        if not is_taken(path):
            continue
        file = docs / re.sub(r"(^|/)_index\.md\Z", r"\1index.md", path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(plain(data.decode("utf-8"), names), encoding="utf-8")
