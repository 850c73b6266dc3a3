"""Make books of the finished site: an EPUB and a PDF of each volume, in each language.

    python -m tools.books [--site site] [--out dist] [--only link] [--language en] [--format epub]

Needs pandoc; diagrams and PDF need Chromium too (`python tools/browser.py`). Nothing is fetched.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from html import unescape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from hooks.notes import LANGUAGES, Entry, read_navigation  # noqa: E402
from hooks.site.book import Book, volume  # noqa: E402
from tools import browser  # noqa: E402

_NO_BOOK = ("about", "resources")
_NAME = "ai-infra-hpc-handbook"
_TITLES = {"zh": "AI Infra & HPC 手册", "en": "AI Infra & HPC Handbook"}
_DIAGRAM = re.compile(r'<pre class="mermaid"><code>(.*?)</code></pre>', re.DOTALL)
_STYLE = """
body { font-family: sans-serif; line-height: 1.5; max-width: none; margin: 0; font-size: 10pt; }
img { max-width: 100%; height: auto; } figure { margin: 1em 0; break-inside: avoid; }
table { border-collapse: collapse; font-size: 0.85em; width: 100%; }
th, td { border: 1px solid #999; padding: 0.2em 0.4em; text-align: left; vertical-align: top; }
td, th, a { overflow-wrap: anywhere; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.8em; }
pre { background: #f4f4f4; padding: 0.6em; }
h1 { break-before: page; } h1, h2, h3, h4 { break-after: avoid; }
"""


def volumes() -> dict[str, Entry]:
    """Return the top-level sections that are books, by the name of their folder."""
    found = {}
    for entry in read_navigation(ROOT / "mkdocs.yml"):
        name = next(entry.pages()).path.partition("/")[0] if entry.children else ""
        if name and name not in _NO_BOOK:
            found[name] = entry
    return found


def _missing(formats: list[str]) -> str:
    """Return what to install, or nothing."""
    if shutil.which("pandoc") is None:
        return "pandoc is not installed: apt-get install --no-install-recommends pandoc"
    if "pdf" in formats and browser.find() is None:
        return "no Chromium was found for the PDF: apt-get install chromium fonts-noto-cjk"
    return ""


def _draw(page: Any, texts: list[str]) -> dict[str, str]:
    """Return diagrams that have no drawing yet as SVG, drawn by the repository's Mermaid."""
    page.goto("about:blank")
    page.set_content("<div></div>")
    page.add_script_tag(path=str(ROOT / "docs/assets/vendor/mermaid/mermaid.min.js"))
    settings = "{startOnLoad: false, htmlLabels: false, flowchart: {htmlLabels: false}}"
    page.evaluate(f"mermaid.initialize({settings})")
    drawn = {}
    for number, text in enumerate(texts):
        call = "([id, text]) => mermaid.render(id, text).then(made => made.svg)"
        drawn[text] = page.evaluate(call, [f"drawing{number}", text])
    return drawn


def _pandoc(folder: Path, *options: str) -> None:
    command = ["pandoc", "book.html", "--from", "html+tex_math_single_backslash", "--mathml"]
    command += ["--standalone", "--toc", "--toc-depth=2", *options]
    subprocess.run(command, cwd=folder, check=True, env=os.environ | {"SOURCE_DATE_EPOCH": "0"})


def make(
    name: str, entry: Entry, language: str, site: Path, out: Path, formats: list[str], page: Any
) -> list[Path]:
    """Write one volume in one language; return the files."""
    prefix = "" if language == "zh" else f"{language}/"
    pages = [f"{prefix}{one.path.removesuffix('.md')}.html" for one in entry.pages()]
    texts = {one: (site / one).read_text(encoding="utf-8") for one in pages}
    diagrams = {
        unescape(text).strip() for html in texts.values() for text in _DIAGRAM.findall(html)
    }
    drawn = _draw(page, sorted(diagrams)) if page is not None and diagrams else {}
    book = Book({one: n for n, one in enumerate(pages)}, os.environ.get("SITE_URL", ""), drawn)
    parts = [book.page(one, html) for one, html in texts.items()]
    heading = re.search(r"<h1[^>]*>(.*?)<", parts[0])
    title = f"{_TITLES[language]} · {unescape(heading[1]) if heading else name}"
    made = []
    with tempfile.TemporaryDirectory() as kept:
        folder = Path(kept)
        (folder / "book.html").write_text(volume(title, language, parts), encoding="utf-8")
        (folder / "book.css").write_text(_STYLE, encoding="utf-8")
        for file, svg in book.files.items():
            (folder / file).write_text(svg, encoding="utf-8")
        for kind in formats:
            target = out.resolve() / f"{_NAME}-{name}.{language}.{kind}"
            if kind == "epub":
                _pandoc(folder, "--to", "epub3", "--css", "book.css", "--output", str(target))
            else:
                _pandoc(folder, "--to", "html5", "--css", "book.css", "--output", "print.html")
                page.goto((folder / "print.html").as_uri())
                numbers = '<span style="font-size:8px;margin:auto" class="pageNumber"></span>'
                page.pdf(
                    path=str(target),
                    format="A4",
                    margin={"top": "16mm", "bottom": "16mm", "left": "16mm", "right": "16mm"},
                    display_header_footer=True,
                    header_template="<span></span>",
                    footer_template=numbers,
                    outline=True,
                    tagged=True,
                )
            made.append(target)
    return made


def main() -> None:
    """Make the books that are asked for."""
    known = volumes()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "site")
    parser.add_argument("--out", type=Path, default=ROOT / "dist")
    parser.add_argument("--only", choices=list(known), action="append")
    parser.add_argument("--language", choices=LANGUAGES, action="append")
    parser.add_argument("--format", choices=["epub", "pdf"], action="append")
    asked = parser.parse_args()
    formats = asked.format or ["epub", "pdf"]
    if problem := _missing(formats):
        sys.exit(f"books: {problem}")
    if not (asked.site / "index.html").is_file():
        sys.exit(f"books: {asked.site} holds no site; run 'make build' first")
    asked.out.mkdir(parents=True, exist_ok=True)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        path = browser.find()
        chromium = play.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = chromium.new_context(offline=True).new_page()
        for name in asked.only or known:
            for language in asked.language or LANGUAGES:
                for file in make(name, known[name], language, asked.site, asked.out, formats, page):
                    print(f"{file.name}: {file.stat().st_size / 1e6:.1f} MB", flush=True)
        chromium.close()


if __name__ == "__main__":
    main()
