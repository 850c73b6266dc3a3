"""Measured records: read with places, refused when they contradict themselves, drawn in full."""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from hooks.data.measured import MeasuredError
from hooks.data.measured_check import check_record
from hooks.data.wording import number
from hooks.pages.measured_table import render_measured

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "int main() { return 0; }\n"

RECORD: dict[str, Any] = {
    "schema": 1,
    "id": "p2p",
    "title": {"zh": "对等拷贝", "en": "Peer copies"},
    "date": "2026-11-21",
    "machine": {
        "description": {"zh": "四卡 <主机>", "en": "four-GPU <host>"},
        "gpu": "NVIDIA H200",
        "gpu_count": 4,
        "driver": "580.159",
        "cuda": "13.0",
        "nccl": "2.28.9",
        "free": "anything",
    },
    "program": {
        "path": "docs/t/code/p2p.cu",
        "sha256": hashlib.sha256(PROGRAM.encode()).hexdigest(),
    },
    "command": "nvcc p2p.cu && ./a.out",
    "notes": {"zh": "预热后", "en": "after warm-up"},
    "specification": [
        {
            "id": "gpu_uni",
            "value": 450,
            "unit": "GB/s",
            "direction": "uni",
            "per": "GPU",
            "source": "https://example.org/h200",
        },
        {
            "id": "lane",
            "value": 12.5,
            "unit": "GB/s",
            "direction": "uni",
            "per": "lane",
            "source": "docs/data/facts/nvlink.yml: h100, lane",
        },
    ],
    "results": [
        {
            "id": "pairs",
            "title": {"zh": "每对", "en": "Each pair"},
            "unit": "GB/s",
            "direction": "uni",
            "per": "pair",
            "statistic": "median",
            "n": 20,
            "axes": ["src", "dst"],
            "points": [
                {"src": 0, "dst": 1, "value": 400, "p5": 399.1, "p95": 401.2},
                {"src": 1, "dst": 0, "value": 200, "p5": 199.0, "p95": 201.0},
            ],
            "spec": "gpu_uni",
        },
        {
            "id": "sizes",
            "title": "Sizes",
            "unit": "us",
            "statistic": "median",
            "n": 20,
            "direction": None,
            "per": None,
            "axes": [{"name": "bytes"}],
            "points": [{"bytes": 4194304, "value": 12.34567}, {"bytes": 1000, "value": 3}],
        },
    ],
    "summary": [
        {
            "title": {"zh": "中位数", "en": "Median of all"},
            "value": 396,
            "unit": "GB/s",
            "direction": "uni",
            "per": "pair",
            "ratio_to": {"spec": "gpu_uni", "ratio": 0.88},
            "statistic": "median",
            "spread": {"min": 395.5, "max": 397},
            "result": "pairs",
        },
        {"title": "Latency", "value": 3, "unit": "us", "result": "sizes"},
    ],
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with one program, one family of facts and one record."""
    for folder in ("docs/t/code", "docs/t/measured", "docs/data/facts"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "docs/t/code/p2p.cu").write_text(PROGRAM, encoding="utf-8")
    facts = "rows: {h100: {cells: {lane: {value: 12.50}}}}\n"
    (tmp_path / "docs/data/facts/nvlink.yml").write_text(facts, encoding="utf-8")
    write(tmp_path, RECORD)
    return tmp_path


def write(root: Path, record: object) -> Path:
    """Write the record of the repository."""
    path = root / "docs/t/measured/p2p.json"
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False), encoding="utf-8")
    return path


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """Return the record with one change."""
    record = copy.deepcopy(RECORD)
    change(record)
    return record


def test_a_good_record_passes(root: Path) -> None:
    assert check_record(root / "docs/t/measured/p2p.json", root) == []


# Change, rule, text on the line that the finding must name, part of the message
WRONG: list[tuple[Callable[[dict[str, Any]], object], str, str, str]] = [
    (lambda r: r.pop("date"), "measurement-field", "{", "'date' is missing"),
    (lambda r: r.update(schema=2), "measurement-field", '"schema"', "'schema'"),
    (lambda r: r.update(date="2999-01-01"), "measurement-field", '"date"', "in the future"),
    (lambda r: r.update(date="soon"), "measurement-field", '"date"', "'date'"),
    (
        lambda r: r["program"].update(sha256="abc"),
        *("measurement-field", '"sha256"', "'sha256' in 'program'"),
    ),
    (
        lambda r: r["results"][0].update(direction="both"),
        *("measurement-field", '"direction": "both"', "'direction' in 'results'"),
    ),
    (
        lambda r: r["results"][0]["points"][1].pop("dst"),
        *("measurement-field", '"src": 1', "lacks dst"),
    ),
    (
        lambda r: r["results"][0]["points"][1].update(value="200"),
        *("measurement-field", '"src": 1', "lacks value"),
    ),
    (
        lambda r: r["results"][0].update(spec="gpu_un"),
        *("measurement-reference", '"spec": "gpu_un"', "'gpu_un'"),
    ),
    (
        lambda r: r["summary"][0]["ratio_to"].update(spec="gpu"),
        *("measurement-reference", '"spec": "gpu"', "'gpu'"),
    ),
    (
        lambda r: r["summary"][0].update(result="pair"),
        *("measurement-reference", '"result": "pair"', "'pair'"),
    ),
    (
        lambda r: (r["results"][1].update(id="pairs"), r["summary"].pop()),
        *("measurement-reference", '"id": "pairs"', "two results"),
    ),
    (
        lambda r: r["specification"][1].update(value=25),
        *("measurement-reference", '"value": 25', "12.50 in docs/data/facts/nvlink.yml"),
    ),
    (
        lambda r: r["specification"][1].update(source="docs/data/facts/nvlink.yml: h100, lanes"),
        *("measurement-reference", '"docs/data/facts/nvlink.yml: h100, lanes"', "there is no"),
    ),
    (
        lambda r: r["summary"][0]["ratio_to"].update(ratio=0.98),
        *("measurement-ratio", '"ratio_to"', "ratio 0.98 is not 396 / 450 = 0.88"),
    ),
    (
        lambda r: r["summary"][0].update(direction="bi"),
        *("measurement-ratio", '"ratio_to"', "compares direction bi with uni"),
    ),
    (
        lambda r: r["summary"][0].update(unit="GiB/s"),
        *("measurement-ratio", '"ratio_to"', "compares unit GiB/s with GB/s"),
    ),
    (
        lambda r: r["program"].update(sha256="0" * 64),
        *("measurement-stale", '"program"', "has changed since it was measured"),
    ),
    (
        lambda r: r["program"].update(path="docs/t/code/gone.cu"),
        *("measurement-stale", '"program"', "is not in the repository"),
    ),
]


@pytest.mark.parametrize(("change", "rule", "at", "said"), WRONG)
def test_what_is_wrong_is_found_at_its_line(
    change: Callable[[dict[str, Any]], object], rule: str, at: str, said: str, root: Path
) -> None:
    path = write(root, changed(change))
    found = [f for f in check_record(path, root) if f.rule == rule]
    assert [said in f.message for f in found] == [True], found
    assert found[0].file == "docs/t/measured/p2p.json"
    assert found[0].severity == ("warning" if rule == "measurement-stale" else "error")
    lines = path.read_text(encoding="utf-8").split("\n")
    line = lines[found[0].line - 1].strip()
    # An object in a list starts on a line of its own; what tells it apart is on the next.
    assert at in (lines[found[0].line] if line == "{" != at else line), found


def test_text_that_is_no_json(root: Path) -> None:
    path = root / "docs/t/measured/p2p.json"
    path.write_text('{\n "schema": 1,\n}\n', encoding="utf-8")
    found = check_record(path, root)
    assert [f.rule for f in found] == ["measurement-field"]
    assert found[0].line in (2, 3)
    assert "not JSON" in found[0].message


def test_a_program_that_was_only_laid_out_anew_is_not_stale(root: Path) -> None:
    program = root / "docs/t/code/p2p.cu"
    program.write_text(PROGRAM.replace(" ", "  "), encoding="utf-8")
    same = hashlib.sha256(program.read_bytes()).hexdigest()
    path = write(root, changed(lambda record: record["program"].update(same=[same])))
    assert check_record(path, root) == []


def test_a_changed_program_makes_the_record_stale(root: Path) -> None:
    path = root / "docs/t/measured/p2p.json"
    (root / "docs/t/code/p2p.cu").write_text(PROGRAM + "// faster\n", encoding="utf-8")
    assert [f.rule for f in check_record(path, root)] == ["measurement-stale"]
    tree = drawn(root)
    assert words(tree, ".measured__stale") == [
        "The program has changed since; the figures belong to its former version: "
        "docs/t/code/p2p.cu"
    ]


# --------------------------------------------------------------------- drawing


def drawn(
    root: Path, more: str = "", language: str = "en", folder: str = "measured"
) -> LexborHTMLParser:
    """Parse the HTML of a block."""
    html = render_measured(
        f"file: t/{folder}/p2p.json\n{more}",
        docs_dir=root / "docs",
        root=root,
        language=language,
        page_dir="en/t" if language == "en" else "t",
    )
    return LexborHTMLParser(html)


def words(tree: LexborHTMLParser, selector: str) -> list[str]:
    """Texts of all matches, blanks collapsed."""
    return [" ".join(node.text().split()) for node in tree.css(selector)]


def test_the_summary_says_value_statistic_spread_and_share(root: Path) -> None:
    tree = drawn(root)
    assert words(tree, "thead th") == ["What", "Measured", "Statistic", "Min–max", "Share"]
    assert words(tree, "tbody tr:first-child > *") == [
        "Median of all",
        "396 GB/s one direction · per pair",
        "median",
        "395.5–397",
        "88.0% of 450 GB/s · one direction · per GPU",
    ]
    assert words(tree, "tbody tr:last-child > *") == [
        "Latency",
        "3 us",
        "— none",
        "— none",
        "— none",
    ]
    assert not tree.css(".measured__stale")


def test_the_summary_in_chinese(root: Path) -> None:
    tree = drawn(root, language="zh")
    assert words(tree, "tbody tr:first-child > *") == [
        "中位数",
        "396 GB/s 单向 · 每 GPU 对",
        "中位数",
        "395.5–397",
        "88.0% 对 450 GB/s · 单向 · 每 GPU",
    ]


def test_columns_that_no_line_needs_are_left_out(root: Path) -> None:
    tree = drawn(root, "results: [sizes]")
    assert words(tree, "thead th") == ["What", "Measured"]
    assert words(tree, "tbody th") == ["Latency"]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        (
            "en",
            "Machine: four-GPU <host>, 4 × NVIDIA H200, driver 580.159, CUDA 13.0, NCCL 2.28.9, "
            "measured on 2026-11-21",
        ),
        (
            "zh",
            "机器：四卡 <主机>，4 × NVIDIA H200，驱动 580.159，CUDA 13.0，NCCL 2.28.9，"
            "测于 2026-11-21",
        ),
    ],
)
def test_machine_versions_and_day_are_said(language: str, said: str, root: Path) -> None:
    assert words(drawn(root, language=language), ".measured__machine") == [said]


@pytest.mark.parametrize(
    ("language", "value", "date"),
    [("en", "Simulated", "computed on 2026-11-21"), ("zh", "模拟值", "算于 2026-11-21")],
)
def test_what_a_program_computed_is_not_called_measured(
    language: str, value: str, date: str, root: Path
) -> None:
    (root / "docs/t/measured").rename(root / "docs/t/simulated")
    tree = drawn(root, language=language, folder="simulated")
    assert words(tree, "thead th")[1] == value
    assert date in words(tree, ".measured__machine")[0]
    assert not {"measured on", "测于"} & set(words(tree, ".measured__machine"))


@pytest.mark.parametrize(
    ("language", "links"),
    [
        ("zh", ["code/p2p.cu", "measured/p2p.json"]),
        ("en", ["../../t/code/p2p.cu", "../../t/measured/p2p.json"]),
    ],
)
def test_program_and_record_are_linked_from_the_page(
    language: str, links: list[str], root: Path
) -> None:
    tree = drawn(root, language=language)
    assert [node.attributes["href"] for node in tree.css(".measured__links a")] == links
    assert words(tree, "pre code") == ["nvcc p2p.cu && ./a.out"]


def test_points_show_axes_and_percentiles(root: Path) -> None:
    tree = drawn(root, "view: points\nresults: [pairs]")
    assert words(tree, "caption") == ["Each pair: GB/s, one direction, per pair, median, n = 20"]
    assert words(tree, "thead th") == [
        *("source GPU", "destination GPU", "Measured (GB/s)", "p5", "p95", "Share (450 GB/s)")
    ]
    assert words(tree, "tbody tr:first-child > *") == ["0", "1", "400", "399.1", "401.2", "88.9%"]


def test_sizes_are_read_as_people_say_them(root: Path) -> None:
    tree = drawn(root, "view: points\nresults: [sizes]")
    assert words(tree, "tbody tr > *") == ["4 MiB", "12.35", "1000 B", "3"]


def test_a_heatmap_is_a_table_with_numbers(root: Path) -> None:
    tree = drawn(root, "view: heatmap\nresults: [pairs]")
    assert words(tree, "thead th") == ["source GPU ↓ destination GPU →", "0", "1"]
    assert words(tree, "tbody tr:first-child > *") == ["0", "— no such pair", "400"]
    assert [node.attributes["style"] for node in tree.css("td[style]")] == [
        "--share:1.000",
        "--share:0.500",
    ]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("view: heat", "no view 'heat'; did you mean 'heatmap'?"),
        ("view: points\nresults: [pair]", "no result 'pair'; did you mean 'pairs'?"),
        ("results: [pair]", "no result 'pair'"),
        ("results: pairs", "must be a list"),
        ("view: heatmap\nresults: [sizes]", "needs two axes; the result 'sizes' has bytes"),
        ("title: x", "no field of a measured block 'title'"),
    ],
)
def test_what_a_block_may_not_ask(more: str, said: str, root: Path) -> None:
    with pytest.raises(MeasuredError, match=re.escape(said)):
        drawn(root, more)


def test_a_missing_record_suggests_the_nearest(root: Path) -> None:
    with pytest.raises(MeasuredError, match=re.escape("did you mean 't/measured/p2p.json'?")):
        render_measured(
            "file: t/measured/p2p2.json", docs_dir=root / "docs", root=root, language="zh"
        )


def test_an_invalid_record_is_not_drawn(root: Path) -> None:
    write(root, changed(lambda r: r.pop("machine")))
    with pytest.raises(MeasuredError, match="no valid record"):
        drawn(root)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (450, "450"),
        (1048576, "1048576"),
        (396.8, "396.8"),
        (26.562, "26.562"),
        (0.08832, "0.08832"),
        (391.23456, "391.2"),
        (1234.5678, "1235"),
        (0.0123456, "0.01235"),
        (-12.345678, "-12.35"),
        (0.0, "0.0"),
    ],
)
def test_numbers_keep_four_digits_or_what_the_record_rounded_to(value: float, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs").rglob("measured/*.json")), ids=lambda path: path.name
)
def test_records_of_the_handbook_are_valid_and_draw(path: Path) -> None:
    found = check_record(path, ROOT)
    assert not found, "\n".join(f.text for f in found)
    spec = f"file: {path.relative_to(ROOT / 'docs').as_posix()}"
    summary = json.loads(path.read_text(encoding="utf-8")).get("summary")
    for view in ("summary", "points") if summary else ("points",):
        for language in ("zh", "en"):
            html = render_measured(
                f"{spec}\nview: {view}", docs_dir=ROOT / "docs", root=ROOT, language=language
            )
            assert "facts__table" in html
