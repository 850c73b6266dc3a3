"""How far Adam moves one weight after a gradient that it did not expect.

Run:  python docs/train/code/adam_spike.py outlier|shift|clip|epsilon|resume

One weight, beta1 = 0.9. All updates are in units of the learning rate: 1 is what a steady
gradient moves. History: gradients +1, -1, +1 ..., so that the first moment is near 0 and the
second near 1. Deterministic; standard library only.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

BETAS = (0.999, 0.99, 0.95, 0.9)
QUIET = 20000
"""Steps of history: enough for the second moment of beta2 = 0.999 to settle."""


# --8<-- [start:adam]
@dataclass
class Adam:
    """Adam for one weight: moments `m` and `v`, update in units of the learning rate."""

    beta2: float
    beta1: float = 0.9
    epsilon: float = 1e-8
    m: float = 0.0
    v: float = 0.0
    step: int = 0

    def update(self, g: float) -> float:
        self.step += 1
        self.m += (1 - self.beta1) * (g - self.m)
        self.v += (1 - self.beta2) * (g * g - self.v)
        m = self.m / (1 - self.beta1**self.step)
        v = self.v / (1 - self.beta2**self.step)
        return m / (math.sqrt(v) + self.epsilon)


# --8<-- [end:adam]


def settled(beta2: float, epsilon: float = 1e-8, size: float = 1.0) -> Adam:
    """Return an Adam that has seen gradients of +-size for a long time."""
    adam = Adam(beta2, epsilon=epsilon)
    for step in range(QUIET):
        adam.update(size if step % 2 else -size)
    return adam


def show_outlier() -> None:
    """One huge gradient, then quiet again."""
    print("one gradient of 100 after +-1: update in learning rates")
    heads = f"{'at once':>8} {'of g alone':>11} {'moved in 50':>12} {'steps below half':>17}"
    print(f"{'beta2':>6} {heads}")
    for beta2 in BETAS:
        adam = settled(beta2)
        first = adam.update(100.0)
        limit = (1 - adam.beta1) / math.sqrt(1 - beta2)
        moved, weak = first, 0
        for step in range(50):
            moved += adam.update(1.0 if step % 2 else -1.0)
        after = settled(beta2)
        after.update(100.0)
        while after.v > 4.0:
            after.update(1.0 if weak % 2 else -1.0)
            weak += 1
        print(f"{beta2:>6} {first:>8.2f} {limit:>11.2f} {moved:>12.1f} {weak:>17}")


def show_shift() -> None:
    """Gradients become larger and stay so, with one sign."""
    print("gradients jump from +-1 to +10 and stay: update in learning rates")
    print(
        f"{'beta2':>6} {'largest':>8} {'at step':>8} {'moved in 50':>12} {'g/sqrt(v) before':>17}"
    )
    for beta2 in BETAS:
        adam = settled(beta2)
        ratio = 10.0 / math.sqrt(adam.v)
        updates = [adam.update(10.0) for _ in range(50)]
        largest = max(updates)
        place = updates.index(largest) + 1
        print(f"{beta2:>6} {largest:>8.2f} {place:>8} {sum(updates):>12.1f} {ratio:>17.1f}")


def show_clip() -> None:
    """Clipping of the gradient, and of the update."""
    print("the same jump to +10, beta2 = 0.999: what limits what")
    print(f"{'rule':<40} {'largest':>8} {'moved in 50':>12}")
    rules = {"none": math.inf, "clip the gradient at 5 times the usual": 5.0}
    rules["clip the gradient at the usual"] = 1.0
    for name, limit in rules.items():
        adam = settled(0.999)
        updates = [adam.update(min(10.0, limit)) for _ in range(50)]
        print(f"{name:<40} {max(updates):>8.2f} {sum(updates):>12.1f}")
    adam, updates = settled(0.999), []
    for _ in range(50):
        update = adam.update(10.0)
        updates.append(update / max(1.0, 10.0 / math.sqrt(adam.v)))
    print(f"{'divide by max(1, g/sqrt(v))':<40} {max(updates):>8.2f} {sum(updates):>12.1f}")


def show_epsilon() -> None:
    """Gradients that sink towards epsilon."""
    print("steady gradient g: update in learning rates")
    sizes = (1e-4, 1e-6, 1e-8, 1e-9)
    print(f"{'epsilon':>8} " + " ".join(f"{f'g={g:.0e}':>8}" for g in sizes))
    for epsilon in (1e-5, 1e-8, 1e-15):
        row = []
        for g in sizes:
            adam = Adam(0.95, epsilon=epsilon)
            for _ in range(500):
                last = adam.update(g)
            row.append(f"{last:>8.3f}")
        print(f"{epsilon:>8.0e} " + " ".join(row))


def show_resume() -> None:
    """A checkpoint that kept the moments and lost the step counter."""
    print("factor on the update after a resume that restarts the step counter at 1")
    print(f"{'beta2':>6} " + " ".join(f"{f't={t}':>6}" for t in (1, 2, 5, 10, 100, 1000)))
    for beta2 in (0.95, 0.99, 0.999):
        row = [math.sqrt(1 - beta2**t) / (1 - 0.9**t) for t in (1, 2, 5, 10, 100, 1000)]
        print(f"{beta2:>6} " + " ".join(f"{factor:>6.2f}" for factor in row))


SHOW = {
    "outlier": show_outlier,
    "shift": show_shift,
    "clip": show_clip,
    "epsilon": show_epsilon,
    "resume": show_resume,
}

if __name__ == "__main__":
    for word in sys.argv[1:] or SHOW:
        SHOW[word]()
