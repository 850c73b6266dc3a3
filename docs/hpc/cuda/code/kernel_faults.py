"""What a wrong extension says: each fault in a process of its own, its last lines as JSON.

    python3 docs/hpc/cuda/code/kernel_faults.py            every fault
    python3 docs/hpc/cuda/code/kernel_faults.py NAME       one, in this process

Needs torch, nvcc and ninja; faults that need a GPU say so where there is none.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from json import dumps
from pathlib import Path

import torch
from torch import Tensor
from torch.utils import cpp_extension

HERE = Path(__file__).resolve().parent
BAD_POINTER = """
extern "C" __global__ void reach(float* x, int n) { x[(long long)n << 34] = 1; }
"""


def pair(kind: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    """Two small inputs."""
    g, u = (torch.randn(64, 64, device="cuda", dtype=kind) for _ in range(2))
    return g, u


def registered(architectures: str = "") -> None:
    """Build swiglu_register.cuh and load it."""
    if architectures:
        os.environ["TORCH_CUDA_ARCH_LIST"] = architectures
    cpp_extension.load_inline(
        "swiglu_" + ("other" if architectures else "registered"),
        cpp_sources="",
        cuda_sources='#include "swiglu_register.cuh"\n',
        extra_include_paths=[str(HERE)],
        is_python_module=False,
        no_implicit_headers=True,
    )


# --8<-- [start:faults]
def wrong_architecture() -> None:
    """Built for 8.0 alone, without PTX, and called on a GPU of 9.0."""
    registered("8.0")
    torch.ops.handbook.swiglu(*pair())


def undefined_symbol() -> None:
    """A function that is declared and called, but in no object that is linked."""
    source = "#include <Python.h>\nvoid launch_swiglu(); int dummy = (launch_swiglu(), 0);\n"
    cpp_extension.load_inline("swiglu_undefined", source, no_implicit_headers=True)


def not_contiguous() -> None:
    """A transposed view."""
    registered()
    g, u = pair()
    torch.ops.handbook.swiglu(g.t(), u.t())


def misaligned() -> None:
    """Contiguous, but it starts at an odd element: the kernel loads 16 bytes at once."""
    kernel = torch.cuda._compile_kernel(
        (HERE / "swiglu.cuh").read_text(), "swiglu<float>", nvcc_options=["-std=c++17"]
    )
    g, out = torch.randn(4097, device="cuda")[1:], torch.empty(4096, device="cuda")
    print(g.is_contiguous(), flush=True)
    kernel((2, 1, 1), (256, 1, 1), [g, g, out, 4096])
    torch.cuda.synchronize()


def wrong_type() -> None:
    """A type without a kernel."""
    registered()
    torch.ops.handbook.swiglu(*pair(torch.float16))


def on_cpu() -> None:
    """CPU tensors for an operator that is registered for CUDA."""
    registered()
    torch.ops.handbook.swiglu(torch.ones(4), torch.ones(4))


def no_gradient() -> None:
    """No register_autograd, and yet backward() ends without an error."""
    registered()
    g, u = pair()
    torch.ops.handbook.swiglu(g.requires_grad_(), u).sum().backward()
    print(f"g.grad is {g.grad}", flush=True)


def no_fake() -> None:
    """An operator without register_fake under torch.compile."""
    registered()
    torch.compile(lambda g, u: torch.ops.handbook.swiglu(g, u) + 1, fullgraph=True)(*pair())


def wrong_fake() -> None:
    """A fake that promises fp32 for bf16: opcheck finds it."""
    registered()
    torch.library.register_fake("handbook::swiglu")(lambda g, u: torch.empty_like(g).float())
    torch.library.opcheck(torch.ops.handbook.swiglu.default, pair(torch.bfloat16))


def hidden_mutation() -> None:
    """Writes into an argument that mutates_args does not name."""

    @torch.library.custom_op("handbook_fault::double", mutates_args=())
    def double(x: Tensor) -> Tensor:
        x.mul_(2)
        return x.clone()

    double.register_fake(torch.empty_like)
    torch.library.opcheck(double, (torch.ones(4),))


def returns_input() -> None:
    """Returns its argument."""

    @torch.library.custom_op("handbook_fault::same", mutates_args=())
    def same(x: Tensor) -> Tensor:
        return x

    same(torch.ones(4))


def illegal_access() -> None:
    """A kernel that writes far outside; PyTorch notices at the next synchronisation."""
    kernel = torch.cuda._compile_kernel(BAD_POINTER, "reach")
    x = torch.ones(4, device="cuda")
    kernel((1, 1, 1), (1, 1, 1), [x, 4])
    print("the launch returned", flush=True)
    x.sum().item()


def graph_item() -> None:
    """Reads a value on the host while a CUDA graph is captured."""
    x = torch.ones(4, device="cuda")
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        x.sum().item()


def nvrtc_error() -> None:
    """A name that the source does not have."""
    torch.cuda._compile_kernel(BAD_POINTER, "rech")


def no_ninja() -> None:
    """A PATH without ninja."""
    os.environ["PATH"] = tempfile.mkdtemp()
    cpp_extension.load_inline("swiglu_no_ninja", "int one() { return 1; }", functions=["one"])


# --8<-- [end:faults]
FAULTS = (
    wrong_architecture,
    undefined_symbol,
    not_contiguous,
    misaligned,
    wrong_type,
    on_cpu,
    no_gradient,
    no_fake,
    wrong_fake,
    hidden_mutation,
    returns_input,
    illegal_access,
    graph_item,
    nvrtc_error,
    no_ninja,
)


def said(name: str) -> str:
    """Run one fault in a new process and return its line."""
    command = [sys.executable, __file__, name]
    found = subprocess.run(command, capture_output=True, text=True, timeout=150, check=False)
    lines = [line for line in found.stderr.splitlines() if line.strip()]
    first = next((i for i, x in enumerate(lines) if "Error" in x and not x.startswith(" ")), 0)
    told = (
        [*lines[first : first + 6], "…", *lines[-4:]] if len(lines) > first + 10 else lines[first:]
    )
    figure = {"result": "fault", "fault": name, "exit": found.returncode}
    return dumps(figure | {"printed": found.stdout[-200:], "lines": [x[:400] for x in told]})


def main() -> None:
    """Run one fault, or all beside each other."""
    named = {one.__name__: one for one in FAULTS}
    if len(sys.argv) > 1:
        named[sys.argv[1]]()
        return
    print(dumps({"result": "versions", "torch": torch.__version__, "cuda": torch.version.cuda}))
    # First a build of its own, so that the others find the library.
    with ThreadPoolExecutor(5) as pool:
        early = pool.submit(said, "wrong_architecture")
        late = list(pool.map(said, [n for n in named if n != "wrong_architecture"]))
        print("\n".join([early.result(), *late]))


if __name__ == "__main__":
    main()
