"""An ONNX model built, looked into, checked, run by two runtimes and brought to another opset.

python docs/framework/code/onnx_file.py
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, checker, helper, numpy_helper, reference, shape_inference
from onnx import version_converter as converter


# --8<-- [start:build]
def build(opset: int = 18) -> onnx.ModelProto:
    """Return a model: logits = relu(x @ w + b), of any batch; w is stored, x is an input."""
    random = np.random.default_rng(0)
    w = numpy_helper.from_array(random.normal(size=(64, 10)).astype(np.float32), "w")
    b = numpy_helper.from_array(np.zeros(10, np.float32), "b")
    graph = helper.make_graph(
        [
            helper.make_node("MatMul", ["x", "w"], ["xw"]),
            helper.make_node("Add", ["xw", "b"], ["sum"]),
            helper.make_node("Relu", ["sum"], ["logits"]),
        ],
        "small",
        inputs=[helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 64])],
        outputs=[helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])],
        initializer=[w, b],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


# --8<-- [end:build]


def fields(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Walk the top level of a protobuf message: field number, wire type, length of its value."""

    def varint(at: int) -> tuple[int, int]:
        value = shift = 0
        while True:
            byte = data[at]
            value |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if byte < 0x80:
                return value, at

    at = 0
    while at < len(data):
        tag, at = varint(at)
        number, kind = tag >> 3, tag & 7
        if kind == 2:  # a length, then that many bytes
            size, at = varint(at)
            yield number, kind, size
            at += size
        elif kind == 0:
            begun = at
            _, at = varint(at)
            yield number, kind, at - begun
        else:
            raise ValueError(f"wire type {kind} does not occur here")


def shapes(model: onnx.ModelProto) -> dict[str, list[int | str]]:
    """Return the inferred shape of every value, symbols by name."""
    inferred = shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    values = [*inferred.graph.value_info, *inferred.graph.output]
    return {
        value.name: [one.dim_param or one.dim_value for one in value.type.tensor_type.shape.dim]
        for value in values
    }


def sizes(model: onnx.ModelProto, folder: Path) -> tuple[int, int, int]:
    """Return bytes of the model in one file, and of the same with its weights outside."""
    onnx.save(model, folder / "one.onnx")
    copy = onnx.ModelProto.FromString(model.SerializeToString())
    onnx.save(
        copy,
        folder / "two.onnx",
        save_as_external_data=True,
        location="two.data",
        size_threshold=0,
    )
    names = ("one.onnx", "two.onnx", "two.data")
    return tuple((folder / name).stat().st_size for name in names)  # type: ignore[return-value]


def broken(model: onnx.ModelProto, change: str) -> str:
    """Return the first line of what the checker says after a change that is wrong."""
    bad = onnx.ModelProto.FromString(model.SerializeToString())
    if change == "nodes out of order":
        first = bad.graph.node.pop(0)
        bad.graph.node.append(first)
    elif change == "operator of a later opset":
        bad.graph.node[2].op_type = "Swish"  # in the standard from opset 24
    else:
        bad.graph.initializer[0].dims[0] = 63
        bad.graph.initializer[0].raw_data = bad.graph.initializer[0].raw_data[: 63 * 40]
    try:
        checker.check_model(bad, full_check=True)
    except (checker.ValidationError, shape_inference.InferenceError) as error:
        return " ".join(str(error).split())[:110]
    return "nothing"


def main() -> None:
    """Print what the parts are and that two runtimes agree."""
    model = build()
    data = model.SerializeToString()
    print("ModelProto,", len(data), "bytes; fields (number, bytes):", end=" ")
    print(", ".join(f"{number}: {size}" for number, _, size in fields(data)))
    print("shapes:", shapes(model))
    with tempfile.TemporaryDirectory() as folder:
        one, two, outside = sizes(model, Path(folder))
    print(f"one file {one} bytes; graph {two} with weights {outside} outside")
    x = np.random.default_rng(1).normal(size=(3, 64)).astype(np.float32)
    by_definition = reference.ReferenceEvaluator(model).run(None, {"x": x})[0]
    print("reference runtime:", by_definition.shape, by_definition.dtype)
    try:
        import onnxruntime
    except ImportError:
        print("ONNX Runtime is not installed")
    else:
        session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
        found = session.run(None, {"x": x})[0]
        print(f"ONNX Runtime differs by at most {np.abs(found - by_definition).max():.1e}")
    newer = converter.convert_version(model, 21)
    print(
        "converted to opset", newer.opset_import[0].version, "with", len(newer.graph.node), "nodes"
    )
    for change in (
        "nodes out of order",
        "operator of a later opset",
        "a weight of the wrong shape",
    ):
        print(f"{change}: {broken(model, change)}")


if __name__ == "__main__":
    main()
