"""Constrain a language model by a grammar: an automaton over bytes that masks logits.

Run:  python docs/infer/code/grammar_mask.py           # the steps of one answer
      python docs/infer/code/grammar_mask.py --table   # what is computed once, and what per step
      python docs/infer/code/grammar_mask.py --compare # with and without the mask

The grammar is a pattern for one kind of JSON object. It becomes a deterministic automaton over
characters; each token of the vocabulary is run through it once from each state, which gives, per
state, a row of bits that says which tokens may come next. The "model" is a random one: it shows
that form is guaranteed and sense is not.
"""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import dataclass, field

import numpy as np

END = "<end>"
PATTERN = r'{"city":"[a-z]+","degrees":-?[0-9]+}'
ALPHABET = sorted(set('{}":,-abcdefghijklmnopqrstuvwxyz0123456789 '))
WORDS = ['{"', '":"', '","', '":', '"}', "}", "city", "degrees", "deg", "rees", "par", "is", "oslo"]
WORDS += ['{"city":"', '","degrees":', "-1", "10", "25", "the ", "Sure", ": ", "en"]
VOCABULARY = [END, *ALPHABET, *WORDS]


@dataclass
class Automaton:
    """Deterministic: for each state, the next state by character; states where it may end."""

    step: list[dict[str, int]] = field(default_factory=list)
    ends: set[int] = field(default_factory=set)

    def run(self, state: int, text: str) -> int | None:
        """Return the state after the text, or None where the text leaves the language."""
        for character in text:
            following = self.step[state].get(character)
            if following is None:
                return None
            state = following
        return state


def items(pattern: str) -> list[tuple[frozenset[str], str]]:
    """Return the sets of characters of a pattern, each with how often: once, '?' or '+'."""
    found: list[tuple[frozenset[str], str]] = []
    place = 0
    while place < len(pattern):
        if pattern[place] == "[":
            close = pattern.index("]", place)
            first, last = pattern[place + 1], pattern[close - 1]
            letters = frozenset(chr(code) for code in range(ord(first), ord(last) + 1))
            place = close + 1
        else:
            letters, place = frozenset(pattern[place]), place + 1
        often = pattern[place] if place < len(pattern) and pattern[place] in "?+" else ""
        found.append((letters, often))
        place += bool(often)
    return found


def compiled(pattern: str) -> Automaton:
    """Return the automaton of a pattern: sets of positions become states."""
    parts = items(pattern)

    def reachable(places: set[int]) -> frozenset[int]:
        todo = list(places)
        for place in todo:  # grows while it is read
            if place < len(parts) and parts[place][1] == "?" and place + 1 not in todo:
                todo.append(place + 1)
        return frozenset(todo)

    made = Automaton()
    states = [reachable({0})]
    for state in states:  # grows while it is read
        made.step.append({})
        if len(parts) in state:
            made.ends.add(len(made.step) - 1)
        places = [place for place in state if place < len(parts)]
        for letter in sorted(set().union(*(parts[place][0] for place in places))):
            following: set[int] = set()
            for place in places:
                letters, often = parts[place]
                if letter in letters:
                    following |= {place + 1, place} if often == "+" else {place + 1}
            target = reachable(following)
            if target not in states:
                states.append(target)
            made.step[-1][letter] = states.index(target)
    return made


# --8<-- [start:mask]
def masks(automaton: Automaton, vocabulary: list[str]) -> np.ndarray:
    """Return, for each state, which tokens may come next: computed once, used by every request."""
    allowed = np.zeros((len(automaton.step), len(vocabulary)), bool)
    for state in range(len(automaton.step)):
        for token, text in enumerate(vocabulary):
            if text == END:
                allowed[state, token] = state in automaton.ends
            else:
                allowed[state, token] = automaton.run(state, text) is not None
    return allowed


def sample(logits: np.ndarray, allowed: np.ndarray, random: np.random.Generator) -> int:
    """Return a token drawn from the softmax of the logits that the mask leaves."""
    kept = np.where(allowed, logits, -math.inf)
    weights = np.exp(kept - kept.max())
    return int(random.choice(len(weights), p=weights / weights.sum()))
    # --8<-- [end:mask]


def answer(seed: int, constrained: bool, longest: int = 40) -> tuple[list[str], int, bool]:
    """Return the tokens, how many steps were forced, and whether the answer came to its end."""
    random = np.random.default_rng(seed)
    automaton = compiled(PATTERN)
    allowed = masks(automaton, VOCABULARY)
    everything = np.ones(len(VOCABULARY), bool)
    state, forced, tokens = 0, 0, list[str]()
    for _ in range(longest):
        mask = allowed[state] if constrained else everything
        forced += int(mask.sum() == 1)
        token = VOCABULARY[sample(random.normal(scale=2.0, size=len(VOCABULARY)), mask, random)]
        if token == END:
            return tokens, forced, True
        tokens.append(token)
        if constrained:
            following = automaton.run(state, token)
            assert following is not None, "the mask lets no other token through"
            state = following
    return tokens, forced, False


def valid(text: str) -> bool:
    """Tell whether a text is JSON with the two fields that the pattern asks for."""
    try:
        found = json.loads(text)
    except ValueError:
        return False
    return isinstance(found, dict) and set(found) == {"city", "degrees"}


def show_answer(seed: int) -> None:
    """Print the tokens of one answer and how many the mask allowed at each step."""
    automaton = compiled(PATTERN)
    allowed = masks(automaton, VOCABULARY)
    tokens, forced, ended = answer(seed, constrained=True)
    state = 0
    print(f"{'allowed':>7}  token")
    for token in [*tokens, END] if ended else tokens:
        print(f"{int(allowed[state].sum()):>7}  {token}")
        if token != END:
            following = automaton.run(state, token)
            assert following is not None
            state = following
    print(f"{''.join(tokens)}  ({len(tokens)} tokens, {forced} steps with one choice)")


def show_table() -> None:
    """Print the size of the automaton and of its masks."""
    automaton = compiled(PATTERN)
    allowed = masks(automaton, VOCABULARY)
    states, tokens = allowed.shape
    counts = allowed.sum(axis=1)
    print(f"{states} states, {tokens} tokens, mask of {math.ceil(tokens / 8)} B a state")
    print(
        f"tokens allowed: least {counts.min()}, median {np.median(counts):.0f}, most {counts.max()}"
    )
    print(f"states with one choice: {(counts == 1).sum()}")
    large = 128_256
    print(f"with {large} tokens: {large // 8} B a sequence and step, copied to the GPU")


def show_comparison(answers: int = 200) -> None:
    """Print how many answers end, and how many are valid, with and without the mask."""
    for constrained in (False, True):
        made = [answer(seed, constrained) for seed in range(answers)]
        ended = sum(end for *_, end in made)
        good = sum(end and valid("".join(tokens)) for tokens, _, end in made)
        name = "masked" if constrained else "free"
        print(f"{name:>6}: {ended} of {answers} ended, {good} of these valid JSON")


def main() -> None:
    """Show what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    said = parser.parse_args()
    if said.table:
        show_table()
    elif said.compare:
        show_comparison()
    else:
        show_answer(said.seed)


if __name__ == "__main__":
    main()
