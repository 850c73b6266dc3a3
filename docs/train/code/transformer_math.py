"""Parameters and FLOP of a decoder, counted from its shape. Standard library only.

Shapes are read from docs/data/facts/models.yml. What that table lacks (biases, tied heads, norms of
heads, GPT-3's vocabulary and positions) stands in EXTRA. A multiply-add is two FLOP.

Usage
    python docs/train/code/transformer_math.py              # counted and published parameters
    python docs/train/code/transformer_math.py --flops      # FLOP a token, share of attention
    python docs/train/code/transformer_math.py --runs       # published runs: work, utilisation
    python docs/train/code/transformer_math.py --shapes     # depth and width beside a theory
    python docs/train/code/transformer_math.py --questions  # answers of the note
"""

from __future__ import annotations

import argparse
import json
import math
import re
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2]


# --8<-- [start:main]
@dataclass(frozen=True)
class Shape:
    """A decoder. Zero means that the model has no such part."""

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    ffn: int = 0  # of the dense layers
    dense_layers: int = 0  # only where there are experts
    experts: int = 0
    experts_active: int = 0
    experts_shared: int = 0
    expert_ffn: int = 0
    q_lora: int = 0
    kv_lora: int = 0  # not zero: MLA
    rope_dim: int = 0
    v_head_dim: int = 0
    kv_layers: int = 0  # a hybrid: layers with full attention; only `core` knows of them
    matrices: int = 3  # of a feed-forward block: 3 with a gate (SwiGLU), 2 without
    tied: bool = False  # output head = input embedding
    positions: int = 0  # learned positions
    vectors: int = 2  # norm weights a layer, in units of hidden
    head_norm: bool = False  # a norm on each query and key head
    qkv_bias: bool = False
    all_bias: bool = False

    def attention(self) -> int:
        """Weights of the projections of a layer."""
        h, a, d = self.hidden, self.heads, self.head_dim
        if not self.kv_lora:
            return h * a * d + 2 * h * self.kv_heads * d + a * d * h
        queries = a * (d + self.rope_dim)
        down = h * (self.kv_lora + self.rope_dim)
        up = self.kv_lora * a * (d + self.v_head_dim)
        q = h * self.q_lora + self.q_lora * queries if self.q_lora else h * queries
        return q + down + up + a * self.v_head_dim * h

    def small(self) -> int:
        """Norms and biases of a layer; no matrix product uses them."""
        h, d, n = self.hidden, self.head_dim, self.vectors * self.hidden
        n += 2 * d if self.head_norm else 0
        n += self.q_lora + self.kv_lora if self.kv_lora else 0
        n += (self.heads + 2 * self.kv_heads) * d if self.qkv_bias or self.all_bias else 0
        return n + (2 * h + self.ffn if self.all_bias else 0)

    def feed_forward(self, *, active: bool) -> int:
        """Weights of all feed-forward blocks: of every expert, or of those that a token visits."""
        h = self.hidden
        dense = self.dense_layers if self.experts else self.layers
        chosen = (self.experts_active if active else self.experts) + self.experts_shared
        expert = chosen * self.matrices * h * self.expert_ffn + h * self.experts  # and the router
        return dense * self.matrices * h * self.ffn + (self.layers - dense) * expert

    def embedding(self) -> int:
        """Weights of the input embedding alone, which a token looks up and does not multiply."""
        return self.vocab * self.hidden

    def parameters(self, *, active: bool = False) -> int:
        """All parameters; with active, those of a token's experts only."""
        tables = self.embedding() * (1 if self.tied else 2) + self.positions * self.hidden
        body = self.layers * (self.attention() + self.small()) + self.feed_forward(active=active)
        last = self.hidden * (2 if self.all_bias else 1)
        return tables + body + last

    def multiplied(self) -> int:
        """Weights that one token is multiplied with: the N of 2N and 6N."""
        body = self.layers * self.attention() + self.feed_forward(active=True)
        return body + self.embedding()  # the output head, tied or not

    def core(self, sequence: int, *, causal: bool) -> float:
        """Forward FLOP a token of Q K^T and of scores x V, all layers."""
        query = self.head_dim + self.rope_dim
        value = self.v_head_dim or self.head_dim
        full = 2 * sequence * self.heads * (query + value) * (self.kv_layers or self.layers)
        return full / 2 if causal else full

    def training(self, sequence: int = 0, *, causal: bool = False) -> float:
        """FLOP a token of a forward and a backward pass, nothing recomputed."""
        return 3 * (2 * self.multiplied() + self.core(sequence, causal=causal))


# --8<-- [end:main]

EXTRA: dict[str, dict[str, int | bool]] = {
    "qwen25-7b": {"qkv_bias": True},
    "qwen3-8b": {"head_norm": True},
    "qwen3-235b-a22b": {"head_norm": True},
    # GPT-2's vocabulary and a context of 2048; LayerNorm has a weight and a bias
    "gpt3-175b": {
        "vocab": 50257,
        "positions": 2048,
        "matrices": 2,
        "tied": True,
        "vectors": 4,
        "all_bias": True,
    },
    "palm-540b": {"tied": True, "vectors": 1},  # parallel block: one norm
}
PUBLISHED: dict[str, tuple[str, str]] = {
    "llama2-7b": ("6.738", ""),
    "llama31-8b": ("8.030", ""),
    "llama31-70b": ("70", ""),
    "llama31-405b": ("405", ""),
    "qwen25-7b": ("7.61", ""),
    "gpt3-175b": ("175", ""),
    "palm-540b": ("540.35", ""),
    "mixtral-8x7b": ("46.7", "12.9"),
    "qwen3-235b-a22b": ("235", "22"),
    "deepseek-v2-lite": ("16", "2.4"),
    "deepseek-v3": ("671", "36.7"),
}
"""Totals and active parameters in 10^9 as makers or tools print them; sources in the note."""

ROW = re.compile(r"^  ([a-z0-9-]+):$")
CELL = re.compile(r"^      (\w+): \{value: ([\d.]+)")


def load() -> dict[str, Shape]:
    """Return the shapes of docs/data/facts/models.yml by row."""
    rows: dict[str, dict[str, int | bool]] = {}
    known = Shape.__dataclass_fields__
    text = (DOCS / "data/facts/models.yml").read_text(encoding="utf-8")
    name = ""
    for line in text.split("\nrows:\n", 1)[1].splitlines():
        if row := ROW.match(line):
            name = row[1]
            rows[name] = {}
        elif (cell := CELL.match(line)) and cell[1] in known:
            rows[name][cell[1]] = int(float(cell[2]))
    return {name: Shape(**{**cells, **EXTRA.get(name, {})}) for name, cells in rows.items()}  # type: ignore[arg-type]


def table(models: dict[str, Shape]) -> list[str]:
    """Return counted against published parameters, in 10^9."""
    lines = [
        f"{'10^9 parameters':<18}{'counted':>9}{'printed':>9}{'active':>9}{'printed':>9}"
        f"{'multiplied':>12}{'embedding':>11}"
    ]
    for name, (total, active) in PUBLISHED.items():
        m = models[name]
        counted = f"{m.parameters(active=True) / 1e9:.3f}" if active else ""
        lines.append(
            f"{name:<18}{m.parameters() / 1e9:>9.3f}{total:>9}{counted:>9}{active:>9}"
            f"{m.multiplied() / 1e9:>12.3f}{m.embedding() / 1e9:>11.3f}"
        )
    return lines


def flops(models: dict[str, Shape]) -> list[str]:
    """Return FLOP a token (10^9) and what attention's core adds, for some lengths."""
    lines = [
        f"{'10^9 FLOP':<14}{'6N':>8}{'6N of':>11}   causal core over the latter (full: twice)",
        f"{'a token':<14}{'active':>8}{'multiplied':>11}" + "".join(f"{n:>10}" for n in LENGTHS),
    ]
    for name in ("gpt3-175b", "llama31-8b", "llama31-70b", "llama31-405b", "deepseek-v3"):
        m = models[name]
        ratios = (m.core(s, causal=True) / (2 * m.multiplied()) for s in LENGTHS)
        total = 6 * m.parameters(active=True) / 1e9
        cells = "".join(f"{ratio:>10.1%}" for ratio in ratios)
        lines.append(f"{name:<14}{total:>8.1f}{6 * m.multiplied() / 1e9:>11.1f}{cells}")
    lines.append("")
    for name in ("llama31-8b", "llama31-70b", "llama31-405b", "deepseek-v3"):
        m = models[name]
        length = 2 * m.multiplied() / m.core(1, causal=True)
        lines.append(f"{name:<14}causal core = all matrices at {length:,.0f} tokens")
    return lines


LENGTHS = (2048, 8192, 32768, 131072)
RUNS = [
    # model, tokens, GPU hours, dense bf16 peak of the GPU
    ("llama31-8b", 15e12, 1.46e6, 989.4e12),
    ("llama31-70b", 15e12, 7.0e6, 989.4e12),
    ("llama31-405b", 15e12, 30.84e6, 989.4e12),
    ("deepseek-v3", 14.8e12, 2.664e6, 989.4e12),
]


def runs(models: dict[str, Shape]) -> list[str]:
    """Return work and utilisation of runs whose tokens and GPU hours are published."""
    lines = [
        f"{'':<15}{'tokens':>8}{'6ND':>10}{'GPU hours':>11}{'6ND over peak':>15}"
        f"{'N = all parameters':>20}"
    ]
    for name, tokens, hours, peak in RUNS:
        m = models[name]
        work, everything = (6 * n * tokens for n in (m.multiplied(), m.parameters()))
        budget = hours * 3600 * peak
        lines.append(
            f"{name:<15}{tokens / 1e12:>7.1f}T{work:>10.2e}{hours / 1e6:>10.2f}M"
            f"{work / budget:>15.1%}{everything / budget:>20.1%}"
        )
    return lines


def threshold(width: int) -> float:
    """Depth up to which theory finds depth double-exponentially efficient (arXiv 2006.12467)."""
    return math.log(width) / math.log(3)


def fitted(weights: float) -> tuple[float, float]:
    """Depth and width by that paper's fit, h = exp(5.039 + 0.0555 L), for 12 L h^2 weights."""
    low, high = 1.0, 500.0
    for _ in range(60):
        depth = (low + high) / 2
        width = math.exp(5.039 + 0.0555 * depth)
        low, high = (depth, high) if 12 * depth * width**2 < weights else (low, depth)
    return depth, width


def shapes(models: dict[str, Shape]) -> list[str]:
    """Return depth and width of models beside the fit, and how their dimensions divide."""
    lines = [
        f"{'':<17}{'layers x width':>14}{'ratio':>7}{'log3':>6}{'fit':>12}{'ffn/h':>7}"
        "  2^n: h,ffn,V"
    ]
    for name in PUBLISHED:
        m = models[name]
        ffn = m.ffn or m.expert_ffn
        two = ",".join(str(n & -n) for n in (m.hidden, ffn, m.vocab))
        depth, width = fitted(m.layers * m.attention() + m.feed_forward(active=True))
        fit = "" if m.experts else f"{depth:.0f} x {width:.0f}"
        lines.append(
            f"{name:<17}{f'{m.layers} x {m.hidden}':>14}{m.hidden / m.layers:>7.1f}"
            f"{threshold(m.hidden):>6.2f}{fit:>12}{ffn / m.hidden:>7.2f}  {two}"
        )
    depth, width = fitted(1e12)
    lines.append(f"fit for 10^12 weights: {depth:.1f} layers, width {width:.0f}")
    return lines


def questions(models: dict[str, Shape]) -> list[str]:
    """Return the answers of the note."""
    small, large, moe = (models[n] for n in ("llama31-8b", "llama31-405b", "deepseek-v3"))
    h = 8192
    swiglu, plain = (
        Shape(80, h, 64, 64, 128, 32000, ffn=f, matrices=k) for f, k in ((28672, 3), (4 * h, 2))
    )
    full = 3 * small.core(131072, causal=True)
    found = json.loads((DOCS / "train/measured/step_memory.json").read_text(encoding="utf-8"))
    points = {r["id"]: r["points"] for r in found["results"]}["step_time"]
    (step,) = (
        p
        for p in points
        if p["attention"] == "flash"
        and p["recompute"] == "none"
        and p["precision"] == "16"
        and p["b"] == 8
    )
    gpt = Shape(
        24,
        2048,
        16,
        16,
        128,
        50304,
        ffn=8192,
        matrices=2,
        tied=True,
        positions=2048,
        vectors=4,
        all_bias=True,
    )
    rate = step["tokens_per_s"] / 989.5e12  # dense bf16 of H200
    ways = [6 * gpt.multiplied(), gpt.training(2048, causal=True), gpt.training(2048)]
    gated, simple = (m.feed_forward(active=True) / 80 / 1e6 for m in (swiglu, plain))
    return [
        f"Q1 feed-forward of a layer: SwiGLU 28672 {gated:.1f} M, 4h {simple:.1f} M",
        f"Q2 405B x 15.6 T tokens: 6ND = {6 * large.multiplied() * 15.6e12:.3e} with N multiplied, "
        f"{6 * large.parameters() * 15.6e12:.3e} with all parameters",
        f"Q3 8B at 131072 tokens: 6N {6 * small.multiplied() / 1e9:.1f} + core {full / 1e9:.1f} "
        f"10^9 FLOP a token, {full / (full + 6 * small.multiplied()):.0%} core",
        f"Q4 DeepSeek-V3: 6N active {6 * moe.multiplied() / 1e9:.0f}, "
        f"6N total {6 * moe.parameters() / 1e9:.0f} 10^9 FLOP a token, "
        f"{moe.parameters() / moe.multiplied():.1f} times",
        "Q5 one step, three utilisations: " + ", ".join(f"{w * rate:.1%}" for w in ways),
    ]


def main() -> None:
    """Print the table that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("flops", "runs", "shapes", "questions"):
        parser.add_argument(f"--{name}", action="store_true")
    asked = parser.parse_args()
    models = load()
    ways = {"flops": flops, "runs": runs, "shapes": shapes, "questions": questions}
    chosen = next((way for name, way in ways.items() if getattr(asked, name)), table)
    print("\n".join(chosen(models)))


if __name__ == "__main__":
    main()
