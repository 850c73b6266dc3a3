"""What a CDI device does to a container, and whether an image runs on a driver. Only Python."""

from __future__ import annotations

import copy
from typing import Any

Json = dict[str, Any]

SPEC: Json = {  # a small one in the form of the standard; a real one has dozens of mounts
    "cdiVersion": "0.5.0",
    "kind": "nvidia.com/gpu",
    "devices": [
        {"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia0"}]}},
        {"name": "1", "containerEdits": {"deviceNodes": [{"path": "/dev/nvidia1"}]}},
    ],
    "containerEdits": {  # for every device of this kind
        "env": ["NVIDIA_VISIBLE_DEVICES=void"],
        "deviceNodes": [{"path": "/dev/nvidiactl"}, {"path": "/dev/nvidia-uvm"}],
        "mounts": [
            {
                "hostPath": "/usr/lib/libcuda.so.580.95.05",
                "containerPath": "/usr/lib/libcuda.so.580.95.05",
            }
        ],
        "hooks": [
            {"hookName": "createContainer", "path": "nvidia-cdi-hook", "args": ["update-ldcache"]}
        ],
    },
}

LEAST = {11: 450, 12: 525, 13: 580}  # driver branch for minor-version compatibility


def edit(config: Json, edits: Json) -> None:
    """Apply container edits to an OCI configuration."""
    config["process"]["env"] += edits.get("env", [])
    config["linux"]["devices"] += [node["path"] for node in edits.get("deviceNodes", [])]
    config["mounts"] += [mount["containerPath"] for mount in edits.get("mounts", [])]
    for hook in edits.get("hooks", []):
        config["hooks"].setdefault(hook["hookName"], []).append(
            " ".join([hook["path"], *hook["args"]])
        )


def inject(config: Json, wanted: list[str], spec: Json = SPEC) -> Json:
    """Return the configuration with the named devices, such as nvidia.com/gpu=0."""
    after = copy.deepcopy(config)
    devices = {f"{spec['kind']}={device['name']}": device for device in spec["devices"]}
    missing = [name for name in wanted if name not in devices]
    if missing:
        raise LookupError(f"unresolvable CDI devices {', '.join(missing)}")
    for name in wanted:
        edit(after, devices[name]["containerEdits"])
    if wanted:
        edit(after, spec["containerEdits"])
    return after


def runs(cuda: int, driver: int, compat: int | None = None, data_centre: bool = True) -> str:
    """Say whether an image with this major CUDA runs on this driver branch."""
    if driver >= LEAST[cuda]:
        return "runs: the driver is new enough for this major version"
    if compat is None:
        return f"fails: driver older than {LEAST[cuda]}, no compatibility package"
    if not data_centre:
        return "fails: forward compatibility needs a data-centre GPU"
    if compat <= driver:
        return "fails: the package is older than the driver"
    return f"runs: libcuda of {compat} from the package, if it supports branch {driver}"


def main() -> None:
    before: Json = {"process": {"env": []}, "linux": {"devices": []}, "mounts": [], "hooks": {}}
    after = inject(before, ["nvidia.com/gpu=1"])
    print("devices ", *after["linux"]["devices"])
    print("mounts  ", *after["mounts"])
    print("env     ", *after["process"]["env"])
    print("hooks   ", after["hooks"])
    try:
        inject(before, ["nvidia.com/gpu=7"])
    except LookupError as error:
        print("gpu=7:  ", error)
    for what, case in {
        "CUDA 12, driver 580": (12, 580),
        "CUDA 13, driver 570": (13, 570),
        "CUDA 13, driver 570, package 580": (13, 570, 580),
        "the same on GeForce": (13, 570, 580, False),
    }.items():
        print(f"{what}: {runs(*case)}")


if __name__ == "__main__":
    main()
