"""Links between the languages of a tree that keeps each in a folder of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from hooks.links import languages
from hooks.links.elsewhere.folder import check_folder


def said(docs: Path, files: dict[str, str]) -> list[tuple[str, str, str]]:
    """Write a tree; return file, rule and suggestion of each finding about its links."""
    for name, text in files.items():
        path = docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# T\n\n{text}\n", encoding="utf-8")
    found = check_folder(docs)[1]
    return [(one.file, one.rule, one.suggestion) for one in found]


def tree(zh: str = "zh", en: str = "en", **more: str) -> dict[str, str]:
    """Return a tree with three notes in two languages; `more` replaces texts."""
    files = {f"{folder}/{name}.md": "x" for folder in (zh, en) for name in ("a", "b", "c/d")}
    return files | {name.replace("__", "/") + ".md": text for name, text in more.items()}


@pytest.mark.parametrize(
    ("files", "finding"),
    [
        (tree(zh__a="[x](../en/b.md)"), ("docs/zh/a.md", "link-language", "b.md")),
        (tree(en__a="[x](../zh/c/d.md)"), ("docs/en/a.md", "link-language", "c/d.md")),
        (
            tree("zh-cn", **{"zh-cn__c__d": "[x](../../en/b.md#t)"}),
            ("docs/zh-cn/c/d.md", "link-language", "../b.md#t"),
        ),
        (
            tree(
                "content/zh-Hans", "content/en-US", **{"content__zh-Hans__a": "[x](../en-US/b.md)"}
            ),
            ("docs/content/zh-Hans/a.md", "link-language", "b.md"),
        ),
    ],
    ids=["to English", "to Chinese", "region", "deeper"],
)
def test_a_link_leaves_its_language(
    tmp_path: Path, files: dict[str, str], finding: tuple[str, str, str]
) -> None:
    assert said(tmp_path / "docs", files) == [finding]


@pytest.mark.parametrize(
    "files",
    [
        tree(zh__a="[x](b.md) [y](../zh/c/d.md)"),
        tree(zh__a="[English](../en/a.md) [here](../en/a.md) [English](../en/b.md)"),
        tree(zh__a="[x](../en/only.md)", en__only="x"),
        {"en/a.md": "x", "en/b.md": "[x](../a.md)", "a.md": "[x](en/b.md)", "b.md": "y"},
        {"en/a.md": "[x](../zh/b.md)", "zh/b.md": "x", "en/c.md": "x", "zh/d.md": "x"},
        {
            "en/a.md": "[x](../zh/b.md)",
            **{f"en/{name}.md": "x" for name in "bcdefg"},
            **{f"zh/{name}.md": "x" for name in "bijklm"},
        },
        {"one/zh/a.md": "[x](../../two/en/b.md)", "one/zh/b.md": "x", "two/en/b.md": "x"},
    ],
    ids=["same", "twin", "no twin", "en alone", "nothing shared", "by chance", "two places"],
)
def test_other_links_are_let_be(tmp_path: Path, files: dict[str, str]) -> None:
    assert said(tmp_path / "docs", files) == []


def test_a_route_without_extension_is_followed(tmp_path: Path) -> None:
    (tmp_path / "docs" / ".vitepress").mkdir(parents=True)
    found = said(tmp_path / "docs", tree(zh__a="[x](../en/b)"))
    assert found == [("docs/zh/a.md", "link-language", "b.md")]


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("zh/a.md", "zh"),
        ("x/zh_TW/a.md", "zh"),
        ("zh-Hans-CN/a.md", "zh"),
        ("EN/a.md", "en"),
        ("english/a/b.md", "en"),
        ("end/a.md", ""),
        ("zh.md", ""),
        ("guide/zh-x/a.md", ""),
    ],
)
def test_names_of_folders(path: str, language: str) -> None:
    place = languages.place(path)
    assert (place.language if place else "") == language
