"""What a graph compiler saves on one feed-forward block: fusion, memory plan, recomputation.

    python docs/compiler/code/graph_opts.py

A model of bytes, no timing. The block is RMS norm, gated product and residual as PyTorch's eager
mode runs it, one kernel per operation; 8192 tokens, width 4096, hidden 16,384, BF16.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import networkx as nx

T, D, H = 8192, 4096, 16384


@dataclass(frozen=True)
class Op:
    """One operation: the name of its result, what it reads, and the bytes of the result."""

    name: str
    kind: str  # input, weight, pointwise, reduction or product
    reads: tuple[str, ...]
    size: int
    saves: tuple[str, ...] = ()  # what eager autograd keeps for this operation's backward


Graph = dict[str, Op]


def block() -> Graph:
    """The block, in the order of the program."""
    half, full, wide = 2 * T * D, 4 * T * D, 2 * T * H
    rows, weight = 4 * T, 2 * D * H
    ops = [
        Op("x", "input", (), half),
        Op("w_norm", "weight", (), 2 * D),
        *(Op(name, "weight", (), weight) for name in ("w_gate", "w_up", "w_down")),
        Op("x32", "pointwise", ("x",), full),
        Op("x32b", "pointwise", ("x",), full),  # x.float() is written twice
        Op("square", "pointwise", ("x32b",), full, ("x32b",)),
        Op("mean", "reduction", ("square",), rows),
        Op("shifted", "pointwise", ("mean",), rows),
        Op("scale", "pointwise", ("shifted",), rows, ("scale",)),
        Op("scaled", "pointwise", ("x32", "scale"), full, ("x32", "scale")),
        Op("narrow", "pointwise", ("scaled",), half),
        Op("y", "pointwise", ("narrow", "w_norm"), half, ("narrow", "w_norm")),
        Op("gate", "product", ("y", "w_gate"), wide, ("y", "w_gate")),
        Op("silu", "pointwise", ("gate",), wide, ("gate",)),
        Op("up", "product", ("y", "w_up"), wide, ("y", "w_up")),
        Op("hidden", "pointwise", ("silu", "up"), wide, ("silu", "up")),
        Op("down", "product", ("hidden", "w_down"), half, ("hidden", "w_down")),
        Op("out", "pointwise", ("x", "down"), half),
    ]
    return {op.name: op for op in ops}


def kernels(graph: Graph) -> list[Op]:
    return [op for op in graph.values() if op.kind not in ("input", "weight")]


def merged(graph: Graph) -> Graph:
    """Common subexpressions: of operations of one kind on the same values keep the first.

    In this block only x32 and x32b are alike: pointwise, of x alone, of one size.
    """
    first: dict[tuple[str, tuple[str, ...], int], str] = {}
    alias: dict[str, str] = {}
    kept: Graph = {}
    for op in graph.values():
        reads = tuple(alias.get(name, name) for name in op.reads)
        saves = tuple(alias.get(name, name) for name in op.saves)
        key = (op.kind, reads, op.size)
        if reads and op.kind == "pointwise" and key in first:
            alias[op.name] = first[key]
            continue
        first[key] = op.name
        kept[op.name] = Op(op.name, op.kind, reads, op.size, saves)
    return kept


# --8<-- [start:fuse]
def fused(graph: Graph, epilogues: bool = False) -> list[list[str]]:
    """Greedy fusion of producers with consumers: lists of operations that become one kernel each.

    An operation joins the last group that made one of its inputs, unless that is a product and
    epilogues are not fused. Then it starts a group and pulls pointwise groups that only it reads.
    """
    groups: list[list[str]] = []
    users = {name: [op.name for op in graph.values() if name in op.reads] for name in graph}
    for op in kernels(graph):
        made = [group for group in groups if set(group) & set(op.reads)]
        last = max(made, key=groups.index, default=None)
        if op.kind != "product" and last and (epilogues or graph[last[0]].kind != "product"):
            last.append(op.name)
            continue
        groups.append([op.name])
        for group in made if op.kind == "pointwise" else ():
            alone = all(users[name] == [op.name] for name in group)
            if alone and all(graph[name].kind == "pointwise" for name in group):
                groups.remove(group)
                groups[-1] = group + groups[-1]
    return groups


def traffic(graph: Graph, groups: Iterable[Collection[str]]) -> int:
    """Bytes read and written when each group is one kernel that reads every input once."""
    total = 0
    users = {name: {op.name for op in graph.values() if name in op.reads} for name in graph}
    for group in groups:
        inside = set(group)
        read = {name for one in group for name in graph[one].reads} - inside
        written = {one for one in group if not users[one] or users[one] - inside}
        total += sum(graph[name].size for name in read | written)
    return total


# --8<-- [end:fuse]


def lifetimes(graph: Graph, groups: Sequence[Sequence[str]]) -> dict[str, tuple[int, int]]:
    """First and last step at which each value that leaves a group must exist."""
    step = {name: at for at, group in enumerate(groups) for name in group}
    spans: dict[str, tuple[int, int]] = {}
    for name, born in step.items():
        uses = [step[op.name] for op in graph.values() if name in op.reads]
        if not uses or max(uses) > born:
            spans[name] = (born, max(uses, default=len(groups)))
    return spans


# --8<-- [start:plan]
def planned(graph: Graph, spans: dict[str, tuple[int, int]]) -> dict[str, int]:
    """An offset for each value: the largest first, each at the lowest place that is free."""
    offsets: dict[str, int] = {}
    for name in sorted(spans, key=lambda one: (-graph[one].size, spans[one])):
        born, dies = spans[name]
        taken = sorted(
            (offsets[other], offsets[other] + graph[other].size)
            for other in offsets
            if spans[other][0] <= dies and born <= spans[other][1]  # alive at the same time
        )
        place = 0
        for start, end in taken:
            if place + graph[name].size <= start:
                break
            place = max(place, end)
        offsets[name] = place
    return offsets


# --8<-- [end:plan]


def peak(graph: Graph, spans: dict[str, tuple[int, int]]) -> int:
    """The most bytes alive at one step: no plan can need less."""
    steps = {step for span in spans.values() for step in span}
    return max(
        sum(graph[name].size for name, (born, dies) in spans.items() if born <= step <= dies)
        for step in steps
    )


# --8<-- [start:cut]
def kept(graph: Graph, keep_operands: bool = False) -> set[str]:
    """The cheapest values to keep for backward, if pointwise operations may be run again.

    A minimum cut: an edge through each value costs its bytes; products and reductions are not
    run again, so their results come from the source, as inputs do; what backward needs goes to
    the sink. Weights and the input exist anyway and cost nothing. With `keep_operands` what a
    product's backward reads is kept too: run again, it would be written to memory all the same.
    """
    flow = nx.DiGraph()
    flow.add_nodes_from(("source", "sink"))
    needed = {name for op in graph.values() for name in op.saves}
    operands = {name for op in graph.values() if op.kind == "product" for name in op.saves}
    for op in graph.values():
        free = op.kind in ("input", "weight")
        flow.add_edge(f"{op.name} in", f"{op.name} out", capacity=0 if free else op.size)
        if op.kind == "pointwise" and not (keep_operands and op.name in operands):
            for name in op.reads:
                flow.add_edge(f"{name} out", f"{op.name} in")  # no capacity: infinite
        else:
            flow.add_edge("source", f"{op.name} in")
        if op.name in needed:
            flow.add_edge(f"{op.name} out", "sink")
    _, (reached, _) = nx.minimum_cut(flow, "source", "sink")
    cut = {name for name in graph if f"{name} in" in reached and f"{name} out" not in reached}
    return {name for name in cut if graph[name].kind not in ("input", "weight")}


# --8<-- [end:cut]


def saved(graph: Graph) -> set[str]:
    """What eager autograd keeps, without inputs and weights."""
    names = {name for op in graph.values() for name in op.saves}
    return {name for name in names if graph[name].kind not in ("input", "weight")}


def main() -> None:
    graph = block()
    once = merged(graph)
    single = [[op.name] for op in kernels(graph)]
    plain, whole = fused(once), fused(once, epilogues=True)
    print(f"{'':34} kernels  MB moved")
    ways = (
        ("one kernel per operation", graph, single),
        ("fused, products alone", once, plain),
        ("fused, with epilogues", once, whole),
    )
    for title, of, groups in ways:
        print(f"{title:34} {len(groups):7}  {traffic(of, groups) / 1e6:8.0f}")
    print("fused, products alone:", "; ".join(" ".join(group) for group in plain))
    print(f"{'memory of intermediate values':34} apart  alive  planned (MB)")
    for title, of, groups in ways:
        spans = lifetimes(of, groups)
        offsets = planned(of, spans)
        top = max(offset + of[name].size for name, offset in offsets.items())
        apart = sum(of[name].size for name in spans)
        print(f"{title:34} {apart / 1e6:5.0f}  {peak(of, spans) / 1e6:5.0f}  {top / 1e6:7.0f}")
    print(f"{'kept for backward':34} MB")
    for title, of, names in (
        ("eager", graph, saved(graph)),
        ("minimum cut, operands kept", once, kept(once, keep_operands=True)),
        ("minimum cut", once, kept(once)),
    ):
        size = sum(of[name].size for name in names)
        print(f"{title:34} {size / 1e6:.0f}: {' '.join(n for n in of if n in names)}")


if __name__ == "__main__":
    main()
