"""Where a link leads: the file, the heading, the language, and in which view it breaks.

The site and GitHub part in languages of names, raw HTML, blanks and letter case. Sources:
mkdocs_static_i18n/suffix.py and config.py 1.3.1 (files `x.LOCALE.y` are those of a language),
mkdocs/structure/pages.py 1.6.1 (only addresses in Markdown are rewritten).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hooks.findings import Finding, nearest
from hooks.links.safety import scheme_of
from hooks.links.targets import GITHUB_ONLY, Files, Settings, Target, own_path, relative, resolve
from hooks.links.text import is_only_quoted
from hooks.markdown import Link
from hooks.notes import DEFAULT_LANGUAGE, LANGUAGE_NAMES, LANGUAGES, Catalogue, Note, draft_ids

_ON_GITHUB = "it works on the site and breaks on GitHub"
_ON_SITE = "it works on GitHub and breaks on the site"
_TEMPLATE = re.compile(r"\{\{|\{%|\$\{|<%")
_HOST = re.compile(r"(?:www\.|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|cn|dev|edu|gov)(?:/|\Z))")
_LOCALE = re.compile(r"[^/]\.([a-z]{2}(?:-[A-Za-z]{4})?(?:-[A-Z]{2})?|[a-z]{2}_[A-Z]{2})\.[^/.]*\Z")

_Said = Iterator[tuple[str, str, str]]
"""Rule, message and repair."""


def check_links(
    catalogue: Catalogue,
    settings: Settings,
    generated: Callable[[Note], frozenset[str]] = lambda _: frozenset(),
    only: Note | None = None,
) -> list[Finding]:
    """Check the addresses that every note, or one, names, without building the site.

    A link must work on the site and in GitHub's view of the file. `generated` gives the ids that a
    build adds to the page of a note; it is asked only where the text lacks one.
    """
    judge = _Judge(catalogue, settings, generated, Files(catalogue), draft_ids(catalogue))
    notes = [only] if only is not None else catalogue.notes.values()
    return sorted({finding for note in notes for finding in judge.of_note(note)})


@dataclass(slots=True)
class _Judge:
    """Knows every file and heading, and judges one address at a time."""

    catalogue: Catalogue
    settings: Settings
    generated: Callable[[Note], frozenset[str]]
    files: Files
    drafts: frozenset[str]

    def of_note(self, note: Note) -> Iterator[Finding]:
        """Yield what is wrong with the addresses that a note names."""
        unused = (one for one in note.source.definitions if one.name in note.source.unused)
        links = [*note.source.links, *(Link(one.target, one.line, one.column) for one in unused)]
        for link in links:
            for rule, message, better in self._judge(note, link):
                written = link.target if rule == "view-difference" else link.target.strip()
                place = (note.file, link.line, link.column)
                yield Finding(*place, rule, message, written, better)
        for one in note.meta.prerequisites if note.meta is not None else ():
            if self.catalogue.in_language(one, note.language) is None:
                place = (note.file, note.line_of(f".*{re.escape(one)}"), 1)
                message, known = f"prerequisite '{one}' does not exist", self.catalogue.ids()
                yield Finding(*place, "dead-link", message, one, nearest(one, known))

    def _judge(self, note: Note, link: Link) -> _Said:
        bare = link.target.strip()
        if bare != link.target and not link.where:
            odd = next(char for char in link.target[::-1] + link.target if char.isspace())
            message = f"the target '{link.target}' ends or begins with a blank that Markdown does "
            message += f"not take for one (U+{ord(odd):04X}): {_ON_GITHUB}"
            yield "view-difference", message, bare
        link = link._replace(target=bare)
        if not bare or _TEMPLATE.search(bare):
            return
        if link.has_spaces:
            message = f"the target '{bare}' holds a blank: {_ON_GITHUB}, where it is no link"
            yield "view-difference", message, bare.replace(" ", "%20")
        inside = own_path(bare, self.settings)
        if inside is not None:
            yield from self._own_address(note, link, *inside)
        elif not scheme_of(bare) and not bare.startswith("//"):
            target = resolve(bare, note.path)
            if target.is_absolute:
                yield self._absolute(note, bare, target)
            elif target.escapes:
                yield self._outside(bare, target)
            else:
                yield from self._path(note, link, target)

    def _own_address(self, note: Note, link: Link, path: str, fragment: str) -> _Said:
        docs, root = self.settings.docs, self.settings.root
        if path != docs and not path.startswith(f"{docs}/"):
            if root is not None and not (root / path).exists():
                message = f"'{link.target}' names '{path}', which this repository does not hold"
                yield "dead-link", message, ""
            return
        inside = path.removeprefix(docs).strip("/")
        if inside in self.files:
            # Lines, an editor, the source of a program: GitHub alone has an address for these.
            is_program = inside not in self.catalogue.notes and "/blob/" in link.target
            if is_program or GITHUB_ONLY.match(link.target):
                return
            message = f"'{link.target}' is the full address of a page here; write a relative path"
            yield "own-address", message, _way(note, inside, fragment)
            if inside in self.catalogue.notes:
                yield from self._anchor(note, link, self.catalogue.notes[inside], fragment)
        elif not ("/tree/" in link.target and self.files.is_folder(inside)):
            yield from self._path(note, link, Target(inside, fragment))

    def _absolute(self, note: Note, written: str, target: Target) -> tuple[str, str, str]:
        path = target.path or ""
        known = (path, path.removeprefix(f"{self.settings.docs}/"), self._page_behind(path))
        found = next((one for one in known if one in self.files), "")
        why = "begins with a slash, which GitHub and the site read apart; write a relative path"
        return "absolute-link", f"'{written}' {why}", _way(note, found, target.fragment)

    def _outside(self, written: str, target: Target) -> tuple[str, str, str]:
        root = self.settings.root
        path = posixpath.normpath(posixpath.join(self.settings.docs, target.path or ""))
        if root is not None and (path.startswith("../") or not (root / path).exists()):
            return "dead-link", f"'{written}' leaves the docs folder, and nothing is there", ""
        return "link-outside", f"'{written}' leaves docs/, so the site lacks it: {_ON_SITE}", ""

    def _path(self, note: Note, link: Link, target: Target) -> _Said:
        path, notes, written = target.path or "", self.catalogue.notes, link.target
        page = notes.get(f"{path.removesuffix('.html')}.md") if link.where == "diagram" else None
        if locale := self._other_locale(note, path):
            message = f"'{written}': the site takes '.{locale}' for a language, and this page "
            message += f"lacks the file ({_ON_SITE}); write '-{locale}' in its name"
            yield "view-difference", message, ""
        elif problem := self._raw_html(note, link, path):
            yield "view-difference", problem, ""
        elif path in notes:
            yield from self._note(note, link, notes[path], target.fragment)
        elif path in self.files:
            return
        elif page is not None:  # diagrams are not rewritten: the page's own name is right
            yield from self._anchor(note, link, page, target.fragment)
        elif self.files.is_folder(path):
            better = _way(note, self.files.index_of(path), target.fragment)
            yield "link-folder", f"'{written}' is a folder; link to a note in it", better
        elif behind := self._page_behind(path):
            message = f"'{written}' exists only on the site; link to the .md file"
            if link.where == "html":
                yield "link-html", f"{message}, in Markdown: raw HTML stays as it is written", ""
            else:
                yield "link-html", message, _way(note, behind, target.fragment)
        elif right := self.files.otherwise_written(path):
            message = f"'{written}' differs from '{right}' in the form of its Unicode"
            if right.casefold() == path.rstrip("/").casefold():
                message = f"'{written}' differs from the path '{right}' in letter case: it works "
                message += "on macOS and Windows, and breaks on GitHub and on the site"
            yield "wrong-case", message, _way(note, right, target.fragment)
        else:
            yield self._missing(note, link, path)

    def _other_locale(self, note: Note, path: str) -> str:
        """Return the language, other than the note's, that the site takes a file for: its `xy`."""
        match = _LOCALE.search(path)
        locale = match[1] if match and path in self.files else ""
        is_note = path.endswith(".md") and locale in LANGUAGES
        return "" if is_note or locale == note.language else locale

    def _raw_html(self, note: Note, link: Link, path: str) -> str:
        """Say what is wrong with an address in raw HTML, which MkDocs leaves as it is written."""
        if link.where != "html" or link.target[:1] in "#/":
            return ""
        start = f"'{link.target}' in raw HTML stays as it is, and "
        if path in self.catalogue.notes and not link.is_image:
            return f"{start}the site has no .md file ({_ON_SITE}); write a Markdown link"
        is_below_en = note.language != DEFAULT_LANGUAGE or not self.catalogue.twin(note, "en")
        stem, _, ending = path.rpartition(".")
        others = self.catalogue.other_files
        if not is_below_en or path not in others or f"{stem}.en.{ending}" in others:
            return ""
        whose = "English page" if note.language == "en" else "page that English readers get"
        why = f"lies below en/, where the file is not ({_ON_SITE}); write it in Markdown"
        return f"{start}the {whose} {why}"

    def _page_behind(self, path: str) -> str:
        """Return the note behind an address that only the site has (`x.html`, `x/`, `x`)."""
        bare = path.rstrip("/").removesuffix(".html")
        return next((one for one in (f"{bare}.md", f"{bare}/index.md") if one in self.files), "")

    def _missing(self, note: Note, link: Link, path: str) -> tuple[str, str, str]:
        rule, written = "dead-image" if link.is_image else "dead-link", link.target
        raw = posixpath.normpath(posixpath.join(posixpath.dirname(note.path), written))
        if raw in self.files:
            message = f"'{written}' is cut at '#' or '?', or decoded at '%': encode the path"
            return rule, message, relative(raw, note.path)
        if "\\" in written:
            message = f"'{written}' does not exist; paths are written with '/'"
            return rule, message, written.replace("\\", "/")
        if _HOST.match(written):
            message = f"'{written}' is read as a path; an address needs 'https://'"
            return rule, message, f"https://{written}"
        return rule, f"'{written}' does not exist", self.files.nearest(path, note.path)

    def _note(self, note: Note, link: Link, other: Note, fragment: str) -> _Said:
        if other.path == note.path and link.target[:1] != "#" and link.where in ("", "html"):
            message = f"'{link.target}' leads to the note it stands in; name the heading alone"
            yield "self-link", message, f"#{fragment}" if fragment else ""
        if other.id in self.drafts and note.id not in self.drafts:
            message = f"'{link.target}' is a draft, which the site leaves out; link when it is done"
            yield "draft-link", message, ""
        if other.language != note.language:
            yield from self._other_language(note, link, other, fragment)
        yield from self._anchor(note, link, other, fragment)

    def _other_language(self, note: Note, link: Link, other: Note, fragment: str) -> _Said:
        """Judge a link to a file of the other language, where both make pages of one name."""
        right = self.catalogue.twin(other, note.language)
        theirs, is_twin = LANGUAGE_NAMES[other.language], other.id == note.id
        if note.language == DEFAULT_LANGUAGE:
            page = f"{other.language}/{other.id}.html"
            message = f"'{link.target}' names the {theirs} file: no such page on the site, which "
            message += f"makes '{page}' of it, and GitHub shows {theirs}"
        elif right is None:
            return  # the site shows the note in the language that there is
        else:
            here = "leads to this very page" if is_twin else "shows the English one"
            message = f"'{link.target}' leads to the {theirs} note on GitHub; the site {here}"
        if is_twin:
            message += "; readers have the language switch: delete the link"
        better = _way(note, right.path, fragment) if right and not is_twin else ""
        yield "link-language", message, better

    def _anchor(self, note: Note, link: Link, other: Note, fragment: str) -> _Said:
        # What every page has: the top, words to mark, and ids of Material's own.
        if fragment in ("", "top") or fragment.startswith((":~:", "__")):
            return
        here, there = other.source.ids, other.source.github_ids
        bare = fragment.removeprefix("user-content-")
        works = bare.lower() in {one.lower() for one in there}
        where = "this note" if other.path == note.path else f"'{other.path}'"
        if fragment in here:
            if not works:
                message = f"'{link.target}': only the site gives {where} the id '{fragment}' "
                message += f"({_ON_GITHUB}); put '<a id=\"{fragment}\"></a>' above"
                yield "view-difference", message, ""
            return
        made = self.generated(other)
        if fragment in made:
            return  # GitHub shows no generated list either: there the link opens the page
        known = sorted(here | made)
        folded = {one.lower(): one for one in known}
        hint = folded.get(bare.lower()) or self._twin_id(other, fragment) or nearest(bare, known)
        message = f"'{link.target}': {where} has no heading or anchor '#{fragment}'"
        if works:
            message += f" ({_ON_SITE})"
        elif is_only_quoted(other, fragment):
            message += "; it stands only inside code"
        path = link.target.partition("#")[0]
        yield "dead-anchor", message, f"{path}#{hint}" if hint else ""

    def _twin_id(self, note: Note, fragment: str) -> str:
        twin = self.catalogue.twin(note)
        if twin is None:
            return ""
        pairs = zip(note.source.headings, twin.source.headings, strict=False)
        return next((mine.id for mine, theirs in pairs if theirs.id == fragment), "")


def _way(note: Note, path: str, fragment: str) -> str:
    """Return the target, in a note, that leads to a path and a heading; empty without a path."""
    return relative(path, note.path) + (f"#{fragment}" if fragment else "") if path else ""
