"""One Triton matrix product through every stage of the compiler, for sm_90, without a GPU.

    python3 docs/compiler/code/triton_lowering.py           counts and layouts of each stage
    python3 docs/compiler/code/triton_lowering.py STAGE     prints ttir, ttgir, llir or ptx whole

Needs triton (it brings its own ptxas and disassembler); nothing is run. Ends with 77 without it.
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


# --8<-- [start:kernel]
@triton.jit
def product(a, b, c, n, k, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr):
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


# --8<-- [end:kernel]

COUNTED = {
    "ttir": ("tt.load", "tt.dot", "tt.store"),
    "ttgir": (
        "tt.load",
        "ttg.async_copy_global_to_local",
        "ttng.warp_group_dot ",
        "ttg.convert_layout",
        "tt.store",
    ),
    "ptx": ("cp.async.cg", "wgmma.mma_async", "bar.sync", "st.global"),
    "sass": ("LDGSTS", "HGMMA", "BAR.SYNC", "STG"),
}


def compiled(warps, stages):
    tile = {"bm": 128, "bn": 128, "bk": 64}
    source = ASTSource(
        product,
        signature=dict.fromkeys("abc", "*bf16")
        | dict.fromkeys("nk", "i32")
        | dict.fromkeys(tile, "constexpr"),
        constexprs={(5 + at,): size for at, size in enumerate(tile.values())},
        attrs={(at,): [["tt.divisibility", 16]] for at in range(5)},
    )
    options = {"num_warps": warps, "num_stages": stages}
    return triton.compile(source, GPUTarget("cuda", 90, 32), options)


def main():
    made = compiled(4, 3)
    if len(sys.argv) > 1:
        print(made.asm[sys.argv[1]])
        return 0
    print(f"triton {triton.__version__}, sm_90, tile 128x128x64, 4 warps, 3 stages")
    for stage in ("ttir", "ttgir", "llir", "ptx", "sass"):
        text = made.asm[stage]
        counts = [f"{text.count(what)} {what.strip()}" for what in COUNTED.get(stage, ())]
        print(f"{stage:6}{len(text.splitlines()):5} lines  {', '.join(counts)}".rstrip())
        if stage == "ttgir":
            for name, layout in re.findall(r"^#(\w+) = (.*)$", text, re.MULTILINE):
                if not name.startswith("loc"):
                    print(f"      #{name} = {layout}")
    for stages in (1, 2, 3, 4):
        print(f"{stages} stages: {compiled(4, stages).metadata.shared} bytes of shared memory")
    return 0


if __name__ == "__main__":
    sys.exit(main())
