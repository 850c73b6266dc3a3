"""Draw the diagrams of the notes that have no drawing yet, and delete drawings of none.

    python -m tools.diagrams [--all]

Needs Chromium (`python tools/browser.py`). Nothing is fetched.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from playwright.sync_api import Browser, Error, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from hooks.drawings.diagrams import LIBRARY, SCRIPT, Drawings  # noqa: E402
from hooks.handbook import diagrams_of  # noqa: E402
from hooks.notes import catalogue  # noqa: E402
from tools import browser  # noqa: E402


@contextlib.contextmanager
def pen(chromium: Browser, docs: Path) -> Iterator[Callable[[str], str]]:
    """Yield what draws: the text of a diagram in, SVG out; playwright's Error where it cannot."""
    context = chromium.new_context(offline=True, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.set_content("<!doctype html><body></body>")
    page.add_script_tag(path=str(docs / LIBRARY))
    page.add_script_tag(path=str(SCRIPT))
    yield lambda source: str(page.evaluate("source => drawDiagram(source)", source.strip()))
    context.close()


def main() -> None:
    """Draw what is asked for, and say what was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="draw every diagram anew")
    asked = parser.parse_args()
    docs = ROOT / "docs"
    drawings = Drawings(docs)
    notes, _ = catalogue.load(docs, ROOT)
    written = diagrams_of(notes)
    missing = [one for one in written if asked.all or not drawings.path(one.text).is_file()]
    failed = 0
    if missing:
        drawings.folder.mkdir(parents=True, exist_ok=True)
        with sync_playwright() as play:
            found = browser.find()
            chromium = play.chromium.launch(executable_path=found, args=["--no-sandbox"])
            with pen(chromium, docs) as draw:
                for one in missing:
                    try:
                        drawing = draw(one.text)
                    except Error as error:
                        failed += 1
                        print(f"{one.file}:{one.line}: {error.message.splitlines()[0]}")
                        continue
                    drawings.path(one.text).write_text(drawing, encoding="utf-8")
            chromium.close()
    unused = drawings.unused(one.text for one in written)
    for path in unused:
        path.unlink()
    print(f"diagrams: {len(missing) - failed} drawn, {len(unused)} deleted, {len(written)} in all.")
    if failed:
        sys.exit(f"diagrams: {failed} could not be drawn; their pages keep the source.")


if __name__ == "__main__":
    main()
