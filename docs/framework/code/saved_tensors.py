"""What PyTorch saves for the backward pass of common operations: bytes per element of the result.

python docs/framework/code/saved_tensors.py [cuda]
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import torch
from torch.nn import functional as nnf


# --8<-- [start:saved]
def saved_by(
    call: Callable[[], torch.Tensor], leaves: list[torch.Tensor]
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """Return a call's result and the tensors it keeps for backward, each once, no parameters."""
    kept: dict[int, torch.Tensor] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        kept.setdefault(tensor.untyped_storage().data_ptr(), tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = call()
    known = {leaf.untyped_storage().data_ptr() for leaf in leaves}
    return result, [tensor for place, tensor in kept.items() if place not in known]


# --8<-- [end:saved]


def main() -> None:
    """Print a line for each operation."""
    device = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    torch.manual_seed(0)
    kind = {"device": device, "dtype": torch.bfloat16, "requires_grad": True}
    x = torch.randn(4, 128, 512, **kind)
    y = torch.randn(4, 128, 512, **kind)
    w = torch.randn(512, 512, **kind)
    g = torch.randn(512, **kind)
    h = x * 1  # a result of an earlier operation, as inside a network
    k = y * 1
    heads = [h.view(4, 128, 8, 64).transpose(1, 2) for _ in range(3)]
    calls: list[tuple[str, Callable[[], torch.Tensor]]] = [
        ("h + k", lambda: h + k),
        ("h * k", lambda: h * k),
        ("linear, no bias", lambda: nnf.linear(h, w)),
        ("relu", lambda: nnf.relu(h)),
        ("gelu", lambda: nnf.gelu(h)),
        ("silu(h) * k", lambda: nnf.silu(h) * k),
        ("dropout 0.1", lambda: nnf.dropout(h, 0.1, training=True)),
        ("layer_norm", lambda: nnf.layer_norm(h, (512,), g, g)),
        ("rms_norm", lambda: nnf.rms_norm(h, (512,), g)),
        ("softmax", lambda: nnf.softmax(h, -1)),
        ("attention (SDPA)", lambda: nnf.scaled_dot_product_attention(*heads, is_causal=True)),
        ("h.float()", h.float),
        ("h.transpose(0, 1)", lambda: h.transpose(0, 1)),
    ]
    print(f"torch {torch.__version__}, {device}, BF16, {h.numel()} elements")
    for name, call in calls:
        result, kept = saved_by(call, [x, y, w, g])
        place = {
            h.untyped_storage().data_ptr(): "input",
            result.untyped_storage().data_ptr(): "result",
        }
        parts = []
        for tensor in kept:
            kind_of = place.get(tensor.untyped_storage().data_ptr(), "new")
            if (
                kind_of == "new"
                and tensor.untyped_storage().data_ptr() == k.untyped_storage().data_ptr()
            ):
                kind_of = "input"
            size = tensor.untyped_storage().nbytes() / result.numel()
            parts.append(f"{kind_of} {str(tensor.dtype).removeprefix('torch.')} {size:.3g}")
        total = sum(tensor.untyped_storage().nbytes() for tensor in kept) / result.numel()
        print(f"{name:18} {total:5.2f} B  {', '.join(parts) or 'nothing'}")


if __name__ == "__main__":
    main()
