"""Put SVG figures into pages in the page's language, and refuse figures that would misbehave.

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
from typing import TYPE_CHECKING
from urllib.parse import unquote

from hooks.drawings import svg
from hooks.findings import Finding, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hooks.drawings.svg import Element

PALETTE = (
    *("paper", "ink", "muted", "line"),
    *("gpu", "switch", "cpu", "nic", "memory", "storage"),
    *("nvlink", "pcie", "net"),
)
"""The names behind `--fig-`; the style sheet gives each a light and a dark value."""
MIN_TEXT = 12.0
"""Smallest text, in units of the viewBox."""

_ELEMENTS = frozenset(
    [
        *("svg", "g", "defs", "marker", "symbol", "use", "switch", "title", "desc"),
        *("text", "tspan", "rect", "line", "path", "circle", "ellipse", "polygon", "polyline"),
        *("linearGradient", "radialGradient", "stop", "clipPath", "pattern"),
    ]
)
_FILLED = frozenset(["text", "rect", "path", "circle", "ellipse", "polygon", "polyline"])
_COLOURS = frozenset(["fill", "stroke", "stop-color", "color"])
_PLAIN_COLOURS = frozenset(["none", "currentColor", "inherit", "context-fill", "context-stroke"])
_COLOUR = re.compile(r"var\(--fig-(?P<name>[a-z0-9-]+)\s*,\s*#[0-9a-fA-F]{3,8}\s*\)\Z")
_URL = re.compile(r"url\(\s*(?P<quote>['\"]?)(?P<target>[^'\")]*)(?P=quote)\s*\)")
_SIZE = re.compile(r"(?P<size>\d+(?:\.\d+)?|\.\d+)(?:px)?\Z")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_STEPS = ("data-step", "data-frame")
_LANGUAGES = ("zh", "en")
_WORDS = {"zh": "逐步说明（{} 步）", "en": "Step by step ({} steps)"}
_DROPPED_AT_ROOT = frozenset(["width", "height", "class", "id", "role", "style", "version"])

_FIGURE = re.compile(
    r"<p>\s*(?P<img><img\b[^>]*>)\s*</p>"
    r"(?:\s*<p>(?P<caption>(?:图|Figure)\s*\d+\s*[：:].*?)</p>)?",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"(?P<name>[a-zA-Z-]+)\s*=\s*\"(?P<value>[^\"]*)\"")


def inline_figures(html: str, *, page_dir: Path, docs_dir: Path, language: str) -> str:
    """Replace pictures of `figures/*.svg` that stand alone in a paragraph by the drawing itself.

    A paragraph `图 N：…` or `Figure N: …` that follows becomes the caption. A picture whose
    file is missing or cannot be read stays as it is: `check_svg` and the link check say why.

    Arguments:
        html: The content of one page, as Markdown rendered it.
        page_dir: The folder of the page in the site, which `src` attributes are relative to
            once MkDocs has rewritten them, such as `en/link/topo`; the site is taken to lie in
            `docs_dir`, since figures keep their places.
        docs_dir: The folder of the notes; nothing outside it is read.
        language: `zh` or `en`; chooses among the children of each `<switch>`.
    """
    count = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal count
        attributes = {m["name"]: html_lib.unescape(m["value"]) for m in _attributes(match["img"])}
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
        caption = f"<figcaption>{match['caption']}</figcaption>" if match["caption"] else ""
        scroller = f'<div class="figure__scroll">{drawing}</div>'
        name = "figure figure--stepped" if steps else "figure"
        return f'<figure class="{name}">{scroller}{steps}{caption}</figure>'

    return _FIGURE.sub(replace, html)


def _attributes(tag: str) -> Iterator[re.Match[str]]:
    return _ATTRIBUTE.finditer(tag)


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
    box = _view_box(root)
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
        said = {one: element.attributes.pop(f"data-caption-{one}", "") for one in _LANGUAGES}
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

    return _URL.sub(reference, value)


def _resolve_switches(element: Element, language: str) -> None:
    """Replace each `<switch>` by the child that the language selects."""
    resolved: list[Element | str] = []
    for child in element.children:
        chosen = child
        if not isinstance(child, str) and child.name == "switch":
            candidates = [c for c in child.elements if _speaks(c, language)]
            if not candidates:
                continue
            candidates[0].attributes.pop("systemLanguage", None)
            chosen = candidates[0]
        if not isinstance(chosen, str):
            _resolve_switches(chosen, language)
        resolved.append(chosen)
    element.children = resolved


def _languages(element: Element) -> list[str]:
    return [tag.strip().lower() for tag in element.attributes["systemLanguage"].split(",")]


def _speaks(element: Element, language: str) -> bool:
    if "systemLanguage" not in element.attributes:
        return True
    return any(tag.split("-")[0] == language for tag in _languages(element))


def _view_box(root: Element) -> tuple[float, float, float, float] | None:
    parts = root.attributes.get("viewBox", "").replace(",", " ").split()
    try:
        x, y, width, height = (float(part) for part in parts)
    except ValueError:
        return None
    return (x, y, width, height) if width > 0 and height > 0 else None


def check_svg(path: Path, rel: str) -> list[Finding]:
    """Return everything in a figure that is unsafe, unreadable or fixed to one palette.

    Arguments:
        path: The file.
        rel: Its path from the repository root, for the findings.
    """
    try:
        root = svg.parse(path.read_bytes())
    except OSError as error:
        return [Finding(rel, 0, 0, "figure-xml", f"cannot be read: {error.strerror}")]
    except svg.SvgError as error:
        return [Finding(rel, error.line, error.column, "figure-xml", f"the figure {error}")]
    elements = list(root.walk())
    findings = [*_structure(root, rel), *_references(elements, rel), *_steps(elements, rel)]
    for element in elements:
        findings += _safety(element, rel)
        findings += _colours(element, rel)
        findings += _switch(element, rel)
    findings += _inherited(root, rel, fill="", size=16.0, spoken=False)
    return findings


def _at(
    element: Element, rel: str, rule: str, message: str, target: str = "", suggestion: str = ""
) -> Finding:
    return Finding(
        rel, element.line, element.column, rule, message, target=target, suggestion=suggestion
    )


def _structure(root: Element, rel: str) -> Iterator[Finding]:
    if _view_box(root) is None:
        box = root.attributes.get("viewBox", "")
        message = 'the root needs viewBox="0 0 WIDTH HEIGHT", or the figure cannot scale'
        yield _at(root, rel, "figure-structure", message, box)
    for name in ("title", "desc"):
        if not any(child.name == name and child.text.strip() for child in root.elements):
            message = f"the root needs a <{name}> with text, for readers who cannot see the file"
            yield _at(root, rel, "figure-structure", message)


def _references(elements: list[Element], rel: str) -> Iterator[Finding]:
    ids = {e.attributes["id"] for e in elements if "id" in e.attributes}
    for element in elements:
        for name, value in element.attributes.items():
            targets = [match["target"] for match in _URL.finditer(value)] if "(" in value else []
            if name in ("href", "xlink:href", "src"):
                targets.append(value)
            for target in targets:
                if not target.startswith("#"):
                    message = f"'{name}' leads out of the file: {target}"
                    yield _at(element, rel, "figure-unsafe", message, target)
                elif target[1:] not in ids:
                    message = f"'{name}' names the id '{target[1:]}', which the file lacks"
                    hint = nearest(target[1:], ids)
                    yield _at(element, rel, "figure-structure", message, target, hint)


def _steps(elements: list[Element], rel: str) -> Iterator[Finding]:
    """Check that steps count from 1, each with its sentence in both languages."""
    kinds = {kind for kind in _STEPS for one in elements if kind in one.attributes}
    said: dict[int, Element] = {}
    numbers: set[int] = set()
    for element in elements:
        kind = next((one for one in _STEPS if one in element.attributes), "")
        captions = [element.attributes.get(f"data-caption-{one}", "").strip() for one in _LANGUAGES]
        if not kind:
            if any(captions):
                message = "a caption belongs to a group with data-step or data-frame"
                yield _at(element, rel, "figure-structure", message)
            continue
        value = element.attributes[kind]
        if element.name != "g" or not value.isdecimal() or value.startswith("0") or len(kinds) > 1:
            message = f"{kind}={value!r}: number groups from 1, by steps or by frames, not by both"
            yield _at(element, rel, "figure-structure", message, value)
            continue
        number = int(value)
        numbers.add(number)
        if any(captions):
            if not all(captions):
                message = f"step {number} needs both data-caption-zh and data-caption-en"
                yield _at(element, rel, "figure-language", message, value)
            if number in said:
                message = f"step {number} has its caption on line {said[number].line} already"
                yield _at(element, rel, "figure-structure", message, value)
            said[number] = element
        is_hidden = element.attributes.get("display") == "none"
        if is_hidden != (kind == "data-frame" and number > 1):
            message = 'frames after the first, and nothing else, have display="none" in the file'
            yield _at(element, rel, "figure-structure", message, value)
    for number in range(1, max(numbers, default=0) + 1):
        if number not in said:
            what = "has no caption" if number in numbers else "is missing"
            yield _at(elements[0], rel, "figure-structure", f"step {number} {what}", str(number))


def _safety(element: Element, rel: str) -> Iterator[Finding]:
    if element.name not in _ELEMENTS:
        reason = {
            "script": "scripts do not belong into figures",
            "style": "use presentation attributes instead of a style sheet",
            "image": "draw it; a bitmap cannot follow language and palette",
            "foreignObject": "use <text>; HTML inside figures is not shown everywhere",
        }.get(element.name, "it is not among the elements that figures use")
        yield _at(element, rel, "figure-unsafe", f"<{element.name}>: {reason}", element.name)
    for name, value in element.attributes.items():
        if name.lower().startswith("on"):
            message = f"event handler '{name}': scripts do not belong into figures"
            yield _at(element, rel, "figure-unsafe", message, f'{name}="{value}"')
        elif name in ("style", "class"):
            message = f"attribute '{name}': use presentation attributes such as fill=…"
            yield _at(element, rel, "figure-unsafe", message, f'{name}="{value}"')


def _colours(element: Element, rel: str) -> Iterator[Finding]:
    for name in sorted(_COLOURS & element.attributes.keys()):
        value = element.attributes[name].strip()
        if value in _PLAIN_COLOURS or _URL.match(value):
            continue
        match = _COLOUR.match(value)
        if match is None:
            message = f"{name}={value!r} is fixed to one palette; write var(--fig-NAME, #hex)"
            yield _at(element, rel, "figure-colour", message, value)
        elif match["name"] not in PALETTE:
            known = ", ".join(PALETTE)
            message = f"no colour '--fig-{match['name']}' in the palette; it has {known}"
            hint = nearest(match["name"], PALETTE)
            yield _at(element, rel, "figure-colour", message, value, hint and f"--fig-{hint}")


def _switch(element: Element, rel: str) -> Iterator[Finding]:
    if element.name != "switch":
        for child in element.elements:
            if "systemLanguage" in child.attributes:
                message = "systemLanguage works only directly inside <switch>"
                yield _at(child, rel, "figure-language", message)
        return
    children = element.elements
    if not any("systemLanguage" in c.attributes and "zh" in _languages(c) for c in children):
        message = '<switch> lacks a child with systemLanguage="zh"'
        yield _at(element, rel, "figure-language", message)
    fallbacks = [n for n, c in enumerate(children) if "systemLanguage" not in c.attributes]
    if fallbacks != [len(children) - 1]:
        message = "<switch> must end with its only child without systemLanguage, the English one"
        yield _at(element, rel, "figure-language", message)


def _inherited(
    element: Element, rel: str, *, fill: str, size: float, spoken: bool
) -> Iterator[Finding]:
    """Check what depends on ancestors: fill, text size, language."""
    fill = element.attributes.get("fill", fill)
    spoken = spoken or "systemLanguage" in element.attributes
    given = element.attributes.get("font-size")
    if given is not None:
        match = _SIZE.match(given.strip())
        if match is None:
            message = f"font-size {given!r}: write a number of viewBox units"
            yield _at(element, rel, "figure-text-size", message, given)
        size = float(match["size"]) if match else size
    if element.name == "clipPath":
        return
    if element.name in _FILLED and not fill:
        message = f"<{element.name}> has no fill, so it is black on a dark page too"
        hint = 'fill="none"' if element.name != "text" else 'fill="var(--fig-ink, #1f2328)"'
        yield _at(element, rel, "figure-colour", message, suggestion=hint)
    if element.name in ("text", "tspan"):
        own = "".join(child for child in element.children if isinstance(child, str)).strip()
        if own and size < MIN_TEXT:
            message = f"text of {size:g} units is too small to read; use {MIN_TEXT:g} or more"
            yield _at(element, rel, "figure-text-size", message, own)
        if _HAN.search(own) and not spoken:
            message = "Chinese text outside <switch> would show on English pages"
            yield _at(element, rel, "figure-language", message, own)
    for child in element.elements:
        yield from _inherited(child, rel, fill=fill, size=size, spoken=spoken)
