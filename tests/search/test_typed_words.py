"""What a reader types, asked of the engine itself: the browser is asked little of it again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hooks.search.engine import Engine, make_index, open_engine
from tests import samples, search_notes

PAIRS = {
    "topic/memory": (
        "存储层次",
        "## 显存带宽\n\nB200 的显存带宽是 1.8 TB/s。\n\n"
        "## 内核启动\n\n内核的启动开销。\n\n"
        "## 统一内存\n\n统一内存（unified memory）按页迁移。\n",
        "Memory hierarchy",
        "## Memory bandwidth\n\n1.8 TB/s.\n\n"
        "## Kernel launch\n\nOversubscription costs 5 µs.\n\n"
        "## Unified memory\n\nUnified memory migrates pages.\n",
    ),
    "topic/ethernet": (
        "以太网",
        "## 拥塞控制\n\nDCQCN 与 all-reduce。`NCCL_IB_HCA` 选择 IB 网卡，distributed。\n\n"
        "### 收发队列\n\n用 `ibv_post_send` 投递拥塞通知。\n\n"
        "## 拥塞通知\n\n通知的格式。\n\n## 拥塞信号\n\n拥塞怎样标记。\n",
        "Ethernet",
        "## Congestion control\n\nDCQCN and AllReduce.\n\n"
        "### Queues\n\n`ibv_post_send` posts.\n\n"
        "## Congestion notice\n\nIts format.\n\n## Congestion signal\n\nHow it is marked.\n",
    ),
}
ZH, EN = "zh", "en"
MEMORY, ETHERNET = "topic/memory.html", "topic/ethernet.html"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine over two pairs of notes."""
    docs = tmp_path_factory.mktemp("typed")
    for name, (title, body, title_en, body_en) in PAIRS.items():
        path = docs / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(samples.note(body, title), encoding="utf-8")
        path.with_suffix(".en.md").write_text(samples.note(body_en, title_en), encoding="utf-8")
    with open_engine(make_index(search_notes.pages(docs))) as engine:
        yield engine


@pytest.mark.parametrize(
    ("language", "query", "first"),
    [
        (ZH, "显存带宽", f"{MEMORY}#显存带宽"),
        (ZH, "ibv_po", f"{ETHERNET}#收发队列"),
        (ZH, "unified memory", f"{MEMORY}#统一内存"),
        (EN, "unified memory", f"en/{MEMORY}#unified-memory"),
        (ZH, "oversubscription", f"{MEMORY}#内核启动"),
        (EN, "统一内存", f"en/{MEMORY}#unified-memory"),
        (ZH, "DCQNC", f"{ETHERNET}#拥塞控制"),
        (ZH, "allreduce", f"{ETHERNET}#拥塞控制"),
        (ZH, "<img src=x onerror=alert(1)>", None),
        (ZH, "量子", None),
    ],
)
def test_typed_words(engine: Engine, language: str, query: str, first: str | None) -> None:
    hits = engine.search(query, language)
    assert (hits[0].location if hits else None) == first


def test_several_sections_of_a_page_are_found(engine: Engine) -> None:
    places = [hit.location for hit in engine.search("拥塞") if hit.location.startswith(ETHERNET)]
    assert len(places) >= 3
