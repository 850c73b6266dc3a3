"""Put SVG figures into pages in the page's language.

A figure is one drawing for both languages: translated texts stand in `<switch>`, colours are
`var(--fig-…, fallback)`, so that the inlined drawing follows the page's language and palette
while the file alone (on GitHub, in an editor) still shows.

A figure with steps has groups with `data-step="N"` (the steps up to the current one are seen) or
`data-frame="N"` (one is seen at a time, and the file shows the first). Each step has its sentence
in `data-caption-zh` and `data-caption-en`; they become a list below the drawing, and stepper.js
lets readers go through both together.
"""

from __future__ import annotations

import html as html_lib
import os
import re
from pathlib import Path
from urllib.parse import unquote

from hooks.drawings import svg
from hooks.drawings.svg import Element
from hooks.notes import LANGUAGES

URL = re.compile(r"url\(\s*(?P<quote>['\"]?)(?P<target>[^'\")]*)(?P=quote)\s*\)")
"""A reference to another element, as in `fill`, `marker-end`, `clip-path`."""
_WORDS = {"zh": "逐步说明（{} 步）", "en": "Step by step ({} steps)"}
_DROPPED_AT_ROOT = frozenset(["width", "height", "class", "id", "role", "style", "version"])

CAPTION = r"(?:\s*<p>(?P<caption>(?:图|Figure)\s*\d+\s*[：:].*?)</p>)?"
"""Of the paragraph that may follow a drawing: `图 N：…` or `Figure N: …`."""
_FIGURE = re.compile(rf"<p>\s*(?P<img><img\b[^>]*>)\s*</p>{CAPTION}", re.DOTALL)
_ATTRIBUTE = re.compile(r"([a-zA-Z-]+)\s*=\s*\"([^\"]*)\"")


def inline_figures(html: str, *, page_dir: Path, docs_dir: Path, language: str) -> str:
    """Replace pictures of `figures/*.svg` that stand alone in a paragraph by the drawing itself.

    A paragraph `图 N：…` or `Figure N: …` that follows becomes the caption. A picture whose
    file is missing or cannot be read stays as it is: `figure_check` and the link check say why.
    `src` starts from the folder of the page in the site, such as `en/link/topo`; figures keep
    their places, so the site is taken to lie in `docs_dir`, outside which nothing is read.
    """
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        attributes = {
            name: html_lib.unescape(value) for name, value in _ATTRIBUTE.findall(match["img"])
        }
        path = _figure_path(attributes.get("src", ""), page_dir, docs_dir)
        if path is None:
            return match[0]
        try:
            root = svg.parse(path.read_bytes())
        except (OSError, svg.SvgError):
            return match[0]
        count += 1
        steps = _step_list(root, language)
        drawing = inline_drawing(root, attributes.get("alt", ""), language, f"fig{count}-")
        return framed("figure figure--stepped" if steps else "figure", drawing, match, steps)

    return _FIGURE.sub(replace, html)


def framed(kind: str, drawing: str, match: re.Match[str], steps: str = "") -> str:
    """Return a drawing with what stands below it: its steps, and the caption that was found."""
    caption = f"<figcaption>{match['caption']}</figcaption>" if match["caption"] else ""
    scroller = f'<div class="figure__scroll">{drawing}</div>'
    return f'<figure class="{kind}">{scroller}{steps}{caption}</figure>'


def _figure_path(src: str, page_dir: Path, docs_dir: Path) -> Path | None:
    """Return the file of a local `…/figures/NAME.svg` below `docs_dir`, else None."""
    if ":" in src or src.startswith(("/", "#")) or not src.endswith(".svg"):
        return None
    # By name only: the folder `en/` of a page's address does not exist below docs_dir.
    path = Path(os.path.normpath(docs_dir / page_dir / unquote(src)))
    if path.parent.name != "figures" or not path.is_relative_to(os.path.normpath(docs_dir)):
        return None
    return path


def inline_drawing(root: Element, alt: str, language: str, prefix: str) -> str:
    """Return a drawing as HTML: named, in one language, its ids begun with `prefix`."""
    # The alt text names the drawing; a <title> would only pop up over it as a tooltip.
    kept = [c for c in root.children if isinstance(c, str) or c.name not in ("title", "desc")]
    root.children = kept
    _resolve_switches(root, language)
    ids = {element.attributes["id"] for element in root.walk() if "id" in element.attributes}
    for element in root.walk():
        element.attributes = {
            _html_name(key): _renamed(key, value, ids, prefix)
            for key, value in element.attributes.items()
            if not key.startswith("xmlns")
        }
    box = view_box(root)
    width = f"{box[2]:g}px" if box else "100%"
    root.attributes = {
        "class": "figure__svg",
        "role": "img",
        "aria-label": alt,
        **{k: v for k, v in root.attributes.items() if k not in _DROPPED_AT_ROOT},
        "style": f"--fig-width:{width};max-width:{width}",
        # Labels without their places are noise in search results; alt and caption are found.
        "data-search-exclude": "",
    }
    # No blank lines: whatever reads the page as Markdown again must see one HTML block.
    return re.sub(r"\s*\n\s*", "\n", svg.serialise(root))


def _step_list(root: Element, language: str) -> str:
    """Return the sentences of the steps as a folded list, and take them out of the drawing."""
    captions: dict[int, str] = {}
    for element in root.walk():
        number = element.attributes.get("data-step") or element.attributes.get("data-frame")
        said = {one: element.attributes.pop(f"data-caption-{one}", "") for one in LANGUAGES}
        if number and number.isdecimal() and said[language]:
            captions[int(number)] = said[language]
    if not captions:
        return ""
    items = "".join(
        f"<li>{html_lib.escape(captions[n], quote=False)}</li>" for n in sorted(captions)
    )
    # Like the labels: the note's own sentences are what search should find.
    summary = f"<summary>{_WORDS[language].format(len(captions))}</summary>"
    return f"<details data-search-exclude>{summary}<ol>{items}</ol></details>"


def _html_name(name: str) -> str:
    return "href" if name == "xlink:href" else name


def _renamed(name: str, value: str, ids: set[str], prefix: str) -> str:
    """Return an attribute's value with the drawing's own ids made unique on the page."""
    if name == "id":
        return prefix + value
    if _html_name(name) == "href" and value[1:] in ids:
        return f"#{prefix}{value[1:]}"

    def reference(match: re.Match[str]) -> str:
        target = match["target"]
        return f"url(#{prefix}{target[1:]})" if target[1:] in ids else match[0]

    return URL.sub(reference, value)


def _resolve_switches(element: Element, language: str) -> None:
    """Replace each `<switch>` by the child that the language selects."""
    resolved: list[Element | str] = []
    for child in element.children:
        spoken: Element | str | None = child
        if isinstance(child, Element) and child.name == "switch":
            spoken = next((one for one in child.elements if _speaks(one, language)), None)
        if isinstance(spoken, Element):
            spoken.attributes.pop("systemLanguage", None)
            _resolve_switches(spoken, language)
        if spoken is not None:
            resolved.append(spoken)
    element.children = resolved


def languages(element: Element) -> list[str]:
    """Return the languages that a child of `<switch>` speaks."""
    return [tag.strip().lower() for tag in element.attributes["systemLanguage"].split(",")]


def _speaks(element: Element, language: str) -> bool:
    if "systemLanguage" not in element.attributes:
        return True
    return any(tag.split("-")[0] == language for tag in languages(element))


def view_box(root: Element) -> tuple[float, float, float, float] | None:
    """Return left, top, width and height of a drawing; None where it does not say them."""
    parts = root.attributes.get("viewBox", "").replace(",", " ").split()
    try:
        x, y, width, height = (float(part) for part in parts)
    except ValueError:
        return None
    return (x, y, width, height) if width > 0 and height > 0 else None
