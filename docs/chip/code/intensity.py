"""Where an operation sits under the roofline: its intensity, the ridge, and the roof above it.

Standard library only. Counted bytes are those that must cross the memory level named, each
operand once; counted operations are multiplications and additions. Measured rates come from
docs/chip/measured/*.json, specifications from the data sheets that docs/data cites.

Formulas
    intensity (FLOP/B) = operations / bytes
    ridge (FLOP/B)     = peak / bandwidth
    attainable         = min(peak, intensity x bandwidth)

Usage
    python docs/chip/code/intensity.py              # typical operations under two cards
    python docs/chip/code/intensity.py --ridges     # nominal and measured ridges
    python docs/chip/code/intensity.py --questions  # answers of the note
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).resolve().parents[1] / "measured"


# --8<-- [start:main]
CARDS = {"H200": (989.5e12, 4800e9), "H100": (989.4e12, 3352e9)}
"""Dense bf16 peak in FLOP/s and memory bandwidth in B/s, from the data sheets."""


def attainable(intensity: float, peak: float, bandwidth: float) -> float:
    """The roof above an operation, in FLOP/s."""
    return min(peak, intensity * bandwidth)


def gemm(m: int, n: int, k: int, each: float = 2, out: float | None = None) -> float:
    """C = A B: A and B read once, C written once; bytes an element of the inputs and of C."""
    return 2 * m * n * k / (each * (m * k + k * n) + (out or each) * m * n)


def elementwise(operations: float, reads: int, writes: int, each: float = 2) -> float:
    """Some operations an element, with so many arrays read and written."""
    return operations / (each * (reads + writes))


def decode_attention(heads: int, kv_heads: int, each: float = 2) -> float:
    """One new token: the cache of keys and values is read once; length and batch cancel."""
    return 4 * heads / (2 * kv_heads * each)


# --8<-- [end:main]


def decode_mla(heads: int, latent: int, rotary: int, each: float = 2) -> float:
    """The same over one latent vector that all heads share, up-projections absorbed."""
    return 2 * heads * (2 * latent + rotary) / ((latent + rotary) * each)


def prefill_attention(length: int, each: float = 2) -> float:
    """One fused causal head: half of 4 s^2 d operations; q, k, v read and o written once."""
    return 4 * length**2 / 2 / (4 * length * each)


OPERATIONS = [
    ("add, c = a + b", elementwise(1, 2, 1)),
    ("RMSNorm, 4 FLOP an element", elementwise(4, 1, 1)),
    ("GEMV, 1 x 8192 x 8192", gemm(1, 8192, 8192)),
    ("decode attention, MHA 32/32", decode_attention(32, 32)),
    ("decode attention, GQA 64/8", decode_attention(64, 8)),
    ("decode attention, MQA 32/1", decode_attention(32, 1)),
    ("GEMM, 16 x 8192 x 8192", gemm(16, 8192, 8192)),
    ("GEMM, 128 x 8192 x 8192", gemm(128, 8192, 8192)),
    ("decode attention, MLA 128 heads", decode_mla(128, 512, 64)),
    ("GEMM, 1024 x 1024 x 1024", gemm(1024, 1024, 1024)),
    ("GEMM, 512 x 8192 x 8192", gemm(512, 8192, 8192)),
    ("causal prefill, 8192 tokens", prefill_attention(8192)),
    ("GEMM, 8192 x 8192 x 8192", gemm(8192, 8192, 8192)),
]


def table() -> list[str]:
    """Return the operations with intensity, binding roof and attainable TFLOP/s."""
    lines = [f"{'bf16':<32}{'FLOP/B':>8}" + "".join(f"{name:>16}" for name in CARDS)]
    for name, intensity in OPERATIONS:
        line = f"{name:<32}{intensity:>8.4g}"
        for peak, bandwidth in CARDS.values():
            roof = "memory" if intensity < peak / bandwidth else "compute"
            line += f"{attainable(intensity, peak, bandwidth) / 1e12:>8.4g} {roof:>7}"
        lines.append(line)
    return lines


def record(name: str) -> dict[str, list[dict[str, Any]]]:
    """Return the points of a measured record by result."""
    found = json.loads((MEASURED / f"{name}.json").read_text(encoding="utf-8"))
    return {result["id"]: result["points"] for result in found["results"]}


def value(points: list[dict[str, Any]], **labels: object) -> float:
    """Return the value of the one point with these labels."""
    (found,) = (p for p in points if all(p[key] == label for key, label in labels.items()))
    return float(found["value"])


def ridges() -> list[str]:
    """Return nominal and measured ridge points of both cards."""
    lines = [f"{'card, roofs':<42}{'TFLOP/s':>9}{'GB/s':>7}{'FLOP/B':>8}"]
    for card, end in (("H200", ""), ("H100", "_h100")):
        memory, chains, gemms = (
            record(f"{name}{end}") for name in ("hbm_bandwidth", "roofline", "gemm")
        )
        read = value(memory["read"], bytes=6 << 30)
        cached = value(memory["read"], bytes=30 << 20)
        bf16 = value(gemms["sustained"], type="bf16", fill="normal")
        fp8 = value(gemms["sustained"], type="fp8", fill="normal")
        peak, bandwidth = CARDS[card]
        rows = [
            ("bf16, specification", peak / 1e12, bandwidth / 1e9),
            ("bf16 sustained, reads of memory", bf16, read),
            ("bf16 sustained, reads of L2", bf16, cached),
            ("fp8 sustained, reads of memory", fp8, read),
        ]
        for kind in ("fp32", "fp64"):
            points = chains[f"{kind}_chain"]
            rows.append(
                (
                    f"{kind} chain, copies of memory",
                    max(p["value"] for p in points),
                    max(p["gbytes_per_s"] for p in points),
                )
            )
        for name, tera, giga in rows:
            lines.append(f"{card} {name:<37}{tera:>9.4g}{giga:>7.4g}{tera * 1e3 / giga:>8.1f}")
    return lines


def questions() -> list[str]:
    """Return the answers of the note."""
    peak, bandwidth = CARDS["H200"]
    least = next(m for m in range(1, 4096) if gemm(m, 8192, 8192) >= peak / bandwidth)
    least8, mixed = (
        next(m for m in range(1, 4096) if gemm(m, 8192, 8192, 1, out) >= 1979e12 / bandwidth)
        for out in (1, 2)
    )
    rows = record("gemm")["rows"]
    one, many = (value(rows, type="bf16", m=m) for m in (1, 128))
    times = [2 * m * 8192**2 / (rate * 1e12) * 1e6 for m, rate in ((1, one), (128, many))]
    chain = record("roofline")["fp32_chain"]
    top, slope = max(p["value"] for p in chain), max(p["gbytes_per_s"] for p in chain)
    knee = value(chain, intensity=16)
    gemms = record("gemm")
    fills = [value(gemms["sustained"], type="bf16", fill=f) for f in ("normal", "zeros")]
    traffic = 16 * 131072 * 576 * 2
    scores = 16 * 128 * 131072 * 2
    total = traffic + traffic * 512 / 576 + 6 * scores
    products = [2 * 128 * k / (2 * (k + 128)) for k in (576, 512)]  # scores; weighted sum
    copy = value(record("hbm_bandwidth")["copy"], bytes=6 << 30)
    least_us = total / copy / 1e3
    return [
        f"Q1 GEMV 1 FLOP/B: at most {bandwidth / 1e12:.1f} of {peak / 1e12:.1f} TFLOP/s, "
        f"{bandwidth / peak:.2%}",
        f"Q2 rows for the ridge: bf16 M = {least}, fp8 M = {least8}, with bf16 output {mixed}",
        f"Q3 1 row {times[0]:.1f} us, 128 rows {times[1]:.1f} us: {times[1] / times[0]:.2f}x "
        f"the time, {many / one:.0f}x the rate",
        f"Q4 at 16 FLOP/B the roofs allow {min(top, 16 * slope / 1e3):.1f}, measured {knee:.1f} "
        f"TFLOP/s: {knee / min(top, 16 * slope / 1e3):.0%}",
        f"Q5 zeros over random: {fills[1] / fills[0]:.3f}",
        f"Q6 unfused MLA moves about {total / 1e9:.1f} GB, not {traffic / 1e9:.1f}: "
        f"{total / 2235e-6 / 1e12:.2f} TB/s in 2235 us, {total / 2235e-6 / 4814e9:.0%} of memory",
        f"Q7 its products have {products[0]:.0f} and {products[1]:.0f} FLOP/B; as a copy of "
        f"{copy:.0f} GB/s it would take {least_us:.0f} us, {least_us / 2235:.0%}",
    ]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Intensity of operations and ridge points.")
    parser.add_argument("--ridges", action="store_true", help="nominal and measured ridges")
    parser.add_argument("--questions", action="store_true", help="answers of the note")
    options = parser.parse_args()
    show = ridges if options.ridges else questions if options.questions else table
    print("\n".join(show()))
