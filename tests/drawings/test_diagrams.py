"""Diagrams: what mermaid refuses is found, with the line, without a browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from hooks.drawings import diagrams
from hooks.drawings.diagrams import Diagram, check_diagrams
from hooks.findings.finding import Finding

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "docs/assets/vendor/mermaid/mermaid.min.js"

GOOD = {
    "flowchart": (
        'flowchart LR\n  A["GPU 0（显存）"] -->|NVLink| B[交换机]\n'
        "  subgraph 节点\n    B --> C{有 P2P 吗}\n  end\n  classDef x fill:#f00;\n  class A x;\n"
        '  click A "https://example.org/x"\n'
    ),
    "sequence": (
        "sequenceDiagram\n  participant A as 主机\n  A->>B: 写门铃\n  Note over A,B: 无拷贝\n"
        "  alt 命中\n    A-->>B: 完成\n  else 未命中\n    B->>A: 重试\n  end\n"
    ),
    "timeline": "timeline\n  title NVLink 发展\n  2016 : NVLink 1 : P100\n  2018 : NVSwitch\n",
    "gantt": (
        "gantt\n  title 流水线\n  dateFormat YYYY-MM-DD\n  section 阶段 0\n"
        "  前向 :a1, 2024-01-01, 30d\n  反向 :after a1, 20d\n"
    ),
    "class": (
        "classDiagram\n  class 通信器 {\n    +int rank\n    +init() void\n  }\n"  # members
        "  通信器 <|-- 环\n"
    ),
    "state": (
        "stateDiagram-v2\n  [*] --> 空闲\n  空闲 --> 运行: 启动\n"  # a nested state
        "  state 运行 {\n    [*] --> a\n  }\n"
    ),
    "mindmap": "mindmap\n  root((AI 基础设施))\n    硬件\n      GPU\n    软件\n",
    "pie": 'pie title 时间占比\n  "计算" : 70\n  "通信" : 30\n',
    "xychart": (
        'xychart-beta\n  title "带宽"\n  x-axis ["一代", "二代"]\n  y-axis "GB/s" 0 --> 900\n'
        "  bar [80, 150]\n  line [80, 150]\n"
    ),
    "quadrant": "quadrantChart\n  title 选型\n  x-axis 慢 --> 快\n  A: [0.3, 0.6]\n",
    "block": 'block-beta\n  columns 3\n  a["显存"] b c\n  a --> b\n',
    "packet": 'packet-beta\n  0-15: "源端口"\n  16-31: "目的端口"\n',
    "sankey": 'sankey-beta\n\n"in, out",B,10\n\nB,C,10\n',
    "gitGraph": 'gitGraph\n  commit\n  branch dev\n  checkout dev\n  commit id: "改"\n',
    "er": "erDiagram\n  NODE ||--o{ GPU : holds\n",
    "radar": 'radar-beta\n  axis a["甲"], b["乙"], c["丙"]\n  curve x["X"]{1, 2, 3}\n',
    "front matter": "---\ntitle: 图\nconfig:\n  theme: base\n---\nflowchart LR\n  A --> B\n",
    "directive": '%%{init: {"theme": "base"}}%%\nflowchart LR\n  A --> B\n',
    "comments": "%% 说明\n\nflowchart LR\n  %% 中间\n  A --> B\n",
    "maths and breaks": 'flowchart LR\n  A["a<br/>b"] --> B["$$x^2$$"]\n',
    "no newline": "flowchart LR\n  A --> B",
}

# Name, text, line and column of the finding (line 1 is the first of the text), part of the message
BAD = [
    ("open bracket", "flowchart LR\n A --> B\n A --> [x\n C --> D\n", 3, 8, "'['"),
    ("bare parenthesis", "flowchart LR\n A[GPU (0)] --> B\n", 2, 8, "did not expect '('"),
    ("open subgraph", "flowchart LR\n subgraph x\n A --> B\n", 3, 0, "did not expect"),
    ("stray end", "flowchart LR\n A --> B\n end\n", 3, 2, "'end'"),
    ("direction", "flowchart XX\n A --> B\n", 1, 0, "cannot read this line"),
    ("open alt", "sequenceDiagram\n A->>B: x\n alt a\n A->>B: y\n", 4, 0, "did not expect"),
    ("no message", "sequenceDiagram\n A->>B: x\n A->>B\n B->>A: y\n", 3, 0, "rather TXT"),
    ("timeline", "timeline\n titel x\n  : a\n  :b\n", 4, 3, "':'"),
    ("gantt line", "gantt\n foo bar\n", 2, 0, "taskData"),
    (
        "gantt date",
        "gantt\n dateFormat YYYY-MM-DD\n section a\n t :a1, 2024-13-99, 3d\n",
        *(4, 0, "Invalid date"),
    ),
    ("open class", "classDiagram\n class A {\n +int a\n A <|-- B\n", 4, 0, "STRUCT_STOP"),
    ("state", "stateDiagram-v2\n [*] --> A\n A -->\n B --> C\n", 3, 0, "rather ID"),
    ("mindmap", "mindmap\n  root\n    A\n  B[x\n", 4, 0, "did not expect"),
    ("two roots", "mindmap\n  root\n  other\n", 3, 0, "only one root"),
    ("pie", 'pie\n "A" : 30\n "B" : x\n', 3, 8, "unexpected character: ->x<-"),
    ("xychart", "xychart-beta\n x-axis [一代, 二代]\n bar [1, 2]\n", 2, 0, "cannot read this line"),
    ("quadrant", "quadrantChart\n A: [0.3, 7]\n", 2, 0, "cannot read this line"),
    ("packet", 'packet-beta\n 0-15 "a"\n', 2, 7, "Expecting token of type ':'"),
    ("sankey", "sankey-beta\n\nA,B,10\n\n甲,乙,20\n", 5, 0, "rather NEWLINE"),
    ("git branch", "gitGraph\n commit\n checkout dev\n", 3, 0, "not yet created"),
    ("git word", "gitGraph\n commit\n comit\n", 3, 2, "comit"),
    ("architecture", "architecture-beta\n service d(database)[D] in api\n", 2, 0, "parent"),
    ("unknown type", "\nflowchrat LR\n A --> B\n", 2, 0, "no diagram type 'flowchrat'"),
    ("empty", "\n", 1, 0, "empty"),
    ("bad front matter", "---\ntitle: [\n---\nflowchart LR\n A --> B\n", 2, 0, "refuses"),
    (
        "after front matter",
        "---\ntitle: a\n---\nflowchart LR\n A --> B\n A --> [\n",
        *(6, 8, "'['"),
    ),
    (
        "after directive and comments",
        '%%{init: {"theme": "base"}}%%\n%% one\n\n%% two\nflowchart LR\n %% three\n A --> [\n',
        *(7, 8, "'['"),
    ),
    ("after CRLF", "flowchart LR\r\n A --> B\r\n A --> [\r\n", 3, 8, "'['"),
]


@pytest.fixture(scope="module")
def found() -> dict[str, Finding]:
    """Findings of all good and bad texts, by name; one engine for all."""
    texts = {**GOOD, **{f"bad {name}": text for name, text, *_ in BAD}}
    wanted = [Diagram(name, 101, text) for name, text in texts.items()]
    return {finding.file: finding for finding in check_diagrams(wanted, LIBRARY, None)}


@pytest.mark.parametrize("name", GOOD)
def test_valid_diagrams_pass(name: str, found: dict[str, Finding]) -> None:
    assert name not in found, found[name].text


@pytest.mark.parametrize(("name", "text", "line", "column", "part"), BAD, ids=[b[0] for b in BAD])
def test_broken_diagrams_are_found_at_their_line(
    name: str, text: str, line: int, column: int, part: str, found: dict[str, Finding]
) -> None:
    finding = found[f"bad {name}"]
    assert (finding.line - 100, finding.column) == (line, column)
    assert part in finding.message
    assert (finding.rule, finding.severity) == ("diagram-syntax", "error")
    assert len(finding.message) < 250
    assert "\n" not in finding.message


def test_unknown_type_suggests_the_nearest(found: dict[str, Finding]) -> None:
    assert found["bad unknown type"].suggestion == "flowchart"


def test_indent_is_added_to_the_column() -> None:
    diagram = Diagram("n.md", 1, "flowchart LR\n A --> [\n", indent=4)
    assert [f.column for f in check_diagrams([diagram], LIBRARY, None)] == [12]


def test_one_text_in_two_notes_is_found_in_both() -> None:
    wanted = [
        Diagram("a.md", 5, "flowchart LR\n A --> [\n"),
        Diagram("a.en.md", 7, "flowchart LR\n A --> [\n"),
    ]
    assert [(f.file, f.line) for f in check_diagrams(wanted, LIBRARY, None)] == [
        ("a.md", 6),
        ("a.en.md", 8),
    ]


def test_text_beyond_the_limit_of_mermaid_is_refused() -> None:
    text = "flowchart LR\n" + "%% x\n" * 12_000
    assert "longer than" in check_diagrams([Diagram("a.md", 1, text)], LIBRARY, None)[0].message


# ---------------------------------------------------------------- cache and guard

FAKE = """
globalThis.mermaid = {
  parse: function (text) {
    if (text.indexOf("spin") >= 0) { for (;;) {} }
    if (text.indexOf("wait") >= 0) { return new Promise(function () {}); }
    if (text.indexOf("late") >= 0) { return Promise.resolve().then(function () { for (;;) {} }); }
    if (text.indexOf("bad") >= 0) { return Promise.reject(new Error("bad thing")); }
    return Promise.resolve({diagramType: "flowchart"});
  }
};
"""


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """A library that parses, refuses, or hangs on demand."""
    path = tmp_path / "mermaid.js"
    path.write_text(FAKE, encoding="utf-8")
    return path


@pytest.mark.parametrize("word", ["spin", "wait", pytest.param("late", marks=pytest.mark.slow)])
def test_a_hanging_diagram_is_a_finding_and_others_are_still_checked(
    word: str, fake: Path, tmp_path: Path
) -> None:
    wanted = [Diagram("a", 3, word), Diagram("b", 4, "bad"), Diagram("c", 5, "fine")]
    cache = tmp_path / "cache"
    found = check_diagrams(wanted, fake, cache, timeout_s=3.0)
    assert [(f.file, f.line, f.rule) for f in found] == [
        ("a", 3, "diagram-timeout"),
        ("b", 4, "diagram-syntax"),
    ]
    kept = json.loads((cache / "diagrams.json").read_text(encoding="utf-8"))["verdicts"]
    assert len(kept) == 2, "a timeout must not be remembered"


def _no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("V8 was started")

    monkeypatch.setattr(diagrams, "_ask", refuse)


def test_an_unchanged_tree_starts_no_engine(
    fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = [Diagram("a", 1, "fine"), Diagram("b", 1, "bad")]
    first = check_diagrams(wanted, fake, tmp_path)
    _no_engine(monkeypatch)
    assert check_diagrams(wanted, fake, tmp_path) == first != []
    with pytest.raises(AssertionError):
        check_diagrams([*wanted, Diagram("c", 1, "new")], fake, tmp_path)


def test_no_diagrams_need_no_library(tmp_path: Path) -> None:
    assert check_diagrams([], tmp_path / "missing.js", None) == []


def test_another_library_is_asked_again(fake: Path, tmp_path: Path) -> None:
    assert check_diagrams([Diagram("a", 1, "bad")], fake, tmp_path) != []
    fake.write_text(FAKE.replace('"bad"', '"worse"'), encoding="utf-8")
    assert check_diagrams([Diagram("a", 1, "bad")], fake, tmp_path) == []


def test_a_rotten_cache_changes_no_verdict(fake: Path, tmp_path: Path) -> None:
    wanted = [Diagram("a", 1, "bad")]
    truth = check_diagrams(wanted, fake, tmp_path)
    cache = tmp_path / "diagrams.json"
    key = next(iter(json.loads(cache.read_text(encoding="utf-8"))["verdicts"]))
    empty = '{"verdicts": {"KEY": {"message": ""}}}'
    for content in ("", "{", "[]", '{"verdicts": []}', empty, "\x00\xff"):
        cache.write_bytes(content.replace("KEY", key).encode("latin-1"))
        assert check_diagrams(wanted, fake, tmp_path) == truth, content
    cache.unlink()
    assert check_diagrams(wanted, fake, tmp_path) == truth


@pytest.mark.parametrize("script", ["throw new Error('x')", "var nothing = 1", "this is no script"])
def test_a_library_that_does_not_run_blames_no_diagram(script: str, tmp_path: Path) -> None:
    library = tmp_path / "mermaid.js"
    library.write_text(script, encoding="utf-8")
    with pytest.raises(RuntimeError, match="mermaid"):
        check_diagrams([Diagram("a", 1, "flowchart LR")], library, None)


@pytest.mark.browser
def test_a_browser_judges_the_same(browser: Browser, found: dict[str, Finding]) -> None:
    page = browser.new_page()
    page.set_content("<p>x</p>")
    page.add_script_tag(path=str(LIBRARY))
    judge = "t => mermaid.parse(t).then(() => true, () => false)"
    # Dates are read when a gantt chart is drawn; parsing alone accepts them.
    bad = {f"bad {name}": text for name, text, *_ in BAD if name != "gantt date"}
    texts = {**GOOD, **bad}
    verdicts = {name: page.evaluate(judge, text) for name, text in texts.items()}
    page.close()
    assert verdicts == {name: name not in found for name in texts}
