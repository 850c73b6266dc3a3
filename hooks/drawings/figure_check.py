"""Refuse figures that are unsafe, unreadable, fixed to one palette or silent in one language."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hooks.drawings import svg
from hooks.drawings.figures import URL, languages, view_box
from hooks.drawings.svg import Element
from hooks.findings import Finding, nearest
from hooks.notes import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

PALETTE = tuple("paper ink muted line gpu switch cpu nic memory storage nvlink pcie net".split())
"""The names behind `--fig-`; the style sheet gives each a light and a dark value."""
MIN_TEXT = 12.0
"""Smallest text, in units of the viewBox."""

_FILLED = frozenset("text rect path circle ellipse polygon polyline".split())
_ELEMENTS = _FILLED | frozenset(
    "svg g defs marker symbol use switch title desc tspan line"
    " linearGradient radialGradient stop clipPath pattern".split()
)
_COLOURS = ("color", "fill", "stop-color", "stroke")
_PLAIN_COLOURS = frozenset("none currentColor inherit context-fill context-stroke".split())
_COLOUR = re.compile(r"var\(--fig-(?P<name>[a-z0-9-]+)\s*,\s*#[0-9a-fA-F]{3,8}\s*\)\Z")
_SIZE = re.compile(r"(?P<size>\d+(?:\.\d+)?|\.\d+)(?:px)?\Z")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_STEPS = ("data-step", "data-frame")
_REASONS = {
    "script": "scripts do not belong into figures",
    "style": "use presentation attributes instead of a style sheet",
    "image": "draw it; a bitmap cannot follow language and palette",
    "foreignObject": "use <text>; HTML inside figures is not shown everywhere",
}
"""Why an element that others use is not among those of figures."""
Said = tuple[Element, *tuple[str, ...]]
"""An element, and of a finding: rule, message and, where there is one, target and suggestion."""


def check_svg(path: Path, rel: str) -> list[Finding]:
    """Return everything in a figure that is unsafe, unreadable or fixed to one palette.

    Findings name the file `rel`.
    """
    try:
        root = svg.parse(path.read_bytes())
    except OSError as error:
        return [Finding(rel, 0, 0, "figure-xml", f"cannot be read: {error.strerror}")]
    except svg.SvgError as error:
        return [Finding(rel, error.line, error.column, "figure-xml", f"the figure {error}")]
    elements = list(root.walk())
    said = [*_structure(root), *_references(elements), *_steps(elements)]
    for element in elements:
        said += [*_safety(element), *_colours(element), *_switch(element)]
    said += _inherited(root, fill="", size=16.0, spoken=False)
    return [Finding(rel, one.line, one.column, *rest) for one, *rest in said]


def _structure(root: Element) -> Iterator[Said]:
    rule = "figure-structure"
    if view_box(root) is None:
        message = 'the root needs viewBox="0 0 WIDTH HEIGHT", or the figure cannot scale'
        yield root, rule, message, root.attributes.get("viewBox", "")
    for name in ("title", "desc"):
        if not any(child.name == name and child.text.strip() for child in root.elements):
            message = f"the root needs a <{name}> with text, for readers who cannot see the file"
            yield root, rule, message


def _references(elements: list[Element]) -> Iterator[Said]:
    ids = {one.attributes["id"] for one in elements if "id" in one.attributes}
    for element in elements:
        for name, value in element.attributes.items():
            targets = [match["target"] for match in URL.finditer(value)]
            targets += [value] if name in ("href", "xlink:href", "src") else []
            for target in targets:
                if not target.startswith("#"):
                    message = f"'{name}' leads out of the file: {target}"
                    yield element, "figure-unsafe", message, target
                elif target[1:] not in ids:
                    message = f"'{name}' names the id '{target[1:]}', which the file lacks"
                    yield element, "figure-structure", message, target, nearest(target[1:], ids)


def _steps(elements: list[Element]) -> Iterator[Said]:
    """Check that steps count from 1, each with its sentence in both languages."""
    rule = "figure-structure"
    kinds = {kind for kind in _STEPS for one in elements if kind in one.attributes}
    captioned: dict[int, Element] = {}
    numbers: set[int] = set()
    for element in elements:
        kind = next((one for one in _STEPS if one in element.attributes), "")
        captions = [element.attributes.get(f"data-caption-{one}", "").strip() for one in LANGUAGES]
        if not kind:
            if any(captions):
                yield element, rule, "a caption belongs to a group with data-step or data-frame"
            continue
        value = element.attributes[kind]
        if element.name != "g" or not re.fullmatch("[1-9][0-9]*", value) or len(kinds) > 1:
            message = f"{kind}={value!r}: number groups from 1, by steps or by frames, not by both"
            yield element, rule, message, value
            continue
        number = int(value)
        numbers.add(number)
        if any(captions):
            if not all(captions):
                message = f"step {number} needs both data-caption-zh and data-caption-en"
                yield element, "figure-language", message, value
            if number in captioned:
                message = f"step {number} has its caption on line {captioned[number].line} already"
                yield element, rule, message, value
            captioned[number] = element
        is_hidden = element.attributes.get("display") == "none"
        if is_hidden != (kind == "data-frame" and number > 1):
            message = 'frames after the first, and nothing else, have display="none" in the file'
            yield element, rule, message, value
    for number in set(range(1, max(numbers, default=0) + 1)) - captioned.keys():
        what = "has no caption" if number in numbers else "is missing"
        yield elements[0], rule, f"step {number} {what}", str(number)


def _safety(element: Element) -> Iterator[Said]:
    rule = "figure-unsafe"
    if element.name not in _ELEMENTS:
        reason = _REASONS.get(element.name, "it is not among the elements that figures use")
        yield element, rule, f"<{element.name}>: {reason}", element.name
    for name, value in element.attributes.items():
        if name.lower().startswith("on"):
            message = f"event handler '{name}': scripts do not belong into figures"
        elif name in ("style", "class"):
            message = f"attribute '{name}': use presentation attributes such as fill=…"
        else:
            continue
        yield element, rule, message, f'{name}="{value}"'


def _colours(element: Element) -> Iterator[Said]:
    for name in _COLOURS:
        value = element.attributes.get(name, "none").strip()
        if value in _PLAIN_COLOURS or URL.match(value):
            continue
        match = _COLOUR.match(value)
        if match is None:
            message = f"{name}={value!r} is fixed to one palette; write var(--fig-NAME, #hex)"
            yield element, "figure-colour", message, value
        elif match["name"] not in PALETTE:
            message = f"no colour '--fig-{match['name']}' in the palette: {', '.join(PALETTE)}"
            hint = nearest(match["name"], PALETTE)
            yield element, "figure-colour", message, value, hint and f"--fig-{hint}"


def _switch(element: Element) -> Iterator[Said]:
    rule = "figure-language"
    speaking = [one for one in element.elements if "systemLanguage" in one.attributes]
    if element.name != "switch":
        for child in speaking:
            yield child, rule, "systemLanguage works only directly inside <switch>"
        return
    if not any("zh" in languages(child) for child in speaking):
        yield element, rule, '<switch> lacks a child with systemLanguage="zh"'
    if element.elements[:-1] != speaking:
        message = "<switch> must end with its only child without systemLanguage, the English one"
        yield element, rule, message


def _inherited(element: Element, *, fill: str, size: float, spoken: bool) -> Iterator[Said]:
    """Check what depends on ancestors: fill, text size, language."""
    fill = element.attributes.get("fill", fill)
    spoken = spoken or "systemLanguage" in element.attributes
    given = element.attributes.get("font-size")
    if given is not None:
        match = _SIZE.match(given.strip())
        if match is None:
            message = f"font-size {given!r}: write a number of viewBox units"
            yield element, "figure-text-size", message, given
        size = float(match["size"]) if match else size
    if element.name == "clipPath":
        return
    if element.name in _FILLED and not fill:
        message = f"<{element.name}> has no fill, so it is black on a dark page too"
        hint = 'fill="none"' if element.name != "text" else 'fill="var(--fig-ink, #1f2328)"'
        yield element, "figure-colour", message, "", hint
    if element.name in ("text", "tspan"):
        own = "".join(child for child in element.children if isinstance(child, str)).strip()
        if own and size < MIN_TEXT:
            message = f"text of {size:g} units is too small to read; use {MIN_TEXT:g} or more"
            yield element, "figure-text-size", message, own
        if _HAN.search(own) and not spoken:
            message = "Chinese text outside <switch> would show on English pages"
            yield element, "figure-language", message, own
    for child in element.elements:
        yield from _inherited(child, fill=fill, size=size, spoken=spoken)
