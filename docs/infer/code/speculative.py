"""Prove, on small models and in exact fractions, that speculative decoding changes nothing.

Run:  python docs/infer/code/speculative.py           (laws of the output against the target's)
      python docs/infer/code/speculative.py --tokens  (tokens a round, against the closed form)
      python docs/infer/code/speculative.py --batch   (what is left of the gain in larger batches)

Target and draft are Markov chains over three tokens whose next token depends on the last two;
every draft, every acceptance and every token after a rejection is enumerated, nothing is sampled.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

TOKENS = (0, 1, 2)
START = (0, 1)
STEPS = Path(__file__).parents[1] / "measured" / "serve_steps.json"
CONTEXT, LONGER = 512, 2048
Law = tuple[Fraction, ...]
Chain = dict[tuple[int, ...], Law]
Laws = dict[tuple[int, ...], Fraction]
Rule = Callable[[Law, Law, int], tuple[Fraction, Law]]


def chain(seed: int, near: Chain | None = None) -> Chain:
    """Return a random chain, or one halfway between a random one and another."""
    dice = random.Random(seed)
    made: Chain = {}
    for state in itertools.product(TOKENS, repeat=2):
        parts = [dice.randint(1, 9) for _ in TOKENS]
        law = tuple(Fraction(part, sum(parts)) for part in parts)
        if near:
            law = tuple((a + b) / 2 for a, b in zip(law, near[state], strict=True))
        made[state] = law
    return made


# --8<-- [start:rule]
def exact(p: Law, q: Law, x: int) -> tuple[Fraction, Law]:
    """Return how likely draft x is accepted, and the law of the token after a rejection."""
    left = [max(a - b, Fraction(0)) for a, b in zip(p, q, strict=True)]
    rest = tuple(a / sum(left) for a in left) if sum(left) else p
    return min(Fraction(1), p[x] / q[x]), rest


# --8<-- [end:rule]


def careless(p: Law, q: Law, x: int) -> tuple[Fraction, Law]:
    """Accept as above, but after a rejection draw from the target itself: wrong."""
    return min(Fraction(1), p[x] / q[x]), p


def typical(p: Law, q: Law, x: int) -> tuple[Fraction, Law]:
    """Accept whatever the target finds likely enough: faster, and another law."""
    return Fraction(p[x] >= Fraction(1, 4)), p


def greedy(chain_: Chain) -> Chain:
    """Return a draft that always names its likeliest token: a law of one."""
    best = {state: law.index(max(law)) for state, law in chain_.items()}
    return {state: tuple(Fraction(t == x) for t in TOKENS) for state, x in best.items()}


def round_(
    p: Chain, q: Chain, rule: Rule, state: tuple[int, ...], drafts: int
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Yield what a round of some drafts may put out, and how likely."""
    if not drafts:
        yield from (((x,), p[state][x]) for x in TOKENS)  # the target's own, all were accepted
        return
    for x in TOKENS:
        if not q[state][x]:
            continue
        accepted, rest = rule(p[state], q[state], x)
        for tail, chance in round_(p, q, rule, (state[1], x), drafts - 1):
            yield (x, *tail), q[state][x] * accepted * chance
        yield from (((y,), q[state][x] * (1 - accepted) * rest[y]) for y in TOKENS)


def law_of(p: Chain, q: Chain, rule: Rule, drafts: int, length: int) -> Laws:
    """Return the law of the first tokens, over as many rounds as they take."""
    law: Laws = defaultdict(Fraction)
    open_: Laws = {(): Fraction(1)}
    while open_:
        later: Laws = defaultdict(Fraction)
        for said, chance in open_.items():
            state = (*START, *said)[-2:]
            for more, likely in round_(p, q, rule, state, drafts):
                text = (*said, *more)[:length]
                (law if len(text) == length else later)[text] += chance * likely
        open_ = later
    return law


def plain(p: Chain, length: int) -> Laws:
    """Return the law of the first tokens when the target decodes alone."""
    law = {}
    for text in itertools.product(TOKENS, repeat=length):
        chance = Fraction(1)
        for at, token in enumerate(text):
            chance *= p[(*START, *text)[at : at + 2]][token]
        law[text] = chance
    return law


def distance(a: Laws, b: Laws) -> Fraction:
    """Return the total variation: by how much the chance of any event may differ."""
    return sum((abs(a[text] - b[text]) for text in b), Fraction(0)) / 2


def laws() -> list[str]:
    """Return the table of rules and how far each leads from the target."""
    p = chain(1)
    drafts = {"near": chain(2, p), "far": chain(3), "greedy": greedy(chain(2, p))}
    lines = [f"{'rule':>9} {'draft':>7}  distance of the law of 4 tokens, by drafts a round 1 to 3"]
    for rule in (exact, careless, typical):
        for name, q in drafts.items():
            far = [distance(law_of(p, q, rule, g, 4), plain(p, 4)) for g in (1, 2, 3)]
            said = "  ".join("0 exactly" if not d else f"{float(d):9.4f}" for d in far)
            lines.append(f"{rule.__name__:>9} {name:>7}  {said}")
    return lines


def closed(acceptance: float, drafts: int) -> float:
    """Return tokens a round if every draft is accepted with the same chance."""
    return (1 - acceptance ** (drafts + 1)) / (1 - acceptance)


def lengths() -> list[str]:
    """Return tokens a round, exactly, against the closed form with the first draft's chance."""
    p = chain(1)
    q = chain(2, p)
    lines = [f"{'drafts':>6} {'tokens a round':>14} {'closed form':>11}  accepted at each position"]
    first = 0.0
    for drafts in range(1, 6):
        reached = [Fraction(0)] * (drafts + 2)
        for text, chance in round_(p, q, exact, START, drafts):
            for at in range(1, len(text) + 1):
                reached[at] += chance
        first = first or float(reached[2])
        per = "  ".join(f"{float(one):.3f}" for one in reached[2:])
        lines.append(f"{drafts:6} {float(sum(reached)):14.3f} {closed(first, drafts):11.3f}  {per}")
    return lines


def measured() -> tuple[dict[int, float], float]:
    """Return the steps at a context of 512 by batch, and what reading a cached token costs."""
    record = json.loads(STEPS.read_text(encoding="utf-8"))
    points = next(one["points"] for one in record["results"] if one["id"] == "decode")
    steps = {
        (p["context"], p["batch"]): p["value"]
        for p in points
        if (p["shape"], p["launch"]) == ("Llama 3.1 8B", "graph")
    }
    times = {batch: value for (context, batch), value in steps.items() if context == CONTEXT}
    largest = max(batch for context, batch in steps if context == LONGER)
    more = steps[LONGER, largest] - steps[CONTEXT, largest]
    return times, more / (largest * (LONGER - CONTEXT))


def batches() -> list[str]:
    """Return the gain by batch: a check is a step of g + 1 times the batch that reads caches once.

    A step of so many sequences would read g caches too many; that reading is taken off.
    """
    times, token = measured()
    lines = [f"{'batch':>5} {'step':>8}" + "".join(
        f"  {g} drafts: check  at 0.6  at 0.8" for g in (1, 3))]  # fmt: skip
    for batch, step in sorted(times.items()):
        cells = ""
        for drafts in (1, 3):
            wide = times.get(batch * (drafts + 1))
            if wide:
                check = wide - drafts * batch * CONTEXT * token
                cells += f"  {check * 1e3:13.2f} ms" + "".join(
                    f" {closed(accepted, drafts) * step / (check + drafts * 0.05 * step):7.2f}"
                    for accepted in (0.6, 0.8)
                )
        if cells:
            lines.append(f"{batch:5} {step * 1e3:5.2f} ms{cells}")
    return lines


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", action="store_true")
    parser.add_argument("--batch", action="store_true")
    said = parser.parse_args()
    print("\n".join(lengths() if said.tokens else batches() if said.batch else laws()))


if __name__ == "__main__":
    main()
