"""The search benchmark's parts that need neither a build nor a browser."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from mkdocs.utils.yaml import yaml_load

from bench.search import libraries, llm_action, notes, oi_wiki, pingcap, repository, sites, stock

ROOT = Path(__file__).resolve().parents[2]

INDEX: dict[str, Any] = {
    # As Material writes it with language zh and jieba: words are divided by U+200B.
    "config": {
        "lang": ["zh"],
        "separator": r"[\s\u200b\u3000\-、。，．？！；]+",
        "pipeline": ["stemmer"],
        "fields": {"title": {"boost": 1e3}, "text": {"boost": 1.0}, "tags": {"boost": 1e6}},
    },
    "docs": [
        {"location": "mem.html", "title": "存储", "text": ""},
        {
            "location": "mem.html#bw",
            "title": "显存\u200b带宽",
            "text": "<p>一次\u200b拷贝 &lt;4 KiB cudaMemcpy</p>",
        },
        {"location": "mem.html#sync", "title": "显式\u200b同步", "text": "<p>带着\u200b语义</p>"},
        {"location": "en/mem.html", "title": "Memory", "text": ""},
        {"location": "en/mem.html#bw", "title": "Bandwidth", "text": "<p>cudaMemcpy</p>"},
    ],
}


def test_stock_configuration_of_this_site() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    changed = yaml_load(sites._stock_config(text, Path("keep.py")))
    plugins = changed["plugins"]
    assert plugins[0] == {"search": {"lang": "zh"}}
    assert changed["hooks"] == ["hooks/adapter.py", "keep.py"]
    before = yaml_load(text)
    assert plugins[1:] == before["plugins"][1:]


def test_stock_configuration_refuses_another_file() -> None:
    with pytest.raises(sites.SiteError, match="0 search plugins and 0 lists of hooks"):
        sites._stock_config("site_name: x\n", Path("keep.py"))


def test_stock_results_are_laid_out_as_material_does(tmp_path: Path) -> None:
    file = tmp_path / "assets/stylesheets/search.css"
    file.parent.mkdir(parents=True)
    ours = (notes.ROOT / "docs/assets/stylesheets/search.css").read_text(encoding="utf-8")
    file.write_text(ours, encoding="utf-8")
    sites.lay_out_at_once(tmp_path)
    left = file.read_text(encoding="utf-8")
    assert "content-visibility" in ours
    assert "content-visibility" not in left
    assert left.count("{") == ours.count("{") - 1
    with pytest.raises(sites.SiteError, match="has 0 rules"):
        sites.lay_out_at_once(tmp_path)


def test_stock_worker_answers_as_in_a_browser() -> None:
    engine = stock.stock(INDEX)
    assert [hit.location for hit in engine.search("显存")] == ["mem.html#bw"]
    assert [hit.location for hit in engine.search("cudaMemcpy", "en")] == [
        "en/mem.html#bw",
        "mem.html#bw",
    ]
    assert engine.search("weather") == []


def test_documents_for_libraries_are_plain() -> None:
    documents = libraries.documents(INDEX)
    assert documents[1] == {
        "id": "mem.html#bw",
        "language": "zh",
        "title": "显存带宽",
        "text": " 一次拷贝 <4 KiB cudaMemcpy ",
    }
    assert documents[4]["language"] == "en"


def test_lock_of_libraries_names_no_host() -> None:
    lock = (libraries.FOLDER / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert lock.count('"integrity"') == len(libraries.NAMES)


def _repository(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    return repository.git("rev-parse", "HEAD", cwd=folder)


def test_wiki_pages_get_their_titles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nav = "nav:\n  - 数据结构:\n      - 并查集: ds/dsu.md\nx: !!python/name:a.b\n"
    note = 'author: A, B\n\n## 引入\n\n文字。\n\n```cpp\n--8<-- "docs/ds/code/dsu.cpp"\n```\n'
    head = _repository(
        tmp_path / "repository", {"mkdocs.yml": nav, "docs/ds/dsu.md": note, "README.md": "# x\n"}
    )
    monkeypatch.setattr(oi_wiki, "COMMIT", head)
    monkeypatch.setenv("OI_WIKI", str(tmp_path / "repository"))
    found = notes.public("oi-wiki", tmp_path / "cache")
    assert (found.docs / "ds/dsu.md").read_text(encoding="utf-8") == (
        "# 并查集\n\n## 引入\n\n文字。\n\n```cpp\n```\n"
    )
    assert found.source["notes"] == 1


def test_pages_of_tidb_documentation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = _repository(
        tmp_path / "repository",
        {
            "variables.json": '{"company": "PingCAP"}',
            "overview.md": "---\ntitle: 甲\naliases: ['/a/']\n---\n\n# 甲\n\n{{{ .company }}}\n",
            "br/_index.md": "# 备份\n",
            "TOC.md": "- [甲](/overview.md)\n",
            "releases/release-1.md": "# 1\n",
            ".agents/a.md": "# a\n",
        },
    )
    monkeypatch.setattr(pingcap, "COMMIT", head)
    monkeypatch.setenv("DOCS_CN", str(tmp_path / "repository"))
    found = notes.public("pingcap", tmp_path / "cache")
    pages = {path.relative_to(found.docs).as_posix() for path in found.docs.rglob("*.md")}
    assert pages == {"overview.md", "br/index.md"}
    assert (found.docs / "overview.md").read_text(encoding="utf-8") == (
        "---\ntitle: 甲\n---\n\n# 甲\n\nPingCAP\n"
    )
    # The queries of the real documentation: none of their sections is on these two pages.
    assert "zh-01: troubleshoot-write-conflicts.md" in notes.missing(found)


def test_another_commit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _repository(tmp_path / "repository", {"variables.json": "{}", "a.md": "# a\n"})
    monkeypatch.setenv("DOCS_CN", str(tmp_path / "repository"))
    with pytest.raises(subprocess.CalledProcessError):
        notes.public("pingcap", tmp_path / "cache")


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('{{< copyable "sql" >}}\n', "\n"),
        ('<SimpleTab>\n<div label="Python" value="p">\n', "\n\n**Python**\n\n"),
        ("</div>\n</SimpleTab>\n", "\n\n"),
        ("<details>\n<summary>期望输出</summary>\n", "\n\n**期望输出**\n\n"),
        ("```xml\n<Dependency>\n</Dependency>\n```\n", None),
        ('### x <span class="version-mark">从 v6 引入</span>\n', None),
        ("## 向量 {#vector}\n", None),
        ("{{{ .unknown }}}\n", "unknown\n"),
    ],
    ids=["copy button", "tab", "end of tab", "folded", "code", "inline tag", "id", "unknown name"],
)
def test_marks_of_another_generator_become_text(text: str, plain: str | None) -> None:
    assert pingcap.plain(text, {}) == (text if plain is None else plain)


PROSE = "张量并行把矩阵切到几张卡上。" * 10


def test_notes_on_large_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = _repository(
        tmp_path / "repository",
        {
            "README.md": "".join(f"- [{PROSE}](https://a.example/{n})\n" for n in range(9)),
            "训练/a b.md": f"## 并行\n\n{PROSE}\n",
            "log.md": "```\nloss 1.0\n```\n",
            "train.py": "pass\n",
        },
    )
    monkeypatch.setattr(llm_action, "COMMIT", head)
    monkeypatch.setenv("LLM_ACTION", str(tmp_path / "repository"))
    found = notes.public("llm-action", tmp_path / "cache")
    pages = {path.relative_to(found.docs).as_posix() for path in found.docs.rglob("*.md")}
    assert pages == {"index.md", "训练/a b.md"}
    assert (found.docs / "训练/a b.md").read_text(encoding="utf-8") == f"## 并行\n\n{PROSE}\n"
    # The queries of the real notes: none of their sections is on this page.
    assert any(line.startswith("api-01: ") for line in notes.missing(found))


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        (PROSE, True),
        (PROSE[:90], False),
        (f"```\n{PROSE}\n```\n", False),
        (f"```\n{PROSE}\n", False),
        (f"~~~\n```\n~~~\n{PROSE}\n", True),
        (f"```sh\n```bash\n{PROSE}\n```\n", False),
        (f"{PROSE}\n```\n{'step loss time ' * 300}\n```\n", True),
        (f"{PROSE}\n```\n{'step loss time ' * 600}\n```\n", False),
        (f"{PROSE}\n- https://a.example\n", False),
        (f"{PROSE}\n{PROSE}\n- https://a.example\n", True),
        (f"# 一\n{PROSE}\n![图](https://a.example/b.png)\n", True),
        (f"[{PROSE}](https://a.example)\n甲\n乙\n", False),
    ],
    ids=[
        "prose",
        "stub",
        "code only",
        "code to the end",
        "other fence",
        "fence with a language ends nothing",
        "log of less than nine tenths",
        "log",
        "half links",
        "a third links",
        "picture is no link",
        "labels are no prose",
    ],
)
def test_pages_without_prose_are_left_out(text: str, taken: bool) -> None:
    assert llm_action.is_taken(text) is taken
