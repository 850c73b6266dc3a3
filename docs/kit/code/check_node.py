"""Accept or refuse one node: its settings, the health of its GPUs, and how fast they are.

Run:  python3 check_node.py --json node.json

A new node passes before it gets work; a repaired or slow one is compared with what it was. AMD
GPUs are measured by the same calls of PyTorch, which was not tried.
"""

from __future__ import annotations

import ctypes
import os
import re
import resource
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from common import Report, main_of, parser, quantile, read, run, say, the_torch, timed

NEEDS = """One GPU takes half a minute, eight at most ten minutes. It needs 9 GiB free on each GPU
and 0.5 GB of the host's memory for each. It changes nothing. The GPUs should be idle."""
GIB, N = 2**30, 8192  # N: rows and columns of the products
DRIVERS = Path("/sys/bus/pci/drivers")
# How far a GPU may be under the median of its node: what healthy ones differ by, and a little.
SPREAD = {"memory": 0.03, "product": 0.05, "pinned": 0.05, "hot": 0.06}
HEALTH, SLOW = "en/eng/gpu-health.html", "en/eng/gpu-health.html#slowdowns"
LINUX, PCIE = "en/eng/linux-os.html", "en/link/pcie/bandwidth.html"
RDMA, NVLINK = "en/link/gpudirect/gpudirect-check.html", "en/link/topo/nvswitch-failures.html"


def trees(text: str) -> list[dict]:
    """What `nvidia-smi -q` says of each GPU, nested as it is indented."""
    found: list[dict] = []
    stack: list[tuple[int, dict]] = []
    for line in text.splitlines():
        if line.startswith("GPU "):
            found.append({"Bus": line.split()[1]})
            stack = [(0, found[-1])]
        elif stack and line.strip():
            indent = len(line) - len(line.lstrip())
            while indent <= stack[-1][0] and len(stack) > 1:
                stack.pop()
            name, colon, value = (part.strip() for part in line.partition(" : "))
            if colon:
                stack[-1][1][name] = value
            else:
                stack.append((indent, stack[-1][1].setdefault(name, {})))
    return found


def at(tree: Any, path: str) -> Any:
    """What stands at a path such as `ECC Mode/Current`; `A|B` is a name that changed."""
    for names in path.split("/"):
        tree = tree if isinstance(tree, dict) else {}
        tree = next((tree[name] for name in names.split("|") if name in tree), None)
    return None if tree in ("N/A", "[N/A]") else tree


def number(text: Any) -> float | None:
    match = re.search(r"-?\d+(\.\d+)?", text or "")
    return float(match[0]) if match else None


def uncorrectable(gpu: dict, since: str) -> str | None:
    """Uncorrectable errors of all memories, `Volatile` (since the driver) or `Aggregate`."""
    counts = (at(gpu, f"ECC Errors/{since}") or {}).items()
    known = [number(value) for name, value in counts if "Uncorrectable" in name]
    return f"{sum(one or 0 for one in known):.0f}" if known else None


def link_errors(text: str) -> list[int]:
    """Replays, recoveries and CRC errors of each GPU's NVLinks, from `nvidia-smi nvlink -e`."""
    parts = re.split(r"^GPU ", text, flags=re.MULTILINE)[1:]
    return [sum(map(int, re.findall(r"(?:Replay|Recovery|CRC) Errors: (\d+)", x))) for x in parts]


def value_of(gpu: dict, where: Any) -> str | None:
    """What stands at a path, what a function makes of it all, or one setting in % of another."""
    if callable(where):
        return where(gpu)
    if isinstance(where, str):
        return at(gpu, where)
    mine, most = (number(at(gpu, path)) for path in where)
    return f"{100 * mine / most:.0f} %" if mine is not None and most else None


PROGRAMS = "13, 31, 43, 45"  # Xids that a program causes on a good GPU
REASONS = "Clocks Event Reasons|Clocks Throttle Reasons"
BRAKES = "HW Slowdown", "HW Thermal Slowdown", "HW Power Brake Slowdown", "SW Thermal Slowdown"


def brakes(gpu: dict) -> str | None:
    """The reasons for a lower clock that no healthy GPU has; `none` where there are none."""
    active = [name for name in BRAKES if at(gpu, f"{REASONS}/{name}") == "Active"]
    return None if at(gpu, REASONS) is None else ", ".join(active) or "none"


def busy(gpu: dict) -> str | None:
    used, load = (number(at(gpu, x)) for x in ("FB Memory Usage/Used", "Utilization/GPU|Gpu"))
    idle = (used or 0) <= 1024 and (load or 0) <= 5
    return None if used is None else "no" if idle else f"{used:.0f} MiB, {load or 0:.0f} %"


def links_of(text: str) -> list[list[float]]:
    """GB/s of each NVLink of each GPU, 0 where inactive, from `nvidia-smi nvlink -s`."""
    found: list[list[float]] = []
    for line in text.splitlines():
        if line.startswith("GPU "):
            found.append([])
        elif match := re.match(r"\s+Link \d+: (?:([\d.]+) GB/s|<inactive>)", line):
            found[-1].append(float(match[1] or 0))
    return found


RESET = "Drain the node and reset the GPU (nvidia-smi -r)."
AWAY = "Run the field diagnostic and return the GPU to the vendor."
COOL = "Look at cooling and power supply."
BACK = "Set it back (nvidia-smi -pl, -rac, -rgc), or accept the lower figures."
POWER, LIMIT = "GPU Power Readings|Power Readings", "Current Power Limit|Power Limit"
# What; where it stands; what is expected (nothing: told only); what to do if it is not so.
EXPECTED: list[tuple[str, Any, str, str]] = [
    ("ECC", "ECC Mode/Current", "Enabled", "Enable it (nvidia-smi -e 1) and reset."),
    ("uncorrectable errors since the driver", lambda g: uncorrectable(g, "Volatile"), "0", RESET),
    ("uncorrectable errors ever", lambda g: uncorrectable(g, "Aggregate"), "", ""),
    ("SRAM errors over the threshold", "ECC Errors/Aggregate/SRAM Threshold Exceeded", "No", AWAY),
    ("memory beyond repair", "ECC Errors/Unrepairable Memory", "No", AWAY),
    ("row remapping pending", "Remapped Rows/Pending", "No", RESET),
    ("row remapping failed", "Remapped Rows/Remapping Failure Occurred", "No", AWAY),
    ("page retirement pending", "Retired Pages/Pending Page Blacklist|Pending", "No", RESET),
    ("recovery action", "GPU Recovery Action", "None", RESET),
    ("persistence mode", "Persistence Mode", "Enabled", "Enable it: nvidia-smi -pm 1."),
    ("MIG", "MIG Mode/Current", "Disabled", "The references are of whole GPUs."),
    ("power limit", (f"{POWER}/{LIMIT}", f"{POWER}/Default Power Limit"), "100 %", BACK),
    ("clock asked for", ("Applications Clocks/Graphics", "Max Clocks/Graphics"), "100 %", BACK),
    ("slowdown while idle", brakes, "none", COOL),
    ("thermal slowdown ever", "Clocks Event Reasons Counters/HW Thermal Slowdown", "0 us", COOL),
    ("power brake ever", "Clocks Event Reasons Counters/HW Power Braking", "0 us", COOL),
    ("used before the test", busy, "no", "End the other program (fuser -v /dev/nvidia*)."),
]


def tell(report: Report, rows: Sequence[Any], note: str) -> None:
    """States: what, value, rule, whether it is good (None: no verdict), what to do if not."""
    for what, value, rule, good, then in rows:
        report.add(what, value, rule=rule, good=good, note=note, then=then)


def across(report: Report, what: str, values: Sequence[Any], rule: str, note: str, do: str) -> None:
    """One line for all GPUs: what they have in common, or which are not as the rule says."""
    known = {gpu: str(value) for gpu, value in enumerate(values) if value is not None}
    bad = [f"GPU {gpu}: {value}" for gpu, value in known.items() if rule and value != rule]
    shown = "; ".join(bad) or " / ".join(dict.fromkeys(known.values())) or "not reported"
    tell(report, [(what, shown, rule, not bad if rule and known else None, do)], note)


def spread(report: Report, what: str, values: Sequence[float], kind: str, note: str) -> None:
    """Name the GPU that is slowest beside the median of the node."""
    if len(values) > 1:
        slow = min(range(len(values)), key=values.__getitem__)
        under = 1 - values[slow] / quantile(values)
        shown, rule = f"GPU {slow}, {under:.1%} under the median", f"{SPREAD[kind]:.0%} at most"
        where = "PCIe link and NUMA node" if kind == "pinned" else "clock, power and temperature"
        do = f"Compare {where} of GPU {slow} with its neighbours."
        tell(report, [(f"{what}, slowest", shown, rule, under <= SPREAD[kind], do)], note)


def health(report: Report, gpus: list[dict], *_: Any) -> None:
    """ECC, remapped rows, slowdowns, power limits, other programs (nvidia-smi)."""
    if not gpus:
        report.missing("health", "nvidia-smi is missing or fails; for AMD read rocm-smi.")
        return
    alike = [(x, x, str(at(gpus[0], x)), "They differ.") for x in ("Product Name", "VBIOS Version")]
    for what, where, rule, then in [*alike, *EXPECTED]:
        note = SLOW if re.search("clock|power|slow", what) else HEALTH
        across(report, what, [value_of(gpu, where) for gpu in gpus], rule, note, then)
    log = run("dmesg")
    xids = re.findall(r"Xid \([^)]*\): (\d+)", log or "")
    shown = ", ".join(dict.fromkeys(xids)) or ("not readable here" if log is None else "none")
    good = None if log is None else set(xids) <= set(PROGRAMS.split(", "))
    do, rule = "Read the first one in the table of Xids.", f"none but {PROGRAMS}, of programs"
    tell(report, [("Xids in the kernel's log", shown, rule, good, do)], HEALTH)


def system(report: Report, *_: Any) -> None:
    """Limits, shared memory, NUMA, huge pages, GPUDirect (needs no GPU)."""
    nics = len(list(Path("/sys/class/infiniband").glob("*")))
    peer = any(Path(f"/sys/module/{name}").exists() for name in ("nvidia_peermem", "nv_peer_mem"))
    ways = [name for name, there in (("nvidia-peermem", peer), ("dma-buf", dma_buf())) if there]
    locked, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = locked == resource.RLIM_INFINITY
    shm = shutil.disk_usage("/dev/shm").total / GIB if Path("/dev/shm").exists() else 0.0
    huge = read("/sys/kernel/mm/transparent_hugepage/enabled") or ""
    nodes = len(list(Path("/sys/devices/system/node").glob("node[0-9]*")))
    balancing = read("/proc/sys/kernel/numa_balancing")
    every, mine = os.cpu_count() or 1, len(os.sched_getaffinity(0))
    load = "modprobe nvidia-peermem; or the open kernel modules and Linux 5.12 or later."
    lift = "Raise it where the job starts: limits.conf, slurmd, --ulimit memlock=-1."
    able, open_all = (bool(ways), free) if nics else (None, None)
    row = ("GPUDirect RDMA by", ", ".join(ways) or "none", "one way", able, load)
    tell(report, [("RDMA devices", nics, "", None, ""), row], RDMA)
    said = "unlimited" if free else f"{locked >> 10} KiB"
    rows = [
        ("locked memory, ulimit -l", said, "unlimited", open_all, lift),
        ("open files, ulimit -n", files, "4096 or more", files >= 4096, "ulimit -n 65536."),
        ("/dev/shm in GiB", shm, "1 or more", shm >= 1, "--shm-size=16g; in a pod an emptyDir."),
        ("transparent huge pages", huge, "not never", "[never]" not in huge, "Set madvise."),
        ("NUMA nodes; automatic balancing (0 is off)", f"{nodes}; {balancing}", "", None, ""),
        ("CPUs allowed", mine, str(every), mine == every, "Ask for the whole node."),
    ]
    tell(report, rows, LINUX)


def dma_buf() -> bool:
    """Whether the driver exports memory of GPU 0 as dma-buf (attribute 124)."""
    try:
        cuda, value = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(0)
        bad = cuda.cuInit(0) or cuda.cuDeviceGetAttribute(ctypes.byref(value), 124, 0)
    except (OSError, AttributeError):
        return False
    return not bad and value.value == 1


def links(report: Report, gpus: list[dict], torch: Any, *_: Any) -> None:
    """NVLink, which GPU reaches which, a copy between each pair."""
    rates = links_of(run("nvidia-smi", "nvlink", "-s") or "")
    most = max(map(len, rates), default=0)
    rule = f"{most} of {most}" if most else ""
    shown = [f"{sum(map(bool, one))} of {len(one)}" for one in rates]
    across(report, "NVLinks active", shown, rule, NVLINK, f"One is missing: a fault. {RESET}")
    states = [at(gpu, "Fabric/State") for gpu in gpus] if most else []
    rule, do = "Completed" if any(states) else "", "Start nvidia-fabricmanager and read its log."
    across(report, "fabric", states, rule, NVLINK, do)
    count = torch.cuda.device_count()
    pairs = [(a, b) for a in range(count) for b in range(count) if a != b]
    closed = [f"{a}-{b}" for a, b in pairs if not torch.cuda.can_device_access_peer(a, b)]
    said, good = f"not {', '.join(closed[:8])}" if closed else "all pairs", not closed
    do = "Look for ACS, IOMMU, and GPUs that a container hides."
    row = ("P2P", said, "all pairs", good if most and pairs else None, do)
    tell(report, [row] if pairs else [], "en/link/gpudirect/p2p.html")
    found, before = {}, link_errors(run("nvidia-smi", "nvlink", "-e") or "")
    for a, b in pairs:
        torch.cuda.set_device(a)
        source, target = (torch.ones(2**26, device=f"cuda:{one}") for one in (a, b))
        seconds = timed(torch, partial(target.copy_, source, non_blocking=True), 3, 0.05)
        found[a, b] = 2**28 / quantile(seconds) / 1e9
    after = link_errors(run("nvidia-smi", "nvlink", "-e") or "")
    grown = [b - a for a, b in zip(before, after)] if pairs else []
    across(report, "NVLink errors while copying", grown, "0", NVLINK, RESET)
    for name, choose in (("slowest", min), ("fastest", max)) if found else ():
        a, b = choose(found, key=found.__getitem__)
        key = "copy.pair" if most else ""
        report.add(f"copy, {name} pair, {a} to {b}", found[a, b], "GB/s", key=key)


def host(report: Report, _: list[dict], torch: Any, *__: Any) -> None:
    """Copies from and to the host; the width and speed of each PCIe link meanwhile."""
    size, pairs = 2**28, []
    found: dict[str, list[float]] = {}
    for gpu in range(torch.cuda.device_count()):
        torch.cuda.set_device(gpu)
        there = torch.zeros(size, dtype=torch.uint8, device="cuda")
        pinned = torch.zeros(size, dtype=torch.uint8).pin_memory()
        pairs.append((there, pinned))
        for kind, here in (("pinned", pinned), ("pageable", torch.zeros(size, dtype=torch.uint8))):
            for way, to, of in (("to_gpu", there, here), ("to_host", here, there)):
                seconds = timed(torch, partial(to.copy_, of, non_blocking=True), 5)
                name, rate = f"{kind} {way.replace('_', ' ')}", size / quantile(seconds) / 1e9
                key = f"host.{kind}.{way}"
                report.add(f"GPU {gpu}: {name}", rate, "GB/s", key=key, note=PCIE)
                found.setdefault(name, []).append(rate)
    for name in ("pinned to gpu", "pinned to host"):
        spread(report, name, found[name], "pinned", PCIE)
    # All at once: they may share an uplink, or the memory of the host.
    for way, times in (("to_gpu", 400), ("to_host", 100)):
        marks = []
        for gpu, pair in enumerate(pairs):
            torch.cuda.set_device(gpu)
            to, of = pair if way == "to_gpu" else pair[::-1]
            marks.append([torch.cuda.Event(enable_timing=True) for _ in range(2)])
            marks[-1][0].record()
            for _ in range(times):
                to.copy_(of, non_blocking=True)
            marks[-1][1].record()
        if way == "to_gpu":
            pcie(report)  # while copying: an idle link may be slow to save power
        for gpu, (begin, end) in enumerate(marks):
            end.synchronize()
            rate, key = size * times / begin.elapsed_time(end) / 1e6, f"host.all.{way}.{len(pairs)}"
            if len(pairs) > 1:
                report.add(f"GPU {gpu}: all {way.replace('_', ' ')}", rate, "GB/s", key=key)


def pcie(report: Report) -> None:
    """The link of each GPU as it runs, beside the lesser of what GPU and port above can do."""

    def figures(path: Path, what: str) -> tuple[float, ...] | None:
        both = [number(read(path / f"{what}_link_{name}")) for name in ("speed", "width")]
        return tuple(both) if all(both) else None  # type: ignore[arg-type]

    paths = [path for name in ("nvidia", "amdgpu") for path in (DRIVERS / name).glob("0*")]
    for n, device in enumerate(path.resolve() for path in sorted(paths)):
        now, own = figures(device, "current"), figures(device, "max")
        if now and own:
            best = tuple(map(min, own, figures(device.parent, "max") or own))
            shown, rule = ("{:g} GT/s x{:g}".format(*one) for one in (now, best))
            shown += f", NUMA node {read(device / 'numa_node')}"
            do = f"It trained too low (GPU: {own}): reseat card, riser or cable, then drain."
            row = (f"PCIe link {n}", shown, rule, now == best, do)
            tell(report, [row], PCIE)


def memory(report: Report, _: list[dict], torch: Any, *__: Any) -> None:
    """A copy inside the memory of each GPU: GB/s read and written."""
    rates, size = [], 3 * GIB  # the records have 6 GiB, both arrays together
    for gpu in range(torch.cuda.device_count()):
        torch.cuda.set_device(gpu)
        if torch.cuda.mem_get_info()[0] < 3 * size:
            report.missing(f"memory of GPU {gpu}", "Less than 9 GiB are free: end what uses them.")
            continue
        source = torch.randn(size // 4, device="cuda")
        copy = partial(torch.empty_like(source).copy_, source)
        rates.append(2 * size / quantile(timed(torch, copy)) / 1e9)
        report.add(f"GPU {gpu}: memory, copy", rates[-1], "GB/s", key="memory.copy")
        del source, copy
        torch.cuda.empty_cache()
    spread(report, "memory", rates, "memory", "en/chip/hbm.html")


def product(torch: Any, kind: str) -> Callable[[], Any]:
    """The call that multiplies two random square matrices; the second is stored transposed."""
    dice = torch.Generator(device="cuda")  # one of its own: others may be made at the same time
    dice.manual_seed(1)
    a, b = (torch.randn(N, N, device="cuda", generator=dice) for _ in range(2))
    if kind == "fp8":
        one, a, b = torch.ones((), device="cuda"), *(x.to(torch.float8_e4m3fn) for x in (a, b))
        more = {"out_dtype": torch.bfloat16, "use_fast_accum": True}
        return lambda: torch._scaled_mm(a, b.t(), one, one, **more)
    a, b = (x.bfloat16() if kind == "bf16" else x for x in (a, b))
    return lambda: a @ b.t()


def products(report: Report, _: list[dict], torch: Any, span: float) -> None:
    """Matrix products in BF16, FP8, FP32 of 8192; then all GPUs at once until they are hot."""
    torch.backends.cuda.matmul.allow_tf32 = False
    for kind in ("bf16", "fp8", "fp32"):
        rates = []
        for gpu in range(torch.cuda.device_count()):
            torch.cuda.set_device(gpu)
            name = f"GPU {gpu}: product {kind}"
            try:
                seconds = timed(torch, product(torch, kind))
            except (RuntimeError, AttributeError) as error:
                report.add(name, f"refused: {str(error).splitlines()[0][:60]}")
                continue
            rates.append(2 * N**3 / quantile(seconds) / 1e12)
            report.add(name, rates[-1], "TFLOP/s", key=f"product.{kind}.{N}")
        spread(report, f"product {kind}", rates, "product", "en/chip/specs.html")
    say(f"BF16 products on all GPUs at once, {span:.0f} s")
    count = range(torch.cuda.device_count())
    rates_of: list[list[float]] = [[] for _ in count]
    sums: list[set[int]] = [set() for _ in count]

    def work(gpu: int, end: float) -> None:
        torch.cuda.set_device(gpu)
        call = product(torch, "bf16")
        while time.monotonic() < end:
            rates_of[gpu].append(2 * N**3 / timed(torch, call, 1, 0.2)[0] / 1e12)
            sums[gpu].add(int(call().view(torch.int16).long().sum()))

    threads = [threading.Thread(target=work, args=(i, time.monotonic() + span)) for i in count]
    for thread in threads:
        thread.start()
    time.sleep(span * 0.6)
    gpus = trees(run("nvidia-smi", "-q") or "")
    for thread in threads:
        thread.join()
    hot = [quantile(one[len(one) // 2 :]) for one in rates_of if one]
    for gpu, rate in enumerate(hot):
        report.add(f"GPU {gpu}: bf16, all hot", rate, "TFLOP/s", key="product.hot.bf16")
    spread(report, "all hot", hot, "hot", SLOW)
    across(report, "slowdown while hot", [brakes(gpu) for gpu in gpus], "none", SLOW, COOL)
    power = f"{POWER}/Average Power Draw|Power Draw"
    for path in ("Clocks/SM", power, "Temperature/GPU Current Temp"):
        said = ", ".join(str(at(gpu, path)) for gpu in gpus)
        report.add(f"{path.split('/')[1].split('|')[0]} while hot", said, note=SLOW)
    kinds = len(set().union(*sums))
    do = "A GPU computes wrongly, or differs: dcgmi diag -r 3 on each."
    row = ("different results of one product", kinds, "1", kinds == 1, do)
    tell(report, [row], HEALTH)


PARTS = {one.__name__: one for one in (system, health, links, host, memory, products)}


def main() -> int:
    about = {name: part.__doc__ or "" for name, part in PARTS.items()}
    options = parser((__doc__ or "").split("\n\n")[0], NEEDS, about)
    options.add_argument("--span", type=float, default=15, help="seconds of the hot products (15)")
    args = options.parse_args()
    gpus = trees(run("nvidia-smi", "-q") or "")  # before this program itself uses a GPU
    torch = the_torch()
    report = Report("check_node.py", args, torch)
    for name in args.sections:
        report.section(name)
        say(about[name])
        if name in ("system", "health") or (torch is not None and torch.cuda.is_available()):
            PARTS[name](report, gpus, torch, args.span)
        else:
            why = "PyTorch is not installed" if torch is None else "PyTorch sees no GPU"
            report.missing(name, f"{why}: run it where a job would run.")
    good = "Accept the node, keep the JSON file, go on with check_links.py."
    return report.finish(good if set(args.sections) == set(PARTS) else "Run all sections next.")


if __name__ == "__main__":
    main_of(main)
