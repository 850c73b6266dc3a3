"""What a tensor is and where a call of PyTorch goes, printed; no GPU needed.

python docs/framework/code/dispatch_trace.py
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode


class Log(TorchDispatchMode):
    """Prints each operator that reaches the kernels, below autograd."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        print(f"    {func}")
        return func(*args, **(kwargs or {}))


def tensors() -> None:
    """Show that views share storage, and which layouts a kernel sees."""
    x = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    for name, y in (
        ("x", x),
        ("x.t()", x.t()),
        ("x[:, 1:3]", x[:, 1:3]),
        ("x.t().contiguous()", x.t().contiguous()),
    ):
        memory = y.untyped_storage()
        whose = "same" if memory.data_ptr() == x.untyped_storage().data_ptr() else "own"
        shape, stride = str(tuple(y.shape)), str(y.stride())
        print(f"{name:19} shape {shape:7} stride {stride:7} offset {y.storage_offset()}", end="  ")
        print(f"{whose} storage, {memory.nbytes()} bytes")
    kept = torch.zeros(1_000_000)[:10].clone()
    print(
        "ten elements of a million keep",
        torch.zeros(1_000_000)[:10].untyped_storage().nbytes(),
        "bytes;",
        end=" ",
    )
    print("their clone", kept.untyped_storage().nbytes())


def keys() -> None:
    """Show the set of keys that decides which function a call enters."""
    for name, y in (
        ("plain", torch.ones(1)),
        ("in inference mode", _made_in_inference_mode()),
        ("meta", torch.ones(1, device="meta")),
        ("sparse", torch.ones(1).to_sparse()),
    ):
        print(f"{name:18}", str(torch._C._dispatch_keys(y)).removeprefix("DispatchKeySet"))


def _made_in_inference_mode() -> torch.Tensor:
    with torch.inference_mode():
        return torch.ones(1)


def operators() -> None:
    """Show what the operators of a small layer and its loss are, forward and backward."""
    x = torch.ones(4, 8)
    w = torch.ones(2, 8, requires_grad=True)
    b = torch.ones(2, requires_grad=True)
    target = torch.tensor([0, 1, 0, 1])
    with Log():
        print("  linear:")
        y = torch.nn.functional.linear(x, w, b)
        print("  cross_entropy:")
        loss = torch.nn.functional.cross_entropy(y, target)
        print("  backward:")
        loss.backward()
    print("recorded:", end=" ")
    node = loss.grad_fn
    while node is not None:
        print(node.name(), end=" ")
        node = node.next_functions[-1][0] if node.next_functions else None
    print()


if __name__ == "__main__":
    print("torch", torch.__version__)
    tensors()
    keys()
    operators()
