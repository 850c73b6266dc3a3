"""A small network through IREE: what each phase leaves, what the module holds, and a run.

    python3 docs/compiler/code/iree_phases.py            every phase counted, module, run
    python3 docs/compiler/code/iree_phases.py PHASE      the text after a phase, such as `stream`

Needs iree-base-compiler and iree-base-runtime; takes the tools beside this Python, or of the
path. Ends with 77 without them.
"""

import collections
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SOURCE = Path(__file__).with_name("net.mlir")
# --8<-- [start:targets]
LOCAL = ["--iree-hal-target-device=local"]
TARGETS = {
    "llvm-cpu, x86-64-v3": [
        *LOCAL, "--iree-hal-local-target-device-backends=llvm-cpu",
        "--iree-llvmcpu-target-cpu=x86-64-v3",
    ],
    "vmvx": [*LOCAL, "--iree-hal-local-target-device-backends=vmvx"],
    "vulkan-spirv": ["--iree-hal-target-device=vulkan"],
    "rocm, gfx942": ["--iree-hal-target-device=hip", "--iree-rocm-target=gfx942"],
}  # fmt: skip
PHASES = (
    "input", "abi", "preprocessing", "global-optimization", "dispatch-creation", "flow", "stream",
    "executable-sources", "executable-configurations", "executable-targets", "hal", "vm",
)  # fmt: skip
# --8<-- [end:targets]
STRIP = "--iree-vm-bytecode-module-strip-source-map=true"
FIRST = next(iter(TARGETS))
HOST = {"flow", "stream", "hal", "vm", "util", "func", "tensor", "linalg"}
INPUTS = [f"--input={shape}xf32={value}" for shape, value in
          (("8x128", 0.5), ("128x128", 0.0625), ("128x32", 0.25), ("128x16", 0.125))]  # fmt: skip


def tool(name):
    """The path of one of IREE's tools; the program ends where there is none."""
    beside = str(Path(sys.executable).parent)
    found = shutil.which(name, path=beside) or shutil.which(name)
    if not found:
        print(f"skipped: no {name}", file=sys.stderr)
        sys.exit(77)
    return found


def output(*command):
    """What a command prints; run beside the source, whose path would else be in the module."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=SOURCE.parent)
    if done.returncode:
        sys.exit(done.stderr[:2000])
    return done.stdout


def compiled(target, *options):
    return output(tool("iree-compile"), SOURCE.name, *TARGETS[target], *options)


def host_part(text):
    """The text of the host's functions: without the executables, which hold the devices' code."""
    kept, depth = [], 0
    for line in text.splitlines():
        if depth or re.match(r"\s*(flow|stream|hal)\.executable\b", line):
            depth += line.count("{") - line.count("}")
        else:
            kept.append(line)
    return "\n".join(kept)


def phases():
    print("after each phase: lines, operations of the host")
    for phase in PHASES:
        text = compiled(FIRST, f"--compile-to={phase}")
        names = re.findall(r"^\s*(?:%[\w:, ]+ = )?\"?([a-z_]+)\.[a-z_]", host_part(text), re.M)
        found = collections.Counter(name for name in names if name in HOST)
        listed = ", ".join(f"{name} {number}" for name, number in sorted(found.items()))
        print(f"  {phase:26} {len(text.splitlines()):4}  {listed}")


def plan():
    """What the stream phase has decided: memory in one piece each, order, and what may overlap."""
    text = host_part(compiled(FIRST, "--compile-to=stream"))
    print("the plan, after stream")
    for kind in ("external", "transient"):
        sizes = re.findall(rf"resource\.alloca.*resource<{kind}>{{%c(\d+)}}", text)
        print(f"  allocated, {kind}: {', '.join(sizes)} bytes")
    concurrent = re.search(r"stream\.cmd\.concurrent \{(.*?)\n {6}\}", text, re.S)
    total, beside = (part.count("stream.cmd.dispatch") for part in (text, concurrent[1]))
    print(f"  {total} dispatches in {text.count('stream.cmd.execute')} command buffer")
    print(f"  one after the other: {total - beside}, at the same time: {beside}")


def modules(folder):
    print("modules: bytes of the file, of its parts")
    for target in TARGETS:
        path = folder / "net.vmfb"
        compiled(target, STRIP, "-o", str(path))
        with zipfile.ZipFile(path) as parts:
            listed = ", ".join(f"{p.filename} {p.file_size}" for p in parts.infolist())
        print(f"  {target:20} {path.stat().st_size:6}  {listed}")


def bytecode(folder):
    """What the first target's host program became."""
    path = folder / "net.vmfb"
    compiled(FIRST, STRIP, "-o", str(path))
    text = output(tool("iree-dump-module"), str(path))
    size = re.search(r"Bytecode: (\d+) bytes", text)[1]
    imports = text.split("Imported Functions:")[1].split("Exported Functions:")[0]
    of = re.findall(r"^ +\[ *\d+\] (\w+)\.", imports, re.M)
    print(f"bytecode: {size} bytes, imports {len(of)} functions, all of {' or '.join(set(of))}")
    for device in ("local-sync", "local-task"):
        printed = output(
            tool("iree-run-module"), f"--module={path}", f"--device={device}", "--function=net",
            *INPUTS,
        )  # fmt: skip
        first = re.findall(r"=\[(\S+)", printed)
        print(f"  {device}: outputs of {' and '.join(first)}")


def main(wanted):
    if wanted:
        print(compiled(FIRST, f"--compile-to={wanted}"))
        return
    print("IREE", re.search(r"version (\d\S*)", output(tool("iree-compile"), "--version"))[1])
    phases()
    plan()
    with tempfile.TemporaryDirectory() as name:
        modules(Path(name))
        bytecode(Path(name))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
