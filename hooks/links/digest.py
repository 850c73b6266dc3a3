"""What the checks must know of a note, found from its text alone.

A tree is judged from these records: findings about the text by itself, and what its links need of
other files. Where every need is met a note has nothing more to say; where one is not, its links
are looked at one by one (`hooks.links.target_rules`), as are the few odd ones in any case. So the
records may be kept from run to run, while what depends on other files is judged anew each time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from hooks.findings import Finding
from hooks.links import ids, note_rules, own_address, target_rules, uses, views
from hooks.links import safety as content_safety
from hooks.links.settings import Settings
from hooks.links.targets import Target, resolve
from hooks.links.uses import Use
from hooks.markdown import split
from hooks.notes import Catalogue, Memory, Note, cache, language_of, pack_finding


@dataclass(frozen=True, slots=True)
class Digest:
    """A note as the checks see it."""

    text: tuple[Finding, ...]
    """Findings about the Markdown by itself, as long as nothing is included into it."""
    title: tuple[Finding, ...]
    """Findings about the title."""
    safety: tuple[Finding, ...]
    """Findings about what a note may do to its reader."""
    needs: Mapping[str, Collection[str]]
    """What must be there: paths below the docs folder, and ids of each that is a note."""
    odd: tuple[Use, ...]
    """Addresses that are judged one by one."""
    fields: tuple[Use, ...]
    """Addresses that the front matter names; judged one by one too."""
    ids: frozenset[str]
    """Ids by which others may link to the note, the same in every view that counts."""
    names: tuple[str, ...]
    """Paths that the note names beside `needs`."""
    mentions: tuple[str, ...]
    """Names of images and documents in its code and fields."""

    def named(self) -> Iterator[str]:
        """Yield every path that the note's links name."""
        yield from self.needs
        yield from self.names


def of(note: Note, settings: Settings) -> Digest:
    """Return the digest of a note."""
    needs: dict[str, set[str]] = {}
    odd = []
    names = set()
    for use in uses.of_text(note.source, note.text):
        target = resolve(use.target, note.path)
        path = target.path
        need = _need(note, use, target, settings)
        if need is None:
            odd.append(use)
        elif need[0]:
            wanted = needs.setdefault(need[0], set())
            if need[1]:
                wanted.add(need[1])
        if path is not None and use.where != "diagram":
            names.add(path)
    fields = tuple(uses.of_fields(split(note.text).yaml_text)) if _has_fields(note) else ()
    return Digest(
        tuple(note_rules.of_note(note.file, note.text, note.source))
        + tuple(note_rules.of_tags(note.file, note.source)),
        tuple(note_rules.title_heading(note)),
        tuple(content_safety.check_note(note)),
        {path: sorted(found) for path, found in needs.items()},
        tuple(odd),
        fields,
        _ids(note),
        tuple(sorted(names - needs.keys())),
        tuple(mentioned(note)),
    )


def _has_fields(note: Note) -> bool:
    return note.text.startswith("---")


def _ids(note: Note) -> frozenset[str]:
    found = ids.on_site(note.source)
    there = ids.on_github(note)
    return frozenset(one for one in found if one.removeprefix("user-content-") in there)


def _need(note: Note, use: Use, target: Target, settings: Settings) -> tuple[str, str] | None:
    """Return the path and id that make a link good; a blank path: it is good; None: odd.

    `target` is what the use's target names, resolved.

    What is said of a link whose need is met must be nothing: see `TargetRules.check`.
    """
    if not use.target or (use.where == "" and not use.text.strip()):
        return None
    if target_rules.is_template(use):
        return "", ""
    if use.has_spaces or use.where or use.target != use.target.strip():
        return None
    if target_rules.is_elsewhere(use):
        return None if own_address.path_of(use.target, settings) is not None else ("", "")
    if target.path is None or target.is_absolute or target.escapes:
        return None
    if target.path == note.path and not use.target.startswith("#"):
        return None
    if language_of(target.path) != note.language:
        return None
    if views.locale_of(target.path) not in ("", note.language):
        return None
    return target.path, target_rules.wanted(target.fragment)


def unmet(digest: Digest, digests: Mapping[str, Digest], others: Collection[str]) -> bool:
    """Tell whether anything that a note's links need is not plainly there."""
    known = digests.get
    for path, wanted in digest.needs.items():
        other = known(path)
        if other is None:
            if path not in others:
                return True
            continue
        for one in wanted:  # mostly one, or none
            if one not in other.ids:
                return True
    return False


_USE = ("target", "line", "column", "text", "is_image", "where", "has_spaces")


def pack(digest: Digest) -> list[Any]:
    """Return a digest as JSON holds it."""
    return [
        [pack_finding(one) for one in digest.text],
        [pack_finding(one) for one in digest.title],
        [pack_finding(one) for one in digest.safety],
        digest.needs,
        [[getattr(use, name) for name in _USE] for use in digest.odd],
        [[getattr(use, name) for name in _USE] for use in digest.fields],
        sorted(digest.ids),
        digest.names,
        digest.mentions,
    ]


def unpack(data: list[Any]) -> Digest:
    """Return what `pack` has packed."""
    text, title, safety, needs, odd, fields, found, names, mentions = data
    return Digest(
        tuple(Finding(*one) for one in text),
        tuple(Finding(*one) for one in title),
        tuple(Finding(*one) for one in safety),
        needs,
        tuple(Use(*one) for one in odd),
        tuple(Use(*one) for one in fields),
        frozenset(found),
        tuple(names),
        tuple(mentions),
    )


def of_all(
    catalogue: Catalogue, settings: Settings, memory: Memory | None = None
) -> dict[str, Digest]:
    """Return the digest of every note, by path; from memory what it holds."""
    found = {}
    for path, note in catalogue.notes.items():
        key = memory.key("digest", memory.marks[path]) if memory is not None else ""
        kept = memory.kept(path, key) if memory is not None else None
        if kept is not None:
            try:
                found[path] = unpack(kept)
                continue
            except cache.ERRORS:
                pass
        found[path] = of(note, settings)
        if memory is not None:
            memory.keep(path, key, pack(found[path]))
    return found


_KINDS = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|ico|pdf|mp4|webm|mp3|ogg|wav|zip|tar|gz|docx?|pptx?|xlsx?)\Z",
    re.IGNORECASE,
)


# Names begin behind what no name holds and are of bounded length: long lines take linear time.
_FILE_NAME = re.compile(
    r"(?<![^\s/\\()\"'<>:,;=#?`\[\]{}])[^\s/\\()\"'<>:,;=#?`\[\]{}]{1,255}\.[A-Za-z0-9]{2,5}(?![\w-])"
)


def mentioned(note: Note) -> list[str]:
    """Return the names of images and documents that a note's code and fields hold."""
    names = {name for name in _FILE_NAME.findall(_shown(note)) if _KINDS.search(name)}
    return sorted(names)


def _shown(note: Note) -> str:
    """Return the text in which a name counts as a use beside links: fences and fields.

    Notes with templates or includes count as a whole: what they show is not in their links.
    """
    parts = [fence.text for fence in note.source.fences]
    if note.text.startswith("---"):
        parts.append(note.text[: note.text.find("\n---", 3) + 1])
    if "8<" in note.text or "{{" in note.text or "{%" in note.text:
        parts.append(note.text)
    return unquote("\n".join(parts))
