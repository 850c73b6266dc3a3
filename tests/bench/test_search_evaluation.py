"""The evaluation of the search: its numbers by hand, its queries, and floors for our engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bench import __main__ as bench
from bench import pages
from bench.search.evaluation import compare, history, known_items, metrics, queries, report
from bench.search.evaluation.command import search_eval
from bench.search.evaluation.engines import Engine, Recorded, ask, own_engine
from bench.search.evaluation.metrics import Answer
from bench.search.evaluation.queries import Query, QueryError
from bench.search.evaluation.sections import read
from hooks.search.engine import open_engine
from hooks.search.index import Index

ROOT = Path(__file__).resolve().parents[2]
QUERIES = ROOT / "bench/search/queries"
PARTS = pages.PAGES["search"]


def query(number: int = 1, kind: str = "zh", **right: int) -> Query:
    """Return a query; section `a__b` stands for `a.md#b`, `a` for `a.md`."""
    sections = {}
    for name, grade in right.items():
        stem, _, anchor = name.partition("__")
        sections[f"{stem}.md#{anchor}" if anchor else f"{stem}.md"] = grade
    return Query.model_validate(
        {
            "id": f"{kind}-{number}",
            "class": kind,
            "language": "zh",
            "text": f"{kind} {number}",
            "right": sections,
        }
    )


def answer(one: Query, *keys: str | None) -> Answer:
    return Answer(one, keys)


# ---- The numbers -----------------------------------------------------------------------

RIGHT = query(a__x=3, a__y=2, b=1)


@pytest.mark.parametrize(
    ("keys", "rank", "page_rank"),
    [
        pytest.param(["a.md#x"], 1, 1, id="first"),
        pytest.param(["c.md", "a.md#y"], 2, 2, id="grade 2 is right"),
        pytest.param(["b.md"], 0, 0, id="grade 1 is not"),
        pytest.param(["a.md#z", None, "a.md#x"], 3, 1, id="the right page before the section"),
        pytest.param([None] * 10 + ["a.md#x"], 0, 0, id="eleventh is too late"),
        pytest.param([None] * 9 + ["a.md#x"], 10, 10, id="tenth"),
        pytest.param([], 0, 0, id="nothing"),
    ],
)
def test_rank(keys: list[str | None], rank: int, page_rank: int) -> None:
    found = answer(RIGHT, *keys)
    assert (found.rank, found.page_rank) == (rank, page_rank)


@pytest.mark.parametrize(
    ("keys", "ndcg"),
    [
        # Gains 7, 3, 1 at discounts 1, 1.585, 2: the best possible is 7 + 1.8928 + 0.5.
        pytest.param(["a.md#x", "a.md#y", "b.md"], 1.0, id="perfect"),
        pytest.param(["b.md"], 1 / 9.3928, id="acceptable only"),
        pytest.param(["a.md#y", "a.md#x"], (3 + 7 / 1.58496) / 9.3928, id="swapped"),
        pytest.param(["a.md#x", "a.md#x"], 7 / 9.3928, id="the same twice counts once"),
        pytest.param([], 0.0, id="nothing"),
    ],
)
def test_ndcg(keys: list[str], ndcg: float) -> None:
    assert answer(RIGHT, *keys).ndcg == pytest.approx(ndcg, abs=1e-4)


def test_score_means() -> None:
    answers = [
        answer(query(1, a__x=3), "a.md#x"),  # 1
        answer(query(2, a__x=3), "b.md", "a.md#x"),  # 1/2
        answer(query(3, "api", a__x=3), "b.md", "a.md", "c.md", "d.md", "e.md", "a.md#x"),  # 1/6
        answer(query(4, "api", a__x=3)),  # 0
        answer(query(5, "none"), "a.md"),  # counted apart
    ]
    scores = metrics.score(answers)
    assert scores.queries == 4
    assert scores.mrr == pytest.approx((1 + 1 / 2 + 1 / 6 + 0) / 4)
    assert (scores.success_1, scores.success_5, scores.empty) == (0.25, 0.5, 0.25)
    assert (scores.page_success_1, scores.page_success_5) == (0.25, 0.75)
    assert {kind: one.queries for kind, one in metrics.by_class(answers).items()} == {
        "zh": 2,
        "api": 2,
    }
    none = metrics.false_hits(answers)
    assert (none.queries, none.with_hits, none.hits) == (1, 1.0, 1.0)
    assert "zh                 2   0.750" in report.table(answers)


def test_score_of_nothing() -> None:
    assert metrics.score([]).mrr == 0
    assert metrics.false_hits([]).hits == 0


# ---- Two engines -----------------------------------------------------------------------


def pair(ranks: list[tuple[int, int]]) -> tuple[list[Answer], list[Answer]]:
    """Return two engines' answers with the first right section at these ranks (0: nowhere)."""

    def at(number: int, rank: int) -> Answer:
        keys = ["b.md"] * (rank - 1) + ["a.md#x"] if rank else []
        return answer(query(number, a__x=3), *keys)

    first = [at(number, one) for number, (one, _) in enumerate(ranks, 1)]
    return first, [at(number, other) for number, (_, other) in enumerate(ranks, 1)]


def test_compare_wins_and_losses() -> None:
    result = compare.compare(*pair([(2, 1), (0, 1), (1, 2), (1, 1)]), rounds=200)
    assert result.difference == pytest.approx((0.5 + 1 - 0.5 + 0) / 4)
    assert [(one.id, one.before, one.after) for one in result.wins] == [
        ("zh-2", 0, 1),
        ("zh-1", 2, 1),
    ]
    assert [one.id for one in result.losses] == ["zh-3"]
    text = report.comparison(result, "before", "now")
    assert "zh-2             - ->   1  zh 2" in text


@pytest.mark.parametrize(
    ("ranks", "low", "high"),
    [
        pytest.param([(1, 1)] * 30, 1.0, 1.0, id="the same"),
        pytest.param([(0, 1)] * 30, 0.0, 0.01, id="always better"),
        pytest.param([(2, 1), (1, 2)] * 15, 0.9, 1.0, id="as often better as worse"),
        # One query of three decides: half of all signs give as much.
        pytest.param([(2, 1), (1, 1), (3, 3)], 0.99, 1.0, id="one query"),
    ],
)
def test_compare_tells_luck(ranks: list[tuple[int, int]], low: float, high: float) -> None:
    result = compare.compare(*pair(ranks), rounds=500)
    assert low <= result.p <= high
    assert result.low <= result.difference <= result.high


def test_compare_refuses_other_queries() -> None:
    first, second = pair([(1, 1), (1, 1)])
    with pytest.raises(ValueError, match="different queries"):
        compare.compare(first, second[::-1])


# ---- Sets of queries -------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(QUERIES.glob("*.yml")), ids=lambda path: path.name)
def test_query_files_are_well_formed(path: Path) -> None:
    found = queries.load_set(path)
    assert path.name == f"{found.collection}.{found.half}.yml"
    assert {query.kind for query in found.queries} == set(queries.CLASSES)


@pytest.mark.parametrize(
    ("collection", "least"),
    [
        ("handbook", 150),
        ("oi-wiki", 120),
        ("pingcap", 120),
        ("llm-action", 110),
        ("llm-note", 110),
        ("llm-interview", 110),
        ("ai-infra-hpc", 110),
    ],
)
def test_halves_share_no_query(collection: str, least: int) -> None:
    assert len(queries.load(sorted(QUERIES.glob(f"{collection}.*.yml")))) >= least


def test_judged_sections_of_the_handbook_exist() -> None:
    sections = read(ROOT / "docs")
    missing = {
        f"{query.id}: {key}"
        for query in queries.load(sorted(QUERIES.glob("handbook.*.yml")))
        for key in query.right
        if key not in sections
    }
    assert not missing


GOOD = (
    "collection: a\nhalf: dev\nqueries:\n"
    "- {id: zh-1, class: zh, language: zh, text: 甲, right: {a.md: 3}}\n"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace("a.md: 3", "a.md: 2"), r"queries\.0 \(id 'zh-1'\).*no section has grade 3"),
        (GOOD.replace("a.md: 3", "a.md: 4"), r"queries\.0\.right\.a\.md"),
        (GOOD.replace("class: zh", "class: words"), "class 'words' is none of zh, question"),
        (GOOD.replace("class: zh", "class: none"), "class 'none' has no right sections"),
        (GOOD.replace("half: dev", "half: train"), "half"),
        (GOOD + GOOD.splitlines()[-1] + "\n", "'zh-1' is in a.dev.yml already"),
        ("a: [", "a.dev.yml"),
    ],
    ids=["no answer", "grade", "class", "none with answers", "half", "twice", "not yaml"],
)
def test_bad_query_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "a.dev.yml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(QueryError, match=message):
        queries.load([file])


# ---- Sections and known items ----------------------------------------------------------

ZH = """---
title: 甲
---

# 显存拷贝

开头一句。

## 拷贝引擎怎样工作

拷贝引擎由 `cudaMemcpyAsync` 驱动，不占用计算单元。[^a]

## 数据

带宽与 nvlink_bandwidth_total 有关；写合并缓冲一次攒六十四字节。

[^a]: 来源 wholly_unseen_word
"""
EN = """# Copies

## How copy engines work

Text.

## The numbers
"""


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    docs = tmp_path_factory.mktemp("notes")
    (docs / "gpu").mkdir()
    (docs / "gpu/copy.md").write_text(ZH, encoding="utf-8")
    (docs / "gpu/copy.en.md").write_text(EN, encoding="utf-8")
    (docs / "README.md").write_text("# 首页\n\n## 网络拓扑一览\n\n胖树与环面。\n", encoding="utf-8")
    (docs / "gpu/readme.md").write_text("# 显卡\n\n## 供电\n\n两路。\n", encoding="utf-8")
    return docs


@pytest.mark.parametrize(
    ("location", "key"),
    [
        ("gpu/copy.html", "gpu/copy.md"),
        ("gpu/copy.html#数据", "gpu/copy.md#数据"),
        ("gpu/copy.html#%E6%95%B0%E6%8D%AE", "gpu/copy.md#数据"),
        ("en/gpu/copy.html#the-numbers", "gpu/copy.md#数据"),
        ("gpu/copy.html#the-numbers", "gpu/copy.md#数据"),
        ("en/gpu/copy.html#数据", "gpu/copy.md#数据"),
        ("gpu/copy/#数据", "gpu/copy.md#数据"),
        ("gpu/copy.html#fn:a", "gpu/copy.md"),
        ("gpu/copy.html#显存拷贝", "gpu/copy.md"),
        ("index.html#网络拓扑一览", "README.md#网络拓扑一览"),
        ("./", "README.md"),
        ("gpu/readme.html#供电", "gpu/readme.md#供电"),
        ("gpu/other.html", None),
    ],
)
def test_sections_by_address(notes: Path, location: str, key: str | None) -> None:
    assert read(notes).key(location) == key


def test_known_items_can_be_found_by_reading(notes: Path) -> None:
    made = known_items.make(read(notes), each=20)
    text = {section.key: f"{section.title}\n{section.text}" for section in read(notes)}
    assert {one.kind for one in made} == set(known_items.KINDS)
    for one in made:
        for key in one.right:
            if one.kind == "swap":
                assert one.text not in text[key]
            else:
                assert all(part in text[key] for part in one.text.split())
    assert "wholly_unseen_word" not in {one.text for one in made}  # a footnote is no section


def test_known_items_depend_on_the_seed_only(notes: Path) -> None:
    sections = read(notes)
    assert known_items.make(sections, seed=3) == known_items.make(sections, seed=3)
    assert known_items.make(sections, seed=3) != known_items.make(sections, seed=4)


# ---- Our engine ------------------------------------------------------------------------

FLOORS = {
    # A little under what was reached; raise them when the engine gets better.
    "mrr": 0.86,  # 0.9 until the notes were written anew on 2026-11-23; 0.87 before 60 pages more
    "success_5": 0.94,
    "page_success_5": 0.96,
}


@pytest.fixture(scope="module")
def engine(notes_index: Index) -> Iterator[Engine]:
    with open_engine(notes_index) as made:
        yield made


def test_our_engine_stays_as_good_as_it_was(engine: Engine) -> None:
    judged = queries.load(sorted(QUERIES.glob("handbook.*.yml")))
    answers = ask(engine, judged, read(ROOT / "docs"))
    scores = metrics.score(answers).as_dict()
    low = {name: scores[name] for name, floor in FLOORS.items() if scores[name] < floor}
    assert not low, report.table(answers)
    # Nothing rather than noise.
    assert metrics.false_hits(answers).with_hits <= 0.15, report.failures(
        [one for one in answers if one.query.kind == queries.NO_ANSWER]
    )


@pytest.mark.slow
def test_our_engine_finds_known_items(engine: Engine) -> None:
    sections = read(ROOT / "docs")
    # Six samples of a hundred: with 25 each the figure moved by 0.02 when one note was added.
    answers = ask(engine, known_items.make(sections, each=100), sections)
    assert metrics.score(answers).mrr >= 0.93, report.table(answers)


def test_our_engine_on_notes_it_never_saw(notes: Path) -> None:
    sections = read(notes)
    answers = ask(own_engine(notes), known_items.make(sections, each=20), sections)
    assert metrics.score(answers).success_5 >= 0.95, report.failures(answers)


# ---- The command -----------------------------------------------------------------------


def test_command_on_other_notes(notes: Path, tmp_path: Path) -> None:
    judged = tmp_path / "notes.dev.yml"
    judged.write_text(
        "collection: notes\nhalf: dev\nqueries:\n"
        "- {id: zh-1, class: zh, language: zh, text: 拷贝引擎,"
        " right: {'gpu/copy.md#拷贝引擎怎样工作': 3}}\n",
        encoding="utf-8",
    )
    arguments = ["--docs", str(notes), "--queries", str(judged)]
    kept = tmp_path / "kept.json"
    run = CliRunner().invoke(search_eval, [*arguments, "--json", "--save", str(kept)])
    assert run.exit_code == 0, run.output
    assert json.loads(run.output)["all"]["queries"] == 1
    again = CliRunner().invoke(search_eval, [*arguments, "--against", str(kept)])
    assert "MRR@10 +0.000" in again.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--docs", "{notes}"], "has no judged queries"),
        (
            ["--docs", "{notes}", "--queries", str(QUERIES / "handbook.dev.yml")],
            "no such section",
        ),
    ],
    ids=["nothing judged", "judged on other notes"],
)
def test_command_says_why_it_cannot_run(notes: Path, arguments: list[str], message: str) -> None:
    run = CliRunner().invoke(search_eval, [one.format(notes=notes) for one in arguments])
    assert run.exit_code == 2
    assert message in run.output


# ---- The page --------------------------------------------------------------------------


def record(time: str, mrr: float) -> dict[str, Any]:
    """Return a small record of a run, as the benchmark writes them."""
    one = query(1, a__x=3)
    none = query(2, "none")
    numbers = metrics.as_record([answer(one, "a.md#x"), answer(none)])
    assert isinstance(numbers["all"], dict)
    numbers["all"]["mrr"] = mrr
    engine = {"judged": numbers, "dev": numbers, "test": numbers, "known": numbers}
    against = compare.compare(*pair([(0, 1)] * 20), rounds=200).as_dict()
    speed = {"first_ms": 100.0, "key_median_ms": 10.0, "key_p95_ms": 20.0, "memory_mb": 5.0}
    slow = {name: value * 4 for name, value in speed.items()}
    sizes = {"index": 4000, "index_gzip": 1000, "worker": 1}
    return {
        "date": time[:10],
        "time": time,
        "commit": "abc1234",
        "command": "python -m bench.search",
        "machine": {"cpu": "CPU", "cores": 2, "system": "Linux"},
        "versions": {"python": "3", "material": "9"},
        "collections": {
            "handbook": {
                "source": {"notes": 3},
                "sections": 10,
                "queries": {"dev": 1, "test": 1},
                "engines": {"own": engine, "stock": {**engine, "own_against_it": against}},
                "bytes": {"markdown": 4000, "own": sizes, "stock": sizes},
                "browser": {
                    "browser": "Chromium 1",
                    "file": {"own": speed, "stock": slow},
                },
            }
        },
    }


@pytest.mark.parametrize("language", ["zh", "en"])
def test_page_shows_the_latest_record(tmp_path: Path, language: str) -> None:
    for time, mrr in (("2026-01-02T00:00:00Z", 0.5), ("2026-01-03T00:00:00Z", 0.875)):
        history.write(tmp_path, record(time, mrr))
    shown = {part: pages.render("search", part, language, tmp_path) for part in PARTS}
    assert "0.875" in shown["quality"]
    assert "0.500" not in shown["quality"]
    # Four ratios to the stock search, one to the Markdown.
    assert shown["speed"].count("**0.25**") == 5
    rows = [line for line in shown["history"].splitlines() if "`" in line]
    assert [line.split("|")[1].strip() for line in rows] == ["2026-01-03", "2026-01-02"]


def test_a_run_without_a_browser_keeps_the_speed_measured_before(tmp_path: Path) -> None:
    history.write(tmp_path, record("2026-01-02T00:00:00Z", 0.5))
    later = record("2026-01-03T00:00:00Z", 0.875)
    del later["collections"]["handbook"]["browser"]
    history.write(tmp_path, later)
    latest = history.load_latest(tmp_path)["handbook"]
    days = {part: latest[part]["run"]["date"] for part in latest}
    assert days == {"quality": "2026-01-03", "speed": "2026-01-02"}
    assert len((tmp_path / history.LINES).read_text(encoding="utf-8").splitlines()) == 2


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("part", PARTS)
def test_page_without_records_says_so(tmp_path: Path, part: str, language: str) -> None:
    assert "make bench BENCH=search" in pages.render("search", part, language, tmp_path)


def test_pages_are_as_the_records_say() -> None:
    assert list(pages.stale()) == []


def test_stale_pages_are_named_and_written(tmp_path: Path) -> None:
    shown = ("search", "checking", "building")
    for name in (f"{page}{language}.md" for page in shown for language in ("", ".en")):
        path = tmp_path / "docs/about" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text((ROOT / "docs/about" / name).read_text(encoding="utf-8"), encoding="utf-8")
    assert len(list(pages.stale(tmp_path))) == 6  # there are no records
    assert len(list(pages.stale(tmp_path, write=True))) == 6
    assert list(pages.stale(tmp_path)) == []


@pytest.mark.parametrize("text", ["", "<!-- search-quality -->\n", "<!-- /search-quality -->\n"])
def test_a_page_without_its_markers_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(pages.PageError, match="must stand once"):
        pages.filled(text, "search", "en", tmp_path)


def test_a_part_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["speed"]) == 2
    known = "there are: build, check, save, search, pages, search-eval"
    assert known in capsys.readouterr().err


def test_recorded_answers(notes: Path) -> None:
    kept = Recorded({("zh", "zh 1"): ["gpu/copy.html#数据", "nowhere.html"]})
    (found,) = ask(kept, [query(1, a__x=3)], read(notes))
    assert found.keys == ("gpu/copy.md#数据", None)


def test_a_note_without_headings_is_its_page(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("Words, and no heading.\n", encoding="utf-8")
    assert [section.key for section in read(tmp_path)] == ["a.md"]
