"""What the site's page about search shows: the records of benchmark runs as Markdown tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bench.search.evaluation import history
from bench.search.evaluation.queries import CLASSES, NO_ANSWER

_ENGINES = {
    "own": {"zh": "本站引擎", "en": "ours"},
    "stock": {"zh": "原版", "en": "stock"},
    "minisearch": {"zh": "MiniSearch", "en": "MiniSearch"},
    "flexsearch": {"zh": "FlexSearch", "en": "FlexSearch"},
}
_COLLECTIONS = {
    "handbook": {"zh": "本手册", "en": "This handbook"},
    "oi-wiki": {"zh": "OI-wiki", "en": "OI-wiki"},
    "pingcap": {"zh": "TiDB 文档", "en": "TiDB's documentation"},
    "llm-action": {"zh": "大模型笔记", "en": "Notes on large models"},
    "llm-note": {"zh": "大模型推理笔记", "en": "Notes on inference"},
    "llm-interview": {"zh": "大模型面试笔记", "en": "Interview notes"},
    "ai-infra-hpc": {"zh": "芯片与互联笔记", "en": "Notes on chips and links"},
}
_CLASSES = {
    "zh": {"zh": "中文词", "en": "Chinese words"},
    "question": {"zh": "提问", "en": "questions"},
    "en": {"zh": "英文词", "en": "English words"},
    "mixed": {"zh": "中英混合", "en": "both mixed"},
    "api": {"zh": "标识符", "en": "identifiers"},
    "partial": {"zh": "没打完的词", "en": "parts of words"},
    "typo": {"zh": "错字", "en": "slips"},
    "cross": {"zh": "跨语言", "en": "other language"},
    "variant": {"zh": "异写", "en": "other spellings"},
}
_T = {
    "none": {
        "zh": "还没有保存过测量记录；运行 `make bench BENCH=search` 会写下第一份。",
        "en": "No run has been recorded yet; `make bench BENCH=search` writes the first record.",
    },
    "engine": {"zh": "引擎", "en": "Engine"},
    "all": {"zh": "MRR@10（全部）", "en": "MRR@10 (all)"},
    "test": {"zh": "MRR@10（留出）", "en": "MRR@10 (held out)"},
    "first": {"zh": "第一条就对", "en": "first is right"},
    "five": {"zh": "前五有对的", "en": "right in five"},
    "page": {"zh": "前五有对的页", "en": "right page in five"},
    "false": {"zh": "无答案却给出结果", "en": "answers where none is"},
    "known": {"zh": "已知条目 MRR@10", "en": "known items MRR@10"},
    "lead": {"zh": "本站引擎领先", "en": "ours ahead by"},
    "class": {"zh": "查询类别", "en": "Class of query"},
    "count": {"zh": "条数", "en": "Queries"},
    "speed": {"zh": "file:// p95 ÷ 原版", "en": "file:// p95 ÷ stock"},
    "what": {"zh": "项目", "en": "What"},
    "ratio": {"zh": "本站 ÷ 原版", "en": "ours ÷ stock"},
    "first_ms": {"zh": "首个结果（ms）", "en": "first result (ms)"},
    "key_median_ms": {"zh": "按键中位数（ms）", "en": "keystroke, median (ms)"},
    "key_p95_ms": {"zh": "按键 p95（ms）", "en": "keystroke, p95 (ms)"},
    "memory_mb": {"zh": "增加的内存（MB）", "en": "memory added (MB)"},
    "index": {"zh": "索引（kB）", "en": "index (kB)"},
    "index_gzip": {"zh": "索引，gzip（kB）", "en": "index, gzip (kB)"},
    "share": {"zh": "本站索引（gzip）÷ Markdown", "en": "our index (gzip) ÷ Markdown"},
    "date": {"zh": "日期", "en": "Date"},
    "commit": {"zh": "版本", "en": "Version"},
    "colon": {"zh": "：", "en": ": "},
    "semi": {"zh": "；", "en": "; "},
}


def _t(name: str, language: str) -> str:
    return _T[name][language]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", "| --- |" + " ---: |" * (len(head) - 1)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines)


def _share(value: float) -> str:
    return f"{value * 100:.0f}%"


def _number(value: float | None) -> str:
    if value is None:
        return "—"
    return f"{value:.1f}" if abs(value) < 100 else f"{value:.0f}"


def _source(name: str, collection: dict[str, Any], language: str) -> str:
    source = collection["source"]
    queries = collection["queries"]
    count = sum(queries.values())
    held = queries.get("test", 0)
    notes, sections = source["notes"], collection["sections"]
    place = ""
    if "address" in source:
        place = f"[{source['address']}]({source['address']}) @ `{source['commit'][:12]}`"
    if language == "zh":
        words = f"{notes} 个文件、{sections} 个小节；{count} 条评判过的查询，其中 {held} 条留出"
        return f"{place}：{words}。" if place else f"{words}。"
    words = f"{notes} files, {sections} sections; {count} judged queries, {held} of them held out"
    return f"{place}: {words}." if place else f"{words}."


def _quality(collection: dict[str, Any], language: str) -> str:
    names = ("engine", "all", "test", "first", "five", "page", "false", "known", "lead")
    rows = []
    for engine in history.ENGINES:
        numbers = collection["engines"].get(engine, {})
        if "judged" not in numbers:
            continue
        judged = numbers["judged"]
        lead = numbers.get("own_against_it")
        rows.append(
            [
                _ENGINES[engine][language],
                f"{judged['all']['mrr']:.3f}",
                f"{numbers['test']['all']['mrr']:.3f}",
                _share(judged["all"]["success_1"]),
                _share(judged["all"]["success_5"]),
                _share(judged["all"]["page_success_5"]),
                _share(judged[NO_ANSWER]["with_hits"]),
                f"{numbers['known']['all']['mrr']:.3f}",
                _lead(lead),
            ]
        )
    return _table([_t(name, language) for name in names], rows)


def _lead(lead: dict[str, Any] | None) -> str:
    if lead is None:
        return "—"
    chance = "< 0.001" if lead["p"] < 0.001 else f"= {lead['p']:.3f}"
    return f"{lead['difference']:+.3f} (p {chance})"


def _classes(collection: dict[str, Any], language: str) -> str:
    shown = [name for name in history.ENGINES if "judged" in collection["engines"].get(name, {})]
    own = collection["engines"]["own"]["judged"]["classes"]
    rows = []
    for kind in CLASSES:
        if kind not in own:
            continue
        rows.append(
            [
                _CLASSES[kind][language],
                str(own[kind]["queries"]),
                *(
                    f"{collection['engines'][name]['judged']['classes'][kind]['mrr']:.2f}"
                    for name in shown
                ),
            ]
        )
    head = [_t("class", language), _t("count", language)]
    return _table([*head, *(_ENGINES[name][language] for name in shown)], rows)


def _speed(collection: dict[str, Any], language: str) -> str:
    variants = ("stock", "own")
    rows = []
    for scheme, ratios in history.speed_ratios(collection).items():
        measured = collection["browser"][scheme]
        for name, ratio in ratios.items():
            rows.append(
                [
                    f"{scheme}://{_t('colon', language)}{_t(name, language)}".replace("：：", "："),
                    *(_number(measured.get(variant, {}).get(name)) for variant in variants),
                    f"**{ratio:.2f}**" if ratio is not None else "—",
                ]
            )
    sizes = collection["bytes"]
    for name in ("index", "index_gzip"):
        values = [sizes[variant][name] for variant in variants]
        rows.append(
            [
                _t(name, language),
                *(f"{value / 1000:.0f}" for value in values),
                f"**{values[-1] / values[0]:.2f}**",
            ]
        )
    share = history.index_share(collection)
    if share is not None:
        rows.append([_t("share", language), "—", "—", f"**{share:.2f}**"])
    head = [_t("what", language), *(_ENGINES[variant][language] for variant in variants)]
    return _table([*head, _t("ratio", language)], rows)


def _history(runs: Sequence[dict[str, Any]], language: str) -> str:
    names = [name for name in _COLLECTIONS if any(name in run["collections"] for run in runs)]
    head = [_t("date", language), _t("commit", language)]
    head += [_COLLECTIONS[name][language] for name in names] + [_t("speed", language)]
    rows = []
    for run in reversed(runs):
        found = [run["collections"].get(name) for name in names]
        own = [one and one["engines"]["own"] for one in found]
        files = [one["ratios"].get("file", {}).get("key_p95_ms") for one in found if one]
        p95 = [f"{value:.2f}" for value in files if value is not None]
        rows.append(
            [
                run["date"],
                f"`{run['commit']}`",
                *(f"{one['mrr']:.3f} ({one['test']:.3f})" if one else "—" for one in own),
                ", ".join(p95) or "—",
            ]
        )
    return _table(head, rows)


def _machine(part: dict[str, Any], language: str) -> str:
    run, colon, semi = part["run"], _t("colon", language), _t("semi", language)
    machine = run["machine"]
    browsers = [part["browser"]["browser"]] if "browser" in part else []
    libraries = [
        f"{_ENGINES[engine]['en']} {numbers['version']}"
        for engine, numbers in part["engines"].items()
        if "version" in numbers
    ]
    versions = [f"Material {run['versions']['material']}", *browsers, *sorted(libraries)]
    label = {"zh": "机器", "en": "Machine"}[language]
    cores = {"zh": "核", "en": "cores"}[language]
    command = {"zh": "命令", "en": "Command"}[language]
    return (
        f"{label}{colon}{machine['cpu']}, {machine['cores']} {cores}, {machine['system']}{semi}"
        f"{', '.join(versions)}{semi}{command}{colon}`{run['command']}`{semi}"
        f"{run['date']}, `{run['commit']}`"
    )


def quality(latest: Mapping[str, dict[str, Any]], language: str) -> str:
    """Return how well each collection was searched last: all queries, by class, and where.

    Headings of the collections are bold lines, so that the page's own headings stay few.
    """
    parts = []
    for name in _ordered(latest, "quality"):
        part = latest[name]["quality"]
        parts += [
            f"**{_COLLECTIONS[name][language]}**",
            _source(name, part, language),
            _quality(part, language),
            _classes(part, language),
            _machine(part, language),
        ]
    return "\n\n".join(parts) or _t("none", language)


def speed(latest: Mapping[str, dict[str, Any]], language: str) -> str:
    """Return waiting times, memory and bytes, where they were measured last."""
    parts = []
    for name in _ordered(latest, "speed"):
        part = latest[name]["speed"]
        parts += [
            f"**{_COLLECTIONS[name][language]}**",
            _speed(part, language),
            _machine(part, language),
        ]
    return "\n\n".join(parts) or _t("none", language)


def _ordered(latest: Mapping[str, dict[str, Any]], part: str) -> list[str]:
    return [name for name in _COLLECTIONS if part in latest.get(name, {})]


def over_time(runs: Sequence[dict[str, Any]], language: str) -> str:
    """Return one row a run, the latest first."""
    return _history(runs, language) if runs else _t("none", language)
