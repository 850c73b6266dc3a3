"""FP16, INT8 and 2:4 sparse FP16 products of the same shape, by the number of rows.

    python3 docs/hpc/cuda/code/narrow_products.py   prints JSON lines

y = x W^T with W of 8192 x 8192, by cuBLAS (FP16), `torch._int_mm` (INT8 in, INT32 out, without the
scaling a model needs) and `torch.sparse.to_sparse_semi_structured` (FP16, half of each four weights
zero). Three sets of operands in turn, so that small ones do not stay in the cache; each call by
itself, and six in a CUDA graph, where the host costs nothing. Every product is checked against
FP32, or exactly (INT8).
"""

import json
import statistics
from collections.abc import Callable

import torch
from torch.sparse import to_sparse_semi_structured

SIZE, SETS, RUNS = 8192, 3, 60
ROWS = (32, 128, 512, 1024, 4096, 8192)


def timed(call: Callable[[int], torch.Tensor]) -> dict[str, dict[str, float]]:
    """Microseconds of a call, by itself and in a graph of six: median, p5 and p95."""
    for k in range(10):
        call(k % SETS)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for k in range(2 * SETS):
            call(k % SETS)
    ways: dict[str, tuple[int, Callable[[int], object]]] = {
        "eager": (1, lambda k: call(k % SETS)),
        "graph": (2 * SETS, lambda k: graph.replay()),
    }
    found = {}
    for way, (calls, run) in ways.items():
        marks = [(torch.cuda.Event(True), torch.cuda.Event(True)) for _ in range(RUNS)]
        for k, (begin, end) in enumerate(marks):
            begin.record()
            run(k)
            end.record()
        torch.cuda.synchronize()
        spent = sorted(begin.elapsed_time(end) * 1e3 / calls for begin, end in marks)
        at = {f"p{q}": round(spent[round(q / 100 * (RUNS - 1))], 2) for q in (5, 95)}
        found[way] = {"value": round(statistics.median(spent), 2), **at}
    return found


def error(found: torch.Tensor, right: torch.Tensor) -> float:
    """Relative error in the Frobenius norm."""
    return float((found.float() - right).norm() / right.norm())


def main() -> None:
    """Print one line for each kind and number of rows."""
    torch.manual_seed(0)
    weights = [torch.randn(SIZE, SIZE, device="cuda").half() / 64 for _ in range(SETS)]
    half = [w.clone() for w in weights]
    for w in half:  # the first two of each four stay
        w.view(-1, 4)[:, 2:] = 0
    sparse = [to_sparse_semi_structured(w) for w in half]
    whole = [torch.randint(-127, 128, (SIZE, SIZE), device="cuda").to(torch.int8) for _ in half]
    print(json.dumps({"torch": torch.__version__, "gpu": torch.cuda.get_device_name()}))
    for rows in ROWS:
        x = [torch.randn(rows, SIZE, device="cuda").half() for _ in half]
        q = [torch.randint(-127, 128, (rows, SIZE), device="cuda").to(torch.int8) for _ in half]
        wrong = {
            "FP16": error(x[0] @ weights[0].T, x[0].float() @ weights[0].float().T),
            "2:4 FP16": error(
                torch.nn.functional.linear(x[0], sparse[0]), x[0].float() @ half[0].float().T
            ),
            "INT8": error(
                torch._int_mm(q[0], whole[0].T)[:, :256].double().float(),
                (q[0].double() @ whole[0][:256].double().T).float(),
            ),
        }
        calls: dict[str, Callable[[int], torch.Tensor]] = {
            "FP16": lambda k, x=x: x[k] @ weights[k].T,  # type: ignore[misc]
            "2:4 FP16": lambda k, x=x: torch.nn.functional.linear(x[k], sparse[k]),  # type: ignore[misc]
            "INT8": lambda k, q=q: torch._int_mm(q[k], whole[k].T),  # type: ignore[misc]
        }
        for turn in (1, 2):
            for kind, call in calls.items():
                for way, figure in timed(call).items():
                    line = {"way": way, "rows": rows, "kind": kind, "turn": turn, **figure}
                    print(json.dumps(line | {"error": f"{wrong[kind]:.1e}"}), flush=True)


if __name__ == "__main__":
    main()
