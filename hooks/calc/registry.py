"""Which scripts make up the calculators, and in which order they are loaded."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "assets" / "javascripts" / "calc"
ADDRESS = "assets/javascripts/calc"
"""Where the scripts lie in the site."""
PRESETS = "presets.js"
"""Written at build from `docs/data`; loaded after the calculators, before the form."""
BASE = ("core.js", "entries.js", "format.js", "scene.js", "parts.js")
TOPICS = tuple(
    f"{name}.js"
    for name in (
        "links networks messages packets compute occupancy cuda-threads cuda-threads-scene"
        " coalescing bank-conflicts stream-timeline collectives nccl-costs nccl training-states"
        " training-memory training-time pipeline-schedules pipeline kv-cache inference"
        " speculative quantization fleet operations versions"
    ).split()
)
"""The scripts that hold calculators and their formulas, in the order in which these are listed."""
USES = {
    "cuda-threads.js": ("cuda-threads-scene.js",),
    "fleet.js": ("kv-cache.js", "inference.js"),
    "inference.js": ("kv-cache.js",),
    "nccl.js": ("collectives.js", "nccl-costs.js"),
    "pipeline.js": ("pipeline-schedules.js",),
    "training-memory.js": ("training-states.js",),
}
"""Scripts that need formulas of others, which a page must load before them."""
FORM = ("address.js", "result.js", "form.js")
"""Build the form of the page and keep its entries: the scripts here that need a browser."""

_ADDED = re.compile(r'calc\.add\(\{\s*id: "(?P<id>[a-z0-9-]+)"')


def scripts() -> list[Path]:
    """Return every script that the engine loads, in order."""
    return [FOLDER / name for name in (*BASE, *TOPICS)]


def script_of() -> dict[str, str]:
    """Map each calculator's id to the script that adds it."""
    return {
        match["id"]: name
        for name in TOPICS
        for match in _ADDED.finditer((FOLDER / name).read_text(encoding="utf-8"))
    }


def needed_by(ids: list[str]) -> list[str]:
    """Return the names of the scripts that a page with these calculators loads, in order."""
    owners = script_of()
    chosen = {owners[name] for name in ids if name in owners}
    chosen |= {other for name in chosen for other in USES.get(name, ())}
    topics = [name for name in TOPICS if name in chosen]
    return [*BASE, *topics, PRESETS, *FORM]


def fingerprint() -> str:
    """Return what tells whether a script has changed: an engine made from others is out of date."""
    states = [(path.name, path.stat()) for path in scripts()]
    return repr([(name, state.st_mtime_ns, state.st_size) for name, state in states])
