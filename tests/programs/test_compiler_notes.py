"""The graph optimisations of the compiler volume, and what its other programs print."""

from __future__ import annotations

import importlib
import importlib.util
import itertools
import random
import re
import subprocess
import sys
from typing import Any

import pytest

from tools.figures.files import ROOT, load_program

g = load_program("compiler/code/graph_opts.py")
PRINTED = re.compile(
    r"\n\$ python3 (\S+)\n```\n\n```text title=\"printed by [^\"]+\"\n(.*?)\n```", re.S
)


def graphs(seed: int) -> dict[str, Any]:
    """A random graph: an input, then operations of random kinds that read earlier values."""
    draw = random.Random(seed)
    ops = [g.Op("in", "input", (), 8)]
    for number in range(draw.randint(4, 9)):
        reads = tuple(draw.sample([op.name for op in ops], k=min(len(ops), draw.randint(1, 2))))
        kind = draw.choice(("pointwise", "pointwise", "reduction", "product"))
        size = draw.choice((1, 2, 4, 8))
        saves = reads if draw.random() < 0.7 else ()
        ops.append(g.Op(f"v{number}", kind, reads, size, saves))
    return {op.name: op for op in ops}


@pytest.mark.parametrize("epilogues", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_fused_groups_can_run_in_order(seed: int, epilogues: bool) -> None:
    """Each operation is in one group, and reads only what earlier groups or its own has made."""
    graph = graphs(seed)
    groups = g.fused(graph, epilogues)
    assert sorted(itertools.chain(*groups)) == sorted(op.name for op in g.kernels(graph))
    done = {"in"}
    for group in groups:
        for name in group:
            assert set(graph[name].reads) <= done
            done.add(name)
        products = [name for name in group if graph[name].kind == "product"]
        assert len(products) <= 1
        assert not products or group == products or epilogues
    apart = [[op.name] for op in g.kernels(graph)]
    assert g.traffic(graph, groups) <= g.traffic(graph, apart)


@pytest.mark.parametrize("seed", range(40))
def test_a_plan_overlaps_nothing_that_is_alive(seed: int) -> None:
    graph = graphs(seed)
    spans = g.lifetimes(graph, g.fused(graph))
    places = g.planned(graph, spans)
    for one, other in itertools.combinations(spans, 2):
        together = spans[one][0] <= spans[other][1] and spans[other][0] <= spans[one][1]
        apart = places[one] + graph[one].size <= places[other]
        assert apart or places[other] + graph[other].size <= places[one] or not together
    top = max(places[name] + graph[name].size for name in spans)
    assert g.peak(graph, spans) <= top <= sum(graph[name].size for name in spans)


def enough(graph: dict[str, Any], kept: set[str], fixed: set[str]) -> bool:
    """Whether backward's values follow from the kept ones by pointwise operations."""
    known = {"in"} | kept
    for op in g.kernels(graph):
        again = op.kind == "pointwise" and op.name not in fixed
        if again and set(op.reads) <= known:
            known.add(op.name)
    return {name for op in graph.values() for name in op.saves} <= known


@pytest.mark.parametrize("keep_operands", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_the_cut_is_the_cheapest_choice(seed: int, keep_operands: bool) -> None:
    """Compared with every subset of the values."""
    graph = graphs(seed)
    fixed = {n for op in graph.values() if op.kind == "product" for n in op.saves}
    fixed = fixed if keep_operands else set()
    names = [op.name for op in g.kernels(graph)]
    found = g.kept(graph, keep_operands)
    assert enough(graph, found, fixed)
    cheapest = min(
        sum(graph[name].size for name in subset)
        for count in range(len(names) + 1)
        for subset in itertools.combinations(names, count)
        if enough(graph, set(subset), fixed)
    )
    assert sum(graph[name].size for name in found) == cheapest


def test_the_block_keeps_what_pytorch_printed() -> None:
    """Saved by PyTorch 2.11.0 for this block (TORCH_LOGS=aot_graphs): rsqrt, mul_1, three wide."""
    assert g.kept(g.merged(g.block()), keep_operands=True) == {
        "scale", "y", "gate", "up", "hidden",
    }  # fmt: skip
    assert len(g.saved(g.block())) == 9


@pytest.mark.slow
@pytest.mark.parametrize("note", ["torch-compile", "torch-compile.en", "triton", "triton.en"])
def test_the_notes_show_what_torch_and_triton_print(note: str) -> None:
    text = (ROOT / f"docs/compiler/{note}.md").read_text("utf-8")
    shown = PRINTED.findall(text)
    assert shown, note
    package, version = ("triton", "3.6.") if note.startswith("triton") else ("torch", "2.11.")
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"no {package} here")
    if not importlib.import_module(package).__version__.startswith(version):
        pytest.skip(f"another version of {package}")
    for program, printed in shown:
        run = subprocess.run(
            [sys.executable, program], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout.rstrip("\n") == printed
