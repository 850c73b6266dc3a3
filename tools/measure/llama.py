"""The record of llama.cpp's own benchmarks and of its server's metrics, from one captured run.

    python -m tools.measure.llama RUN_FOLDER [--check]

The folder is what `tools/measure/run_llama.sh` writes: `llama_bench.jsonl`,
`batched_<model>.jsonl`, `sizes.txt`, `requests.txt`, `metrics.txt`, and the machine's texts.
The record is `docs/infer/measured/llama_cpp.json`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tools.measure.compute.lines import ROOT, Line, Run, series, summary
from tools.measure.compute.records import finish
from tools.measure.topo.model import MeasureError, Point, Result, Row
from tools.measure.topo.record import Draft
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

RECORD = ROOT / "docs/infer/measured/llama_cpp.json"
PROGRAM = "docs/infer/code/random_gguf.py"
MODELS = {"f16": "F16", "Q8_0": "Q8_0", "Q4_K_M": "Q4_K_M"}
RATE = "token/s"
MODEL = {"name": "model", "title": both("格式", "format")}
PARALLEL = {"name": "parallel", "title": both("并行序列", "parallel sequences")}
NOTES = both(
    "llama.cpp 0.5.0-dev（llama-cpp-python 0.3.36 源码包所带），CUDA 后端，sm_90a，"
    "FlashAttention 开，KV 为 F16。模型是 Llama 3.1 8B 的形状、随机权重，由 llama-quantize "
    "量化；输出没有意义，速度与大小有。bench：llama-bench，一条序列，5 次，p5 与 p95 "
    "是最小与最大；每种格式的第一次预填充都慢得多。batched：llama-batched-bench，提"
    "示 512，生成 64，各一次，前后没有重复；只有一条序列的预填充是进程里的第一次，含"
    "预热。server：Q4_K_M，8 个槽，16 个线程各发一个请求，提示 201 到 952 个 token，"
    "各生成 128 个。",
    "llama.cpp 0.5.0-dev (as in the source package of llama-cpp-python 0.3.36), CUDA "
    "back end, sm_90a, FlashAttention on, KV in F16. The model has the shape of Llama "
    "3.1 8B and random weights, quantised by llama-quantize; its text means nothing, "
    "its speed and size do. bench: llama-bench, one sequence, 5 trials, p5 and p95 "
    "are the least and the most; the first prefill of each format is much slower. batched: "
    "llama-batched-bench, prompt 512, 64 generated, once each, not repeated; the prefill "
    "with one sequence is the first of its process and includes warming up. server: "
    "Q4_K_M, 8 slots, 16 threads that send one request each, prompts of 201 to 952 "
    "tokens, 128 tokens generated each.",
)


def bench(run: Run) -> list[Result]:
    """Return prefill and decode of one sequence: the trials' median, least and most."""
    found: dict[str, list[Point]] = {"prefill": [], "decode": []}
    for line in run.lines("llama_bench.jsonl"):
        trials = line["samples_ts"]
        name = MODELS[Path(line["model_filename"]).stem]
        found["decode" if line["n_gen"] else "prefill"].append(
            {
                "model": name,
                "value": digits(statistics.median(trials)),
                "p5": digits(min(trials)),
                "p95": digits(max(trials)),
            }
        )
    titles = {
        "prefill": both("预填充 512 个 token，一条序列", "Prefill of 512 tokens, one sequence"),
        "decode": both("生成 128 个 token，一条序列", "128 tokens generated, one sequence"),
    }
    return [
        series(name, titles[name], RATE, [], points, n=5, per="GPU") | {"axes": [MODEL]}  # type: ignore[misc]
        for name, points in found.items()
    ]


def batched(run: Run) -> list[Result]:
    """Return prefill and decode of several sequences at once."""
    found: dict[str, list[Point]] = {"speed_pp": [], "speed_tg": []}
    for file, name in MODELS.items():
        text = [line for line in run.text(f"batched_{file}.jsonl").splitlines() if line.strip()]
        for line in map(json.loads, text):
            for key, points in found.items():
                points.append({"model": name, "parallel": line["pl"], "value": digits(line[key])})
    names = {
        "speed_pp": ("batched_prefill", both("预填充，多条序列", "Prefill, several sequences")),
        "speed_tg": ("batched_decode", both("生成，多条序列", "Generation, several sequences")),
    }
    return [
        series(*names[key], RATE, [], points, per="GPU") | {"axes": [MODEL, PARALLEL]}  # type: ignore[misc]
        for key, points in found.items()
    ]


def sizes(run: Run) -> Result:
    """Return the files' sizes."""
    pairs = [line.split() for line in run.text("sizes.txt").splitlines() if line.strip()]
    points: list[Point] = [
        {"model": MODELS[Path(name).stem], "value": int(size)} for size, name in pairs
    ]
    points.sort(key=lambda point: -float(point["value"]))
    made = series("size", both("文件大小", "Size of the file"), "B", [], points)
    return made | {"axes": [MODEL]}  # type: ignore[return-value]


def metrics(run: Run) -> dict[str, float]:
    """Return the server's metrics by name, without the prefix."""
    lines = (line for line in run.text("metrics.txt").splitlines() if line and line[0] != "#")
    return {key.partition(":")[2]: float(value) for key, value in map(str.split, lines)}


def requests(run: Run) -> list[Line]:
    """Return what each request got."""
    return [json.loads(line) for line in run.text("requests.txt").splitlines() if line.strip()]


def rows(results: list[Result], run: Run) -> list[Row]:
    """Return the lines that notes quote."""
    by: dict[str, Any] = {one["id"]: one for one in results}
    out = []
    for name, zh, en in (
        ("decode", "生成，一条序列", "generation, one sequence"),
        ("prefill", "预填充 512 token", "prefill of 512 tokens"),
    ):
        for point in by[name]["points"]:
            title = both(f"{point['model']}：{zh}", f"{point['model']}: {en}")
            out.append(summary(title, point["value"], RATE, name, n=5, per="GPU"))
    for point in by["batched_decode"]["points"]:
        if point["parallel"] == 64:
            title = both(
                f"{point['model']}：生成，64 条序列", f"{point['model']}: generation, 64 sequences"
            )
            out.append(summary(title, point["value"], RATE, "batched_decode", per="GPU"))
    for point in by["size"]["points"]:
        title = both(f"{point['model']}：文件", f"{point['model']}: file")
        out.append(summary(title, point["value"], "B", "size"))
    said, asked = metrics(run), requests(run)
    last = max(one["seconds"] for one in asked)
    for name, unit in (
        ("prompt_tokens_total", "token"),
        ("prompt_tokens_cached_total", "token"),
        ("prompt_seconds_total", "s"),
        ("tokens_predicted_total", "token"),
        ("tokens_predicted_seconds_total", "s"),
        ("n_decode_total", "call"),
        ("n_tokens_max", "token"),
        ("prompt_tokens_seconds", RATE),
        ("predicted_tokens_seconds", RATE),
        ("n_busy_slots_per_decode", "slot"),
    ):
        title = both(f"服务器指标 {name}", f"server metric {name}")
        out.append(summary(title, said[name], unit, "requests"))
    title = both("最慢的请求，约等于整批的时间", "slowest request, about the time of all")
    out.append(summary(title, last, "s", "requests"))
    title = both("所有请求的生成吞吐", "generation of all requests")
    out.append(summary(title, said["tokens_predicted_total"] / last, RATE, "requests"))
    return out


def draft(run: Run) -> Draft:
    """Return the record without what the machine says."""
    points: list[Point] = [
        {"request": one["n"], "value": digits(one["seconds"])} for one in requests(run)
    ]
    asked = series("requests", both("每个请求的时间", "Time of each request"), "s", [], points)
    axis = {"name": "request", "title": both("请求", "request")}
    results = [*bench(run), *batched(run), sizes(run), asked | {"axes": [axis]}]
    return Draft(
        RECORD.stem,
        both(
            "llama.cpp：三种格式的速度与服务器的指标",
            "llama.cpp: three formats, and the server's metrics",
        ),
        PROGRAM,
        "tools/measure/run_llama.sh llama.cpp llama.cpp/models/ggml-vocab-llama-bpe.gguf out",
        NOTES,
        results=results,  # type: ignore[arg-type]
        summary=rows(results, run),  # type: ignore[arg-type]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the record; return 0, 1 (with --check: it is stale) or 2 (an error)."""
    parser = argparse.ArgumentParser(prog="python -m tools.measure.llama", description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("--check", action="store_true", help="write nothing; say what would change")
    options = parser.parse_args(arguments)
    run = Run(options.run.resolve(), both("SXM", "SXM"))
    try:
        record = finish(draft(run), run, ROOT)
    except (MeasureError, KeyError) as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2
    text = json.dumps(record, ensure_ascii=False, indent=2) + "\n"
    if RECORD.is_file() and RECORD.read_text("utf-8") == text:
        return 0
    print(RECORD.relative_to(ROOT))
    if options.check:
        return 1
    RECORD.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
