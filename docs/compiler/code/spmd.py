"""What XLA's partitioner inserts for sharded matrix products, on eight virtual CPU devices.

    python3 docs/compiler/code/spmd.py          collectives, arithmetic and memory by sharding
    python3 docs/compiler/code/spmd.py text     StableHLO with shardings, and HLO afterwards

Needs jax; ends with 77 without it. Nothing is run on the devices, only compiled.
"""

import os
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"
try:
    import jax
    import jax.numpy as jnp
    from jax.sharding import AxisType, NamedSharding
    from jax.sharding import PartitionSpec as P
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

M, K, N = 1024, 2048, 4096
MIB = 2**20
SIZES = {"f32": 4}
COLLECTIVE = re.compile(
    r"= (\w+)\[([\d,]*)\]\S* "
    r"(all-reduce|all-gather|all-to-all|reduce-scatter|collective-permute)(?:-start)?\("
)


# --8<-- [start:cases]
def product(x, w):
    return x @ w


def block(x, w, v):
    return jax.nn.gelu(x @ w) @ v


CASES = [  # name, function, shape of the mesh, sharding of each argument, of the result if asked
    ("rows of x", product, (8,), [P("d"), P()], None),
    ("columns of w", product, (8,), [P(), P(None, "d")], None),
    ("k of both", product, (8,), [P(None, "d"), P("d")], None),
    ("k of both, rows wanted", product, (8,), [P(None, "d"), P("d")], P("d")),
    ("rows of x, rows of w", product, (8,), [P("d"), P("d")], None),
    ("rows of x, columns of w", product, (8,), [P("d"), P(None, "d")], None),
    ("rows of x, all wanted", product, (8,), [P("d"), P()], P()),
    ("rows by columns, 2 x 4", product, (2, 4), [P("d"), P(None, "t")], None),
    ("block: columns, then rows", block, (8,), [P(), P(None, "d"), P("d")], None),
    ("block: rows, then columns", block, (8,), [P(), P("d"), P(None, "d")], None),
]
# --8<-- [end:cases]


def lowered(function, shape, parts, wanted):
    automatic = (AxisType.Auto,) * len(shape)  # with the default, Explicit, JAX asks instead
    mesh = jax.make_mesh(shape, ("d", "t")[: len(shape)], automatic)
    sizes = [(M, K), (K, N), (N, K)]
    arguments = [
        jax.ShapeDtypeStruct(size, jnp.float32, sharding=NamedSharding(mesh, part))
        for size, part in zip(sizes, parts, strict=False)
    ]
    result = None if wanted is None else NamedSharding(mesh, wanted)
    return jax.jit(function, out_shardings=result).lower(*arguments)


def collectives(text):
    """Kind and MiB of the result of each collective in the HLO of one device."""
    found = []
    for kind, dimensions, name in COLLECTIVE.findall(text):
        size = SIZES[kind]
        for dimension in filter(None, dimensions.split(",")):
            size *= int(dimension)
        found.append(f"{name} {size / MIB:g}")
    return ", ".join(found) or "none"


def kernels(text):
    """Instructions of the entry computation that do work, by opcode."""
    entry = text[text.index("\nENTRY") :]
    names = re.findall(r"^  (?:ROOT )?%?\S+ = .*? ([a-z][\w-]*)\(", entry, re.M)
    idle = {"parameter", "constant", "bitcast", "tuple", "get-tuple-element"}
    return [name for name in names if name not in idle]


def main(what):
    if what == "text":
        made = lowered(*CASES[2][1:])
        print(made.as_text(), made.compile().as_text(), sep="\n")
        return
    print(f"jax {jax.__version__}, {M} x {K} by {K} x {N}, FP32, 8 devices; per device:")
    print(
        f"{'sharding':27}{'GFLOP':>6}  {'result':14}{'MiB: args':>10}{'temp':>6}  collectives, MiB"
    )
    for name, *case in CASES:
        made = lowered(*case).compile()
        memory, text = made.memory_analysis(), made.as_text()
        giga = sum_of_products(text) / 1e9
        spec = str(made.output_shardings.spec).removeprefix("PartitionSpec")
        print(
            f"{name:27}{giga:6.2f}  {spec:14}{memory.argument_size_in_bytes / MIB:10g}"
            f"{memory.temp_size_in_bytes / MIB:6.1f}  {collectives(text)}"
        )
    made = jax.jit(jax.nn.softmax).lower(jax.ShapeDtypeStruct((M, K), jnp.float32))
    before = re.findall(r'= "?stablehlo\.(\w+)', made.as_text())
    after = kernels(made.compile().as_text())
    print(f"softmax: {len(before)} operations of StableHLO; afterwards {', '.join(after)}")


def sum_of_products(text):
    """Arithmetic of the products of one device: two times result times summed length."""
    shapes = dict(re.findall(r"%?([\w.-]+) = f32\[([\d,]+)\]", text))
    total = 0
    for result, operands, summed in re.findall(
        r"= f32\[([\d,]+)\]\S* dot\(([^)]*)\).*?lhs_contracting_dims=\{(\d+)\}", text
    ):
        left = re.findall(r"%([\w.-]+)", operands)[0]
        rows, columns = map(int, result.split(","))
        total += 2 * rows * columns * int(shapes[left].split(",")[int(summed)])
    return total


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
