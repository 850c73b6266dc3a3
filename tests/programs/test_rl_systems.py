"""RL systems: the note's table is the program's output, and the simulation's bounds hold."""

from __future__ import annotations

import random
import re

import pytest

from tests.programs import printed
from tools.figures.files import load_program

step = load_program("train/code/rl_step.py")
sizes = load_program("train/code/rl_bytes.py")
NOTES = ("train/rl-systems", "train/rl-systems.en")


def output(note: str) -> list[str]:
    """The simulation's output as shown; that the program prints it is tested with all listings."""
    (block,) = [text for _, text in printed.blocks(note) if "s/step" in text]
    return block.splitlines()


@pytest.mark.parametrize("note", NOTES)
def test_first_table_is_what_the_program_prints(note: str) -> None:
    rows = re.findall(
        r"\| (\d+) \| ([\d,]+) \| ([\d.]+) \| ([\d,]+) \| (\d+)% \|\n", printed.text(note)
    )
    lines = [line[26:].replace("%", " ").split() for line in output(note)[2:-2]]
    expected = [
        (seconds, f"{int(rate):,}", batch, f"{int(length):,}", str(100 - int(fresh)))
        for seconds, rate, _, batch, length, _, fresh, *_ in lines
    ]
    assert len(expected) == 7
    assert rows == expected


@pytest.mark.parametrize("note", NOTES)
def test_sentences_repeat_the_output(note: str) -> None:
    text, lines = printed.text(note), output(note)
    share = re.search(r"\((\d+)%\)", lines[-2])
    cells = [line[26:].replace("%", " ").split() for line in lines[2:-2]]
    assert share
    assert text.count(f"{share[1]}%") >= 3  # why, question, output
    assert f"{float(cells[3][1]) / float(cells[0][1]) - 1:.0%}" == "10%"  # one step off
    assert f"{cells[2][0]} s" in text
    assert cells[5][1] == cells[6][1]  # bound 4 is no faster than bound 2
    assert int(cells[5][9]) > 0  # bound 2, yet some three updates late
    assert int(cells[1][4]) < int(cells[0][4])  # dropping prefers short responses


def test_memory_of_the_first_question() -> None:
    resident = sizes.tokens(sizes.room(16, 4, False)[2], 4)
    assert sizes.room(8, 4, False)[2] < 0
    assert resident < step.SLOTS * step.MEDIAN * 1.4  # a full replica of mean lengths does not fit
    assert sizes.PARAMS == step.PARAMS
    assert sizes.KV_TOKEN == step.KV_TOKEN


def test_a_response_costs_what_its_steps_cost() -> None:
    replica = step.Replica(running=[step.Response(0, 100)])
    alone = replica.step()
    assert replica.advance(float("inf"))[0].done == 100
    assert replica.clock == pytest.approx(100 * alone)
    assert alone == pytest.approx(2 * step.PARAMS / (4 * step.HBM * step.READ) + step.LAUNCH)


def test_no_token_is_lost_when_generation_is_interrupted() -> None:
    rollout = step.Rollout([step.Replica() for _ in range(2)], random.Random(3))
    rollout.submit(4)
    wanted = sum(one.length for group in rollout.members.values() for one in group)
    for until in (5.0, 20.0, float("inf")):
        rollout.run(until)
        rollout.again()
    assert sorted(rollout.ready) == [0, 1, 2, 3]
    assert sum(one.tokens for one in rollout.replicas) == wanted
