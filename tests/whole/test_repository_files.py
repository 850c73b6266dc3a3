"""The files around the notes: workflows, forms, licences and the guides for contributors.

What GitHub would refuse in workflows and forms, and what an outsider could use, is told by
`check-jsonschema` and `zizmor`, in `make check`: here is what they cannot know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from hooks.findings.rules import find
from hooks.notes.fields import FrontMatter, Kind
from tests.samples import read_yaml

ROOT = Path(__file__).resolve().parents[2]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
GUIDES = ("CONTRIBUTING.md", "CONTRIBUTING.zh.md")
REFERENCE = ("docs/about/writing.en.md", "docs/about/writing.md")
VENDOR = ROOT / "docs" / "assets" / "vendor"

# Jobs that may write, and what: anything else here is a hole.
MAY_WRITE = {("pages", "deploy"): {"pages", "id-token"}, ("release", "upload"): {"contents"}}


def _text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _yaml(path: Path) -> dict[str, Any]:
    data = read_yaml(path)
    assert isinstance(data, dict), path
    return data


def _tokens(name: str) -> Iterator[Token]:
    parser = MarkdownIt("commonmark").enable("table")
    for token in parser.parse(_text(name)):
        yield token
        yield from token.children or ()


def _stem(path: Path) -> str:
    return path.stem


# Workflows


def test_an_action_has_one_commit_with_its_version_everywhere() -> None:
    assert {path.stem for path in WORKFLOWS} >= {"check", "pages", "release"}
    commits: dict[str, set[str]] = {}
    for path in WORKFLOWS:
        for action, commit in re.findall(r"uses: +([^@\n]+)@(.*)", path.read_text("utf-8")):
            assert re.fullmatch(r"[0-9a-f]{40} # v\d+\.\d+\.\d+", commit), f"{path.name}: {commit}"
            commits.setdefault(action, set()).add(commit)
    assert {action: found for action, found in commits.items() if len(found) != 1} == {}


@pytest.mark.parametrize("path", WORKFLOWS, ids=_stem)
def test_jobs_end_have_the_history_and_write_only_where_named(path: Path) -> None:
    for name, job in _yaml(path)["jobs"].items():
        assert 0 < job["timeout-minutes"] <= 60, name
        writes = {scope for scope, access in job.get("permissions", {}).items() if access != "read"}
        assert writes == MAY_WRITE.get((path.stem, name), set()), name
        for step in job["steps"]:
            if step.get("uses", "").startswith("actions/checkout@"):  # dates of notes
                assert step["with"]["fetch-depth"] == 0, name
            if path.stem == "pages" and "SITE_URL" in step.get("env", {}):
                assert step["env"]["SITE_URL"] == "${{ steps.pages.outputs.base_url }}/"


def test_checks_run_on_the_oldest_python_that_is_declared() -> None:
    matrix = _yaml(GITHUB / "workflows" / "check.yml")["jobs"]["check"]["strategy"]["matrix"]
    declared = re.search(r'requires-python = ">=([\d.]+)"', _text("pyproject.toml"))
    assert declared and declared[1] in matrix["python"]


def test_dependabot_watches_actions_and_python() -> None:
    updates = _yaml(GITHUB / "dependabot.yml")["updates"]
    assert {entry["package-ecosystem"] for entry in updates} == {"github-actions", "pip"}


# Forms


@pytest.mark.parametrize("name", ["error-in-note", "message", "new-note", "record", "site-bug"])
def test_a_form_is_in_both_languages(name: str) -> None:
    form = _yaml(GITHUB / f"ISSUE_TEMPLATE/{name}.yml")
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert any(field.get("validations", {}).get("required") for field in fields)
    for text in [form["name"], *(field["attributes"]["label"] for field in fields)]:
        assert re.search(r"[\u4e00-\u9fff].* / .*[A-Za-z]", text), text


# Guides


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("*.md")))
def test_links_of_the_guides_lead_to_files(name: str) -> None:
    missing = []
    for token in _tokens(name):
        target = token.attrs.get("href") or token.attrs.get("src")
        if isinstance(target, str) and not urlsplit(target).scheme:
            path = unquote(target.partition("#")[0])
            if path and not (ROOT / path).exists():
                missing.append(target)
    assert missing == []


@pytest.mark.parametrize("pair", [GUIDES, REFERENCE])
def test_guides_are_equal_in_form(pair: tuple[str, str]) -> None:
    def form(name: str) -> list[str]:
        blocks = ("heading_open", "fence", "tr_open", "list_item_open")
        return [f"{token.type} {token.tag}" for token in _tokens(name) if token.type in blocks]

    english, chinese = (form(name) for name in pair)
    assert english == chinese


@pytest.mark.parametrize("name", REFERENCE)
def test_guide_names_every_field_and_kind(name: str) -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", _text(name), re.MULTILINE)
    fields = {field: meaning for field, meaning in rows if field in FrontMatter.model_fields}
    assert set(fields) == set(FrontMatter.model_fields)
    assert set(re.findall(r"`(\w+)`", fields["kind"])) == set(get_args(Kind))


@pytest.mark.parametrize("name", REFERENCE)
def test_guide_names_only_rules_that_exist(name: str) -> None:
    rows = re.findall(r"^\| ((?:`[a-z]+(?:-[a-z]+)*`(?:, |、)?)+) \|", _text(name), re.MULTILINE)
    rules = {rule for row in rows for rule in re.findall(r"`([a-z-]+)`", row)}
    rules -= set(FrontMatter.model_fields)
    assert {"front-matter", "dead-anchor", "twin-headings"} <= rules
    assert {rule for rule in rules if find(rule) is None} == set()


@pytest.mark.parametrize(
    "name", [*GUIDES, *REFERENCE, *(path.relative_to(ROOT).as_posix() for path in WORKFLOWS)]
)
def test_make_commands_exist(name: str) -> None:
    shown = r"(?:`|\$ |run: )make ([a-z-]+)"
    named = set(re.findall(shown, _text(name)))
    targets = set(re.findall(r"^([a-z-]+):", _text("Makefile"), re.MULTILINE))
    assert named - targets == set()


# Licences


LICENCES = {
    "Apache-2.0": "Version 2.0, January 2004 | 3. Grant of Patent License. | END OF TERMS AND"
    " | APPENDIX: How to apply the Apache License | limitations under the License.",
    "CC-BY-4.0": "Section 1 -- | Section 8 -- | produce, reproduce, and Share Adapted Material"
    " | cured within 30 days | Creative Commons may be contacted at creativecommons.org.",
    "OFL-1.1": "with Reserved Font Names KaTeX_AMS | \n1) | \n5) | OTHER DEALINGS IN THE FONT"
    " SOFTWARE.",
}


@pytest.mark.parametrize("name", LICENCES)
def test_licence_texts_are_complete(name: str) -> None:
    text, phrases = _text(f"LICENSES/{name}.txt"), LICENCES[name].split(" | ")
    assert [phrase for phrase in phrases if phrase not in text] == []
    assert text.rstrip().endswith(phrases[-1])


def test_licence_file_explains_the_split() -> None:
    text = _text("LICENSE")
    named = set(re.findall(r"LICENSES/([\w.-]+\.txt)", text + _text("NOTICE")))
    assert named == {path.name for path in (ROOT / "LICENSES").glob("*.txt")}
    assert {"docs/**/code/**", "docs/assets/vendor/**"} <= set(text.split())


@pytest.mark.parametrize("folder", sorted(path for path in VENDOR.iterdir() if path.is_dir()))
def test_vendored_libraries_are_noticed(folder: Path) -> None:
    assert (folder / "LICENSE").is_file()
    notice = _text("NOTICE")
    place = f"docs/assets/vendor/{re.escape(folder.name)}/"
    entry = re.search(rf"^(\S+) (\d+\.\d+\.\d+) +{place}$", notice, re.MULTILINE)
    assert entry, f"NOTICE lacks docs/assets/vendor/{folder.name}/ with a version"
    # iframe-worker's file does not say its version; the others do.
    scripts = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.js"))
    if re.search(r'version:"\d+\.\d+\.\d+"', scripts):
        assert f'"{entry[2]}"' in scripts


# Editors and hooks


def test_pre_commit_runs_only_what_the_repository_has() -> None:
    repos = _yaml(ROOT / ".pre-commit-config.yaml")["repos"]
    assert [repo["repo"] for repo in repos] == ["local"]
    hooks = repos[0]["hooks"]
    assert {hook["id"] for hook in hooks} == {"ruff-check", "ruff-format", "notes"}
    for hook in hooks:
        assert hook["language"] == "system" and "additional_dependencies" not in hook
        assert hook["entry"].startswith(".venv/bin/python -m ")


def test_vendored_files_are_kept_byte_for_byte() -> None:
    rules = dict(
        line.split(maxsplit=1)
        for line in _text(".gitattributes").splitlines()
        if line and not line.startswith("#")
    )
    assert "-text" in rules["docs/assets/vendor/**"].split()
    assert "eol=lf" in rules["*"].split()
