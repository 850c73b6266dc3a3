"""Reverse-mode differentiation in a few functions: the tape, what it keeps, when it lets go.

python docs/framework/code/autograd.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

Grads = Sequence[np.ndarray | None]


class Node:
    """One recorded operation: its inputs, and how a gradient of its result becomes theirs."""

    def __init__(
        self, inputs: Sequence[Tensor], saved: Sequence[Tensor], back: Callable[[np.ndarray], Grads]
    ):
        self.inputs = inputs
        self.saved = saved
        self.versions = [one.version for one in saved]
        self.back: Callable[[np.ndarray], Grads] | None = back


class Tensor:
    """An array that remembers which operation made it."""

    def __init__(self, data: np.ndarray, wanted: bool = False, node: Node | None = None):
        self.data = np.asarray(data, dtype=np.float64)
        self.wanted = wanted or node is not None
        self.node = node
        self.grad: np.ndarray | None = None
        self.version = 0

    def add_(self, other: float) -> None:
        """Change the data in place: those who saved it must notice."""
        self.data += other
        self.version += 1


def record(
    data: np.ndarray,
    inputs: Sequence[Tensor],
    saved: Sequence[Tensor],
    back: Callable[[np.ndarray], Grads],
) -> Tensor:
    """Return a result, with a node only if some input wants a gradient."""
    wanted = RECORDING[0] and any(one.wanted for one in inputs)
    return Tensor(data, node=Node(inputs, saved, back) if wanted else None)


RECORDING = [True]


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """a @ b; keeps both, since each is the other's gradient."""
    return record(a.data @ b.data, (a, b), (a, b), lambda g: (g @ b.data.T, a.data.T @ g))


def add(a: Tensor, b: Tensor) -> Tensor:
    """a + b, where b may be one row; keeps nothing: the gradient does not depend on the values."""
    rows = b.data.ndim < a.data.ndim
    return record(a.data + b.data, (a, b), (), lambda g: (g, g.sum(0) if rows else g))


def relu(a: Tensor) -> Tensor:
    """max(a, 0); keeps its result, whose sign says all."""
    out = record(np.maximum(a.data, 0), (a,), (), lambda g: (g * (out.data > 0),))
    if out.node:
        out.node.saved, out.node.versions = (out,), [out.version]
    return out


def cross_entropy(logits: Tensor, target: np.ndarray) -> Tensor:
    """Mean of -log softmax at the targets; keeps the probabilities, the size of the logits."""
    shifted = logits.data - logits.data.max(1, keepdims=True)
    p = Tensor(np.exp(shifted) / np.exp(shifted).sum(1, keepdims=True))
    rows = np.arange(len(target))
    hot = np.zeros_like(p.data)
    hot[rows, target] = 1
    loss = -np.log(p.data[rows, target]).mean()
    return record(loss, (logits,), (p,), lambda g: (g * (p.data - hot) / len(target),))


def order(result: Tensor) -> list[Tensor]:
    """Return the tensors behind a result that have nodes, each after all that were made from it."""
    found: list[Tensor] = []
    seen: set[int] = set()

    def visit(one: Tensor) -> None:
        if one.node and id(one) not in seen:
            seen.add(id(one))
            for other in one.node.inputs:
                visit(other)
            found.append(one)

    visit(result)
    return found[::-1]


# --8<-- [start:backward]
def backward(result: Tensor) -> None:
    """Walk the tape from the result to the leaves; add up where paths meet; free what was saved."""
    pending = {id(result): np.ones_like(result.data)}
    for one in order(result):
        node, grad = one.node, pending.pop(id(one))
        if node.back is None:
            raise RuntimeError("a second backward: what the first needed is freed")
        if [kept.version for kept in node.saved] != node.versions:
            raise RuntimeError("a saved tensor was changed in place")
        for given, part in zip(node.inputs, node.back(grad), strict=True):
            if given.node:
                pending[id(given)] = pending.get(id(given), 0) + part
            elif given.wanted:
                given.grad = part if given.grad is None else given.grad + part  # accumulated
        node.back, node.saved, node.versions = None, (), []


# --8<-- [end:backward]


def kept_bytes(result: Tensor, leaves: Sequence[Tensor]) -> int:
    """Return the bytes that the tape of a result keeps beside the leaves, each array once."""
    known = {id(one.data) for one in leaves}
    return sum(
        {
            id(t.data): t.data.nbytes
            for one in order(result)
            for t in one.node.saved
            if id(t.data) not in known
        }.values()
    )


def checkpoint(block: Callable[[Tensor], Tensor], x: Tensor, weights: Sequence[Tensor]) -> Tensor:
    """Run a block without recording; on the way back run it again, recorded."""
    RECORDING[0] = False
    data = block(x).data
    RECORDING[0] = True

    def back(g: np.ndarray) -> Grads:
        copy = Tensor(x.data, wanted=True)
        again = block(copy)
        held = [w.grad for w in weights]
        for w in weights:
            w.grad = None
        seed = record(np.sum(again.data * g), (again,), (), lambda one: (one * g,))
        backward(seed)
        parts = [w.grad for w in weights]
        for w, old in zip(weights, held, strict=True):
            w.grad = old
        return (copy.grad, *parts)

    return record(data, (x, *weights), (x,), back)


def network(
    depth: int = 8, width: int = 64, rows: int = 256
) -> tuple[Tensor, list[Tensor], np.ndarray]:
    """Return an input, the weights of a deep perceptron, and targets, from a fixed seed."""
    random = np.random.default_rng(0)
    weights = [
        Tensor(random.normal(size=(width, width)) * (2 / width) ** 0.5, wanted=True)
        for _ in range(depth)
    ]
    return Tensor(random.normal(size=(rows, width))), weights, random.integers(0, width, rows)


def loss_of(x: Tensor, weights: Sequence[Tensor], target: np.ndarray, blocks: int = 0) -> Tensor:
    """Return the loss; `blocks` > 0 cuts the layers into that many checkpointed blocks."""

    def run(part: Sequence[Tensor], h: Tensor) -> Tensor:
        for w in part:
            h = relu(matmul(h, w))
        return h

    if not blocks:
        return cross_entropy(run(weights, x), target)
    size = -(-len(weights) // blocks)
    for start in range(0, len(weights), size):
        part = weights[start : start + size]
        x = checkpoint(lambda h, part=part: run(part, h), x, part)
    return cross_entropy(x, target)


def main() -> None:
    """Check gradients, show what is kept, what freeing and in-place changes do."""
    x, weights, target = network()
    loss = loss_of(x, weights, target)
    plain = kept_bytes(loss, (x, *weights))
    backward(loss)
    step, w = 1e-6, weights[3]
    w.data[5, 7] += step
    up = loss_of(x, weights, target).data
    w.data[5, 7] -= 2 * step
    down = loss_of(x, weights, target).data
    w.data[5, 7] += step
    print(f"one weight: tape {w.grad[5, 7]:.8f}, differences {(up - down) / (2 * step):.8f}")
    reference = [one.grad for one in weights]
    layer = x.data.nbytes / 1024
    print(f"kept for backward: {plain / 1024:.0f} KiB, one layer's output is {layer:.0f}")
    for blocks in (2, 4, 8):
        for one in weights:
            one.grad = None
        loss = loss_of(x, weights, target, blocks)
        kept = kept_bytes(loss, (x, *weights))
        backward(loss)
        same = all(
            np.allclose(a.grad, b, rtol=1e-12) for a, b in zip(weights, reference, strict=True)
        )
        print(f"  {blocks} checkpointed blocks: {kept / 1024:.0f} KiB, same gradients: {same}")
    again = loss_of(x, weights, target)
    backward(again)
    print(f"second call added: {np.allclose(weights[0].grad, 2 * reference[0])}")
    for what, broken in (
        ("backward twice", again),
        ("in place after saving", changed(x, weights, target)),
    ):
        try:
            backward(broken)
        except RuntimeError as error:
            print(f"{what}: {error}")


def changed(x: Tensor, weights: Sequence[Tensor], target: np.ndarray) -> Tensor:
    """Return a loss one of whose saved tensors was changed since."""
    loss = loss_of(x, weights, target)
    weights[2].add_(0.1)
    return loss


if __name__ == "__main__":
    main()
