"""Acceptance by comparison: who falls behind, and what only the floor notices."""

from __future__ import annotations

import pytest

from tools.figures.files import load_program

accept = load_program("eng/code/accept.py")


def rows(test: str, values: list[float]) -> list[tuple[str, str, float]]:
    return [(f"n{number}", test, value) for number, value in enumerate(values)]


@pytest.mark.parametrize(
    ("test", "values", "failing"),
    [
        ("gemm_bf16_tflops", [670, 668, 672, 630], ["n3"]),
        ("gemm_bf16_tflops", [670, 668, 672, 640], []),
        ("gemm_bf16_tflops", [590, 592, 591], ["n0", "n1", "n2"]),  # alike, and below the floor
        ("allreduce_1kib_us", [17, 17, 17, 24], ["n3"]),  # less is better
        ("allreduce_1kib_us", [17, 17, 17, 9], []),
        ("allreduce_node_gb_s", [345, 345, 345, 331], ["n3"]),
    ],
)
def test_who_fails(test: str, values: list[float], failing: list[str]) -> None:
    assert [one[0] for one in accept.judged(rows(test, values))] == failing
