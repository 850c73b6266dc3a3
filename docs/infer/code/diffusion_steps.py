"""Sample a diffusion model whose exact score is known: solvers, steps and guidance.

Run:  python docs/infer/code/diffusion_steps.py            # error by evaluations and solver
      python docs/infer/code/diffusion_steps.py --guidance # what guidance does to the samples

The data are a mixture of Gaussians in two dimensions, so the best denoiser has a closed form and
no network is needed: what is left is the error of the solver, which is what a "scheduler" sets.
Noise levels follow Karras et al. 2022 (rho = 7); x at level sigma is data plus sigma times noise.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable

import numpy as np

Array = np.ndarray
Denoiser = Callable[[Array, float], Array]

CENTRES = np.array([[np.cos(a), np.sin(a)] for a in np.arange(6) * np.pi / 3]) * 2.0
WIDTH = 0.15
HIGHEST, LOWEST, RHO = 20.0, 0.02, 7.0
SAMPLES = 2048


def denoiser(centres: Array) -> Denoiser:
    """Return the best guess of the data behind a noisy x, for equal Gaussians at the centres."""

    def guess(x: Array, sigma: float) -> Array:
        total = WIDTH**2 + sigma**2
        distance = ((x[:, None, :] - centres[None]) ** 2).sum(axis=2)
        weights = np.exp(-(distance - distance.min(axis=1, keepdims=True)) / (2 * total))
        weights /= weights.sum(axis=1, keepdims=True)
        mean = weights @ centres
        return mean + (x - mean) * WIDTH**2 / total

    return guess


def levels(steps: int) -> Array:
    """Return the noise levels from the highest to the lowest, then zero."""
    ramp = np.linspace(0, 1, steps)
    ends = HIGHEST ** (1 / RHO), LOWEST ** (1 / RHO)
    return np.append((ends[0] + ramp * (ends[1] - ends[0])) ** RHO, 0.0)


# --8<-- [start:solvers]
def euler(guess: Denoiser, x: Array, sigmas: Array) -> Array:
    """First order: one evaluation a step."""
    for now, then in itertools.pairwise(sigmas):
        slope = (x - guess(x, now)) / now
        x = x + (then - now) * slope
    return x


def heun(guess: Denoiser, x: Array, sigmas: Array) -> Array:
    """Second order: two evaluations a step, except the last."""
    for now, then in itertools.pairwise(sigmas):
        slope = (x - guess(x, now)) / now
        trial = x + (then - now) * slope
        if then > 0:
            slope = (slope + (trial - guess(trial, then)) / then) / 2
            trial = x + (then - now) * slope
        x = trial
    return x


def multistep(guess: Denoiser, x: Array, sigmas: Array) -> Array:
    """Second order from memory (DPM-Solver++ 2M): one evaluation a step."""
    before: Array | None = None
    for place, (now, then) in enumerate(itertools.pairwise(sigmas)):
        found = guess(x, now)
        used = found
        if before is not None and then > 0:
            ratio = np.log(sigmas[place - 1] / now) / np.log(now / then)
            used = found + (found - before) / (2 * ratio)
        x = used + (x - used) * (then / now)
        before = found
    return x
    # --8<-- [end:solvers]


def noise(seed: int = 1) -> Array:
    """Return where sampling starts: noise of the highest level."""
    return np.random.default_rng(seed).normal(size=(SAMPLES, 2)) * HIGHEST


def error(found: Array, exact: Array) -> float:
    """Return the root mean square distance from where an exact solver ends."""
    return float(np.sqrt(((found - exact) ** 2).sum(axis=1).mean()))


def show_solvers() -> None:
    """Print the error for each number of evaluations of the model, by solver."""
    guess, start = denoiser(CENTRES), noise()
    exact = heun(guess, start, levels(500))
    print("evaluations   Euler    Heun  2M")
    for evaluations in (4, 8, 16, 32, 64):
        ended = {
            "Euler": euler(guess, start, levels(evaluations)),
            "Heun": heun(guess, start, levels((evaluations + 1) // 2)),
            "2M": multistep(guess, start, levels(evaluations)),
        }
        shown = [f"{error(x, exact):.3f}" for x in ended.values()]
        print(f"{evaluations:>11}  {shown[0]:>6}  {shown[1]:>6}  {shown[2]}")


def guided(wanted: Denoiser, free: Denoiser, scale: float) -> Denoiser:
    """Return the guess pushed from the free one past the wanted one: two evaluations each time."""
    return lambda x, sigma: free(x, sigma) + scale * (wanted(x, sigma) - free(x, sigma))


def show_guidance() -> None:
    """Print how many samples reach the wanted half, and how far they spread, by scale."""
    half = CENTRES[:3]
    centre = half.mean(axis=0)
    print("scale  in wanted half  spread")
    for scale in (0.0, 1.0, 2.0, 5.0):
        guess = guided(denoiser(half), denoiser(CENTRES), scale)
        found = multistep(guess, noise(), levels(32))
        nearest = ((found[:, None, :] - CENTRES[None]) ** 2).sum(axis=2).argmin(axis=1)
        spread = float(np.sqrt(((found - centre) ** 2).sum(axis=1).mean()))
        print(f"{scale:>5}  {(nearest < 3).mean():>14.1%}  {spread:.2f}")


def main() -> None:
    """Show what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--guidance", action="store_true")
    if parser.parse_args().guidance:
        show_guidance()
    else:
        show_solvers()


if __name__ == "__main__":
    main()
