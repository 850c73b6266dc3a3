"""Make Material's own search engine find what was typed, in Chinese and in English.

This is the fallback (`extra.search.engine: stock`); the handbook's own engine is the package
`hooks.search`, which takes from here what both share: the separator, the repaired page script
and the block of overrides/main.html.

Material 9.8.1 ships a search worker (lunr 2.3.9) that drops the last character of a Chinese
query, marks pieces of words, and lists both language versions of a page side by side. This
module turns that worker into one file a language: the stock worker with a few exact text
replacements, behind a prelude (``search_prelude.js``) that reads the query as words and
orders the results. It also patches the page script so that a word with a hyphen is marked
whole on the page that opens, and finishes the search index.

Everything here is text in, text out, except `install`, which the MkDocs adapter calls when
all languages are on disk.

Each replacement must fit exactly once. When Material changes, `PatchError` stops the build;
the fallback is to take `CONFIG_BLOCK` out of ``overrides/main.html`` and the call of
`install` out of the adapter: search then works as Material ships it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

MATERIAL_VERSION: Final = "9.8.1"
"""The mkdocs-material whose files the replacements below were written for."""

PREFIXES: Final[Mapping[str, str]] = {"zh": "", "en": "en/"}
"""Language -> what its addresses begin with, relative to the root of the site."""

WORKERS_DIR: Final = "assets/javascripts/workers"
# Material's file:// code looks for "/worker" in the address of the script, so the files
# made here stay in the folder of that name.
WORKER_NAME: Final = "search.handbook.{language}.js"

PRELUDE: Final = Path(__file__).with_name("search_prelude.js")
OPTIONS_MARK: Final = '/*HANDBOOK_OPTIONS*/{ "language": "", "prefixes": {} }'

SEPARATOR: Final = (
    # What the index holds of < > and &.
    r"&[lg]t;|&amp;|"
    # Space, ASCII signs, and the signs of Chinese and of technical prose: dashes, quotes,
    # dots, arrows, operators, boxes, full-width forms.
    r"[\s\u200b\ufeff\-_,;:!?()\[\]{}" + "\"'`" + r"<>=*&#|~^@%$"
    r"\u00a1\u00a7\u00ab\u00b0\u00b1\u00b6\u00b7\u00bb\u00bf\u00d7\u00f7\u2010-\u206f\u2190-\u2bff"
    r"\u3000-\u3004\u3008-\u303f\ufe30-\ufe4f"
    r"\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65]+|"
    # A dot, unless a digit follows: nccl.h is split, v1.2 and 1.8 are not.
    r"\.(?!\d)|"
    # A slash, unless one letter follows: CPU/GPU is split, TB/s and I/O are not.
    r"/(?![A-Za-z](?![0-9A-Za-z]))|"
    # A plus between words: CPU+GPU is split, C++ is not.
    r"(?<!\+)\+(?=[0-9A-Za-z\u3400-\u9fff])|"
    # Before and after every Chinese character.
    r"(?<=[\u3005\u3007\u3400-\u9fff\uf900-\ufaff])|(?=[\u3005\u3007\u3400-\u9fff\uf900-\ufaff])"
)
"""`separator` of the search plugin in mkdocs.yml: how text and queries become tokens.

A JavaScript regular expression without flags and without capturing groups (the page script
counts groups). Look-behind needs Chrome or Edge 62, Firefox 78, Safari or iOS 16.4.
"""

CELL_END_RE: Final = re.compile(
    r"(?P<end></(?:td|th|caption|dt|dd|summary|figcaption|text|title|desc)>|<br ?/?>)(?=<)"
)
"""The end of an element that is read as a text of its own, with the next tag right behind it."""

SEARCH_SETTINGS: Final[Mapping[str, Any]] = {
    # lunr stems and trims at build time only, never a term with a wildcard, and Material
    # puts a wildcard on every term: a stemmer would hide English words. `lang` names
    # nothing but the lunr plug-ins to load. "zh" brings a trimmer that empties tokens
    # without ASCII or Han letters (Greek ones, say), and files that are not found on
    # file:// when a folder above the site is called "worker".
    "lang": ["en"],
    "pipeline": [],
    "separator": SEPARATOR,
}
"""What the search plugin in mkdocs.yml is to be given."""

CONFIG_BLOCK: Final = """\
{% block config %}
  {#- Each language has a search worker of its own (hooks/search_worker.py). When Material
      names its worker differently, the second part is missing and the build stops here. -#}
  {%- set parts = super().split("/workers/search.", 1) -%}
  {{ parts[0] }}/workers/search.handbook.{{ config.theme.language }}.js"
  {{- parts[1].split('.min.js"', 1)[1] }}
{% endblock %}
"""
"""The Jinja text that makes a page of overrides/main.html load its language's worker."""


class PatchError(ValueError):
    """A file of Material's does not hold the text that a replacement was written for."""


class SearchIndexError(ValueError):
    """The search index is not what both languages need."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """An exact text, which must occur once, and what takes its place."""

    purpose: str
    old: str
    new: str


WORKER_PATCHES: Final = (
    Replacement(
        "the segmenter tries slices that end at the last character",
        "for(let o=s+1;o<t.length;o++)t.slice(s,o)in e&&(n[s]=o-s)",
        "for(let o=s+1;o<=t.length;o++)t.slice(s,o)in e&&(n[s]=o-s)",
    ),
    Replacement(
        "the segmenter goes on to a last segment of one character",
        "n[a]&&a<t.length-1&&(i[s++]=a)",
        "n[a]&&a<t.length&&(i[s++]=a)",
    ),
    Replacement(
        "segments get one wildcard each, not two",
        '[...fe(s,this.index.invertedIndex)].join("* ")',
        '[...fe(s,this.index.invertedIndex)].join(" ")',
    ),
)
"""query/segment/index.ts and `Search.search` in integrations/search/_/index.ts."""

BUNDLE_PATCHES: Final = (
    Replacement(
        "words of ?h= are divided by spaces only",
        r'n=n.replace(/[\s*+\-:~^]+/g," ").replace(/&/g,"&amp;").trim()',
        r'n=n.replace(/\s+/g," ").replace(/&/g,"&amp;").trim()',
    ),
    Replacement(
        "a word of ?h= is not divided by the separator, nor found inside a Latin word",
        r'|)(${n.replace(/[|\\{}()[\]^$+*?.-]/g,"\\$&").replace(r,"|")})',
        r'|(?<![0-9A-Za-z])|(?=[^ -~]))(${n.replace(/[|\\{}()[\]^$+*?.-]/g,"\\$&")'
        r'.replace(/ /g,"|")})',
    ),
)
"""`setupSearchHighlighter` in integrations/search/highlighter/index.ts."""


def apply(source: str, patches: Iterable[Replacement], what: str) -> str:
    """Return a text with every replacement made.

    Raises PatchError, which names `what`, unless every text to replace occurs exactly once.
    """
    for patch in patches:
        count = source.count(patch.old)
        if count != 1:
            raise PatchError(
                f"{what}: '{patch.old}' occurs {count} times, expected 1. The replacement"
                f" ({patch.purpose}) was written for mkdocs-material {MATERIAL_VERSION}."
                f" Install that version, or write the replacement anew; until then take the"
                f" config block out of overrides/main.html and the call of"
                f" search_worker.install out of the adapter, and search works as Material"
                f" ships it."
            )
        source = source.replace(patch.old, patch.new)
    return source


def patch_worker(source: str) -> str:
    """Return Material's search worker with the query segmenter repaired.

    Raises PatchError unless every text to replace occurs exactly once.
    """
    return apply(source, WORKER_PATCHES, "Material's search worker")


def patch_bundle(source: str) -> str:
    """Return Material's page script with whole words marked for ?h=.

    Raises PatchError unless every text to replace occurs exactly once.
    """
    return apply(source, BUNDLE_PATCHES, "Material's page script")


def language_worker(
    source: str, language: str, prefixes: Mapping[str, str] = PREFIXES, *, prelude: str = ""
) -> str:
    """Return the worker for readers of one language: the prelude, then `source`.

    `source` is a worker from `patch_worker`, `prefixes` is every language's address prefix.
    `prelude` replaces the text of search_prelude.js. The result is ASCII if `source` is.
    Raises ValueError for a language without a prefix and PatchError for a prelude without
    its mark.
    """
    if language not in prefixes:
        raise ValueError(f"no address prefix for language '{language}', only for {list(prefixes)}")
    options = json.dumps({"language": language, "prefixes": dict(prefixes)}, sort_keys=True)
    head = apply(
        prelude or PRELUDE.read_text(encoding="utf-8"),
        [Replacement("the language and the prefixes", OPTIONS_MARK, options)],
        PRELUDE.name,
    )
    # The map describes the stock file, whose lines have moved.
    body = "\n".join(
        line for line in source.splitlines() if not line.startswith("//# sourceMappingURL=")
    )
    return f"{head}\n{body}\n"


def find_theme_dir(dirs: Iterable[str | Path]) -> Path:
    """Return the one of MkDocs' `config.theme.dirs` that holds Material's scripts.

    Raises PatchError when none does.
    """
    tried = [Path(directory) for directory in dirs]
    for directory in tried:
        if any((directory / WORKERS_DIR).glob("search.*.min.js")):
            return directory
    raise PatchError(
        f"no {WORKERS_DIR}/search.*.min.js in {[str(directory) for directory in tried]};"
        f" mkdocs-material {MATERIAL_VERSION} has it"
    )


def single(directory: Path, pattern: str) -> Path:
    """Return the one file of a folder that fits a pattern; raises PatchError otherwise."""
    found = sorted(directory.glob(pattern))
    if len(found) != 1:
        raise PatchError(
            f"'{pattern}' fits {[path.name for path in found]} in {directory}, expected one"
            f" file, as in mkdocs-material {MATERIAL_VERSION}"
        )
    return found[0]


def worker_files(theme_dir: Path, prefixes: Mapping[str, str] = PREFIXES) -> dict[str, str]:
    """Return what the site needs besides Material's files: address in the site -> text.

    One worker a language, and the page script under its own name, in place of the stock one.
    Raises PatchError when the theme is not the one the replacements fit.
    """
    worker = patch_worker(_read(single(theme_dir / WORKERS_DIR, "search.*.min.js")))
    bundle = single(theme_dir / "assets/javascripts", "bundle.*.min.js")
    files = {
        f"{WORKERS_DIR}/{WORKER_NAME.format(language=language)}": language_worker(
            worker, language, prefixes
        )
        for language in prefixes
    }
    files[f"assets/javascripts/{bundle.name}"] = patch_bundle(_read(bundle))
    return files


def _read(path: Path) -> str:
    # Not read_text(): it would turn \r\n, and the scripts are to stay as they are.
    return path.read_bytes().decode("utf-8")


def separate_cells(html: str) -> str:
    """Return a page's HTML with a line end after every table cell, caption and SVG text.

    Browsers lay it out the same, but Material's index joins texts that only tags divide:
    cells of 18 and 1.8 TB/s would be found as 181.8. Call it before the page is indexed,
    which is in `on_page_context`.
    """
    return CELL_END_RE.sub(r"\g<end>\n", html)


def finish_index(text: str, prefixes: Mapping[str, str] = PREFIXES) -> str:
    """Return the JSON of the search index with every section once, as readable UTF-8.

    The translation plugin builds the default language twice when it is listed last, and so
    indexes it twice; lunr would count those sections double. Raises SearchIndexError when a
    language has no section, which happens when a nested build was cut short or the plugins
    are in the wrong order.
    """
    index = json.loads(text)
    # A dict keeps the place of the first and the content of the last.
    sections = {entry["location"]: entry for entry in index["docs"]}
    index["docs"] = list(sections.values())
    for language, prefix in prefixes.items():
        others = tuple(other for other in prefixes.values() if len(other) > len(prefix))
        if not any(
            location.startswith(prefix) and not location.startswith(others) for location in sections
        ):
            raise SearchIndexError(
                f"the search index has no page in '{language}' (addresses '{prefix}…'):"
                f" {len(sections)} sections, the first is"
                f" '{next(iter(sections), '')}'. In mkdocs.yml the plugins must come"
                f" in the order search, i18n, offline, and no language's build may have failed"
            )
    done = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    # Valid in JSON, but line ends in the scripts of old browsers.
    return done.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def install(site_dir: Path, theme_dir: Path, prefixes: Mapping[str, str] = PREFIXES) -> None:
    """Write the workers, the page script and the finished index into a built site.

    Call it once all languages and search/search_index.json are on disk; calling it again
    changes nothing. search_index.js is what pages read on file://. Raises PatchError,
    SearchIndexError or OSError.
    """
    index = site_dir / "search/search_index.json"
    finished = finish_index(index.read_text(encoding="utf-8"), prefixes)
    files = worker_files(theme_dir, prefixes)
    files["search/search_index.json"] = finished
    files["search/search_index.js"] = f"var __index = {finished}"
    for address, content in files.items():
        path = site_dir / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8"))
