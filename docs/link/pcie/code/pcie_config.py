"""What the configuration space of PCIe devices says, without lspci: link, payload, access control.

    python docs/link/pcie/code/pcie_config.py                      # every device of this machine
    python docs/link/pcie/code/pcie_config.py --class 03           # GPUs and other displays
    python docs/link/pcie/code/pcie_config.py --root FOLDER        # a copied /sys/bus/pci/devices
    python docs/link/pcie/code/pcie_config.py --json > SAVED
    python docs/link/pcie/code/pcie_config.py --saved SAVED        # that again, on any machine

Offsets and bits are those of Linux's include/uapi/linux/pci_regs.h. Only root sees more than the
first 64 bytes of a device, and capabilities lie behind them.
"""

from __future__ import annotations

import argparse
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SYS = Path("/sys/bus/pci/devices")
STATUS_CAP_LIST = 0x10
PCI_EXPRESS = 0x10
NAMES = {
    0x01: "power management", 0x03: "vital product data", 0x05: "MSI", 0x09: "vendor specific",
    0x10: "PCI Express", 0x11: "MSI-X",
}  # fmt: skip
EXTENDED = {
    0x01: "AER", 0x02: "virtual channel", 0x03: "serial number", 0x04: "power budgeting",
    0x0B: "vendor specific", 0x0D: "ACS", 0x0E: "ARI", 0x0F: "ATS", 0x10: "SR-IOV", 0x13: "PRI",
    0x15: "resizable BAR", 0x17: "TPH", 0x18: "LTR", 0x19: "secondary PCIe", 0x1B: "PASID",
    0x1D: "downstream port containment", 0x1E: "L1 substates", 0x1F: "PTM", 0x23: "DVSEC",
    0x25: "data link feature", 0x26: "16 GT/s physical layer", 0x27: "lane margining",
    0x2A: "32 GT/s physical layer", 0x2E: "data object exchange",
}  # fmt: skip
PORTS = {0: "endpoint", 1: "legacy endpoint", 4: "root port", 5: "switch, upstream",
         6: "switch, downstream", 7: "bridge to PCI", 9: "root complex endpoint"}  # fmt: skip
SPEEDS = {1: "2.5 GT/s", 2: "5 GT/s", 3: "8 GT/s", 4: "16 GT/s", 5: "32 GT/s", 6: "64 GT/s"}
LINK = ["current_link_speed", "current_link_width", "max_link_speed", "max_link_width"]
ACS = ["source validation", "translation blocking", "request redirect", "completion redirect",
       "upstream forwarding", "egress control", "direct translated"]  # fmt: skip


# --8<-- [start:walk]
def capabilities(space: bytes) -> Iterator[tuple[int, int]]:
    """Yield id and offset of each capability: a chain that starts at the pointer in 0x34."""
    if len(space) < 256 or not space[0x06] & STATUS_CAP_LIST:
        return
    at, seen = space[0x34] & 0xFC, set[int]()
    while at and at not in seen:
        seen.add(at)
        yield space[at], at
        at = space[at + 1] & 0xFC


def extended(space: bytes) -> Iterator[tuple[int, int]]:
    """Yield id and offset of each extended capability: a chain that starts at 0x100."""
    at, seen = 0x100, set[int]()
    while at >= 0x100 and at + 4 <= len(space) and at not in seen:
        seen.add(at)
        header = struct.unpack_from("<I", space, at)[0]
        if header in (0, 0xFFFFFFFF):
            return
        yield header & 0xFFFF, at
        at = header >> 20
        # --8<-- [end:walk]


def express(space: bytes, at: int) -> dict[str, Any]:
    """Return what the PCI Express capability at this offset says."""
    flags, device_can, device_does, _ = struct.unpack_from("<HIHH", space, at + 2)
    link_can, _, link_is = struct.unpack_from("<IHH", space, at + 12)
    return {
        "port": PORTS.get(flags >> 4 & 15, f"type {flags >> 4 & 15}"),
        # --8<-- [start:fields]
        "payload_supported": 128 << (device_can & 7),
        "payload": 128 << (device_does >> 5 & 7),
        "read_request": 128 << (device_does >> 12 & 7),
        "relaxed_ordering": bool(device_does & 0x10),
        "no_snoop": bool(device_does & 0x800),
        "extended_tags": bool(device_does & 0x100),
        "link_can": f"{SPEEDS.get(link_can & 15, '?')} x{link_can >> 4 & 63}",
        "link_is": f"{SPEEDS.get(link_is & 15, '?')} x{link_is >> 4 & 63}",
        # --8<-- [end:fields]
    }


def bits(word: int, names: list[str]) -> list[str]:
    """Return the names of the bits that are set."""
    return [name for i, name in enumerate(names) if word >> i & 1]


def access_control(space: bytes, at: int) -> dict[str, list[str]]:
    """Return what an ACS capability can do and what is switched on."""
    can, does = struct.unpack_from("<HH", space, at + 4)
    return {"can": bits(can, ACS), "on": bits(does, ACS)}


def resizable(space: bytes, at: int) -> list[dict[str, Any]]:
    """Return index, size and possible sizes (bytes) of each resizable BAR."""
    count = struct.unpack_from("<I", space, at + 8)[0] >> 5 & 7
    found = []
    for n in range(count):
        can, does = struct.unpack_from("<II", space, at + 4 + 8 * n)
        sizes = [1 << (20 + i - 4) for i in range(4, 32) if can >> i & 1]
        sizes += [1 << (48 + i - 16) for i in range(16, 32) if does >> i & 1]
        found.append({"bar": does & 7, "bytes": 1 << (20 + (does >> 8 & 63)), "possible": sizes})
    return found


def regions(folder: Path) -> list[int]:
    """Return the sizes of the regions that the kernel assigned, 0 for one that is absent."""
    sizes = []
    for line in (folder / "resource").read_text("ascii").splitlines()[:6]:
        first, last, _ = (int(word, 16) for word in line.split())
        sizes.append(last - first + 1 if last else 0)
    return sizes


def word(folder: Path, name: str) -> str:
    """Return the text of a file of sysfs, or "" where there is none."""
    try:
        return (folder / name).read_text("ascii").strip()
    except OSError:
        return ""


def device(folder: Path) -> dict[str, Any]:
    """Return what a device's folder in sysfs says."""
    space = (folder / "config").read_bytes()
    vendor, model = struct.unpack_from("<HH", space, 0)
    group = folder / "iommu_group"
    out: dict[str, Any] = {
        "address": folder.name,
        "class": f"{space[0x0B]:02x}{space[0x0A]:02x}",
        "id": f"{vendor:04x}:{model:04x}",
        "path": [part for part in folder.resolve().parts if part.count(":") == 2],
        "numa_node": word(folder, "numa_node"),
        "iommu_group": group.resolve().name if group.exists() else "",
        "regions": regions(folder),
        "config_bytes": len(space),
        "capabilities": [NAMES.get(id_, f"{id_:#04x}") for id_, _ in capabilities(space)],
        "extended": [EXTENDED.get(id_, f"{id_:#06x}") for id_, _ in extended(space)],
        "sysfs_link": {name: word(folder, name) for name in LINK},
    }
    for id_, at in capabilities(space):
        if id_ == PCI_EXPRESS:
            out |= {"express": express(space, at)}
    for id_, at in extended(space):
        if id_ == 0x0D:
            out |= {"acs": access_control(space, at)}
        if id_ == 0x15:
            out |= {"resizable": resizable(space, at)}
    return out


def size(count: int) -> str:
    """Return a size in the largest binary unit that divides it."""
    for unit, scale in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 1 << scale and count % (1 << scale) == 0:
            return f"{count >> scale} {unit}"
    return f"{count} B"


def told(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines for one device."""
    yield f"{found['address']} class {found['class']} {found['id']}"
    yield f"  path       {' > '.join(found['path']) or 'not known'}"
    shown = [f"{i}: {size(n)}" for i, n in enumerate(found["regions"]) if n]
    yield f"  BARs       {', '.join(shown) or 'none'}"
    node, group = found["numa_node"] or "not told", found["iommu_group"] or "none"
    yield f"  NUMA node  {node}; IOMMU group {group}"
    yield f"  config     {found['config_bytes']} bytes readable"
    if link := found.get("express"):
        yield f"  port       {link['port']}; link {link['link_is']} of {link['link_can']}"
        yield (f"  payload    {link['payload']} B of {link['payload_supported']} B; "
               f"read requests up to {link['read_request']} B")  # fmt: skip
        for name in ("relaxed_ordering", "no_snoop", "extended_tags"):
            yield f"  {name.replace('_', ' ')}: {'on' if link[name] else 'off'}"
    if found["capabilities"]:
        yield f"  has        {', '.join(found['capabilities'])}"
    if found["extended"]:
        yield f"  extended   {', '.join(found['extended'])}"
    if control := found.get("acs"):
        yield f"  ACS on     {', '.join(control['on']) or 'nothing'}"
        yield f"  ACS can    {', '.join(control['can'])}"
    for bar in found.get("resizable", ()):
        most = size(max(bar["possible"], default=0))
        yield f"  BAR {bar['bar']}      {size(bar['bytes'])}, resizable up to {most}"


def main() -> int:
    """Print every device that was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--root", type=Path, default=SYS)
    parser.add_argument("--class", dest="class_", default="", help="first digits of the class")
    parser.add_argument("--saved", type=Path, help="what --json printed elsewhere")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.saved:
        found = json.loads(options.saved.read_text("utf-8"))
    else:
        folders = sorted(options.root.iterdir()) if options.root.is_dir() else []
        found = [device(folder) for folder in folders]
    found = [one for one in found if one["class"].startswith(options.class_)]
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print("\n".join(line for one in found for line in told(one)) or "no such device")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
