"""Coalescing against the cases of NVIDIA's guides, and against brute force.

Guide: CUDA Programming Guide 13, section 2.3.4.1; practices: Best Practices Guide, section 10.2.1;
Nsight: the table "L1/TEX Cache" of the Profiling Guide of Nsight Compute. Read on 2026-11-23.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hooks.calc.engine import Engine
from tests.calc.conftest import few


@pytest.mark.parametrize(
    ("width", "stride", "offset", "sectors", "lines", "share"),
    [
        pytest.param(4, 1, 0, 4, 1, 1, id="practices, figure 3: adjacent floats"),
        pytest.param(4, 1, 1, 5, 2, 0.8, id="practices, figure 4: misaligned"),
        pytest.param(4, 1, 8, 4, 2, 1, id="practices: offset of 8 words"),
        pytest.param(4, 2, 0, 8, 2, 0.5, id="practices, figure 6: stride of 2"),
        pytest.param(4, 8, 0, 32, 8, 0.125, id="a sector per thread"),
        pytest.param(4, 32, 0, 32, 32, 0.125, id="guide: 32 apart, 12.5 %"),
        pytest.param(4, 0, 0, 1, 1, 0.125, id="practices: one word for all"),
        pytest.param(8, 1, 0, 8, 2, 1, id="Nsight: 64-bit, 8 sectors per request"),
        pytest.param(16, 1, 0, 16, 4, 1, id="Nsight: 128-bit, 16 sectors per request"),
        pytest.param(16, 1, 1, 17, 5, 32 / 34, id="float4, off by one"),
        pytest.param(2, 1, 0, 2, 1, 1, id="half"),
        pytest.param(1, 1, 0, 1, 1, 1, id="char"),
        pytest.param(1, 1, 1, 2, 1, 0.5, id="char, off by one"),
        pytest.param(4, 3, 0, 12, 3, 1 / 3, id="x of float3"),
        pytest.param(16, 2, 0, 32, 8, 0.5, id="every second float4"),
    ],
)
def test_sectors(
    calc: Engine, width: int, stride: int, offset: int, sectors: int, lines: int, share: float
) -> None:
    found = calc.run("coalescing", {"bytes": width, "stride": stride, "offset": offset})
    assert (found["sectors"], found["lines"]) == (sectors, lines)
    assert found["efficiency"] == pytest.approx(share)
    assert found["moved"] == 32 * sectors


@pytest.mark.parametrize(
    ("width", "parts"), [(1, [1]), (2, [2]), (4, [4]), (8, [4, 4]), (16, [4, 4, 4, 4])]
)
def test_wide_loads_go_in_parts_of_128_bytes(calc: Engine, width: int, parts: list[int]) -> None:
    found = calc.formula("coalescing", width, 1, 0)
    assert [group["sectors"] for group in found["groups"]] == parts
    assert [group["lines"] for group in found["groups"]] == [1] * len(parts)
    assert found["groups"][-1]["last"] == 31


@few
@given(
    width=st.sampled_from([1, 2, 4, 8, 16]), stride=st.integers(0, 70), offset=st.integers(0, 70)
)
def test_sectors_are_those_of_the_bytes(width: int, stride: int, offset: int, calc: Engine) -> None:
    bytes_ = {
        (offset + lane * stride) * width + byte for lane in range(32) for byte in range(width)
    }
    found = calc.formula("coalescing", width, stride, offset)
    assert found["sectors"] == sorted({byte // 32 for byte in bytes_})
    assert found["lines"] == sorted({byte // 128 for byte in bytes_})
    assert found["used"] == len(bytes_)
    drawing = calc.show("coalescing", {"bytes": width, "stride": stride, "offset": offset}, "en")[
        "drawing"
    ]
    assert drawing.count("sector: moved") == len(found["sectors"])
