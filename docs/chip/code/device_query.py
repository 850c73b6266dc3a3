"""Ask the driver what a data sheet says: python3 docs/chip/code/device_query.py

Needs an NVIDIA driver and nothing else. The numbers are those of CUdevice_attribute in cuda.h.
"""

import ctypes

# --8<-- [start:main]
ATTRIBUTES = {"sm": 16, "clock_khz": 13, "l2": 38, "bus": 37, "memory_khz": 36, "shared": 81}


def query(index: int = 0) -> dict[str, int]:
    """Attributes of one GPU: clocks in kHz, sizes in bytes, the memory bus in bits."""
    cuda = ctypes.CDLL("libcuda.so.1")
    device, value, size = ctypes.c_int(), ctypes.c_int(), ctypes.c_size_t()
    if cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), index):
        raise SystemExit("no usable GPU or driver")
    found = {}
    for name, number in ATTRIBUTES.items():
        cuda.cuDeviceGetAttribute(ctypes.byref(value), number, device)
        found[name] = value.value
    cuda.cuDeviceTotalMem_v2(ctypes.byref(size), device)
    return found | {"memory": size.value}


def report(gpu: dict[str, int]) -> str:
    """The lines to compare with the sheet; memory moves data twice a clock."""
    rate = gpu["memory_khz"] * 2 / 1e6  # Gb/s a pin
    return (
        f"SMs {gpu['sm']}, at most {gpu['clock_khz'] / 1e3:.0f} MHz\n"
        f"L2 {gpu['l2'] / 2**20:.0f} MiB, shared memory {gpu['shared'] / 1024:.0f} KiB per SM\n"
        f"memory {gpu['memory'] / 2**30:.1f} GiB = {gpu['memory'] / 1e9:.1f} GB\n"
        f"{gpu['bus']} bit x {rate:.3f} Gb/s / 8 = {gpu['bus'] * rate / 8:.0f} GB/s"
    )


# --8<-- [end:main]

if __name__ == "__main__":
    print(report(query()))
