"""Make a small network, let ONNX Runtime optimise it at each level, and show what the graph became.

Run:  python docs/infer/code/ort_levels.py            # operators per level, and the error
      python docs/infer/code/ort_levels.py --save DIR # also the files, to open in Netron

The network holds what optimisers look for: batch norm behind a convolution, a residual addition,
an activation, GELU written out, shape arithmetic on constants, and leftovers of training.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

CHANNELS, SIDE, INNER, CLASSES = 16, 32, 64, 10
OPSET = 17
LEVELS = {
    "none": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}


class Builder:
    """Nodes and constants of a graph, with a name for every result."""

    def __init__(self, seed: int = 1) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.random = np.random.default_rng(seed)

    def constant(self, values: np.ndarray) -> str:
        """Add a constant; return its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def weights(self, *shape: int) -> str:
        """Add random weights, scaled so that values keep their size."""
        fan = int(np.prod(shape[1:])) or 1
        values = self.random.normal(size=shape) * fan**-0.5
        return self.constant(values.astype(np.float32))

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node; return the name of its result."""
        result = f"{operator.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [result], **attributes))
        return result

    def scalar(self, value: float) -> str:
        """Add a number."""
        return self.constant(np.array(value, np.float32))


def convolution(build: Builder, source: str, inputs: int) -> str:
    """Return convolution and batch norm."""
    weights = build.weights(CHANNELS, inputs, 3, 3)
    result = build.add("Conv", source, weights, pads=[1, 1, 1, 1])
    ones, zeros = np.ones(CHANNELS, np.float32), np.zeros(CHANNELS, np.float32)
    parts = [build.constant(part) for part in (ones * 1.5, zeros + 0.1, zeros, ones)]
    return build.add("BatchNormalization", result, *parts)


def gelu(build: Builder, source: str) -> str:
    """Return GELU as exporters write it out: x / 2 * (1 + erf(x / sqrt 2))."""
    error = build.add("Erf", build.add("Div", source, build.scalar(2**0.5)))
    factor = build.add("Add", error, build.scalar(1.0))
    return build.add("Mul", build.add("Mul", source, factor), build.scalar(0.5))


def flattened(build: Builder, source: str) -> str:
    """Return the picture as a row, with the shape computed from constants, and a dropout."""
    half = build.constant(np.array([CHANNELS // 2], np.int64))
    width = build.add("Mul", half, build.constant(np.array([2], np.int64)))
    shape = build.add("Concat", build.constant(np.array([-1], np.int64)), width, axis=0)
    return build.add("Dropout", build.add("Reshape", source, shape))


def network() -> onnx.ModelProto:
    """Return the network: two convolutions with a residual, pooling, a small perceptron."""
    build = Builder()
    first = build.add("Relu", convolution(build, "image", 3))
    second = convolution(build, build.add("Identity", first), CHANNELS)
    joined = build.add("Relu", build.add("Add", second, first))
    row = flattened(build, build.add("GlobalAveragePool", joined))
    for inputs, outputs in ((CHANNELS, INNER), (INNER, CLASSES)):
        row = build.add("MatMul", row, build.weights(inputs, outputs))
        row = build.add("Add", row, build.weights(outputs))
        row = gelu(build, row) if outputs == INNER else row
    build.nodes.append(helper.make_node("Softmax", [row], ["probability"]))
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, SIDE, SIDE])
    result = helper.make_tensor_value_info("probability", TensorProto.FLOAT, ["batch", CLASSES])
    graph = helper.make_graph(build.nodes, "small", [image], [result], build.constants)
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


# --8<-- [start:level]
def optimised(
    model: onnx.ModelProto, level: str, folder: Path, image: np.ndarray
) -> tuple[onnx.ModelProto, np.ndarray]:
    """Return the graph that a level makes of the model, and what it computes."""
    options = ort.SessionOptions()
    options.graph_optimization_level = LEVELS[level]
    options.optimized_model_filepath = str(folder / f"{level}.onnx")
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = ort.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    (result,) = session.run(None, {"image": image})
    return onnx.load(options.optimized_model_filepath), result
    # --8<-- [end:level]


def operators(model: onnx.ModelProto) -> Counter[str]:
    """Return how often each operator occurs; those that ONNX does not define with their domain."""
    named = Counter[str]()
    for node in model.graph.node:
        domain = node.domain.removeprefix("com.microsoft").lstrip(".") if node.domain else None
        prefix = (
            "" if domain is None or domain == "ai.onnx" else f"ms.{domain}." if domain else "ms."
        )
        named[prefix + node.op_type] += 1
    return named


def described(count: Counter[str]) -> str:
    """Return operators and counts, in the order of first occurrence."""
    return ", ".join(f"{name} x{n}" if n > 1 else name for name, n in count.items())


def compare(folder: Path) -> None:
    """Print, for each level, the number of nodes, the operators, and the largest error."""
    model = network()
    image = np.random.default_rng(2).normal(size=(4, 3, SIDE, SIDE)).astype(np.float32)
    reference: np.ndarray | None = None
    for level in LEVELS:
        graph, result = optimised(model, level, folder, image)
        reference = result if reference is None else reference
        error = float(np.abs(result - reference).max())
        count = operators(graph)
        said = "reference" if level == "none" else f"error {'< 1e-6' if error < 1e-6 else error}"
        print(f"{level}: {sum(count.values())} nodes, {said}")
        print(f"  {described(count)}")


def main() -> None:
    """Compare the levels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="keep the optimised graphs in this folder")
    said = parser.parse_args()
    if said.save:
        said.save.mkdir(parents=True, exist_ok=True)
        onnx.save(network(), said.save / "original.onnx")
        compare(said.save)
        return
    with tempfile.TemporaryDirectory() as folder:
        compare(Path(folder))


if __name__ == "__main__":
    main()
