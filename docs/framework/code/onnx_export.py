"""A PyTorch model exported to ONNX: what the file says, and where export decides for you.

python docs/framework/code/onnx_export.py        # needs torch, onnxscript, onnxruntime
"""

from __future__ import annotations

import logging
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import onnx
import onnxruntime
import torch


class Net(torch.nn.Module):
    """A norm, a product, a branch on the batch size."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.RMSNorm(64)
        self.linear = torch.nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.linear(self.norm(x))
        return torch.relu(y) if x.shape[0] > 1 else y


def export(
    path: Path, examples: int, *, dynamic: bool, opset: int | None = None
) -> onnx.ModelProto:
    """Export for an example batch and return what was written."""
    shapes = ({0: torch.export.Dim.DYNAMIC},) if dynamic else None
    torch.onnx.export(
        net,
        (torch.ones(examples, 64),),
        str(path),
        dynamic_shapes=shapes,
        opset_version=opset,
        verbose=False,
    )
    return onnx.load(path)


def main() -> None:
    """Export in four ways and run each with batches of one and five."""
    print("torch", torch.__version__, "onnx", onnx.__version__, "runtime", onnxruntime.__version__)
    ways = (
        ("fixed, batch 4", 4, False, None),
        ("dynamic, batch 4", 4, True, None),
        ("dynamic, batch 1", 1, True, None),
        ("dynamic, opset 23", 4, True, 23),
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, examples, dynamic, opset in ways:
            path = Path(folder, "net.onnx")
            model = export(path, examples, dynamic=dynamic, opset=opset)
            dim = model.graph.input[0].type.tensor_type.shape.dim[0]
            kinds = Counter(node.op_type for node in model.graph.node)
            batch_dim = dim.dim_param or dim.dim_value
            print(f"{name}: opset {model.opset_import[0].version}, batch {batch_dim},")
            print("    nodes", ", ".join(f"{kind} {n}" for kind, n in sorted(kinds.items())))
            session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
            for batch in (1, 5):
                x = torch.randn(batch, 64)
                try:
                    found = torch.from_numpy(
                        session.run(None, {session.get_inputs()[0].name: x.numpy()})[0]
                    )
                    error = (found - net(x)).abs().max().item()
                    print(f"    batch {batch}: " + ("equal" if error < 1e-5 else "DIFFERENT"))
                except Exception as failure:  # ONNX Runtime has no common class
                    print(f"    batch {batch}: {' '.join(str(failure).split())[:90]}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable()
    torch.manual_seed(0)
    net = Net().eval()
    with torch.no_grad():
        main()
