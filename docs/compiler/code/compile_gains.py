"""What torch.compile gains on one GPU, and what it costs: chains, softmax, MLPs, compile time.

    python3 docs/compiler/code/compile_gains.py            measures, prints JSON lines
    python3 docs/compiler/code/compile_gains.py --quick    small cases, only checks results

Needs torch 2.11 or later; without an NVIDIA GPU everything but the figures of CUDA graphs runs,
on the CPU. Ways that are compared take turns, trial by trial. "first" steps run in processes of
their own with an empty folder for Inductor's cache, and once more with the folder filled.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", tempfile.mkdtemp(prefix="compile-gains-"))
try:
    import torch
    from torch._dynamo.utils import counters
    from torch.nn import functional
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

QUICK = "--quick" in sys.argv[1:]
CUDA = torch.cuda.is_available()
DEVICE = "cuda" if CUDA else "cpu"
TRIALS = 3 if QUICK else 20


def emit(result, axes, unit, samples):
    ordered = sorted(samples)
    low, high = (ordered[round(q * (len(ordered) - 1))] for q in (0.05, 0.95))
    spread = {"median": statistics.median(ordered), "p5": low, "p95": high}
    print(json.dumps({"result": result, **axes, "unit": unit, "n": len(ordered)} | spread))
    sys.stdout.flush()


def wait():
    if CUDA:
        torch.cuda.synchronize()


def seconds(work, calls):
    """Return the time of one of these calls, queued one behind the other, until all are done."""
    wait()
    start = time.perf_counter()
    for _ in range(calls):
        work()
    wait()
    return (time.perf_counter() - start) / calls


def race(result, axes, ways, calls, amount=0.0):
    """Time the ways in turn; emit microseconds per call and, with an amount, GB/s."""
    for work in ways.values():
        for _ in range(4):
            work()
    found = {name: [] for name in ways}
    for _ in range(TRIALS):
        for name, work in ways.items():
            found[name].append(seconds(work, calls))
    for name, samples in found.items():
        emit(result, axes | {"way": name}, "us", [s * 1e6 for s in samples])
        if amount:
            rates = [amount / s / 1e9 for s in samples]
            emit(f"{result}_rate", axes | {"way": name}, "GB/s", rates)


def check(got, wanted, share, what):
    error = (got.float() - wanted.float()).abs().max()
    if not bool(error <= share * wanted.float().abs().max()):
        print(f"wrong result: {what}, {float(error)}", file=sys.stderr)
        sys.exit(1)


# --8<-- [start:chain]
def chain(x, scale, steps):
    for _ in range(steps):  # each step: one multiplication, one addition, both of every element
        x = x * scale + 0.5
    return x


# --8<-- [end:chain]


def chains():
    """A chain of elementwise operations: eager moves every intermediate, compiled code none."""
    x = torch.randn(1 << (16 if QUICK else 26), device=DEVICE)
    scale = torch.tensor(0.5, device=DEVICE)
    for steps in (1, 2, 4, 8, 16):
        compiled = torch.compile(lambda t, n=steps: chain(t, scale, n))
        check(compiled(x), chain(x, scale, steps), 1e-5, f"chain of {steps}")
        ways = {"eager": lambda n=steps: chain(x, scale, n), "compiled": lambda c=compiled: c(x)}
        race("chain", {"operations": 2 * steps}, ways, 5, 8 * x.numel())


def softmax_parts(x):
    shifted = x - x.amax(1, keepdim=True)
    powers = shifted.exp()
    return powers / powers.sum(1, keepdim=True)


def softmaxes():
    for columns in (512, 8192, 32768):
        x = torch.randn((1 << (16 if QUICK else 26)) // columns, columns, device=DEVICE)
        compiled = torch.compile(softmax_parts, dynamic=False)
        check(compiled(x), torch.softmax(x.double(), 1), 1e-4, "softmax")
        ways = {
            "eager, five operations": lambda v=x: softmax_parts(v),
            "torch.softmax": lambda v=x: torch.softmax(v, 1),
            "compiled, five operations": lambda c=compiled, v=x: c(v),
        }
        race("softmax", {"columns": columns}, ways, 10, 8 * x.numel())


class Block(torch.nn.Module):
    """A feed-forward block: RMS norm, gated product, residual."""

    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.Parameter(torch.ones(width))
        self.gate, self.up = (torch.nn.Linear(width, 4 * width, bias=False) for _ in range(2))
        self.down = torch.nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        y = x.float() * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-5)
        y = y.to(x.dtype) * self.norm
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


def model(width, layers):
    torch.manual_seed(7)
    blocks = torch.nn.Sequential(*(Block(width) for _ in range(layers)))
    return blocks.to(DEVICE, torch.bfloat16).eval().requires_grad_(False)


SHAPES = {"small": (16, 1024, 8), "large": (8192, 4096, 2)}  # tokens, width, layers
if QUICK:
    SHAPES = {"small": (16, 64, 2), "large": (64, 64, 2)}


def networks():
    for name, (tokens, width, layers) in SHAPES.items():
        net = model(width, layers)
        x = torch.randn(tokens, width, device=DEVICE, dtype=torch.bfloat16)
        wanted, ways = net(x), {"eager": lambda n=net, v=x: n(v)}
        for mode in ("default", "reduce-overhead") if CUDA else ("default",):
            torch._dynamo.reset()
            compiled = torch.compile(net, mode=mode, dynamic=False)
            start = time.perf_counter()
            check(compiled(x), wanted, 0.05, f"{name}, {mode}")
            wait()
            if name == "small":
                emit("here", {"way": mode}, "s", [time.perf_counter() - start])
            ways[mode] = lambda c=compiled, v=x: c(v)
        race("network", {"case": name}, ways, 20 if name == "small" else 5)


def training():
    """Forward and backward of the large case's block, where activations are kept or recomputed."""
    tokens, width = (16, 64) if QUICK else (8192, 4096)
    x = torch.randn(tokens, width, device=DEVICE, dtype=torch.bfloat16, requires_grad=True)
    net, given = model(width, 1).requires_grad_(True), torch.randn_like(x)
    compiled = torch.compile(net, dynamic=False)

    def step(call):
        net.zero_grad(set_to_none=True)
        call(x).backward(given)

    race("training", {}, {"eager": lambda: step(net), "default": lambda: step(compiled)}, 3)
    if CUDA:
        for name, call in {"eager": net, "default": compiled}.items():
            net.zero_grad(set_to_none=True)
            wait()
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            out = call(x)
            emit("kept", {"way": name}, "MB", [(torch.cuda.memory_allocated() - before) / 1e6])
            out.backward(given)
            peak = torch.cuda.max_memory_allocated() - before
            emit("peak", {"way": name}, "MB", [peak / 1e6])
            del out  # or the next way would start with this one's result in memory


def calls():
    """Host time to issue one call of next to nothing: what guards and wrappers add."""
    one = torch.ones(16, device=DEVICE)
    many = [torch.ones(16, device=DEVICE) for _ in range(20)]

    def first(x):
        return x + 1

    def total(values):
        return sum(values)

    for name, work, given in (("one input", first, one), ("20 inputs", total, many)):
        torch._dynamo.reset()
        ways = {"eager": lambda w=work, g=given: w(g)}
        compiled = torch.compile(work, dynamic=False)
        ways["default"] = lambda c=compiled, g=given: c(g)
        for way in ways.values():
            for _ in range(20):
                way()
        found = {way: [] for way in ways}
        for _ in range(TRIALS):
            for way, run in ways.items():
                wait()
                start = time.perf_counter()
                for _ in range(100):
                    run()
                found[way].append((time.perf_counter() - start) / 100 * 1e6)
                wait()
        for way, samples in found.items():
            emit("call", {"case": name, "way": way}, "us", samples)


def lengths():
    """Ten lengths one after the other: which calls compile, and how long each call takes."""

    def work(x):
        return torch.softmax(x * 2, -1)

    ways = (("automatic", None, 1000), ("dynamic=False", False, 2000), ("dynamic=True", True, 3000))
    for way, dynamic, base in ways:
        torch._dynamo.reset()
        counters.clear()
        compiled, seen = torch.compile(work, dynamic=dynamic), 0
        for number in range(1, 11):
            x = torch.randn(8, base + 7 * number, device=DEVICE)  # no length twice: nothing cached
            took = seconds(lambda c=compiled, v=x: c(v), 1)
            now = counters["stats"]["unique_graphs"]
            axes = {"way": way, "number": number}
            emit("length", axes | {"compiled": "yes" if now > seen else "no"}, "ms", [took * 1e3])
            seen = now
        emit("graphs", {"way": way}, "count", [seen])


def first_call(mode):
    """Print the seconds of the first call of the small network, in this fresh process."""
    tokens, width, layers = SHAPES["small"]
    net = model(width, layers)
    x = torch.randn(tokens, width, device=DEVICE, dtype=torch.bfloat16)
    net(x)  # the libraries' own start is not the compiler's
    wait()
    start = time.perf_counter()
    torch.compile(net, mode=mode, dynamic=False)(x)
    wait()
    print(time.perf_counter() - start)


def first_calls():
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": folder}
        for state in ("empty", "filled"):
            command = [sys.executable, __file__, "--first", "default"]
            done = subprocess.run(
                command + (["--quick"] if QUICK else []),
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
            if done.returncode:
                print(done.stderr[-2000:], file=sys.stderr)
            else:
                emit("first", {"cache": state}, "s", [float(done.stdout.split()[-1])])


def main():
    if "--first" in sys.argv[1:]:
        first_call(sys.argv[sys.argv.index("--first") + 1])
        return 0
    print(f"torch {torch.__version__}", file=sys.stderr)
    torch.manual_seed(7)
    for part in (chains, networks, first_calls, lengths, calls, training, softmaxes):
        torch._dynamo.reset()
        start = time.perf_counter()
        part()
        print(f"{part.__name__}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
    print("all results right", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
