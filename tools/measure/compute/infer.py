"""Records of docs/infer: the key-value cache and the attention of a decode step."""

from __future__ import annotations

from typing import Final

from tools.measure.compute.chip import versions
from tools.measure.compute.lines import (
    COUNT,
    HBM,
    Line,
    Run,
    one,
    points,
    promise,
    series,
    summary,
    where,
)
from tools.measure.topo.model import Point, Row, Spec
from tools.measure.topo.record import Draft
from tools.measure.topo.stats import digits
from tools.measure.topo.wording import both

CODE: Final = "docs/infer/code"
SHAPES: Final = {
    "mha": both("MHA，32 层，32 头 × 128", "MHA, 32 layers, 32 heads x 128"),
    "gqa8": both("GQA，32 层，8 个 KV 头 × 128", "GQA, 32 layers, 8 KV heads x 128"),
    "mqa": both("MQA，32 层，1 个 KV 头 × 128", "MQA, 32 layers, 1 KV head x 128"),
    "gqa8_80": both("GQA，80 层，8 个 KV 头 × 128", "GQA, 80 layers, 8 KV heads x 128"),
    "mla": both("MLA，61 层，潜向量 512 ＋ 64", "MLA, 61 layers, latent 512 + 64"),
}


def cache(run: Run) -> Draft:
    """Return the record `kv_cache`: bytes a token. What pages save is `simulated/kv_pool.json`."""
    lines = run.lines("kv_cache.jsonl")
    tokens: list[Point] = []
    specs: list[Spec] = []
    rows: list[Row] = []
    for line in where(lines, "per_token"):
        name = line["shape"]
        tokens.append(
            {
                "shape": name,
                "value": digits(line["bytes"] / 1024),
                "formula": digits(line["formula"] / 1024),
            }
        )
        spec = promise(
            f"formula_{name}",
            line["formula"] / 1024,
            "KiB",
            f"{CODE}/kv_model.py: Cache.bytes_per_token",
            per="token",
            title=both("公式", "formula"),
        )
        specs.append(spec)
        rows.append(
            summary(SHAPES[name], line["bytes"] / 1024, "KiB", "per_token", spec=spec, per="token")
        )
    return Draft(
        "kv_cache",
        both("KV 缓存：每 token 字节", "KV cache: bytes a token"),
        f"{CODE}/kv_cache.py",
        f"python3 {CODE}/kv_cache.py",
        both(
            "每 token：bf16，256 页 × 16 token 一次分配，读 "
            "torch.cuda.memory_allocated 的增量，与公式逐字节相同。",
            "Per token: bf16, 256 pages of 16 tokens in one allocation, growth of "
            "torch.cuda.memory_allocated, equal to the "
            "formula to the byte.",
        ),
        results=[
            series(
                "per_token",
                both("每 token 字节", "Bytes a token"),
                "KiB",
                ["shape"],
                tokens,
                statistic=COUNT,
                per="token",
            ),
        ],
        summary=rows,
        specification=specs,
        versions=versions(lines),
    )


def _rate(line: Line) -> dict[str, float]:
    return {
        "gbytes_per_s": digits(line["gbytes_per_s"]),
        "of_hbm": digits(line["gbytes_per_s"] / HBM["value"]),
        "tflops": digits(line["flop"] / line["median"] / 1e12),
    }


def decode(run: Run) -> Draft:
    """Return the record `decode_attention`."""
    lines = run.lines("kv_cache.jsonl")
    found = where(lines, "decode")
    rows: list[Row] = []
    for shape, way, length, b in (
        ("mha", "flash", 4096, 1),
        ("mha", "flash", 4096, 32),
        ("mha", "cudnn", 4096, 1),
        ("mha", "cudnn", 4096, 32),
        ("mha", "math", 4096, 32),
        ("gqa8", "cudnn", 4096, 1),
        ("gqa8", "cudnn", 4096, 128),
        ("gqa8", "cudnn", 131072, 1),
        ("gqa8", "cudnn", 131072, 16),
        ("gqa8", "flash", 4096, 128),
        ("mqa", "cudnn", 4096, 128),
        ("mla", "matrices", 4096, 128),
        ("mla", "matrices", 131072, 16),
    ):
        line = one(lines, "decode", shape=shape, way=way, length=length, b=b)
        us = digits(line["median"] * 1e6)
        rows.append(
            summary(
                both(
                    f"{shape}，{way}，缓存 {length}，b = {b}（{us} us）：读缓存的速率",
                    f"{shape}, {way}, {length} cached, b = {b} ({us} us): rate of reading "
                    "the cache",
                ),
                line["gbytes_per_s"],
                "GB/s",
                "decode",
                n=line["n"],
                spec=HBM,
                per="GPU",
            )
        )
    axes = ["shape", "way", "length", "b"]
    return Draft(
        "decode_attention",
        both(
            "解码一步中一层的注意力：时间对显存带宽",
            "Attention of one layer in a decode step: time against memory bandwidth",
        ),
        f"{CODE}/kv_cache.py",
        f"python3 {CODE}/kv_cache.py",
        both(
            "bf16，每条序列一个新 token，连续存放的缓存（不分页），从 CUDA 图重放，"
            "多份缓存轮换以避开 L2，10 次。速率 = 缓存字节 / 时间，"
            "下界是缓存字节 / 4814 GB/s。flash、cudnn、efficient、math 是 PyTorch "
            "SDPA 的后端；packed 把一组查询头当成同一矩阵的几行。"
            "短缓存时是几个微秒的固定开销；flash 在 b × KV "
            "头数多到不再切分序列时掉到约 2.7 TB/s，cudnn 不会。"
            "math 把 K、V 展开并升到 fp32。mla（matrices）"
            "是吸收上投影后的两次批矩阵乘（头数 128，潜向量 576）："
            "每字节 242 FLOP，已在 bf16 的拐点（206）之上，融合的内核受计算限制。"
            "这里的两次乘不融合，分数要几次写出、读回，只到峰值的约四分之一。",
            "bf16, one new token for each sequence, contiguous caches (no pages), "
            "replayed from a CUDA graph, several caches in "
            "turn so that none stays in L2, 10 trials. Rate = cache bytes / time; "
            "the bound is cache bytes / 4814 GB/s. flash, "
            "cudnn, efficient and math are backends of PyTorch's SDPA; packed "
            "makes the query heads of a group rows of one "
            "matrix. Short caches cost a fixed few microseconds; flash falls to "
            "about 2.7 TB/s once b x KV heads are so many that "
            "it no longer splits the sequence, cudnn does not. math expands K and "
            "V and keeps them in fp32. mla (matrices) is two "
            "batched products with the up-projections absorbed (128 heads, latent "
            "of 576): 242 FLOP a byte, above the ridge of "
            "bf16 (206), so that a fused kernel is bound by arithmetic. These two products are not "
            "fused, write their scores and read them back several times, and reach about a quarter "
            "of the peak.",
        ),
        results=[
            series(
                "decode",
                both("一层的时间", "Time of a layer"),
                "us",
                axes,
                points(found, axes, 1e6, _rate),
                n=10,
            ),
            series(
                "error",
                both("对 fp64 的相对误差", "Relative error against fp64"),
                "1",
                ["shape", "way"],
                points(where(lines, "error"), ["shape", "way"]),
                statistic=COUNT,
            ),
        ],
        summary=rows,
        specification=[HBM],
        versions=versions(lines),
    )
