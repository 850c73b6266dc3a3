"""List the RDMA devices of a machine, and what each means for NCCL, RCCL and GPU memory.

    python docs/link/ethernet/code/rdma_inventory.py             # this machine
    python docs/link/ethernet/code/rdma_inventory.py --example   # a made-up one, with five kinds
    python docs/link/ethernet/code/rdma_inventory.py --dscp 26   # with your lossless class

It only reads /sys and /proc. Which path a driver has comes from the sources that the note names.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

PATHS = {
    "mlx5_core": ("RC", "built-in NET/IB"),
    "bnxt_en": ("RC", "built-in NET/IB"),
    "ionic": ("RC", "built-in NET/IB; RCCL: ANP"),
    "ice": ("RC", "built-in NET/IB"),
    "mana": ("RC", "built-in NET/IB"),
    "efa": ("SRD, UD", "plug-in aws-ofi-nccl"),
}
"""By PCI driver: transports that verbs offer, and the way of the collective library."""
PEERS = {
    "nvidia_peermem": "NVIDIA, peer memory",
    "efa_nv_peermem": "NVIDIA, peer memory for EFA",
    "ib_peer_mem": "interface for amdkfd",
}
EXAMPLE = {
    "mlx5_0": ("mlx5_core", "InfiniBand", "400 Gb/sec (4X NDR)", "4: ACTIVE"),
    "bnxt_re0": ("bnxt_en", "Ethernet", "400 Gb/sec (4X NDR)", "4: ACTIVE"),
    "ionic_0": ("ionic", "Ethernet", "400 Gb/sec (4X NDR)", "1: DOWN"),
    "rocep1s0": ("ice", "Ethernet", "100 Gb/sec (4X EDR)", "4: ACTIVE"),
    "efa_0": ("efa", "Unspecified", "100 Gb/sec (4X EDR)", "4: ACTIVE"),
}


def traffic_class(dscp: int) -> int:
    """Return the value of NCCL_IB_TC for a DSCP: two bits below it belong to ECN."""
    return dscp << 2


def example(root: Path) -> None:
    """Write the files of a made-up machine."""
    for name, (driver, layer, rate, state) in EXAMPLE.items():
        port = root / f"sys/class/infiniband/{name}/ports/1"
        port.mkdir(parents=True)
        for file, text in (("link_layer", layer), ("rate", rate), ("state", state)):
            (port / file).write_text(text + "\n", "utf-8")
        drivers = root / f"sys/bus/pci/drivers/{driver}"
        drivers.mkdir(parents=True)
        device = port.parents[1] / "device"
        device.mkdir()
        (device / "driver").symlink_to(drivers)
    (root / "proc").mkdir()
    (root / "proc/modules").write_text("nvidia_peermem 16384 0 - Live 0x0\n", "utf-8")


def report(root: Path) -> int:
    """Print one line for each port; return how many there were."""
    row = "{:10}{:11}{:13}{:10}{:9}{:9}{}"
    print(row.format("device", "driver", "link", "Gb/s", "state", "verbs", "NCCL or RCCL by"))
    ports = sorted(root.glob("sys/class/infiniband/*/ports/*"))
    for port in ports:
        device = port.parents[1]
        driver = (device / "device/driver").resolve().name
        link, rate, state = (
            (port / name).read_text("utf-8").strip() for name in ("link_layer", "rate", "state")
        )
        verbs, way = PATHS.get(driver, ("?", "not in the table of this program"))
        cells = (device.name, driver, link, rate.split()[0], state.split()[-1], verbs, way)
        print(row.format(*cells))
    modules = root / "proc/modules"
    loaded = modules.read_text("utf-8").split("\n") if modules.exists() else []
    names = {line.split()[0] for line in loaded if line}
    peers = [f"{name} ({who})" for name, who in PEERS.items() if name in names]
    print("peer memory:", ", ".join(peers) or "no module; GPU memory needs dma-buf")
    return len(ports)


def main() -> int:
    """Report on this machine or on the example."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--example", action="store_true", help="a made-up machine")
    parser.add_argument("--dscp", type=int, nargs="+", default=[26, 48], help="of your classes")
    asked = parser.parse_args()
    if asked.example:
        with tempfile.TemporaryDirectory() as name:
            example(Path(name))
            ports = report(Path(name))
    else:
        ports = report(Path("/"))
    for dscp in asked.dscp:
        print(f"DSCP {dscp} is traffic class {traffic_class(dscp)}")
    if not ports:
        print("no RDMA device in /sys/class/infiniband", file=sys.stderr)
    return 0 if ports else 2


if __name__ == "__main__":
    sys.exit(main())
