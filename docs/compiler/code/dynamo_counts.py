"""Count what Dynamo makes of three small functions: graphs and recompilations.

    python3 docs/compiler/code/dynamo_counts.py

Needs torch 2.11 or later, no GPU and no C++ compiler: the back end runs each graph as it is
(`eager`), so that only the capture is seen. Ends with 77 without torch.
"""

import sys

try:
    import torch
    from torch._dynamo.utils import counters
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)


# --8<-- [start:breaks]
def broken(x, scale):
    y = torch.sin(x) * scale
    print("  called with", tuple(y.shape))  # Dynamo cannot trace print: first break
    if y.sum() > 0:  # Python needs the value: second break
        y = y - 1
    return torch.relu(y)


def whole(x, scale):
    y = torch.sin(x) * scale
    return torch.relu(torch.where(y.sum() > 0, y - 1, y))


# --8<-- [end:breaks]


def scaled(x, factor):
    return torch.relu(x * factor)


def report(name, calls, **options):
    """Compile, make the calls, print the counts."""
    torch._dynamo.reset()
    counters.clear()
    print(f"{name}:")
    made, before = [], 0
    for function, arguments in calls:
        torch.compile(function, backend="eager", **options)(*arguments)
        now = counters["stats"]["unique_graphs"]
        made.append(now - before)
        before = now
    print(f"  graphs made by each call: {made}")


def main():
    three = torch.ones(4, 3)
    report("two breaks", [(broken, (three, 2.0))] * 2)
    report("none", [(whole, (three, 2.0))] * 2)
    sizes = [(scaled, (torch.ones(n, 2), 2.0)) for n in (3, 4, 5, 6, 1)]
    report("sizes 3, 4, 5, 6, 1", sizes)
    report("the same, dynamic=True", sizes, dynamic=True)
    report("the same, dynamic=False", sizes, dynamic=False)
    report("a float 1.0, 2.0, 3.0", [(scaled, (three, f)) for f in (1.0, 2.0, 3.0)])
    report("an int 5, 6, 7", [(scaled, (three, f)) for f in (5, 6, 7)])
    double = three.double()
    report("float32, float64, float32", [(scaled, (t, 2.0)) for t in (three, double, three)])
    columns = torch.ones(3, 4).t()  # the same shape, other strides
    report("contiguous, transposed", [(scaled, (t, 2.0)) for t in (three, columns)])
    try:
        torch._dynamo.reset()
        torch.compile(broken, backend="eager", fullgraph=True)(three, 2.0)
    except torch._dynamo.exc.Unsupported as error:
        print(f"fullgraph=True: {type(error).__name__}: {str(error).splitlines()[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
