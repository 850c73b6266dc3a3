"""What values are compared with: vendors' figures, and rates computed from what a GPU reports."""

from __future__ import annotations

from typing import Final

from tools.measure.topo.model import Direction, Spec
from tools.measure.topo.parse import PcieLink
from tools.measure.topo.stats import PCIE_GT_PER_S, digits, memory_rate, pcie_rate

NVLINK: Final = "docs/data/facts/nvlink.yml: nvlink4-h100"


def rate(id: str, value: float, direction: Direction | None, per: str, source: str) -> Spec:
    """Return a specification in GB/s."""
    return {
        "id": id,
        "value": value,
        "unit": "GB/s",
        "direction": direction,
        "per": per,
        "source": source,
    }


GPU_UNI: Final = rate("gpu_uni", 450, "uni", "GPU", f"{NVLINK}, gpu_uni")
GPU_BI: Final = rate("gpu_bi", 900, "bi", "GPU", f"{NVLINK}, gpu_bi")
LINK: Final = rate("link_uni", 25, "uni", "link", f"{NVLINK}, link_rate")


def gpu(direction: Direction) -> Spec:
    """Return the advertised rate of all NVLinks of a GPU, one way or both ways together."""
    return GPU_UNI if direction == "uni" else GPU_BI


def pcie(port: PcieLink) -> dict[Direction, Spec]:
    """Return the rate of a GPU's PCIe port, one way and both ways together.

    Raises MeasureError as `stats.pcie_rate` does.
    """
    uni = pcie_rate(port.generation, port.width)
    why = (
        f"computed: PCIe {port.generation}.0, {PCIE_GT_PER_S[port.generation]} GT/s x "
        f"{port.width} lanes x 128/130 / 8 bits; generation and width from nvidia-smi -q"
    )
    return {
        "uni": rate("pcie_uni", round(uni, 2), "uni", "GPU", why),
        "bi": rate("pcie_bi", round(2 * uni, 2), "bi", "GPU", why),
    }


def memory(clock_khz: int, bus_bits: int) -> Spec:
    """Return the bandwidth of a GPU's memory from its clock and width."""
    why = (
        f"computed from the driver's attributes: 2 x {clock_khz / 1000:g} MHz x {bus_bits} bits / 8"
    )
    return rate("hbm", digits(memory_rate(clock_khz, bus_bits)), None, "GPU", why)
