"""Weight-only INT4 and FP8 matrix products against BF16, by batch.

Run:  python3 docs/infer/code/quant_products.py [--tiny]

One JSON object a line. `bf16`: cuBLAS. `fp8`: both operands E4M3 with one scale for each row and
column, cuBLASLt through torch._scaled_mm; making FP8 of the activations is timed too. `int4`:
weights of 4 bits in groups of 128, activations BF16, PyTorch's tinygemm kernel. Weights rotate
among several copies, so that none stays in the L2 cache. The value is time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from timing import CUDA, DEVICE, emit, graphed, trials, versions
from torch import Tensor
from torch.nn import functional

GROUP = 128
# Rows (outputs) and columns (inputs) of the gate and up projection together.
SHAPES = {"Llama 3.1 8B": (28672, 4096), "Llama 3.1 70B": (57344, 8192)}


def fp8(x: Tensor) -> tuple[Tensor, Tensor]:
    """Return x in E4M3, one scale per row so that its largest value becomes 448."""
    scale = x.abs().amax(1, keepdim=True).float().clamp(min=1e-12) / 448
    return (x / scale).to(torch.float8_e4m3fn), scale


def int4(w: Tensor) -> tuple[Tensor, Tensor]:
    """Return w as tinygemm wants it: packed nibbles, and a scale and zero per group."""
    rows, columns = w.shape
    groups = w.float().view(rows, columns // GROUP, GROUP)
    low, high = groups.amin(-1, keepdim=True), groups.amax(-1, keepdim=True)
    scale = ((high - low) / 15).clamp(min=1e-6)
    q = ((groups - low) / scale).round().clamp(0, 15).to(torch.uint8).view(rows, columns)
    packed = torch.ops.aten._convert_weight_to_int4pack(q[:, ::2] << 4 | q[:, 1::2], 8)
    zero = low + 8 * scale
    both = torch.cat((scale, zero), -1).to(torch.bfloat16)  # rows x groups x 2
    return packed, both.transpose(0, 1).contiguous()


@torch.compile(dynamic=False)
def product8(x: Tensor, w8: Tensor, scales: Tensor) -> Tensor:
    """Make FP8 of the activations, then multiply; compiled, so that making it is one kernel."""
    x8, sx = fp8(x)
    return torch._scaled_mm(x8, w8.t(), sx, scales.t(), out_dtype=torch.bfloat16)


def ways(w: Tensor) -> dict[str, tuple[int, Callable[[Tensor], Tensor]]]:
    """Return each way's bytes of weights and its product with activations."""
    rows, columns = w.shape
    found: dict[str, tuple[int, Callable[[Tensor], Tensor]]] = {
        "bf16": (2 * rows * columns, lambda x: functional.linear(x, w))
    }
    if not CUDA:
        return found
    w8, s8 = fp8(w)
    packed, scales = int4(w)

    def product4(x: Tensor) -> Tensor:
        return torch.ops.aten._weight_int4pack_mm(x, packed, GROUP, scales)

    found["fp8"] = (rows * columns + 4 * rows, lambda x: product8(x, w8, s8))
    found["int4"] = (packed.nbytes + scales.nbytes, product4)
    return found


def main() -> None:
    """Time every way by batch."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true", help="sizes that any machine can run")
    tiny = parser.parse_args().tiny
    versions()
    torch.manual_seed(1)
    torch._dynamo.config.recompile_limit = 64  # one shape after another
    kind = torch.bfloat16 if CUDA else torch.float32
    for shape, (rows, columns) in ({"tiny": (256, 128)} if tiny else SHAPES).items():
        copies = 1 if tiny else max(2, 2**30 // (2 * rows * columns))
        weights = [
            torch.randn(rows, columns, device=DEVICE, dtype=kind) * columns**-0.5
            for _ in range(copies)
        ]
        made = [ways(w) for w in weights]
        for batch in (1, 16) if tiny else (1, 4, 16, 32, 64, 128, 256, 512, 1024, 4096):
            x = torch.randn(batch, columns, device=DEVICE, dtype=kind)
            exact = weights[0].float() @ x.float().t()
            for way in made[0]:
                if way == "fp8" and batch % 16:
                    continue  # cuBLASLt wants rows in 16s: an engine pads
                calls = [lambda m=m, way=way, x=x: m[way][1](x) for m in made]
                error = (calls[0]().t().float() - exact).norm() / exact.norm()
                with torch.inference_mode():
                    run = graphed(calls)
                    times = [t / copies for t in trials(run)]
                labels = {"shape": shape, "batch": batch, "way": way}
                emit("product", "s", times, **labels)
                emit("weights_rate", "GB/s", [made[0][way][0] / t / 1e9 for t in times], **labels)
                work = 2 * batch * rows * columns / 1e12
                emit("work_rate", "TFLOP/s", [work / t for t in times], **labels)
                emit("error", "1", [error.item()], **labels)
        del made, weights


if __name__ == "__main__":
    main()
