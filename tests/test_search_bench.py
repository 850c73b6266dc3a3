"""The search benchmark's parts that need neither a build nor a browser."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from mkdocs.utils.yaml import yaml_load

from bench.search import libraries, notes, sites, stock

ROOT = Path(__file__).resolve().parent.parent

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


def test_stock_worker_answers_as_in_a_browser() -> None:
    engine = stock.stock(INDEX)
    assert [hit.location for hit in engine.search("显存")] == ["mem.html#bw"]
    assert [hit.location for hit in engine.search("cudaMemcpy", "en")] == [
        "en/mem.html#bw",
        "mem.html#bw",
    ]
    assert engine.search("weather") == []


def test_repaired_worker_finds_the_whole_word() -> None:
    engine = stock.Repaired(sites.repaired_index(INDEX), ("zh", "en"))
    assert [hit.location for hit in engine.search("显存")] == ["mem.html#bw"]


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


def test_wiki_pages_get_their_titles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = tmp_path / "repository"
    (repository / "docs/ds").mkdir(parents=True)
    (repository / "mkdocs.yml").write_text(
        "nav:\n  - 数据结构:\n      - 并查集: ds/dsu.md\nx: !!python/name:a.b\n", encoding="utf-8"
    )
    (repository / "docs/ds/dsu.md").write_text(
        'author: A, B\n\n## 引入\n\n文字。\n\n```cpp\n--8<-- "docs/ds/code/dsu.cpp"\n```\n',
        encoding="utf-8",
    )
    for arguments in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "a"],
    ):
        subprocess.run(["git", *arguments], cwd=repository, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=repository, check=True, capture_output=True, text=True
    )
    monkeypatch.setattr(notes, "OI_WIKI_COMMIT", head.stdout.strip())
    monkeypatch.setenv("OI_WIKI", str(repository))
    found = notes.oi_wiki(tmp_path / "cache")
    assert (found.docs / "ds/dsu.md").read_text(encoding="utf-8") == (
        "# 并查集\n\n## 引入\n\n文字。\n\n```cpp\n```\n"
    )
    assert found.source["notes"] == 1
