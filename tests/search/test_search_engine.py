"""The search engine: which section answers a query first, what is marked, what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hooks import search
from hooks.pages.view import Item, Said
from hooks.search.engine import Engine, Hit, core_source
from hooks.search.entries import add_entries
from hooks.search.index import Index, build_index, make_index
from hooks.search.words import everyday
from tests import search_notes


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    docs = search_notes.write(tmp_path_factory.mktemp("docs"))
    with Engine(build_index(docs, docs / "terms")) as made:
        yield made


@pytest.fixture(scope="module")
def ours(notes_index: Index) -> Iterator[Engine]:
    with Engine(notes_index) as made:
        yield made


def _of(*notes: tuple[str, str]) -> Engine:
    """Return an engine over notes: path, text."""
    return Engine(make_index([search_notes.page(*one) for one in notes]))


def test_core_and_worker_are_of_the_language_old_browsers_read() -> None:
    assert core_source().isascii()  # the frame that runs it on file:// declares no encoding
    worker = (Path(search.__file__).parent / "browser/worker.js").read_text(encoding="utf-8")
    code = re.sub(r"/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"", "", core_source() + worker, flags=re.DOTALL)
    assert re.findall(r"=>|`|\b(?:let|const|class|async|await)\b|\(\?<", code) == []


BW, SYNC, KERNEL, UM = (f"chip/memory.html#{name}" for name in ("bw", "sync", "kernel", "um"))
CC, ZC, QP = (f"link/ethernet.html#{name}" for name in ("cc", "zc", "qp"))
RING, TOKENIZER = "ccl/ring.html", "en/infer/tokenizer.html"


@pytest.mark.parametrize(
    ("language", "query", "first"),
    [
        # Chinese, whole words and beginnings.
        ("zh", "显存带宽", BW),
        ("zh", "带宽", BW),
        ("zh", "零拷", ZC),
        ("zh", "启", KERNEL),
        ("zh", "上下文", RING),
        ("zh", "中断", RING),
        # Questions.
        ("zh", "什么是拥塞控制？", CC),
        ("zh", "显存的带宽有多大", BW),
        ("zh", "怎么理解统一内存", UM),
        ("en", "what is unified memory?", f"en/{UM}"),
        ("en", "how do I post a send", f"en/{QP}"),
        # Identifiers whole, in parts, begun, in any spelling.
        ("zh", "ibv_post_send", QP),
        ("zh", "post_send", QP),
        ("zh", "ibv_po", QP),
        ("zh", "cudaMemcpyAsync", BW),
        ("zh", "memcpyasync", BW),
        ("zh", "memcpy", BW),
        ("zh", "cudamem", BW),
        ("zh", "NCCL_IB_HCA", CC),
        ("zh", "ib_hca", CC),
        ("zh", "nccl-ib-hca", CC),
        ("zh", "__syncthreads", SYNC),
        ("zh", "AllReduce", CC),
        ("zh", "all reduce", CC),
        ("zh", "all_reduce", CC),
        ("zh", "sm_90", ZC),
        ("zh", "sm90", ZC),
        ("zh", "C++17", ZC),
        ("zh", "H100", ZC),
        ("zh", "1.8 TB/s", BW),
        ("zh", "1.8TB/s", BW),
        ("zh", "900GB/s", ZC),
        ("zh", "torch.compile", TOKENIZER),
        # Two scripts in one query.
        ("zh", "NVLink带宽", ZC),
        ("zh", "NVLink 带宽", ZC),
        # Width, case, traditional forms.
        ("zh", "ＮＶＬｉｎｋ　頻寬", ZC),
        ("zh", "顯存", BW),
        ("zh", "擁塞控制", CC),
        ("zh", "DCQCN", CC),
        ("zh", "dcqcn", CC),
        # English endings.
        ("en", "migrating", f"en/{UM}"),
        ("en", "kernels launched", f"en/{KERNEL}"),
        # Words of the other language: translated, or found in the twin.
        ("zh", "congestion control", CC),
        ("zh", "VRAM bandwidth", BW),
        ("en", "显存带宽", f"en/{BW}"),
        ("zh", "unified memory", UM),
        ("en", "统一内存", f"en/{UM}"),
        ("zh", "oversubscription", KERNEL),
        ("en", "零拷贝", f"en/{ZC}"),
        # What one language lacks is shown in the other, or at its address in the reader's.
        ("zh", "tokenizer", TOKENIZER),
        ("en", "环形归约", RING),
        ("en", "ring reduction", RING),
    ],
)
def test_first_result(engine: Engine, language: str, query: str, first: str) -> None:
    hits = engine.search(query, language)
    assert hits, "nothing found"
    assert hits[0].location == first
    assert not hits[0].weak


@pytest.mark.parametrize(
    ("query", "first", "repaired"),
    [
        ("ibv_psot_send", QP, "ibv_post_send"),
        ("cudaMemcpyAsycn", BW, "cudaMemcpyAsync"),
        ("DCQNC", CC, "DCQCN"),
        ("tokeniezr", TOKENIZER, "tokenizer"),
        # Sounds alike.
        ("显村", BW, "显存"),
        ("拥塞空制", CC, "控制"),
        ("零考贝", ZC, "零拷贝"),
    ],
)
def test_repaired_results_are_weak(engine: Engine, query: str, first: str, repaired: str) -> None:
    hits = engine.search(query)
    assert hits, "nothing found"
    assert hits[0].location == first
    assert all(hit.weak for hit in hits)
    assert any(repaired.lower() in term.lower() for term in hits[0].terms)


@pytest.mark.parametrize(
    "query",
    ["量子纠缠", "quantum entanglement", "zzzzqqqq", "→", "", "   ", "？！", "0x7fffdeadbeef"],
)
def test_nothing_rather_than_noise(engine: Engine, query: str) -> None:
    assert engine.search(query) == []


@pytest.mark.parametrize(
    ("query", "places"),
    [
        ("kind:paper", {"link/ethernet.html"}),
        ("类型:论文", {"link/ethernet.html"}),
        ("标签：显存", {"chip/memory.html"}),
        ('tag:"device memory"', {"chip/memory.html"}),
        ("tag:HBM kind:paper", set()),
        ("带宽 tag:NVLink", {ZC}),
        ("带宽 kind:note", {BW}),
        ("!NVLink 带宽", {BW}),
        ("内存 -统一", set()),
        ('"unified memory"', {UM}),
    ],
)
def test_filters_phrases_and_words_to_leave_out(
    engine: Engine, query: str, places: set[str]
) -> None:
    found = {hit.location for hit in engine.search(query)}
    assert places <= found
    assert bool(found) == bool(places)
    pages = {place.partition("#")[0] for place in places}
    assert {place.partition("#")[0] for place in found} <= pages


@pytest.mark.parametrize(
    ("query", "places"), [("kind:term 归约", ["a.html#term-reduce"]), ("归约 kind:figure", [])]
)
def test_an_entry_is_found_by_its_kind(query: str, places: list[str]) -> None:
    page = search_notes.page("a.md", "# 归约\n\n## 环\n\n归约的环。\n")
    said = {"zh": Said("归约", "把各卡的数相加。", "term-reduce")}
    add_entries([page], {("a", "zh"): [(Item("term", "reduce", "a", said), said["zh"])]})
    with Engine(make_index([page])) as engine:
        found = engine.search(query)
    assert [hit.location for hit in found] == places


@pytest.mark.parametrize(
    ("query", "first"),
    [("GDRCopy", "link/gdr.html#copy"), ("GDRCopy 怎么装", "link/faq.html#copy")],
)
def test_a_name_leads_to_its_note_and_a_question_to_its_row(query: str, first: str) -> None:
    row = "## GDRCopy { #copy }\n\nGDRCopy 怎么装：主机上装 GDRCopy 的包，怎么装都要驱动。\n"
    note = "## GDRCopy 读写 { #copy }\n\nCPU 用 GDRCopy 读写显存，写快读慢，适合标志与头部。\n"
    pages = [
        search_notes.page("link/faq.md", f"# 问题\n\n{row}"),
        search_notes.page("link/gdr.md", f"# 拷贝\n\n{note}"),
    ]
    with Engine(make_index(pages)) as engine:
        assert engine.search(query)[0].location == first


def test_quoted_words_that_stand_nowhere_as_quoted_are_looked_for_as_words(engine: Engine) -> None:
    assert engine.search('"memory is unified"')[0].location == UM


def test_a_section_is_listed_once_in_the_readers_language(engine: Engine) -> None:
    for language in ("zh", "en"):
        for query in ("NVLink", "memory 显存", "DCQCN", "HBM"):
            places = [hit.location.removeprefix("en/") for hit in engine.search(query, language)]
            assert places
            assert len(places) == len(set(places))
    assert {hit.language for hit in engine.search("NVLink", "zh")} == {"zh"}


def _first(engine: Engine, query: str, language: str = "zh") -> Hit:
    return engine.search(query, language)[0]


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("统一内存", ["统一内存"]),
        ("显存带宽", ["显存带宽"]),
        ("ibv_post_send", ["ibv_post_send"]),
        ("allreduce", ["all-reduce"]),
        # Not in "distributed".
        ("IB 网卡", ["IB", "IB 网卡"]),
        ("unified memory", ["unified memory"]),
    ],
)
def test_excerpt_marks_the_real_words(engine: Engine, query: str, marked: list[str]) -> None:
    excerpt = _first(engine, query).excerpt_html
    assert re.findall(r"<mark>(.*?)</mark>", excerpt.replace("</mark> <mark>", " ")) == marked


@pytest.mark.parametrize(
    ("language", "query"),
    [
        ("zh", "第一个字要等很久"),
        ("en", "delay before first token"),
        ("zh", "delay before first token"),
    ],
)
def test_a_section_is_found_by_what_people_ask_and_shows_its_own_text(
    language: str, query: str
) -> None:
    notes = [
        (
            "a.md",
            "# 甲\n\n## 预填充\n\n<!-- asked: 第一个字要等很久 | 首字延迟 -->\n\n算完整段提示。\n",
        ),
        (
            "a.en.md",
            "# A\n\n## Prefill\n\n<!-- asked: delay before first token -->\n\nThe whole prompt.\n",
        ),
        ("b.md", "# 乙\n\n## 解码\n\n每步一个 token，先等队列。\n"),
        ("b.en.md", "# B\n\n## Decode\n\nA token a step, after the queue.\n"),
    ]
    with _of(*notes) as engine:
        first = engine.search(query, language)[0]
    assert first.title == ("Prefill" if language == "en" else "预填充")
    assert first.excerpt_html == ("The whole prompt." if language == "en" else "算完整段提示。")


def test_breadcrumb_names_page_and_headings(engine: Engine) -> None:
    hit = _first(engine, "ibv_post_send")
    assert hit.page_title == "以太网"
    assert hit.breadcrumb[-2:] == ("以太网", "发送的零拷贝")


@pytest.mark.parametrize(
    ("notes", "query", "places"),
    [
        # The words side by side before the same words apart.
        (
            [("a.md", "# 甲\n\n对内存做统一的处理。\n"), ("b.md", "# 乙\n\n这里讲统一内存。\n")],
            "统一内存",
            ["b.html", "a.html"],
        ),
        # In one paragraph before in two.
        (
            [
                ("a.md", "# 甲\n\nNVLink 很快。\n\n另说带宽。\n"),
                ("b.md", "# 乙\n\nNVLink 的带宽很高。\n\n另一段。\n"),
            ],
            "NVLink 带宽",
            ["b.html", "a.html"],
        ),
        # A title before a mention.
        (
            [("a.md", "# 甲\n\n这里提到调度器，调度器。\n"), ("b.md", "# 调度器\n\n正文。\n")],
            "调度器",
            ["b.html", "a.html"],
        ),
        # Prose before a footnote.
        (
            [
                ("a.md", "# 甲\n\n见注[^1]。\n\n[^1]: 关于原子操作的手册\n"),
                ("b.md", "# 乙\n\n这里说明原子操作的语义。\n"),
            ],
            "原子操作",
            ["b.html", "a.html"],
        ),
        # An option is no word to leave out.
        (
            [("a.md", "# 编译\n\n## 选项\n\n`nvcc -arch sm_90` 指定架构。\n")],
            "nvcc -arch",
            ["a.html#选项"],
        ),
        # A whole word before one that only begins so.
        (
            [("a.md", "# 甲\n\nprefetching twice\n"), ("b.md", "# 乙\n\nprefetch once\n")],
            "prefetch",
            ["b.html", "a.html"],
        ),
    ],
    ids=["phrase", "paragraph", "title", "footnote", "option", "whole"],
)
def test_order(notes: list[tuple[str, str]], query: str, places: list[str]) -> None:
    with _of(*notes) as engine:
        assert [hit.location for hit in engine.search(query)] == places


_EVERYDAY = [
    (f"{name}.md", f"# {title}\n\n" + "".join(f"## {head}\n\n{text}\n\n" for head, text in rows))
    for name, title, *rows in (
        ("a", "侦听", ("停止侦听", "调用返回的函数。"), ("开启侦听", "侦听一个数据。")),
        ("b", "运行", ("用多 GPU 训练", "每块一份数据。"), ("训练一个模型", "先读数据。")),
        ("c", "图像", ("压缩图像", "体积减小一半。"), ("旋转图像", "转九十度。")),
        (
            "d",
            "表",
            ("缺失值", "用均值填充。"),
            ("序列化", "写入文件。"),
            ("拓扑排序", "依次访问。"),
        ),
    )
]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("怎么取消监听", "a.html#停止侦听"),
        ("多张显卡怎么训练", "b.html#用多-gpu-训练"),
        ("照片太大怎么办", "c.html#压缩图像"),
        ("表里有空缺的怎么补", "d.html#缺失值"),
        # The word itself before one that asks for the same.
        ("怎么旋转图像", "c.html#旋转图像"),
    ],
)
def test_questions_in_everyday_words(query: str, first: str) -> None:
    with _of(*_EVERYDAY) as engine:
        assert _first(engine, query).location == first


@pytest.mark.parametrize(
    "query", ["照片 Redis", "Redis 怎么保存", "怎么报名幼儿园", "护照丢了去哪里补办"]
)
def test_everyday_words_alone_answer_nothing(query: str) -> None:
    with _of(*_EVERYDAY) as engine:
        assert engine.search(query) == []


_MANY_WORDS = [
    ("mem.md", "# 显存\n\n## 梯度检查点\n\n不存激活，反向时再算一遍。\n\n## 分页\n\n按页分配。\n"),
    ("net.md", "# 网络\n\n## 拥塞控制\n\n发送端减速。\n\n## 交换机\n\n转发报文。\n"),
    ("io.md", "# 存储\n\n## 读文件\n\n先缓存。\n\n## 写文件\n\n落盘。\n"),
    ("cpu.md", "# 处理器\n\n## 绑核\n\n线程固定在核上。\n\n## 中断\n\n分给各核。\n"),
    ("ops.md", "# 运维\n\n## DCGM 与 nvidia-smi\n\n一个常驻，一个不。\n\n## 日志\n\n记下。\n"),
]


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("同事说梯度检查点能省下不少，可是慢了很多，到底划不划算", "梯度检查点"),
        ("DCGM 和 nvidia-smi 听着差不多，平时到底该信谁的数", "DCGM 与 nvidia-smi"),
        ("听说交换机一忙就丢包，发送端拥塞控制是不是没起作用", "拥塞控制"),
        ("孩子发烧一直不退，半夜要不要去急诊", None),
        ("周末想带爸妈去海边，住哪里方便又便宜", None),
        ("发送简历以后多久能有回音，要不要打电话问", None),
    ],
)
def test_a_long_question_is_answered_by_what_it_names(query: str, title: str | None) -> None:
    """Most of its words are met nowhere; a name or a term in a title is enough, a word is not."""
    with _of(*_MANY_WORDS) as engine:
        hits = engine.search(query)
    assert (hits[0].title if hits else None) == title


def test_everyday_words_come_in_groups_and_each_once() -> None:
    words = everyday.table()
    groups = [group.split() for group in words["same"]]
    light = words["light"].split()
    assert len(set(light)) == len(light)
    assert len(set(map(frozenset, groups))) == len(groups)
    for group in groups:  # one of its words can be looked for
        assert len(set(group)) == len(group) > 1 and max(map(len, group)) > 1, group


def test_a_word_that_many_mistype_is_found_beside_an_everyday_word() -> None:
    with _of(*_EVERYDAY) as engine:
        assert _first(engine, "拓补排序").location == "d.html#拓扑排序"


@pytest.mark.parametrize(
    ("language", "query", "first"),
    [
        ("zh", "对分带宽怎么算", "link/topo/nvswitch.html#对分带宽怎么算"),
        ("zh", "nvidia-peermem", "link/gpudirect/rdma.html#nv-p2p-与-nvidia-peermem"),
        ("zh", "收敛比", "link/topo/cluster-fabrics.html#收敛比"),
        ("zh", "松散排序", "link/gpudirect/rdma.html#松散排序"),
        ("en", "relaxed ordering", "en/link/gpudirect/rdma.html#relaxed-ordering"),
        # One word that stands nowhere empties nothing.
        ("zh", "显存 9B", "train/memory.html#1b参数对应多少g显存"),
        ("zh", "流水线并行 xyzzy", "train/pipeline-parallel.html"),
        # A misspelt name is repaired before it is stemmed: Hopper, not hop.
        (
            "en",
            "Hoper architecture",
            "en/chip/gpu-generations.html#hopper-moving-data-for-transformers",
        ),
        # Joined and spaced forms.
        ("zh", "Tensor并行", "train/tensor-parallel.html"),
        ("zh", "Tensor 并行", "train/tensor-parallel.html"),
        # The general section before the special one.
        ("zh", "怎么看 GPU 拓扑", "link/topo/server-topologies.html"),
        # Definitions.
        ("en", "what is a warp", "en/hpc/cuda/04-execution-model.html"),
        ("zh", "什么是 warp", "hpc/cuda/04-execution-model.html"),
        ("zh", "MFU 是什么", "train/mfu.html#mfu-与-hfu"),
    ],
)
def test_what_is_asked_for_comes_first(ours: Engine, language: str, query: str, first: str) -> None:
    assert _first(ours, query, language).location == first


@pytest.mark.parametrize(
    ("query", "starts"), [("利用率", "利用率是"), ("NCCL_UTIL", "<code><mark>NCCL_UTIL")]
)
def test_an_excerpt_is_prose_unless_code_is_asked_for(query: str, starts: str) -> None:
    text = "# 甲\n\n```\nNCCL_UTIL=1 利用率\n```\n\n利用率是份额。\n"
    with _of(("a.md", text)) as engine:
        assert (
            _first(engine, query)
            .excerpt_html.replace("<mark>利用率</mark>", "利用率")
            .startswith(starts)
        )


# ---- Bad input -------------------------------------------------------------------------

_TAG = re.compile(r"</?(?:mark|code)>")


@pytest.mark.parametrize(
    "query",
    [
        "带宽" * 20_000,
        "a" * 100_000,
        "NVLink " * 5_000,
        "\x00\x01带宽\x7f\x9b",
        ".*+?^${}()|[]\\",
        "((((((((a)*)*)*)*",
        "[带宽",
        "<script>alert(1)</script> 带宽",
        "<mark>&lt;img onerror=x&gt;",
        "🚀 带宽 👩‍👩‍👧",
        "\ud800带宽\udfff",
        "带\ud83d宽",
        '"',
        '"" "带',
        "kind: tag:",
        "- -- !",
        "\u202e带宽\u2066",
        "constructor __proto__ hasOwnProperty toString",
        "\ue000\ue001\ue002",
    ],
    ids=range(19),
)
def test_bad_input_is_answered(engine: Engine, query: str) -> None:
    for hit in engine.search(query):
        assert not re.search(r"[<>]", _TAG.sub("", hit.excerpt_html))


def test_markup_in_notes_stays_text() -> None:
    text = '# 甲\n\n写 `<script src="x">` 与 &lt;b&gt; 带宽 "引号"。\n'
    with _of(("a.md", text)) as engine:
        excerpt = _first(engine, "带宽").excerpt_html
    assert "&lt;script src=&quot;x&quot;&gt;" in excerpt
    assert not re.search(r"[<>]", _TAG.sub("", excerpt))


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(query=st.text(st.characters(codec=None, exclude_categories=[]), max_size=60))
def test_any_text_is_answered(engine: Engine, query: str) -> None:
    for hit in engine.search(query):
        assert not re.search(r"[<>]", _TAG.sub("", hit.excerpt_html))


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("分散式檔案系統", "分布式文件系统"),
        ("感測器", "传感器"),
        # What readers write beside the form that the notes keep to.
        ("登记", "注册"),
        # Where the notes use a word themselves it keeps what it says there.
        ("程序", "程序"),
    ],
)
def test_other_words_for_what_notes_say(query: str, title: str) -> None:
    notes = (
        ("a.md", "# 存储\n\n## 分布式文件系统\n\n多机同看一份。\n\n## 备份\n\n另存一份。\n"),
        ("b.md", "# 机房\n\n## 传感器\n\n读温度。\n\n## 供电\n\n两路。\n"),
        ("c.md", "# 系统\n\n## 进程\n\n独立的地址。\n\n## 程序\n\n一段指令。\n"),
        ("d.md", "# 账户\n\n## 注册\n\n用户要先注册。\n\n## 付款\n\n用户再付款。\n"),
    )
    with _of(*notes) as engine:
        hits = engine.search(query)
    assert [hit.title for hit in hits] == [title]
