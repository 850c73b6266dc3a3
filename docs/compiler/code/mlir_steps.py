"""One layer, lowered by mlir-opt step by step: which dialects are left after each step.

    python3 docs/compiler/code/mlir_steps.py          counts for a CPU and for a GPU, and a run
    python3 docs/compiler/code/mlir_steps.py STEP     the text after a step, such as `tile`

Needs mlir-opt of LLVM 19, and mlir-cpu-runner for the run (Debian: mlir-19-tools); MLIR_BIN may
name their folder. Ends with 77 without them.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).with_name("layer.mlir").read_text("utf-8")
TIDY = ["--canonicalize", "--cse"]
ERASE = "--test-transform-dialect-erase-schedule"
# --8<-- [start:steps]
BUFFERS = (
    "--one-shot-bufferize=bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map"
)
CPU = {
    "written": [],
    "tile": ["--transform-interpreter=entry-point=tile", *TIDY],
    "vectorise": ["--transform-interpreter=entry-point=vectorise", ERASE, *TIDY],
    "bufferize": [BUFFERS, *TIDY],
    "branches": ["--convert-vector-to-scf", *TIDY, "--convert-scf-to-cf"],
    "llvm": [
        "--expand-strided-metadata", "--lower-affine", "--convert-vector-to-llvm",
        "--finalize-memref-to-llvm", "--convert-arith-to-llvm", "--convert-func-to-llvm",
        "--convert-cf-to-llvm", "--reconcile-unrealized-casts", *TIDY,
    ],
}  # fmt: skip
GPU = {
    "written": [],
    "buffers": [ERASE, BUFFERS, *TIDY],
    "parallel": ["--convert-linalg-to-parallel-loops", *TIDY],
    "gpu": ["--gpu-map-parallel-loops", "--convert-parallel-loops-to-gpu", "--lower-affine",
            "--gpu-kernel-outlining", *TIDY],
    "nvvm": ["--nvvm-attach-target=chip=sm_90", "--convert-scf-to-cf", "--convert-gpu-to-nvvm",
             "--reconcile-unrealized-casts", *TIDY],
}  # fmt: skip
# --8<-- [end:steps]
MAIN = """
func.func @main() -> f32 {
  %x = arith.constant dense<2.0> : tensor<8x16xf32>
  %w = arith.constant dense<0.25> : tensor<16x32xf32>
  %y = call @layer(%x, %w) : (tensor<8x16xf32>, tensor<16x32xf32>) -> tensor<8x32xf32>
  %i = arith.constant 7 : index
  %one = tensor.extract %y[%i, %i] : tensor<8x32xf32>
  return %one : f32
}
"""


def tool(name):
    """The path of one of MLIR's tools; the program ends where there is none."""
    folder = os.environ.get("MLIR_BIN")
    for candidate in (name, f"{name}-19", f"/usr/lib/llvm-19/bin/{name}"):
        found = shutil.which(candidate, path=folder)
        if found:
            return found
    print(f"skipped: no {name}", file=sys.stderr)
    sys.exit(77)


def lowered(text, options):
    done = subprocess.run(
        [tool("mlir-opt"), *options], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def counts(text):
    """Operations of each dialect, without the module and the schedules; then buffers, copies."""
    plain = lowered(text, [ERASE, "--mlir-print-op-generic", "--allow-unregistered-dialect"])
    names = re.findall(r'"(\w+\.[\w.]+)"\s?[(<]', plain)
    found = collections.Counter(name.split(".")[0] for name in names)
    del found["builtin"]
    return found, names.count("memref.alloc"), names.count("memref.copy")


def show(title, steps):
    print(title)
    text = SOURCE
    for step, options in steps.items():
        text = lowered(text, options)
        found, buffers, copies = counts(text)
        listed = ", ".join(f"{name} {number}" for name, number in sorted(found.items()))
        memory = f"; {buffers} alloc, {copies} copy" if buffers else ""
        print(f"  {step:10} {sum(found.values()):4}: {listed}{memory}")


def run():
    """The lowered layer with a main that calls it, compiled and run in this process."""
    end = SOURCE.rindex("}")
    text = SOURCE[:end] + MAIN + SOURCE[end:]
    for options in CPU.values():
        text = lowered(text, options)
    done = subprocess.run(
        [tool("mlir-cpu-runner"), "-e", "main", "-entry-point-result=f32"],
        input=text, capture_output=True, text=True, check=True,
    )  # fmt: skip
    print(f"run: 16 x 2 x 0.25 = {float(done.stdout)}")


def main(wanted):
    if wanted:
        text = SOURCE
        for step, options in (GPU if wanted in GPU.keys() - CPU.keys() else CPU).items():
            text = lowered(text, options)
            if step == wanted:
                print(text)
        return
    print("MLIR", re.search(r"version (\S+)", lowered("", ["--version"]))[1])
    show("for a CPU", CPU)
    show("for a GPU, without a schedule", GPU)
    run()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
