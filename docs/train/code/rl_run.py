"""GRPO on one GPU, all of it: a small GPT, its own rollout engine, and what goes wrong between.

    python3 docs/train/code/rl_run.py [--seconds 500] [--parts mismatch,learn,...] [--tiny]

The task checks itself: numbers modulo M are given, their sum modulo M is wanted. Supervised steps
first teach two habits: answer at once (right only by luck), or write out partial sums, with
mistakes. GRPO then learns from rewards 0 and 1 alone. Response lengths have a long tail, because
the count of numbers does. Parts: pretrain, mismatch, rate, learn, after, steps, together. One JSON
object a line, so a part that fails loses only itself.
"""

from __future__ import annotations

import argparse
import copy
import math
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from rl_policy import (
    BF16,
    FP16,
    FP32,
    GPT,
    ROUNDED,
    Batch,
    Clock,
    Engine,
    Size,
    Task,
    Trainer,
    eight_bits,
    four_bits,
    rollout,
)
from rl_together import together
from timing import CUDA, DEVICE, emit, quantile, synchronize, versions
from torch import Tensor
from torch.nn import functional


class Bench:
    """What the parts share: sizes, the pretrained weights, an engine, the time left."""

    def __init__(self, size: Size, seconds: float, rate: float) -> None:
        self.size, self.task, self.main_rate = size, Task(size), rate
        self.by_rate: dict[float, tuple[float, Tensor]] = {}
        self.batch = size.prompts * size.group
        self.engine = Engine(size, self.batch)
        self.base: Tensor | None = None
        self.trained: Tensor | None = None
        self.deadline = time.perf_counter() + seconds

    def left(self) -> float:
        return self.deadline - time.perf_counter()

    def test(self, trainer: Trainer) -> Batch:
        """One sampled response to each of a fixed set of prompts."""
        self.engine.load(trainer.flat, trainer.model.head)
        return rollout(self.task, self.engine, self.batch, questions=self.held_out)

    # ---------------------------------------------------------------- pretrain
    def pretrain(self) -> None:
        """Supervised steps on demonstrations with two habits and mistakes."""
        torch.manual_seed(777)
        self.held_out = self.task.prompts(self.batch)
        torch.manual_seed(0)
        trainer = Trainer(self.size)
        self.base = trainer.flat
        began, z = time.perf_counter(), self.size
        for step in range(z.supervised):
            done = step / z.supervised
            rate = 1e-3 * min(1, (step + 1) / 100) * (0.55 + 0.45 * math.cos(math.pi * done))
            trainer.optimizer.param_groups[0]["lr"] = rate
            prompts, responses = self.task.demonstrations(4 * z.prompts)
            longest = int((responses != self.task.pad).sum(1).max())
            tokens = torch.cat([prompts, responses[:, :longest]], 1)
            with torch.autocast(DEVICE, BF16):
                logits = trainer.model(tokens[:, :-1], z.prompt - 1)
            target = tokens[:, z.prompt :].masked_fill(tokens[:, z.prompt :] == self.task.pad, -100)
            loss = functional.cross_entropy(logits.float().flatten(0, 1), target.flatten())
            loss.backward()
            trainer.step()
            if step % 100 == 99 or step == z.supervised - 1:
                tested = self.test(trainer)
                emit(
                    "pretrain",
                    step=step + 1,
                    loss=float(loss.detach()),
                    reward=float(tested.rewards.mean()),
                    length=float(tested.lengths.float().mean()),
                    s=time.perf_counter() - began,
                )
        self.base = trainer.flat.clone()
        self.describe("pretrained", self.base)

    def describe(self, name: str, flat: Tensor) -> None:
        """Reward, lengths and the share of direct answers of some weights."""
        trainer = Trainer(self.size, flat)
        found = [self.test(trainer) for _ in range(4)]
        lengths = torch.cat([b.lengths for b in found]).float()
        for q in (0.05, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0):
            emit("length", "token", [float(lengths.quantile(q))], model=name, quantile=q)
        emit("length_mean", "token", [float(lengths.mean())], model=name)
        emit("accuracy", "value", [float(b.rewards.mean()) for b in found], model=name)
        emit("direct", "value", [float((lengths <= 3).float().mean())], model=name)
        # The share of the decoding slots that still write a response.
        busy = [float(b.lengths.sum()) / (self.batch * b.steps) for b in found]
        emit("occupied", "value", busy, model=name)

    # ---------------------------------------------------------------- mismatch
    def mismatch(self, name: str = "pretrained") -> None:
        """The same tokens, scored by engines and forward passes of several types."""
        torch.manual_seed(1)
        flat = self.base if name == "pretrained" else self.trained
        assert flat is not None
        trainer = Trainer(self.size, flat)
        head = trainer.model.head
        z = self.size
        self.engine.load(flat, head)
        batch = rollout(self.task, self.engine, z.prompts)
        width = min(z.response, -(-int(batch.lengths.max()) // 8) * 8)
        responses = batch.responses[:, :width]
        prompts = batch.prompts[:: z.group]
        scores: dict[str, Tensor] = {"engine bf16": batch.logp[:, :width]}
        counts = torch.arange(width, device=DEVICE) < batch.lengths[:, None]
        for label, kind, top, change in (
            ("engine bf16 again", BF16, None, None),
            ("engine bf16, fp32 head", BF16, FP32, None),
            ("engine fp16", FP16, None, None),
            ("engine fp32", FP32, None, None),
            ("engine fp8 weights", BF16, None, eight_bits),
            ("engine int4 weights", BF16, None, four_bits),
        ):
            engine = Engine(z, self.batch, kind, top, graph=False)
            engine.load(flat, head, change)
            scores[label] = engine.score(prompts, responses)
            del engine
        pure = copy.deepcopy(trainer.model).to(BF16)
        with torch.no_grad():
            for label, kind, top, model in (
                ("trainer bf16", BF16, None, None),
                ("trainer bf16, fp32 head", BF16, FP32, None),
                ("trainer bf16 weights", None, None, pure),
                ("trainer fp16", FP16, None, None),
                ("trainer fp32", None, None, None),
            ):
                scores[label] = trainer.logp(batch, kind, top, model)[0]
        for left, right in (
            ("engine bf16", "engine bf16 again"),
            ("engine bf16", "trainer bf16"),
            ("engine bf16", "trainer bf16 weights"),
            ("engine bf16, fp32 head", "trainer bf16"),
            ("engine bf16", "trainer bf16, fp32 head"),
            ("engine bf16, fp32 head", "trainer bf16, fp32 head"),
            ("engine fp16", "trainer fp16"),
            ("engine fp32", "trainer fp32"),
            ("engine bf16", "trainer fp32"),
            ("engine bf16, fp32 head", "trainer fp32"),
            ("trainer bf16", "trainer fp32"),
            ("trainer bf16, fp32 head", "trainer fp32"),
            ("trainer fp16", "trainer fp32"),
            ("engine fp8 weights", "trainer bf16"),
            ("engine int4 weights", "trainer bf16"),
        ):
            self.compare(name, left, right, scores[left], scores[right], counts)
        self.by_chance(name, scores["engine bf16"], scores["trainer bf16"], counts)
        if name == "pretrained":
            self.by_batch(flat, head, batch, prompts, responses, counts, trainer)

    def compare(
        self, model: str, left: str, right: str, a: Tensor, b: Tensor, counts: Tensor
    ) -> None:
        """Print how the log-probabilities of two ways differ (right minus left)."""
        labels = {"model": model, "engine": left, "trainer": right}
        a, b = a.double(), b.double()
        difference = ((b - a) * counts).clamp(-50, 50)
        token = difference[counts]
        size = token.abs()
        for name, q in (("0.5", 0.5), ("0.9", 0.9), ("0.99", 0.99), ("0.999", 0.999), ("1", 1.0)):
            emit("token_difference", "value", [float(size.quantile(q))], **labels, quantile=name)
        emit("token_mean", "value", [float(size.mean())], **labels, tokens=len(token))
        emit("token_bias", "value", [float(token.mean())], **labels)
        emit("equal", "value", [float((size == 0).double().mean())], **labels)
        outside = (token.exp() > 1.2) | (token.exp() < 0.8)
        emit("outside_clip", "value", [float(outside.double().mean())], **labels)
        emit("kl", "value", [float((token.exp() - 1 - token).mean())], **labels)
        whole = difference.sum(1)
        emit("sequence_mean", "value", [float(whole.abs().mean())], **labels)
        emit("sequence_largest", "value", [float(whole.abs().max())], **labels)
        for scope, r in (("token", token.exp()), ("sequence", whole.exp())):
            share = float(r.sum() ** 2 / (r.square().sum() * len(r)))
            emit("effective", "value", [share], **labels, scope=scope)

    def by_chance(self, model: str, a: Tensor, b: Tensor, counts: Tensor) -> None:
        """The difference by the probability that the engine gave to its token."""
        chance, size = a[counts].exp(), (b - a)[counts].abs()
        edges = (0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0001)
        for low, high in pairwise(edges):
            some = size[(chance >= low) & (chance < high)]
            if len(some):
                labels = {"model": model, "from": low, "tokens": len(some)}
                emit("by_chance", "value", [float(some.mean())], **labels)
                emit("by_chance_largest", "value", [float(some.max())], **labels)
                emit("by_chance_share", "value", [len(some) / len(size)], **labels)

    def by_batch(
        self,
        flat: Tensor,
        head: Tensor,
        batch: Batch,
        prompts: Tensor,
        responses: Tensor,
        counts: Tensor,
        trainer: Trainer,
    ) -> None:
        """The first 32 responses, scored in batches of several sizes."""
        z, first = self.size, min(32, self.batch)
        for way, kind in (("engine", BF16), ("engine", FP32), ("trainer", BF16), ("trainer", FP32)):
            found: dict[int, Tensor] = {}
            for size in sorted({1, 8, first, min(128, self.batch), self.batch}, reverse=True):
                parts = []
                for at in range(0, max(first, size), size):
                    rows = slice(at, at + size)
                    if way == "engine":
                        if at == 0:
                            engine = Engine(z, size, kind, graph=False)
                            engine.load(flat, head)
                        parts.append(engine.score(batch.prompts[rows], responses[rows]))
                    else:
                        part = Batch(
                            batch.prompts[rows],
                            responses[rows],
                            batch.logp[rows],
                            # the same width in all, so that only the batch differs
                            torch.full_like(batch.lengths[rows], responses.shape[1]),
                            batch.rewards[rows],
                        )
                        with torch.no_grad():
                            parts.append(trainer.logp(part, kind if kind == BF16 else None)[0])
                found[size] = torch.cat(parts)[:first]
            real = counts[:first]
            for size, score in found.items():
                difference = (score - found[self.batch])[real].abs()
                labels = {"way": way, "type": str(kind).split(".")[1], "batch": size}
                emit("batch_equal", "value", [float((difference == 0).float().mean())], **labels)
                emit("batch_mean", "value", [float(difference.mean())], **labels)
                emit("batch_largest", "value", [float(difference.max())], **labels)

    # ---------------------------------------------------------------- learning
    def run(
        self,
        seed: int,
        old: int,
        correction: str,
        rate: float,
        updates: int,
        rounding: str = "bf16",
        every: int = 10,
    ) -> tuple[dict[int, float], dict[str, float], Tensor]:
        """One GRPO run whose rollouts use weights `old` updates old; rewards by update."""
        assert self.base is not None
        torch.manual_seed(100 + seed)
        trainer = Trainer(self.size, self.base, rate)
        past = [trainer.flat.to(BF16)]
        curve = {0: float(self.test(trainer).rewards.mean())}
        seen: list[dict[str, float]] = []
        head = slice(*self.head_range(trainer))
        for update in range(1, updates + 1):
            flat = past[0]
            self.engine.load(flat, flat[head].view_as(trainer.model.head), ROUNDED[rounding])
            batch = rollout(self.task, self.engine, self.size.prompts)
            seen.append(trainer.learn(batch, correction, self.size.group))
            past = [*past, trainer.flat.to(BF16)][-(old + 1) :]
            if update % every == 0:
                curve[update] = float(self.test(trainer).rewards.mean())
        late = seen[-20:]
        facts = {key: sum(one[key] for one in late) / len(late) for key in seen[0]}
        facts["gradient_largest"] = max(one["gradient"] for one in seen)
        facts["drift_largest"] = max(one["drift"] for one in seen)
        facts["effective_smallest"] = min(one["effective"] for one in seen)
        facts["above_cap_largest"] = max(one["above_cap"] for one in seen)
        return curve, facts, trainer.flat.clone()

    def head_range(self, trainer: Trainer) -> tuple[int, int]:
        """Where the head stands in the flat tensor."""
        at = 0
        for name, p in trainer.model.named_parameters():
            if name == "head":
                return at, at + p.numel()
            at += p.numel()
        raise KeyError("head")

    def several(
        self, ways: Sequence[dict[str, Any]], seeds: int, updates: int, seconds: float, name: str
    ) -> None:
        """All ways, seed after seed, while time is left; lines by seed, then over the seeds."""
        began = time.perf_counter()
        curves: dict[int, list[dict[int, float]]] = defaultdict(list)
        facts: dict[int, list[dict[str, float]]] = defaultdict(list)
        longest = 0.0
        for seed in range(seeds):
            for n, way in enumerate(ways):
                start = time.perf_counter()
                if start - began + longest > seconds or self.left() < longest:
                    emit("skipped", part=name, seed=seed, **way)
                    continue
                curve, fact, flat = self.run(seed, updates=updates, **way)
                longest = max(longest, time.perf_counter() - start)
                if way["old"] == 0 and seed == 0 and name == "rate":
                    score = sum(curve.values()) / len(curve)
                    self.by_rate[score] = (way["rate"], flat)
                if n == 0 and seed == 0 and name == "learn":
                    self.trained = flat
                curves[n].append(curve)
                facts[n].append(fact)
                took = time.perf_counter() - start
                emit(f"{name}_run", seed=seed, **way, s=took, curve=curve, facts=fact)
        for n, way in enumerate(ways):
            if not curves[n]:
                continue
            label = {"rounding": "bf16"} | way
            for update in curves[n][0]:
                emit(
                    f"{name}_reward",
                    "value",
                    [c[update] for c in curves[n]],
                    **label,
                    update=update,
                )
            for level in (0.6, 0.8, 0.9):
                reached = [
                    min((u for u, r in c.items() if r >= level), default=-1) for c in curves[n]
                ]
                if min(reached) >= 0:
                    emit(f"{name}_reached", "update", reached, **label, level=level)
            emit(f"{name}_final", "value", [list(c.values())[-1] for c in curves[n]], **label)
            emit(f"{name}_best", "value", [max(c.values()) for c in curves[n]], **label)
            for key in facts[n][0]:
                emit(f"{name}_late_{key}", "value", [f[key] for f in facts[n]], **label)

    def rate(self, updates: int) -> None:
        """Learning rates against staleness, one seed."""
        ways = [
            {"old": old, "correction": "none", "rate": rate}
            for rate in (3e-5, 1e-4, 3e-4, 1e-3)
            for old in (0, 16)
        ]
        self.several(ways, 1, updates, 70, "rate")
        if self.by_rate and not self.main_rate:
            self.main_rate, self.trained = self.by_rate[max(self.by_rate)]
        emit("chosen_rate", rate=self.main_rate)

    def learn(self, updates: int, seconds: float) -> None:
        """Staleness and corrections, three seeds; then engines with rounded weights."""
        rate = self.main_rate or 1e-4
        ways: list[dict[str, Any]] = [
            {"old": old, "correction": correction, "rate": rate}
            for correction in ("none", "tis", "clip")
            for old in (0, 1, 4, 16)
        ]
        ways += [
            {"old": 0, "correction": correction, "rate": rate, "rounding": rounding}
            for rounding in ("fp8 weights", "int4 weights")
            for correction in ("none", "tis")
        ]
        self.several(ways, 3, updates, seconds, "learn")

    # ---------------------------------------------------------------- time
    def steps(self) -> None:
        """Where a step's time goes, by batch and by the engine's way to launch."""
        for name, flat in (("pretrained", self.base), ("trained", self.trained)):
            if flat is None:
                continue
            for prompts, graph in ((16, True), (64, True), (64, False), (256, True)):
                if name == "pretrained" and (prompts, graph) != (64, True):
                    continue
                if self.size.layers < 4 and prompts > 64:
                    continue
                torch.manual_seed(2)
                trainer = Trainer(self.size, flat, rate=0.0)
                engine = Engine(self.size, prompts * self.size.group, graph=graph)
                clock = Clock(on=True)
                tokens, steps, busy = [], [], []
                for n in range(25 if CUDA else 3):
                    if n == 5:
                        clock.found.clear()
                    clock.start()
                    engine.load(trainer.flat, trainer.model.head)
                    clock.end("weights")
                    batch = rollout(self.task, engine, prompts, clock)
                    trainer.learn(batch, "tis", self.size.group, clock)
                    tokens.append(float(batch.lengths.sum()))
                    steps.append(batch.steps)
                    busy.append(tokens[-1] / (engine.batch * batch.steps))
                labels = {"model": name, "responses": engine.batch, "graph": graph}
                total = [sum(one) for one in zip(*clock.found.values(), strict=False)]
                emit("step", "ms", [1e3 * s for s in total], **labels)
                for part, found in clock.found.items():
                    emit("part", "ms", [1e3 * s for s in found], part=part, **labels)
                    emit(
                        "share",
                        "value",
                        [quantile(found, 0.5) / quantile(total, 0.5)],
                        part=part,
                        **labels,
                    )
                emit("tokens", "token", tokens, **labels)
                emit("decode_steps", "step", [float(s) for s in steps], **labels)
                emit("slots_busy", "value", busy, **labels)
                del engine, trainer
        self.decode_time()

    def decode_time(self) -> None:
        """One decoding step by batch, launched one by one and as a graph."""
        assert self.base is not None
        for batch in (8, 32, 128, 512, 2048) if CUDA else (8,):
            for graph in (True, False):
                engine = Engine(self.size, batch, graph=graph)
                engine.load(self.base, engine.w["head"])
                found = []
                for n in range(12):
                    engine.at.zero_()
                    synchronize()
                    start = time.perf_counter()
                    with torch.no_grad():
                        for _ in range(min(32, self.size.response)):
                            engine.step()
                    synchronize()
                    if n > 1:
                        found.append((time.perf_counter() - start) / min(32, self.size.response))
                emit("decode", "us", [1e6 * s for s in found], batch=batch, graph=graph)
                del engine

    # ---------------------------------------------------------------- together
    def together(self) -> None:
        """Generation and training in turn, on two streams, in two processes."""
        flat = self.trained if self.trained is not None else self.base
        assert flat is not None
        for prompts in (64, 256) if CUDA else (self.size.prompts,):
            for way in ("in turn", "two streams", "two processes", "two GPUs"):
                if way == "two GPUs" and torch.cuda.device_count() < 2:
                    continue
                if self.left() < 25:
                    emit("skipped", part="together", way=way, prompts=prompts)
                    continue
                call = partial(together, self.size, flat, way, prompts)
                attempt(f"together: {way}, {prompts}", call)


def attempt(name: str, call: Callable[[], object]) -> None:
    """Run a part; a failure is a line, not the end."""
    start = time.perf_counter()
    try:
        call()
        failed = None
    except Exception as error:
        failed = f"{type(error).__name__}: {error}"[:500]
        traceback.print_exc()
    emit("part_end", part=name, s=time.perf_counter() - start, failed=failed)
    if CUDA:
        torch.cuda.empty_cache()


def main() -> None:
    """All parts, or the named ones; pretrain always."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tiny", action="store_true", help="small sizes, to try the program")
    parser.add_argument("--seconds", type=float, default=500)
    parser.add_argument("--learn-seconds", type=float, default=270)
    parser.add_argument("--updates", type=int, default=120)
    parser.add_argument("--rate", type=float, default=0.0, help="0: the best of the part rate")
    parser.add_argument("--parts", default="mismatch,rate,learn,after,steps,together")
    options = parser.parse_args()
    size = Size()
    if options.tiny:
        size = replace(
            size,
            layers=2,
            width=64,
            heads=2,
            modulus=8,
            most=6,
            median=3.0,
            prompts=4,
            group=4,
            supervised=40,
        )
    torch.backends.cuda.matmul.allow_tf32 = False
    versions(parts=options.parts, seeds=[0, 1, 2], rate=options.rate, updates=options.updates)
    bench = Bench(size, options.seconds, options.rate)
    parameters = sum(p.numel() for p in GPT(size).parameters())
    emit(
        "setting",
        parameters=parameters,
        length=size.length,
        response=size.response,
        **size.__dict__,
    )
    attempt("pretrain", bench.pretrain)
    parts = {
        "mismatch": bench.mismatch,
        "rate": lambda: bench.rate(options.updates),
        "learn": lambda: bench.learn(options.updates, options.learn_seconds),
        "after": lambda: after(bench),
        "steps": bench.steps,
        "together": bench.together,
    }
    for name, part in parts.items():
        if name in options.parts.split(","):
            attempt(name, part)


def after(bench: Bench) -> None:
    """What mismatch and lengths look like when GRPO has run."""
    if bench.trained is not None:
        bench.describe("trained", bench.trained)
        bench.mismatch("trained")


if __name__ == "__main__":
    main()
