"""The programs of the notes on inference engines: what they claim beside what they print."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tools.figures.files import load_program

ROOT = Path(__file__).resolve().parents[2]


grammar_mask = load_program("infer/code/grammar_mask.py")
ort_levels = load_program("infer/code/ort_levels.py")
diffusion_steps = load_program("infer/code/diffusion_steps.py")


def test_every_level_computes_the_same_with_fewer_nodes(tmp_path: Path) -> None:
    model = ort_levels.network()
    image = np.random.default_rng(5).normal(size=(2, 3, ort_levels.SIDE, ort_levels.SIDE))
    nodes: list[int] = []
    results: list[np.ndarray] = []
    for level in ort_levels.LEVELS:
        graph, result = ort_levels.optimised(model, level, tmp_path, image.astype(np.float32))
        nodes.append(len(graph.graph.node))
        results.append(result)
    assert nodes == sorted(nodes, reverse=True) and nodes[0] > nodes[1] > nodes[2]
    for result in results[1:]:
        assert np.allclose(result, results[0], atol=1e-6)
        assert np.allclose(result.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"city":"oslo', '{"city":"oslo","degrees":-7}', '{"city":""', "x", '{"city":"a"}'],
)
def test_automaton_agrees_with_regular_expressions(text: str) -> None:
    automaton = grammar_mask.compiled(grammar_mask.PATTERN)
    pattern = grammar_mask.PATTERN.replace("{", r"\{").replace("}", r"\}")
    state = automaton.run(0, text)
    whole = re.fullmatch(pattern, text) is not None
    assert (state in automaton.ends) == whole


def test_mask_lets_through_what_stays_in_the_language() -> None:
    automaton = grammar_mask.compiled(grammar_mask.PATTERN)
    allowed = grammar_mask.masks(automaton, grammar_mask.VOCABULARY)
    assert allowed.any(axis=1).all(), "no state is a dead end"
    for seed in range(30):
        tokens, _, ended = grammar_mask.answer(seed, constrained=True)
        assert automaton.run(0, "".join(tokens)) is not None
        assert ended == (automaton.run(0, "".join(tokens)) in automaton.ends) or not ended


def test_only_an_ended_answer_is_whole() -> None:
    made = [grammar_mask.answer(seed, constrained=True) for seed in range(50)]
    for tokens, _, ended in made:
        if not ended:
            assert not grammar_mask.valid("".join(tokens)) or tokens[-1].endswith("}")


@pytest.mark.parametrize(("solver", "order"), [("euler", 1), ("heun", 2), ("multistep", 2)])
def test_solvers_have_their_order(solver: str, order: int) -> None:
    """One Gaussian: halving the steps' length divides the error by 2 to the power of the order."""
    guess = diffusion_steps.denoiser(np.zeros((1, 2)))
    start = diffusion_steps.noise()[:64]
    solve = getattr(diffusion_steps, solver)
    exact = diffusion_steps.heun(guess, start, diffusion_steps.levels(4000))
    errors = [
        diffusion_steps.error(solve(guess, start, diffusion_steps.levels(steps)), exact)
        for steps in (64, 128)
    ]
    assert errors[0] / errors[1] > 0.8 * 2**order


def test_guidance_of_one_is_the_wanted_distribution() -> None:
    wanted = diffusion_steps.denoiser(diffusion_steps.CENTRES[:3])
    guess = diffusion_steps.guided(wanted, diffusion_steps.denoiser(diffusion_steps.CENTRES), 1.0)
    x = diffusion_steps.noise()[:16]
    assert np.allclose(guess(x, 3.0), wanted(x, 3.0))
