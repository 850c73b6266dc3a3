"""Run the real OpenSM on simulated InfiniBand fabrics and look for credit loops in its routes.

    sudo apt-get install opensm ibsim-utils infiniband-diags
    python docs/link/infiniband/code/fabric_sim.py             # every engine on every fabric
    python docs/link/infiniband/code/fabric_sim.py --roots     # up/down routing and its root file
    python docs/link/infiniband/code/fabric_sim.py --states    # a port before and after the manager
    python docs/link/infiniband/code/fabric_sim.py --standby   # the master dies (one minute)
    python docs/link/infiniband/code/fabric_sim.py --pkeys     # one partition, and the default one

ibsim answers the management packets of a whole fabric; no adapter and no root is needed. OpenSM
routes it, `ibroute` reads the forwarding tables back, `saquery` the service level of each path.
Two links of a path depend on each other: a packet keeps the buffer before the first until the
second has credit. A cycle of such dependencies within one lane is a credit loop.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SHIM = Path("/usr/lib/x86_64-linux-gnu/umad2sim/libumad2sim.so")
TOOLS = ("ibsim", "opensm", "ibstat", "ibroute", "saquery", "smpquery", "ibnetdiscover")
Port = tuple[str, int]
Links = dict[Port, Port]
ENGINES = ("minhop", "updn", "ftree", "dfsssp", "nue")


def fabric(edges: list[tuple[str, str]], hosts: dict[str, str]) -> Links:
    """Give each end of each cable the next free port; hosts come first."""
    links: Links = {}
    used: dict[str, int] = defaultdict(int)
    for one, other in [*hosts.items(), *edges]:
        used[one] += 1
        used[other] += 1
        links[one, used[one]] = (other, used[other])
        links[other, used[other]] = (one, used[one])
    return links


def tree(missing: set[tuple[int, int]] = frozenset()) -> Links:  # type: ignore[assignment]
    """Four leaves with two hosts each below four spines, without the cables that are missing."""
    cables = [(i, j) for i in range(4) for j in range(4) if (i, j) not in missing]
    return fabric(
        [(f"leaf{i}", f"spine{j}") for i, j in cables],
        {f"node{n}": f"leaf{n // 2}" for n in range(8)},
    )


def ring(n: int) -> Links:
    """Switches in a circle, with one host each."""
    return fabric(
        [(f"sw{i}", f"sw{(i + 1) % n}") for i in range(n)], {f"node{i}": f"sw{i}" for i in range(n)}
    )


FABRICS = {
    "tree": tree(),
    "tree, half of its cables": tree(
        {(i, j) for i in range(4) for j in range(4) if (j - i) % 4 > 1}
    ),
    "ring of 5": ring(5),
}


def netfile(links: Links) -> str:
    """Write a fabric as ibsim reads it."""
    ports: dict[str, list[str]] = defaultdict(list)
    for (node, port), (peer, there) in sorted(links.items()):
        ports[node].append(f'[{port}] "{peer}"[{there}]')
    return "\n\n".join(
        "\n".join([f'Hca 1 "{n}"' if n.startswith("node") else f'Switch 36 "{n}"', *lines])
        for n, lines in sorted(ports.items())
    )


class Fabric:
    """A simulated fabric, and commands that run on its first host."""

    def __init__(self, folder: Path, links: Links) -> None:
        self.folder, self.links = folder, links
        self.managers: dict[str, int] = {}
        (folder / "net").write_text(netfile(links) + "\n", "utf-8")
        self.environment = os.environ | {
            "IBSIM_SOCKNAME": folder.name,
            "OSM_TMP_DIR": str(folder),
            "SIM_HOST": "node0",
        }

    def said(self, *command: str) -> str:
        """Run a command below the shim and return what it printed."""
        environment = self.environment | {"LD_PRELOAD": str(SHIM)}
        return subprocess.run(
            command,
            env=environment,
            cwd=self.folder,  # the shim leaves a tree of files there
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        ).stdout

    @contextmanager
    def manager(
        self, *options: str, host: str = "node0", until: str = "SUBNET UP"
    ) -> Iterator[str]:
        """Start OpenSM, wait for a line of its log, return the log, and kill it."""
        folder = self.folder / host
        folder.mkdir()
        log = folder / "opensm.log"
        command = ["opensm", "-f", str(log), "-d2", "--dump_files_dir", str(folder), *options]
        with subprocess.Popen(
            command,
            env=self.environment
            | {"LD_PRELOAD": str(SHIM), "SIM_HOST": host, "OSM_CACHE_DIR": str(folder)},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            self.managers[host] = process.pid
            try:
                for _ in range(200):
                    text = log.read_text("utf-8", "replace") if log.exists() else ""
                    if until in text or process.poll() is not None:
                        break
                    time.sleep(0.05)
                yield text
            finally:
                process.kill()


@contextmanager
def simulated(links: Links) -> Iterator[Fabric]:
    """Start ibsim for a fabric."""
    with tempfile.TemporaryDirectory() as name:
        one = Fabric(Path(name), links)
        with subprocess.Popen(
            ["ibsim", "-s", str(one.folder / "net")],
            env=one.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                if line.startswith("MaxMcastCap"):
                    break
            try:
                yield one
            finally:
                process.kill()


def guids(one: Fabric) -> tuple[dict[str, int], dict[str, str]]:
    """Return the LID and the GUID of every node, by its name."""
    lids, ids = {}, {}
    for line in one.said("ibnetdiscover").splitlines():
        if found := re.match(r'(Switch|Ca)\s.*"[SH]-(\w+)"\s+# "(\w+)"(?:.* lid (\d+))?', line):
            ids[found[3]] = "0x" + found[2]
            if found[1] == "Switch":
                lids[found[3]] = int(found[4])
        elif found := re.match(r'\[\d+\]\s+"H-\w+"\[\d+\]\(\w+\)\s+# "(\w+)" lid (\d+)', line):
            lids[found[1]] = int(found[2])
    return lids, ids


# --8<-- [start:cycle]
def tables(one: Fabric) -> dict[str, dict[int, int]]:
    """Read every switch's table by directed route, which needs no routing: port by LID."""
    found: dict[str, dict[int, int]] = {}
    ways: list[tuple[str, list[int]]] = [(one.links["node0", 1][0], [0, 1])]
    while ways:
        name, way = ways.pop(0)
        if name in found or name.startswith("node"):
            continue
        said = one.said("ibroute", "-D", ",".join(map(str, way)))
        found[name] = {int(k, 16): int(v) for k, v in re.findall(r"^(0x\w+) (\d+)", said, re.M)}
        ways += [(peer, [*way, p]) for (node, p), (peer, _) in one.links.items() if node == name]
    return found


def routes(one: Fabric, lids: dict[str, int]) -> Iterator[tuple[str, list[Port] | None]]:
    """Yield the service level and the links of the path between any two hosts, or None."""
    forward = tables(one)
    hosts = sorted(name for name in lids if name.startswith("node"))
    for source, target in itertools.permutations(hosts, 2):
        path: list[Port] = [(source, 1)]
        while (here := one.links[path[-1]][0]) != target and len(path) < 20:
            port = forward[here].get(lids[target])
            if port is None:
                break
            path.append((here, port))
        answer = one.said("saquery", "-p", "--src-to-dst", f"{lids[source]}:{lids[target]}")
        level = re.findall(r"\bsl\.+(\w+)", answer)
        yield (level or ["none"])[0], path if one.links[path[-1]][0] == target else None


def has_cycle(edges: dict[Port, set[Port]]) -> bool:
    """Take away, again and again, the links that nothing depends on; a rest is a cycle."""
    while free := {a for a, after in edges.items() if not any(b in edges for b in after)}:
        for link in free:
            del edges[link]
    return bool(edges)
    # --8<-- [end:cycle]


def engines() -> None:
    """Route every fabric with every engine."""
    row = "{:26}{:8}{:8}{:>7}{:>9}{:>6}{:>6}{:>9}"
    print(row.format("fabric", "asked", "used", "pairs", "longest", "SLs", "loop", "on SL 0"))
    for (name, links), engine in itertools.product(FABRICS.items(), ENGINES):
        with simulated(links) as one:
            roots = one.folder / "roots"
            chosen = [i for n, i in guids(one)[1].items() if n.startswith("spine") or n == "sw0"]
            roots.write_text("\n".join(chosen) + "\n", "utf-8")
            with one.manager("-R", engine, "-Q", "-a", str(roots)) as log:
                used = re.findall(r"ucast_mgr_process: (\w+) tables configured", log)
                found = list(routes(one, guids(one)[0]))
        lengths = [len(path) for _, path in found if path]
        by_level: dict[str, dict[Port, set[Port]]] = defaultdict(dict)
        together: dict[Port, set[Port]] = {}
        for level, path in found:
            for link, following in itertools.pairwise(path or []):
                by_level[level].setdefault(link, set()).add(following)
                together.setdefault(link, set()).add(following)
        pairs, levels = f"{len(lengths)}/{len(found)}", "many" if len(by_level) > 1 else "1"
        loops = ["yes" if any(map(has_cycle, e)) else "no" for e in (by_level.values(), [together])]
        print(row.format(name, engine, used[-1], pairs, max(lengths), levels, *loops))


def roots() -> None:
    """Ask for up/down routing with root files that are right, incomplete and absent."""
    row = "{:26}{:20}{:8}{:>5}  {}"
    print(row.format("fabric", "root file", "used", "pairs", "paths over spine0 to spine3"))
    full, damaged = list(FABRICS)[:2]
    spines = [f"spine{n}" for n in range(4)]
    for name, file, listed, engine in (
        (full, "all spines", spines, "updn"),
        (full, "without spine3", spines[:3], "updn"),
        (full, "none", [], "updn"),
        (damaged, "all spines", spines, "updn"),
        (damaged, "none", [], "updn"),
        (damaged, "none, no_fallback", [], "updn,no_fallback"),
    ):
        strict = engine.endswith("no_fallback")  # then nothing is routed, and nothing read back
        with simulated(FABRICS[name]) as one:
            path = one.folder / "roots"
            ids = guids(one)[1]
            path.write_text("".join(ids[spine] + "\n" for spine in listed), "utf-8")
            options = ["-R", engine, *(["-a", str(path)] if listed else [])]
            end = "No routing engine" if strict else "SUBNET UP"
            with one.manager(*options, until=end) as log:
                used = re.findall(r"ucast_mgr_process: (\w+) tables configured", log)
                found = [] if strict else [p for _, p in routes(one, guids(one)[0]) if p]
        over = [sum(port[0] == spine for path in found for port in path) for spine in spines]
        cells = (used or ["?"])[-1], len(found), " ".join(f"{n:>2}" for n in over)
        print(row.format(name, file, *(("none", "-", "-") if strict and not used else cells)))


def states() -> None:
    """Show a port before and after a subnet manager starts."""
    with simulated(FABRICS["tree"]) as one:
        keep = ("State", "Physical", "Base lid", "SM lid")

        def port() -> None:
            lines = [s.strip() for s in one.said("ibstat").splitlines()]
            print("  ".join(s for s in lines if s.startswith(keep)))

        port()
        with one.manager("-p", "14") as log:
            time.sleep(1)
            port()
            print(one.said("sminfo").strip())
            for line in log.splitlines():
                if "state" in line or "tables" in line or "SUBNET" in line:
                    print(line.split(" -> ")[1])


def standby() -> None:
    """Kill the master while another manager stands by, and read when that one acts."""
    with (
        simulated(FABRICS["tree"]) as one,
        one.manager("-p", "14"),
        one.manager("-p", "13", host="node7", until="STANDBY"),
    ):
        print(one.said("sminfo").strip())
        log = one.folder / "node7/opensm.log"
        os.kill(one.managers["node0"], signal.SIGKILL)
        start = time.monotonic()
        print("the master is killed; later, in seconds:")
        seen = len(log.read_text().splitlines())
        while time.monotonic() - start < 90:
            lines = log.read_text().splitlines()
            for line in lines[seen:]:
                if "state" in line or "ERR 3113" in line:
                    print(f"{time.monotonic() - start:6.1f}  {line.split(' -> ')[1][:70]}")
            seen = len(lines)
            if any("MASTER" in line for line in lines):
                break
            time.sleep(0.1)


def pkeys() -> None:
    """Write a partition and no rule for the default one, and ask for paths."""
    with simulated(FABRICS["tree"]) as one:
        port = {name: f"0x{int(guid, 16) + 1:x}" for name, guid in guids(one)[1].items()}
        conf = one.folder / "partitions.conf"
        members = f"{port['node1']}=full, {port['node2']}, {port['node3']}"
        conf.write_text(f"Storage=0x12 : {members} ;\n", "utf-8")
        print(conf.read_text("utf-8").strip())
        with one.manager("-P", str(conf)):
            time.sleep(1)
            lids, _ = guids(one)
            for name in ("node0", "node1", "node2", "node4"):
                keys = re.findall(r"0x\w{4}", one.said("smpquery", "pkeys", str(lids[name]), "1"))
                print(f"{name}: {' '.join(key for key in keys if int(key, 16))}")
            for a, b in (("node1", "node2"), ("node2", "node3"), ("node4", "node5")):
                answer = one.said("saquery", "-p", "--src-to-dst", f"{lids[a]}:{lids[b]}")
                key = re.findall(r"pkey\.*(\w+)", answer)
                print(f"path {a} to {b}: {f'P_Key {key[0]}' if key else 'none'}")


def main() -> int:
    """Choose."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--roots", action="store_true", help="up/down routing and its root file")
    choice.add_argument("--states", action="store_true", help="a port before and after")
    choice.add_argument("--standby", action="store_true", help="kill the master, one minute")
    choice.add_argument("--pkeys", action="store_true", help="partitions")
    chosen = parser.parse_args()
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing or not SHIM.exists():
        print(f"skipped: needs {' '.join(missing) or SHIM}", file=sys.stderr)
        return 77
    said = subprocess.run(["opensm", "--version"], capture_output=True, text=True, check=False)
    print(*re.findall(r"OpenSM [\d.]+", said.stdout + said.stderr)[:1])
    for one in (roots, states, standby, pkeys):
        if getattr(chosen, one.__name__):
            one()
            return 0
    engines()
    return 0


if __name__ == "__main__":
    sys.exit(main())
