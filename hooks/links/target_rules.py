"""Rules about where a link leads: the file, the heading, and in which view it breaks."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from hooks.findings import Finding, nearest
from hooks.links import ids, own_address, views
from hooks.links.files import Files, encoded, relative
from hooks.links.report_words import BREAKS_ON_GITHUB, BREAKS_ON_SITE
from hooks.links.safety import scheme_of
from hooks.links.settings import HANDBOOK, Settings
from hooks.links.targets import Target, resolve
from hooks.links.uses import Use
from hooks.markdown import Source
from hooks.notes import Catalogue, Note, draft_ids

_TEMPLATE = re.compile(r"\{\{|\{%|\$\{|<%")
_HOST = re.compile(r"(?:www\.|[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|io|cn|dev|edu|gov)(?:/|\Z))")


def is_template(use: Use) -> bool:
    """Tell whether a macro writes the address, so that nobody knows it."""
    return _TEMPLATE.search(use.target) is not None


def is_elsewhere(use: Use) -> bool:
    """Tell whether an address has a host or a scheme."""
    return bool(scheme_of(use.target)) or use.target.startswith("//")


def wanted(fragment: str) -> str:
    """Return a fragment if it must be the id of something; a blank for what every page has."""
    return "" if fragment == "top" or fragment.startswith((":~:", "__")) else fragment


@dataclass(slots=True)
class TargetRules:
    """Knows every file and heading of a tree, and judges one address at a time."""

    catalogue: Catalogue
    settings: Settings = HANDBOOK
    expanded: Mapping[str, Source] = field(default_factory=dict)
    """Parses of the notes that include others, with the includes put in, by path."""
    generated: Callable[[Note], frozenset[str]] = lambda _: frozenset()
    """Gives the ids that a build adds to a note's page; asked only where the text lacks one."""
    _site_ids: dict[str, frozenset[str]] = field(default_factory=dict)
    _github_ids: dict[str, frozenset[str]] = field(default_factory=dict)
    files: Files = field(init=False)
    drafts: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Index the files."""
        self.files = Files(self.catalogue)
        self.drafts = draft_ids(self.catalogue)

    def site_ids(self, note: Note) -> frozenset[str]:
        """Return the ids of a note's page."""
        found = self._site_ids.get(note.path)
        if found is None:
            found = ids.on_site(self.expanded.get(note.path, note.source))
            self._site_ids[note.path] = found
        return found

    def github_ids(self, note: Note) -> frozenset[str]:
        """Return the ids of GitHub's view of a note."""
        found = self._github_ids.get(note.path)
        if found is None:
            found = self._github_ids[note.path] = ids.on_github(note)
        return found

    def check(self, note: Note, use: Use) -> Iterator[Finding]:
        """Yield what is wrong with an address that a note names."""
        bare = use.target.strip()
        if bare != use.target and not use.where:
            yield _finding(note, use, "view-difference", views.blanks(use), bare)
            use = use._replace(target=bare)
        yield from self._check_words(note, use)
        if not use.target or is_template(use):
            return
        if use.has_spaces:
            message = f"the target '{use.target}' holds a blank: "
            message += f"{BREAKS_ON_GITHUB}, where it is no link"
            better = use.target.replace(" ", "%20")
            yield _finding(note, use, "view-difference", message, better)
        inside = own_address.path_of(use.target, self.settings)
        if inside is not None:
            yield from self._check_own_address(note, use, *inside)
            return
        if is_elsewhere(use):
            return
        target = resolve(use.target, note.path)
        fault = views.raw_html(note, use, target, self.catalogue)
        if fault is not None:
            yield _finding(note, use, "view-difference", fault.message)
            return
        if use.where == "field" and not self._exists(target):
            # Fields name paths from the docs folder as often as from the note.
            rooted = resolve(use.target.lstrip("/"), "")
            if self._exists(rooted):
                return
            if target.is_absolute:
                target = rooted
        if target.is_absolute:
            yield from self._check_absolute(note, use, target)
        elif target.escapes:
            yield from self._check_outside(note, use, target)
        else:
            yield from self._check_path(note, use, target)

    def _exists(self, target: Target) -> bool:
        return target.path is not None and target.path in self.files

    def _check_words(self, note: Note, use: Use) -> Iterator[Finding]:
        if use.where == "" and use.is_image and not use.text.strip():
            message = f"image '{use.target}' has no alternative text"
            yield _finding(note, use, "image-alt", message)
        elif use.where == "" and not use.text.strip():
            yield _finding(note, use, "empty-link", f"the link to '{use.target}' has no text")
        if not use.target and use.where in ("", "html"):
            what = "image" if use.is_image else "link"
            words = f"<{use.text}>" if use.where == "html" else use.text
            yield _finding(note, use, "empty-link", f"the {what} '{words}' leads nowhere")

    def _check_own_address(
        self, note: Note, use: Use, path: str, fragment: str
    ) -> Iterator[Finding]:
        prefix = self.settings.docs_prefix
        below = "" if prefix in ("", ".") else f"{prefix}/"
        if not path.startswith(below) and path != prefix:
            if self.settings.root is not None and not (self.settings.root / path).exists():
                message = f"'{use.target}' names '{path}', which this repository does not hold"
                yield _finding(note, use, "dead-link", message)
            return
        inside = path.removeprefix(below).rstrip("/")
        if path.rstrip("/") == prefix:
            inside = ""
        target = Target(inside, fragment)
        is_github_only = own_address.is_github_only(use.target)
        if inside in self.files:
            # Lines, an editor, the source of a program: GitHub alone has an address for these.
            if is_github_only or (inside not in self.catalogue.notes and "/blob/" in use.target):
                return
            way = encoded(relative(inside, note.path))
            better = f"{way}#{fragment}" if fragment else way
            message = f"'{use.target}' is the full address of a page here; write a relative path"
            yield _finding(note, use, "own-address", message, better)
            if inside in self.catalogue.notes:
                yield from self._check_anchor(note, use, self.catalogue.notes[inside], fragment)
        elif not ("/tree/" in use.target and self.files.is_folder(inside)):
            yield from self._check_path(note, use, target)

    def _check_absolute(self, note: Note, use: Use, target: Target) -> Iterator[Finding]:
        path = target.path or ""
        prefix = f"{self.settings.docs_prefix}/"
        better = ""
        for candidate in (path, path.removeprefix(prefix), self._page_behind(path)):
            if candidate in self.files:
                hash_sign = "#" if target.fragment else ""
                better = f"{encoded(relative(candidate, note.path))}{hash_sign}{target.fragment}"
                break
        message = (
            f"'{use.target}' begins with a slash, which GitHub and the site read apart; "
            "write a relative path"
        )
        yield _finding(note, use, "absolute-link", message, better)

    def _check_outside(self, note: Note, use: Use, target: Target) -> Iterator[Finding]:
        root, prefix = self.settings.root, self.settings.docs_prefix
        if root is not None:
            path = posixpath.normpath(posixpath.join(prefix, target.path or ""))
            if path.startswith("../") or not (root / path).exists():
                message = f"'{use.target}' leaves the docs folder, and nothing is there"
                yield _finding(note, use, "dead-link", message)
                return
        message = f"'{use.target}' leaves docs/, so the site lacks it: {BREAKS_ON_SITE}"
        yield _finding(note, use, "link-outside", message)

    def _check_path(self, note: Note, use: Use, target: Target) -> Iterator[Finding]:
        path = target.path or ""
        notes = self.catalogue.notes
        fault = views.left_out(note, use, path) if path in self.files else None
        if fault is not None:
            yield _finding(note, use, "view-difference", fault.message)
        elif path in notes:
            yield from self._check_note(note, use, notes[path], target)
        elif path in self.files.others or self._is_diagram_page(use, path):
            page = notes.get(f"{path.removesuffix('.html')}.md")
            if page is not None and path not in self.files.others:
                yield from self._check_anchor(note, use, page, target.fragment)
        elif self.files.is_folder(path):
            yield from self._check_folder(note, use, target)
        elif page_path := self._page_behind(path):
            message = f"'{use.target}' exists only on the site; link to the .md file"
            if use.where == "html":
                message += ", in Markdown: raw HTML stays as it is written"
            better = "" if use.where == "html" else _with_path(note, target, page_path)
            yield _finding(note, use, "link-html", message, better)
        elif right := self.files.otherwise_written(path):
            better = _with_path(note, target, right)
            message = views.letter_case(use, right)
            if right.casefold() != path.rstrip("/").casefold():
                message = f"'{use.target}' differs from '{right}' in the form of its Unicode"
            yield _finding(note, use, "wrong-case", message, better)
        else:
            yield self._missing(note, use, path)

    def _is_diagram_page(self, use: Use, path: str) -> bool:
        """Diagrams are not rewritten by the site, so in them the page's own name is right."""
        return use.where == "diagram" and f"{path.removesuffix('.html')}.md" in self.catalogue.notes

    def _page_behind(self, path: str) -> str:
        """Return the note behind an address that only the site has (`x.html`, `x/`, `x`)."""
        bare = path.rstrip("/").removesuffix(".html")
        return next((one for one in (f"{bare}.md", f"{bare}/index.md") if one in self.files), "")

    def _missing(self, note: Note, use: Use, path: str) -> Finding:
        rule = "dead-image" if use.is_image else "dead-link"
        raw = posixpath.normpath(posixpath.join(posixpath.dirname(note.path), use.target))
        if raw in self.files:
            message = f"'{use.target}' is cut at '#' or '?', or decoded at '%': encode the path"
            return _finding(note, use, rule, message, encoded(relative(raw, note.path)))
        if "\\" in use.target:
            message = f"'{use.target}' does not exist; paths are written with '/'"
            return _finding(note, use, rule, message, use.target.replace("\\", "/"))
        if _HOST.match(use.target):
            message = f"'{use.target}' is read as a path; an address needs 'https://'"
            return _finding(note, use, rule, message, f"https://{use.target}")
        message = f"'{use.target}' does not exist"
        return _finding(note, use, rule, message, self.files.nearest(path, note.path))

    def _check_folder(self, note: Note, use: Use, target: Target) -> Iterator[Finding]:
        index = self.files.index_of(target.path or "")
        better = _with_path(note, target, index) if index else ""
        message = f"'{use.target}' is a folder; link to a note in it"
        yield _finding(note, use, "link-folder", message, better)

    def _check_note(self, note: Note, use: Use, other: Note, target: Target) -> Iterator[Finding]:
        names_itself = other is note or other.path == note.path
        if names_itself and not use.target.startswith("#") and use.where in ("", "html"):
            message = f"'{use.target}' leads to the note it stands in; name the heading alone"
            better = f"#{target.fragment}" if target.fragment else ""
            yield _finding(note, use, "self-link", message, better)
        if other.id in self.drafts and note.id not in self.drafts:
            message = f"'{use.target}' is a draft, which the site leaves out; link when it is done"
            yield _finding(note, use, "draft-link", message)
        yield from self._check_language(note, use, other, target)
        yield from self._check_anchor(note, use, other, target.fragment)

    def _check_language(
        self, note: Note, use: Use, other: Note, target: Target
    ) -> Iterator[Finding]:
        fault = views.language(note, use, other, self.catalogue)
        if fault is not None:
            better = _with_path(note, target, fault.better) if fault.better else ""
            yield _finding(note, use, "link-language", fault.message, better)

    def _check_anchor(self, note: Note, use: Use, other: Note, fragment: str) -> Iterator[Finding]:
        if not wanted(fragment):
            return
        here = self.site_ids(other)
        bare = fragment.removeprefix("user-content-")
        there = self.github_ids(other)
        works = bare in there or bare.lower() in {one.lower() for one in there}
        where = "this note" if other.path == note.path else f"'{other.path}'"
        if fragment in here:
            if not works:
                message = (
                    f"'{use.target}': only the site gives {where} the id '{fragment}' "
                    f"({BREAKS_ON_GITHUB}); put '<a id=\"{fragment}\"></a>' above"
                )
                yield _finding(note, use, "view-difference", message)
            return
        made = self.generated(other)
        if fragment in made:
            return  # GitHub shows no marker's list either: there the link opens the page
        here |= made
        known = sorted(here)
        folded = {one.lower(): one for one in known}
        hint = folded.get(bare.lower(), "") or self._twin_id(other, fragment)
        hint = hint or nearest(bare, known)
        message = f"'{use.target}': {where} has no heading or anchor '#{fragment}'"
        if works:
            message += f" ({BREAKS_ON_SITE})"
        elif ids.is_only_quoted(other, fragment):
            message += "; it stands only inside code"
        path = use.target.partition("#")[0]
        yield _finding(note, use, "dead-anchor", message, f"{path}#{hint}" if hint else "")

    def _twin_id(self, note: Note, fragment: str) -> str:
        twin = self.catalogue.twin(note, "en" if note.language == "zh" else "zh")
        if twin is not None:
            pairs = zip(note.source.headings, twin.source.headings, strict=False)
            return next((mine.id for mine, theirs in pairs if theirs.id == fragment), "")
        return ""


def _with_path(note: Note, target: Target, path: str) -> str:
    """Return the target that leads to another path and the same heading."""
    fragment = f"#{target.fragment}" if target.fragment else ""
    return f"{encoded(relative(path, note.path))}{fragment}"


def _finding(note: Note, use: Use, rule: str, message: str, suggestion: str = "") -> Finding:
    return Finding(note.file, use.line, use.column, rule, message, use.target, suggestion)


def moved(finding: Finding, file: str, line: int, by: str) -> Finding:
    """Return a finding at the line of an included file, naming the note that includes it."""
    message = f"{finding.message} (as included by {by})"
    return replace(finding, file=file, line=line, message=message)
