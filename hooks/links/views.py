"""Where the site and GitHub part: languages in names, raw HTML, blanks, letter case.

Sources: mkdocs_static_i18n/suffix.py and config.py 1.3.1 (files `x.LOCALE.y` are those of a
language), mkdocs/structure/pages.py 1.6.1 (only addresses in Markdown are rewritten).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hooks.links.report_words import BREAKS_ON_GITHUB, BREAKS_ON_SITE, LANGUAGE_NAMES
from hooks.links.targets import Target
from hooks.links.uses import Use
from hooks.notes import DEFAULT_LANGUAGE, LANGUAGES, Catalogue, Note

_LOCALE = re.compile(r"[a-z]{2}(?:-[A-Za-z]{4})?(?:-[A-Z]{2})?|[a-z]{2}_[A-Z]{2}")


class Fault(NamedTuple):
    """What is wrong with an address in one of the views."""

    message: str
    better: str = ""
    """The path of the file that is meant, or an empty string."""


def locale_of(path: str) -> str:
    """Return what the site takes for the language of a file: `xy` of `figure.xy.svg`."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    locale = stem.rpartition(".")[2] if "." in stem[1:] else ""
    return locale if _LOCALE.fullmatch(locale) else ""


def blanks(use: Use) -> str:
    """Return what to say of a target whose ends are blanks that only the site takes for such."""
    odd = next(char for char in use.target[::-1] + use.target if char.isspace())
    return (
        f"the target '{use.target}' ends or begins with a blank that Markdown does not take for "
        f"one (U+{ord(odd):04X}): {BREAKS_ON_GITHUB}"
    )


def letter_case(use: Use, right: str) -> str:
    """Return what to say of a path that differs from the file's in letter case alone."""
    message = f"'{use.target}' differs from the path '{right}' in letter case"
    return f"{message}: it works on macOS and Windows, and breaks on GitHub and on the site"


def left_out(note: Note, use: Use, path: str) -> Fault | None:
    """Judge a link to an existing file by what the site takes for its language."""
    locale = locale_of(path)
    if locale in ("", note.language) or (path.endswith(".md") and locale in LANGUAGES):
        return None
    return Fault(
        f"'{use.target}': the site takes '.{locale}' for a language, and this page lacks the "
        f"file ({BREAKS_ON_SITE}); write '-{locale}' in its name"
    )


def raw_html(note: Note, use: Use, target: Target, catalogue: Catalogue) -> Fault | None:
    """Judge an address in raw HTML, which MkDocs leaves as it is written."""
    path = target.path
    if use.where != "html" or path is None or use.target[:1] in "#/":
        return None
    if path in catalogue.notes and not use.is_image:
        return Fault(
            f"'{use.target}' in raw HTML stays as it is, and the site has no .md file "
            f"({BREAKS_ON_SITE}); write a Markdown link"
        )
    is_below_en = note.language != DEFAULT_LANGUAGE or catalogue.twin(note, "en") is None
    if not is_below_en or path not in catalogue.other_files:
        return None
    stem, _, ending = path.rpartition(".")
    if f"{stem}.en.{ending}" in catalogue.other_files:
        return None
    whose = "the English page" if note.language == "en" else "the page that English readers get"
    return Fault(
        f"'{use.target}' in raw HTML stays as it is, and {whose} lies below en/, where the file "
        f"is not ({BREAKS_ON_SITE}); write it in Markdown"
    )


def language(note: Note, use: Use, other: Note, catalogue: Catalogue) -> Fault | None:
    """Judge a link by the language of the note that it leads to.

    The files of both languages make pages of one name, so only links within one lead anywhere.
    """
    if other.language == note.language:
        return None
    is_twin = other.id == note.id
    right = catalogue.twin(other, note.language)
    theirs = LANGUAGE_NAMES[other.language]
    if note.language == DEFAULT_LANGUAGE:
        message = f"'{use.target}' names the {theirs} file: no such page on the site, which makes "
        message += f"'{page_name(other)}' of it, and GitHub shows {theirs}"
    elif right is None:
        return None  # the site shows the note in the language that there is
    else:
        here = "leads to this very page" if is_twin else f"shows the {LANGUAGE_NAMES['en']} one"
        message = f"'{use.target}' leads to the {theirs} note on GitHub; the site {here}"
    if is_twin:
        return Fault(f"{message}; readers have the language switch: delete the link")
    return Fault(message, right.path if right is not None else "")


def page_name(note: Note) -> str:
    """Return the address of a note's page below the site's root."""
    return f"{'' if note.language == DEFAULT_LANGUAGE else f'{note.language}/'}{note.id}.html"
