"""What of Material's own files search touches, and the settings of its plugin."""

from __future__ import annotations

import json
from pathlib import Path

import material
import pytest
from mkdocs.utils.yaml import yaml_load
from py_mini_racer import MiniRacer

from hooks.search.material import (
    BUNDLE_PATCHES,
    MATERIAL_VERSION,
    PatchError,
    Replacement,
    patch_bundle,
    separate_cells,
)

ROOT = Path(__file__).resolve().parents[2]
THEME = Path(str(material.__file__)).parent / "templates"
STUB = (ROOT / "tests/js/worker_stub.js").read_text(encoding="utf-8")
BUNDLE = next((THEME / "assets/javascripts").glob("bundle.*.min.js")).read_text(encoding="utf-8")
PLUGINS = yaml_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["plugins"]
SEPARATOR = next(one["search"] for one in PLUGINS if "search" in one)["separator"]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("显存带宽", ["显", "存", "带", "宽"]),
        ("NVLink带宽，即", ["NVLink", "带", "宽", "即"]),
        ("ibv_post_send", ["ibv", "post", "send"]),
        ("NCCL_IB_HCA", ["NCCL", "IB", "HCA"]),
        ("cudaMemcpyAsync", ["cudaMemcpyAsync"]),
        ("all-reduce", ["all", "reduce"]),
        ("NVLink-C2C", ["NVLink", "C2C"]),
        ("1.8 TB/s.", ["1.8", "TB/s"]),
        ("900GB/s（双向）", ["900GB/s", "双", "向"]),
        ("v1.2, H100;", ["v1.2", "H100"]),
        ("I/O", ["I/O"]),
        ("CPU/GPU", ["CPU", "GPU"]),
        ("CPU+GPU", ["CPU", "GPU"]),
        ("C++17 C++", ["C++17", "C++"]),
        ("nccl.h", ["nccl", "h"]),
        ("std::vector&lt;int&gt;", ["std", "vector", "int"]),
        ("a → b × c ≤ d…“e”—f", ["a", "b", "c", "d", "e", "f"]),
        ("延迟 5 µs", ["延", "迟", "5", "µs"]),
    ],
)
def test_separator_tokens(text: str, tokens: list[str]) -> None:
    context = MiniRacer()
    context.eval(STUB)
    assert (
        json.loads(str(context.eval(f"tokens({json.dumps(SEPARATOR)}, {json.dumps(text)})")))
        == tokens
    )


def test_separator_has_no_capturing_group() -> None:
    context = MiniRacer()
    assert context.eval(f"new RegExp({json.dumps(SEPARATOR + '|')}).exec('').length") == 1


@pytest.mark.parametrize("patch", BUNDLE_PATCHES, ids=lambda patch: patch.purpose)
def test_patch_bundle_refuses_another_bundle(patch: Replacement) -> None:
    assert patch_bundle(BUNDLE) != BUNDLE
    with pytest.raises(PatchError, match=MATERIAL_VERSION):
        patch_bundle(BUNDLE.replace(patch.old, ""))


@pytest.mark.parametrize(
    ("html", "separated"),
    [
        ("<tr><th>18</th><td>1.8 TB/s</td></tr>", "<tr><th>18</th>\n<td>1.8 TB/s</td>\n</tr>"),
        ("<svg><text>a</text><text>b</text></svg>", "<svg><text>a</text>\n<text>b</text>\n</svg>"),
        ("a<br><b>b</b><br/>c", "a<br>\n<b>b</b><br/>c"),
        ("<td>a</td>\n<td>b</td>\n", "<td>a</td>\n<td>b</td>\n"),
        ("<p>a</p><p><em>b</em><em>c</em></p>", "<p>a</p><p><em>b</em><em>c</em></p>"),
    ],
)
def test_separate_cells(html: str, separated: str) -> None:
    assert separate_cells(html) == separated
    assert separate_cells(separated) == separated
