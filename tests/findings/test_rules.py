"""The registry of rules, and for every rule what it must report and what it must not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hooks.findings import rules
from hooks.findings.finding import Finding
from hooks.links import Settings, assets
from hooks.notes import navigation, twins
from hooks.site.check import check_site
from tests.samples import found_in, note, read_yaml, tree

ROOT = Path(__file__).resolve().parents[2]
HOOKS = sorted((ROOT / "hooks").rglob("*.py"))
OWN = Settings(repo_url="https://github.com/o/r", site_url="https://h.example/base/")
NAMED = re.compile(
    r'^RULE = "([a-z-]+)"|Finding\([^()]*?"([a-z]+(?:-[a-z]+)*)",|rule="([a-z-]+)"', re.M
)

FILES: dict[str, str | bytes] = {
    "index.md": note("x\n", "Home"),
    "b.md": note("## NVLink 发展\n\n<a id='here'></a>\n\n## Two words\n", "Other"),
    "t/index.md": note("x\n", "Topic"),
    "t/Pic.svg": "<svg/>",
    "zh.md": note("## 甲\n", "对"),
    "zh.en.md": note("## A\n", "Pair"),
    "code/x.py": "# --8<-- [start:main]\n",
    "blank in name.md": note("x\n", "Blank"),
}


OF_NOTES = read_yaml(Path(__file__).with_name("notes.yml"))


def rules_of(tmp_path: Path, body: str) -> set[str]:
    catalogue, findings = tree(tmp_path, FILES | {"a.md": note(body + "\n")})
    findings += found_in(catalogue, OWN)
    return {one.rule for one in findings if one.file == "docs/a.md"}


@pytest.mark.parametrize(
    ("rule", "body", "kind"),
    [(rule, body, kind) for rule, both in OF_NOTES.items() for kind in both for body in both[kind]],
)
def test_rules_about_a_note(tmp_path: Path, rule: str, body: str, kind: str) -> None:
    assert (rule in rules_of(tmp_path, body)) == (kind == "bad")


def of_tree(tmp_path: Path, files: dict[str, str | bytes], config: str = "") -> list[Finding]:
    """Return what the rules about a whole tree say of it."""
    catalogue, findings = tree(tmp_path, files)
    findings += found_in(catalogue, OWN) + twins.check_pairs(catalogue)
    findings += assets.orphans(catalogue, tmp_path / "docs", "docs")
    if config:
        path = tmp_path / "mkdocs.yml"
        path.write_text(config, encoding="utf-8")
        findings += navigation.check_navigation(navigation.read_navigation(path), catalogue)
    return findings


PLAIN = note("x\n")
TAGGED = PLAIN.replace("kind: note", "kind: note\ntags: [{}]")


@pytest.mark.parametrize(
    ("rule", "bad", "good"),
    [
        ("title-heading", {"a.md": PLAIN.replace("# T", "# U")}, {"a.md": PLAIN}),
        ("front-matter", {"a.md": "# T\n"}, {"a.md": PLAIN}),
        ("duplicate-title", {"a.md": PLAIN, "b.md": PLAIN}, {"a.md": PLAIN, "a.en.md": PLAIN}),
        (
            "tag-spelling",
            {"a.md": TAGGED.format("CUDA"), "b.md": TAGGED.format("cuda")},
            {"a.md": TAGGED.format("CUDA"), "a.en.md": TAGGED.format("cuda")},
        ),
        (
            "twin-headings",
            {"a.md": note("## A\n"), "a.en.md": PLAIN},
            {"a.md": note("## A\n"), "a.en.md": note("## B\n")},
        ),
        (
            "twin-headings",
            {"a.md": note("## A\n"), "a.en.md": PLAIN},
            {"a.md": note("## A\n"), "a.en.md": PLAIN.replace("kind", "draft: true\nkind")},
        ),
        (
            "twin-numbers",
            {"a.md": note("达 900 GB/s。\n"), "a.en.md": note("It has 950 GB/s.\n")},
            {"a.md": note("1.5 万块，约 900。\n"), "a.en.md": note("About 900; 15,000 GPUs.\n")},
        ),
        (
            "orphan-asset",
            {"a.md": PLAIN, "p.png": b""},
            {"a.md": note("![p](p.png)\n"), "p.png": b""},
        ),
        (
            "orphan-asset",
            {"a.md": note("`![p](p.png)`\n"), "p.png": b""},
            {"a.md": note("```facts\nfigure: p.png\n```\n"), "p.png": b""},
        ),
        (
            "orphan-asset",
            {"a.md": PLAIN, "p.png": b"", "s.css": "p{background:url(data-p.png)}"},
            {"a.md": PLAIN, "p.png": b"", "s.css": "p{background:url(img/p.png)}"},
        ),
        (
            "orphan-asset",
            {"a.md": PLAIN, "x.svg": "<svg/>"},
            {"a.md": PLAIN, "assets/vendor/x.svg": "<svg/>", "t/code/y.zip": b""},
        ),
        ("encoding", {"a.md": b"\xef\xbb\xbf" + PLAIN.encode()}, {"a.md": PLAIN}),
        ("encoding", {"a.md": PLAIN.encode() + b"\xff"}, {"a.md": PLAIN.replace("\n", "\r\n")}),
    ],
)
def test_rules_about_a_tree(
    tmp_path: Path, rule: str, bad: dict[str, str | bytes], good: dict[str, str | bytes]
) -> None:
    assert rule in {one.rule for one in of_tree(tmp_path / "bad", bad)}
    assert rule not in {one.rule for one in of_tree(tmp_path / "good", good)}


def test_rules_about_navigation(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a.md": PLAIN, "b.md": note("x\n", "B")}
    found = of_tree(tmp_path / "bad", files, "nav:\n  - a.md\n  - c.md\n")
    assert {(one.rule, one.target) for one in found} == {
        ("nav-missing", "c.md"),
        ("nav-absent", "b.md"),
    }
    assert of_tree(tmp_path / "good", files, "nav:\n  - a.md\n  - X: [b.md]\n") == []


def test_rules_about_built_pages(tmp_path: Path) -> None:
    bad = '<a href="x.html">x</a><a href="#x">x</a><img src="https://a.example/p.png" alt="">'
    (tmp_path / "a.html").write_text(bad, encoding="utf-8")
    found = {one.rule for one in check_site(tmp_path)}
    assert found == {"built-dead-link", "built-dead-anchor", "third-party"}
    good = '<p id="x"></p><a href="a.html#x">x</a><a href="https://a.example/">x</a>'
    (tmp_path / "a.html").write_text(good, encoding="utf-8")
    assert check_site(tmp_path) == []


def test_every_rule_that_code_names_is_registered() -> None:
    named = set()
    for path in HOOKS:
        for match in NAMED.finditer(path.read_text(encoding="utf-8")):
            named.add(next(name for name in match.groups() if name))
    assert len(named) > 20
    named -= {"error", "warning"}
    assert {name for name in named if rules.find(name) is None} == set()


def test_every_registered_rule_is_named_by_code() -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in HOOKS if path.name != "rules.py")
    for rule in rules.all_rules():
        name = rule.name.removesuffix("*")
        assert f'"{name}' in code or (name in ("measured-", "chart-") and "-block" in code), (
            rule.name
        )


def test_a_finding_is_as_grave_as_its_rule_unless_it_says_otherwise() -> None:
    def grave(rule: str, **given: str) -> str:
        return Finding("a.md", 1, 1, rule, "m", **given).severity

    assert grave("dead-link") == grave("facts-yaml") == grave("nobody's") == "error"
    assert grave("question-stale") == grave("facts-unused-source") == "warning"
    assert grave("dead-link", severity="warning") == "warning"
