"""Records of docs/train from one GPU: activations of a layer, memory and time of a step."""

from __future__ import annotations

from typing import Final

from tools.measure.compute.chip import versions
from tools.measure.compute.lines import (
    COUNT,
    HALF,
    Line,
    Run,
    one,
    points,
    promise,
    series,
    summary,
    where,
)
from tools.measure.topo.model import Point, Row, Spec, Text
from tools.measure.topo.record import Draft
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

CODE: Final = "docs/train/code"
BF16: Final = promise("bf16_dense", 989.5, "TFLOP/s", HALF)
FUSED: Final = ("flash", "efficient", "cudnn")
RECOMPUTE: Final = {
    "none": both("不重算", "no recomputation"),
    "selective": both("只重算注意力核心", "attention core recomputed"),
    "full": both("整层重算", "whole layer recomputed"),
}
ATTENTION: Final = {
    "written_out": both("逐步写出的注意力", "attention written out"),
    "math": both("SDPA math 后端", "SDPA, math backend"),
    "flash": both("SDPA flash 后端", "SDPA, flash backend"),
    "efficient": both("SDPA efficient 后端", "SDPA, efficient backend"),
    "cudnn": both("SDPA cuDNN 后端", "SDPA, cuDNN backend"),
}


def _said(line: Line) -> Text:
    a, r = ATTENTION[line["attention"]], RECOMPUTE[line["recompute"]]
    p = line.get("dropout")
    more = "" if p is None else f", dropout {p:g}"
    return both(f"{a['zh']}，{r['zh']}{more}", f"{a['en']}, {r['en']}{more}")


def formula(line: Line, s: int, h: int, a: int) -> tuple[float, str] | None:
    """Return bytes of a layer in units of s b h, and whose formula; None where there is none.

    With dropout sbh(34 + 5as/h), 34 and 2 by Korthikanti et al.; without it the masks and the
    output of the dropout go: 32 + 2as/h and 32. Fused: see memory_model.flash_activation_bytes.
    """
    with_dropout, fused = line.get("dropout", 0.0) > 0, line["attention"] in FUSED
    if line["recompute"] == "full":
        return 2.0, "korthikanti"
    if line["recompute"] == "selective":
        return (34.0, "korthikanti") if with_dropout else (32.0, "without_dropout")
    if fused:
        return (34 if with_dropout else 32) + 4 * a / h + 16 / h, "fused"
    if line["attention"] == "math":
        return None
    if with_dropout:
        return 34 + 5 * a * s / h, "korthikanti"
    return 32 + 2 * a * s / h, "without_dropout"


def activations(run: Run) -> Draft:
    """Return the record `activations`: one layer alone, in units of s b h bytes."""
    lines = run.lines("train_memory.jsonl")
    found: list[Point] = []
    for line in where(lines, "layer"):
        unit = line["s"] * line["b"] * line["h"]
        axes = ("s", "b", "h", "attention", "dropout", "recompute")
        point: Point = {name: line[name] for name in axes}
        point |= {"value": digits(line["bytes"] / unit, 5), "bytes": line["bytes"]}
        promised = formula(line, line["s"], line["h"], line["a"])
        if promised:
            point |= {"formula": digits(promised[0], 5), "which": promised[1]}
        found.append(point)
    specs: list[Spec] = []
    rows: list[Row] = []
    shape = {"s": 2048, "b": 4, "h": 2048}
    for attention, dropout, recompute in (
        ("written_out", 0.1, "none"),
        ("written_out", 0.1, "selective"),
        ("written_out", 0.1, "full"),
        ("flash", 0.1, "none"),
        ("flash", 0.0, "none"),
    ):
        how = {"attention": attention, "dropout": dropout, "recompute": recompute}
        line = one(lines, "layer", **shape, **how)
        fused = attention == "flash"
        spec = promise(
            f"formula_{attention}_{recompute}_{dropout:g}".replace(".", "_"),
            line["fused_formula" if fused else "formula"] / 1e6,
            "MB",
            f"{CODE}/memory_model.py: "
            + (
                "flash_activation_bytes" if fused else "activation_bytes (Korthikanti et al., 2022)"
            ),
            per="layer",
            title=both("公式", "formula"),
        )
        specs.append(spec)
        rows.append(
            summary(_said(line), line["bytes"] / 1e6, "MB", "layer", spec=spec, per="layer")
        )
    math = one(lines, "layer", **shape, attention="math", dropout=0.0, recompute="none")
    rows.append(summary(_said(math), math["bytes"] / 1e6, "MB", "layer", per="layer"))
    saved: list[Point] = [
        {
            "attention": line["attention"],
            "tensor": f"{line['type']} {'x'.join(map(str, line['shape']))}",
            "value": digits(line["bytes"] / 2048**2, 5),
            "bytes": line["bytes"],
            "dropout": line["dropout"],
        }
        for line in where(lines, "saved")
    ]
    return Draft(
        "activations",
        both(
            "一层 transformer 的激活显存，实测对公式",
            "Activations of one transformer layer, against the formula",
        ),
        f"{CODE}/train_memory.py",
        f"python3 {CODE}/train_memory.py",
        both(
            "bf16，16 位激活；四层减两层再除以二，只算到反向为止保留的张量。公式："
            "有 dropout 用 Korthikanti 等的 sbh(34 + 5as/h)、34sbh、2sbh；没有 "
            "dropout 时去掉掩码与 dropout 的输出，剩 sbh(32 + 2as/h) 与 32sbh；"
            "融合注意力是 34sbh（有 dropout）或 32sbh，加每行一个 fp32（4abs）和 "
            "LayerNorm 的统计量（16bs）。逐步写出的实现比公式多 s² 字节的因果掩码（"
            "与批无关）和 LayerNorm 统计量；PyTorch 的 math 后端把 q、k、v "
            "与概率升到 fp32 保存，所以没有 dropout 也要 102sbh。数值单位是 sbh "
            "字节，摘要是 s = 2048、b = 4、h = 2048、a = 16。",
            "bf16; four layers less two, halved; only what is kept until the "
            "backward pass. Formulas: with dropout sbh(34 + 5as/h), 34sbh, 2sbh by "
            "Korthikanti et al.; without it the masks and the dropout's output go, "
            "which leaves sbh(32 + 2as/h) and 32sbh; fused attention 34sbh with "
            "dropout or 32sbh without, plus one fp32 a row (4abs) and LayerNorm's "
            "statistics (16bs). The written-out version keeps more than the "
            "formula by a causal mask of s^2 bytes, whatever the batch, and those "
            "statistics. PyTorch's math backend keeps q, k, v and the "
            "probabilities in fp32: 102sbh even without dropout. Values are in "
            "units of sbh bytes; the summary is of s = 2048, b = 4, h = 2048, a = "
            "16.",
        ),
        results=[
            series(
                "layer",
                both("每层激活，以 sbh 字节计", "Activations of a layer, in sbh bytes"),
                "sbh B",
                ["s", "b", "h", "attention", "dropout", "recompute"],
                found,
                statistic=COUNT,
                per="layer",
            ),
            series(
                "saved",
                both(
                    "autograd 为一层保留的张量（s = h = 2048，b = 1），以 sbh 字节计",
                    "Tensors that autograd keeps for a layer (s = h = 2048, b = 1), in sbh bytes",
                ),
                "sbh B",
                ["attention", "tensor"],
                saved,
                statistic=COUNT,
            ),
        ],
        summary=rows,
        specification=specs,
        versions=versions(lines),
    )


PRECISION: Final = {
    "16": both(
        "bf16 权重与梯度，fp32 主权重与 Adam（16 B/参数）",
        "bf16 weights and gradients, fp32 masters and Adam (16 B a parameter)",
    ),
    "18": both(
        "同上，梯度累加在 fp32（18 B/参数）", "the same with fp32 gradients (18 B a parameter)"
    ),
    "autocast": both(
        "autocast：fp32 权重、梯度与 Adam（16 B/参数）",
        "autocast: fp32 weights, gradients and Adam (16 B a parameter)",
    ),
}
HOW: Final = ("attention", "recompute", "precision", "b")


def _mark(lines: list[Line], place: str, key: str, **how: object) -> float:
    marks = {line["place"]: line for line in where(lines, "mark", compiled=False, **how)}
    start = marks["start"]["allocated"] if key in ("allocated", "peak") else 0
    return float(marks[place][key] - start)


def steps(run: Run) -> Draft:
    """Return the record `step_memory`: parts, peaks, time and utilisation of whole steps."""
    lines = run.lines("train_memory.jsonl")
    shape = one(lines, "shape")
    parameters = shape["parameters"]
    found = [line for line in where(lines, "step") if not line["compiled"]]
    parts: list[Point] = []
    spread: list[Point] = []
    for line in found:
        how = {name: line[name] for name in HOW}
        state = one(lines, "state", compiled=False, **how)
        forward = _mark(lines, "second: forward", "allocated", **how)
        before = _mark(lines, "second: inputs", "allocated", **how)
        each = formula(line, shape["sequence"], shape["hidden"], shape["heads"])
        tokens = line["b"] * shape["sequence"]
        logits = 4 * tokens * shape["vocabulary"]
        kept = each and shape["layers"] * tokens * shape["hidden"] * each[0] + logits
        # Weights, gradients, masters and moments exist together right after the backward pass.
        for part, value, promised in (
            ("weights", _mark(lines, "weights", "allocated", **how), None),
            ("states", _mark(lines, "second: backward", "allocated", **how), state["formula"]),
            ("forward_adds", forward - before, kept),
            ("peak", _mark(lines, "second: step", "peak", **how), None),
            ("reserved", _mark(lines, "second: step", "reserved", **how), None),
        ):
            more = {} if promised is None else {"formula": digits(promised / 1e9)}
            parts.append({**how, "part": part, "value": digits(value / 1e9), **more})
        for place in ("second: forward", "second: backward", "second: step"):
            for key in ("allocated", "reserved", "holes_in_segments", "empty_segments", "used"):
                value = digits(_mark(lines, place, key, **how) / 1e9)
                short = place.removeprefix("second: ")
                spread += [{**how, "place": short, "part": key, "value": value}]
    context = where(lines, "context")

    def busy(line: Line) -> dict[str, object]:
        peak = BF16["value"] * 1e12
        share = {
            "mfu": digits(line["flop"] / line["median"] / peak),
            "mfu_full_attention": digits(line["flop_full_attention"] / line["median"] / peak),
            "mfu_six_n": digits(line["six_n_tokens"] / line["median"] / peak),
            "tokens_per_s": digits(line["b"] * shape["sequence"] / line["median"]),
        }
        return share | {k: line[k] for k in ("sm_mhz", "watts", "reasons") if k in line}

    rows: list[Row] = []
    specs: list[Spec] = []
    for precision, words in PRECISION.items():
        how = {"attention": "flash", "recompute": "none", "precision": precision, "b": 8}
        state = one(lines, "state", compiled=False, **how)
        spec = promise(
            f"states_{precision}",
            state["formula"] / 1e9,
            "GB",
            f"{CODE}/memory_model.py: state_bytes, {parameters} parameters",
            title=both("公式", "formula"),
        )
        specs.append(spec)
        value = _mark(lines, "second: backward", "allocated", **how) / 1e9
        rows.append(summary(words, value, "GB", "parts", spec=spec, per="GPU"))
    after = context[1]["after_first_product"] - context[1]["reserved"]
    rows.append(
        summary(
            both(
                "CUDA 上下文与库，分配器之外", "CUDA context and libraries, outside the allocator"
            ),
            after / 1e9,
            "GB",
            "fragmentation",
            per="GPU",
        )
    )
    for line in found:
        a, r = ATTENTION[line["attention"]], RECOMPUTE[line["recompute"]]
        p = "" if line["precision"] == "16" else f"{line['precision']}, "
        rows.append(
            summary(
                both(
                    f"一步的 FLOP/s（模型 FLOP，因果）：{p}{a['zh']}，{r['zh']}，b = {line['b']}",
                    f"FLOP/s of a step (model FLOP, causal): {p}{a['en']}, {r['en']}, b = "
                    f"{line['b']}",
                ),
                line["flop"] / line["median"] / 1e12,
                "TFLOP/s",
                "step_time",
                n=line["n"],
                spec=BF16,
                per="GPU",
            )
        )
    timed = [line for line in where(lines, "part") if not line["compiled"]]
    return Draft(
        "step_memory",
        both(
            "13 亿参数 GPT 在一块 H200 上训练一步：显存各部分、时间、利用率",
            "One training step of a GPT of 1.3 billion parameters on an H200: "
            "memory by parts, time, utilisation",
        ),
        f"{CODE}/train_memory.py",
        f"python3 {CODE}/train_memory.py",
        both(
            f"24 层，h = 2048，a = 16，s = 2048，V = 50304，{parameters} 参数，无 "
            "dropout，PyTorch 逐算子执行（eager）。"
            "显存是 torch.cuda.memory_allocated 在标记处的一次读数（第二步），"
            "已减去开始时剩余的 0.69 GB；"
            "步时是第 2 至 11 步的中位数。states 在反向之后读，那时权重、梯度与优化器状态同时存在。"
            "forward_adds 的公式是层数 × 每层激活＋fp32 logits（4bsV）。利用率以 "
            "989.5 TFLOP/s 为分母；"
            "mfu 只算因果注意力用到的一半，mfu_full_attention 算全部，mfu_six_n 是 "
            "6 × 参数 × token。"
            "reserved 与 allocated 之差是缓存分配器留着的：部分占用的段里的空洞与完全空的段。"
            "layer.compile() 的一次也在原始输出里，显存与不编译时逐字节相同，原因未查，未列出。",
            f"24 layers, h = 2048, a = 16, s = 2048, V = 50304, {parameters} "
            "parameters, no dropout, PyTorch in "
            "eager mode. Memory is one reading of torch.cuda.memory_allocated at "
            "marked places (second "
            "step), less the 0.69 GB left over at the start; times are medians of steps 2 to 11. "
            "`states` is read after the backward pass, when weights, gradients and "
            "optimiser state exist "
            "together. The formula of `forward_adds` is layers x activations of a "
            "layer plus fp32 logits "
            "(4bsV). Utilisation is over 989.5 TFLOP/s; mfu counts the half of "
            "attention that a causal "
            "model uses, mfu_full_attention all of it, mfu_six_n 6 x parameters x "
            "tokens. The difference of "
            "reserved and allocated is what the caching allocator keeps: holes in "
            "segments partly in use, "
            "and empty segments. A run with layer.compile() is in the raw output; "
            "it kept the same bytes "
            "to the last one, for a reason not looked into, and is not listed.",
        ),
        results=[
            series(
                "parts",
                both("显存各部分", "Memory by parts"),
                "GB",
                [*HOW, "part"],
                parts,
                statistic=COUNT,
                per="GPU",
            ),
            series(
                "step_time",
                both("每步时间", "Time of a step"),
                "ms",
                HOW,
                points(found, HOW, 1e3, busy),
                n=10,
            ),
            series(
                "pass_time",
                both(
                    "只前向、前向加反向的时间",
                    "Time of the forward pass alone, and with the backward pass",
                ),
                "ms",
                [*HOW, "part"],
                points(timed, [*HOW, "part"], 1e3),
                n=5,
            ),
            series(
                "fragmentation",
                both(
                    "分配器：在用、预留、空洞、空段、整卡占用",
                    "Allocator: in use, reserved, holes, empty segments, whole process",
                ),
                "GB",
                [*HOW, "place", "part"],
                spread,
                statistic=COUNT,
                per="GPU",
            ),
        ],
        summary=rows,
        specification=[*specs, BF16],
        versions=versions(lines),
    )
