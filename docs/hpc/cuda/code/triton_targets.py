"""One Triton matrix product compiled for four generations, and the instructions counted.

    python3 docs/hpc/cuda/code/triton_targets.py

Needs triton (it brings its own ptxas and disassembler) and no GPU: nothing is run. Ends with 77
without triton.
"""

import re
import sys

try:
    import triton
    import triton.language as tl
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

COUNTED = ("LDG", "LDGSTS", "UTMALDG", "HMMA", "HGMMA", "UTCHMMA")


@triton.jit
def product(a, b, c, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    row, column = tl.program_id(0) * bm, tl.program_id(1) * bn
    total = tl.zeros((bm, bn), tl.float32)
    for at in range(0, k, bk):
        total = tl.dot(a.load([row, at]), b.load([at, column]), total)
    c.store([row, column], total.to(tl.bfloat16))


@triton.jit
def product_by_pointers(a, b, c, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
    i = tl.program_id(0) * bm + tl.arange(0, bm)
    j = tl.program_id(1) * bn + tl.arange(0, bn)
    inner = tl.arange(0, bk)
    ap, bp = a + i[:, None] * k + inner[None, :], b + inner[:, None] * n + j[None, :]
    total = tl.zeros((bm, bn), tl.float32)
    for _ in range(0, k, bk):
        total = tl.dot(tl.load(ap), tl.load(bp), total)
        ap += bk
        bp += bk * n
    tl.store(c + i[:, None] * n + j[None, :], total.to(tl.bfloat16))


# --8<-- [start:compile]
def compiled(kernel, types, target, divisible):
    tile = {"bm": 128, "bn": 128, "bk": 64}
    names = dict(zip("abcnk", [*types, "i32", "i32"], strict=True))
    source = ASTSource(
        kernel,
        signature=names | dict.fromkeys(tile, "constexpr"),
        constexprs={(5 + at,): size for at, size in enumerate(tile.values())},
        attrs={(at,): [["tt.divisibility", 16]] for at in divisible},
    )
    return triton.compile(source, GPUTarget("cuda", target, 32), {"num_warps": 8, "num_stages": 3})


# --8<-- [end:compile]


def main():
    pointers = (product_by_pointers, ["*bf16"] * 3, range(5))
    shapes = ("128, 64", "64, 128", "128, 128")
    described = (product, [f"tensordesc<bf16[{shape}]>" for shape in shapes], (3, 4))
    print(f"triton {triton.__version__}; instructions in the machine code, shared memory per block")
    for name, (kernel, types, divisible) in {
        "pointers": pointers,
        "descriptors": described,
    }.items():
        for target in (80, 90, 100, 120):
            made = compiled(kernel, types, target, divisible)
            code = made.asm["sass"]
            counts = {what: len(re.findall(rf"\b{what}\b", code)) for what in COUNTED}
            said = ", ".join(f"{count} {what}" for what, count in counts.items() if count)
            print(f"{name:11}  sm_{target:<3}  {said}; {made.metadata.shared} B")
    return 0


if __name__ == "__main__":
    sys.exit(main())
