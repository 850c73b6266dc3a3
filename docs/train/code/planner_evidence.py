"""The planner beside published BF16 runs, and beside the best layouts of a sweep. Stdlib only.

Run:  python docs/train/code/planner_evidence.py [--best] [--causes] [--rails N]

Reads docs/data/facts/parallel-runs.yml. No constant of the planner was fitted to these rows.
--best asks where the best layout of nanotron's sweep stands in the planner's order, and how much
slower than its own first choice the planner thinks that layout to be.
--causes takes one assumption of the planner away at a time.
"""

from __future__ import annotations

import argparse
import itertools
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from statistics import median

from planner import A100, H100, SHAPES, Cluster, Model, Plan, estimate, memory

FACTS = Path(__file__).parents[2] / "data/facts/parallel-runs.yml"
Run = dict[str, float | str]


def runs() -> dict[str, Run]:
    """Each row of the facts file with its cells."""
    found: dict[str, Run] = {}
    for line in FACTS.read_text(encoding="utf-8").split("\nrows:\n")[1].splitlines():
        if row := re.fullmatch(r"  ([\w-]+):", line):
            found[row[1]] = {}
        elif cell := re.match(r'      (\w+): \{value: (?:"([^"]*)"|([\d.]+)|\{.*en: "(\w+))', line):
            last = found[next(reversed(found))]
            last[cell[1]] = float(cell[3]) if cell[3] else cell[2] or cell[4]
    return found


def sweep(layers: int, hidden: int, heads: int, feed: int) -> Model:
    """A model of nanotron's sweep: as many KV heads as heads, 131,072 tokens of vocabulary."""
    return Model("nanotron", layers, hidden, heads, heads, feed, 131072, 4096)


def table(layers: int, hidden: int, heads: int) -> Model:
    """A model of Megatron-LM's README: GPT, sequence 4,096."""
    return Model("GPT", layers, hidden, heads, heads, 4 * hidden, 131072, 4096, gated=False)


# --8<-- [start:cases]
MODELS = {
    "nanotron-1p34b": sweep(16, 2048, 32, 8192),
    "nanotron-3p57b": sweep(28, 3072, 32, 8192),
    "nanotron-8p86b": sweep(32, 4096, 32, 14336),
    "nanotron-80b": sweep(80, 8192, 64, 28672),
    "megatron-1p7b": table(24, 2048, 16),
    "megatron-7p1b": table(30, 4096, 32),
    "megatron-16b": table(32, 6144, 48),
    "megatron-32b": table(48, 7168, 56),
    "megatron-70b": table(84, 8192, 64),
    "megatron-119b": table(92, 10240, 80),
    "megatron-177b": table(96, 12288, 96),
    "megatron-314b": table(96, 16384, 128),
    "megatron-462b": table(112, 18432, 144),
    "megatron-175b": Model("GPT 175B", 96, 12288, 128, 128, 49152, 64000, 2048, gated=False),
    "titan-8b": SHAPES["8b"],
    "titan-70b": SHAPES["70b"],
}


def model_of(key: str) -> Model | None:
    """The longest name of a model with which the key begins."""
    names = sorted((n for n in MODELS if key.startswith(n)), key=len)
    return MODELS[names[-1]] if names else None


def plan_of(key: str, run: Run) -> Plan:
    """The layout as published. What a source leaves out: micro-batch 1, nothing recomputed.

    The 175B runs interleave six chunks, as MegaScale says of itself (an assumption for its
    baseline); torchtitan's selective recomputation counts as none.
    """
    tp, pp, cp, dp = (int(float(run[k])) for k in ("tp", "pp", "cp", "dp"))
    return Plan(
        *(tp, pp, cp, dp, int(float(run.get("micro", 1)))),
        chunks=6 if key.startswith("megatron-175b") else 1,
        recompute="full" if run.get("recompute") == "whole" else "none",
        stage=int(run.get("zero", 1)),
    )


# --8<-- [end:cases]


def flop(key: str, m: Model) -> float:
    """FLOP of a token as the source counts them: attention in full, except torchtitan's."""
    if key.startswith("titan"):
        return 6 * m.parameters + 6 * m.layers * m.sequence * m.hidden
    return 6 * (m.layers * m.layer + m.table) + 12 * m.layers * m.sequence * m.hidden


def cases(rails: int = 8) -> Iterator[tuple[str, Model, Cluster, Plan, int, float]]:
    """Each comparable row with the tokens per second and GPU that were published."""
    for key, run in runs().items():
        m = model_of(key)
        if m is None or run["precision"] != "BF16" or "cp" not in run:
            continue
        ampere = run["accelerator"] == "Ampere"
        c = replace(A100 if ampere else H100, gpus=int(float(run["gpus"])), rails=rails)
        p, batch = plan_of(key, run), int(float(run["batch"]))
        if "tokens" in run:
            published = float(run["tokens"])
        elif "tflops" in run:
            published = float(run["tflops"]) * 1e12 / flop(key, m)
        else:
            published = float(run["mfu"]) / 100 * H100.peak / flop(key, m)
        yield key, m, c, p, batch, published


def family(key: str) -> str:
    return "megatron-175b" if "175b" in key else key.split("-")[0]


def compare(rails: int, overlap: bool = False, rows: bool = True, hbm: float = 0) -> None:
    """Each run, then each family; overlap takes the time of tensor parallelism away."""
    if rows:
        print(f"{'run':23s} {'layout':36s}   published  planner  error")
    errors: dict[str, list[float]] = {}
    for key, m, given, p, batch, published in cases(rails):
        c = replace(given, hbm=hbm) if hbm else given
        e = estimate(m, c, p, batch)
        step = e.step - (e.parts["tensor"] if overlap else 0)
        own = batch * m.sequence / step / c.gpus
        error = own / published - 1
        errors.setdefault(family(key), []).append(error)
        if rows:
            print(f"{key:23s} {p!s:36s} {published:11.0f} {own:8.0f} {error:+6.0%}")
    for name, some in errors.items():
        print(f"{name:14s} {len(some):3d} runs, error {min(some):+.0%} to {max(some):+.0%}, "
              f"median {median(some):+.0%}")  # fmt: skip


# --8<-- [start:best]
def choices(m: Model, c: Cluster, batch: int, most_tp: int = 16) -> Iterator[Plan]:
    """The space of the sweep: TP up to two nodes, PP, DP, micro-batch, ZeRO-0 or 1, no more."""
    powers = [2**i for i in range(10)]
    for tp, pp, micro in itertools.product(powers, powers, powers[:5]):
        dp, rest = divmod(c.gpus, tp * pp)
        if rest or not dp or tp > most_tp or m.layers % pp or m.heads % tp:
            continue
        count, left = divmod(batch, dp * micro)
        if left or count < pp - 1 or not count:
            continue
        plan = Plan(tp, pp, 1, dp, micro, 1, "none", 1 if dp > 1 else 0)
        if memory(m, c, plan, batch) <= 0.9 * c.memory:
            yield plan


def best(rails: int) -> None:
    """The planner's first choice, and where the sweep's best stands in its order."""
    print(f"{'run':19s} {'best of the sweep':19s} {'planner, first choice':21s} "
          "place of the best; its loss")  # fmt: skip
    found: list[int] = []
    for key, m, c, p, batch, _ in cases(rails):
        if not key.startswith("nanotron"):
            continue
        order = sorted(choices(m, c, batch), key=lambda q: estimate(m, c, q, batch).step)
        own = estimate(m, c, p, batch).step
        places = [i for i, q in enumerate(order, 1) if estimate(m, c, q, batch).step >= own]
        place = places[0] if places else len(order) + 1
        short = [f"TP{q.tp} PP{q.pp} DP{q.dp} b{q.micro}" for q in (p, order[0])]
        fits = memory(m, c, p, batch) <= 0.9 * c.memory
        lost = own / estimate(m, c, order[0], batch).step - 1
        found.append(place)
        print(f"{key:19s} {short[0]:19s} {short[1]:21s} {place:3d} of {len(order):3d} "
              f"{lost:+5.0%}{'' if fits else ', over the limit by its memory model'}")  # fmt: skip
    print(f"first {sum(i == 1 for i in found)}, in the first three {sum(i <= 3 for i in found)}, "
          f"in the first ten {sum(i <= 10 for i in found)} of {len(found)}; "
          f"median place {median(found):g}")  # fmt: skip


# --8<-- [end:best]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--best", action="store_true", help="which layout it would have chosen")
    parser.add_argument("--causes", action="store_true", help="one assumption away at a time")
    parser.add_argument("--rails", type=int, default=8, help="ports of a node a ring loads")
    given = parser.parse_args()
    if given.causes:
        print("as it is")
        compare(8, rows=False)
        print("one port of a node in a ring")
        compare(1, rows=False)
        print("tensor parallelism takes no time")
        compare(8, overlap=True, rows=False)
        print("memory at 2.4 TB/s, as torchtitan's H100")
        compare(8, rows=False, hbm=2.4e12)
    elif given.best:
        best(given.rails)
    else:
        compare(given.rails)


if __name__ == "__main__":
    main()
