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
import queue
import sys
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
import torch.multiprocessing as mp
from timing import CUDA, DEVICE, emit, quantile, synchronize, versions
from torch import Tensor, nn
from torch.nn import functional

BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32


@dataclass(frozen=True)
class Size:
    """The model, the task (numbers modulo `modulus`, at most `most` of them), the batch."""

    layers: int = 4
    width: int = 384
    heads: int = 6
    modulus: int = 32
    most: int = 32
    median: float = 8.0
    prompts: int = 64
    group: int = 8
    supervised: int = 1500

    @property
    def vocabulary(self) -> int:
        return self.modulus + 8  # numbers, PAD, EQUALS, ANSWER, END; four stay unused

    @property
    def prompt(self) -> int:
        return self.most + 1  # left-padded, EQUALS last

    @property
    def length(self) -> int:
        return -(-(self.prompt + 2 * self.most + 3) // 8) * 8

    @property
    def response(self) -> int:
        return self.length - self.prompt


DIRECT, MISTAKE = 0.5, 0.04  # of the demonstrations: answered at once; wrong partial sums


# --8<-- [start:task]
class Task:
    """Prompts `numbers =`; a response must end in `ANSWER sum END`."""

    def __init__(self, size: Size, device: str = DEVICE) -> None:
        self.size, self.device = size, device
        m = size.modulus
        self.pad, self.equals, self.answer, self.end = m, m + 1, m + 2, m + 3

    def draw(self, n: int) -> tuple[Tensor, Tensor, Tensor]:
        """Return prompts, the numbers from right to left, and how many each prompt has."""
        z = self.size
        spread = torch.randn(n, device=self.device).mul(0.6).exp()
        count = (spread * z.median).round().long().clamp(2, z.most)
        numbers = torch.randint(0, z.modulus, (n, z.most), device=self.device)
        used = torch.arange(z.most, device=self.device) < count[:, None]
        tokens = torch.full((n, z.prompt), self.equals, device=self.device)
        tokens[:, :-1] = numbers.masked_fill(~used, self.pad).flip(1)
        return tokens, numbers.masked_fill(~used, 0), count

    def prompts(self, n: int) -> tuple[Tensor, list[int]]:
        """Prompts and the right answers."""
        tokens, numbers, _ = self.draw(n)
        return tokens, (numbers.sum(1) % self.size.modulus).tolist()

    def reward(self, response: list[int], right: int) -> float:
        """The checker: 1 if the response ends with the right answer, else 0."""
        return float(response[-3:] == [self.answer, right, self.end])

    def demonstrations(self, n: int) -> tuple[Tensor, Tensor]:
        """Prompts with responses, PAD behind: half answer at once, half write partial sums."""
        z = self.size
        tokens, numbers, count = self.draw(n)
        slip = torch.rand(n, z.most, device=self.device) < MISTAKE
        off = torch.randint(1, z.modulus, (n, z.most), device=self.device) * slip
        sums = (numbers + off).cumsum(1) % z.modulus
        out = torch.full((n, z.response + 2), self.pad, device=self.device)
        out[:, 0 : 2 * z.most : 2], out[:, 1 : 2 * z.most : 2] = numbers, sums
        direct = torch.rand(n, device=self.device) < DIRECT
        final = torch.where(
            direct, numbers.sum(1) % z.modulus, sums.gather(1, count[:, None] - 1)[:, 0]
        )
        at = torch.where(direct, 0, 2 * count)
        out[torch.arange(out.shape[1], device=self.device) >= at[:, None]] = self.pad
        row = torch.arange(n, device=self.device)
        out[row, at], out[row, at + 1], out[row, at + 2] = self.answer, final, self.end
        return tokens, out[:, : z.response]


# --8<-- [end:task]


def rms(x: Tensor, gain: Tensor) -> Tensor:
    """RMS norm, in the type of x; PyTorch computes it in fp32."""
    return functional.rms_norm(x, (x.shape[-1],), gain, 1e-6)


class GPT(nn.Module):
    """A decoder whose parameters are views of one flat tensor; the trainer's forward pass."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        w = size.width
        self.token = nn.Parameter(torch.randn(size.vocabulary, w) * 0.02)
        self.place = nn.Parameter(torch.randn(size.length, w) * 0.02)
        self.norm = nn.Parameter(torch.ones(w))
        self.head = nn.Parameter(torch.randn(size.vocabulary, w) * 0.02)
        thin = 0.02 / math.sqrt(2 * size.layers)
        for layer in range(size.layers):
            for name, shape, scale in (
                ("qkv", (3 * w, w), 0.02),
                ("out", (w, w), thin),
                ("up", (4 * w, w), 0.02),
                ("down", (w, 4 * w), thin),
            ):
                self.register_parameter(f"{name}{layer}", nn.Parameter(torch.randn(shape) * scale))
            for name in ("norm_a", "norm_b"):
                self.register_parameter(f"{name}{layer}", nn.Parameter(torch.ones(w)))

    def flatten(self) -> tuple[Tensor, Tensor]:
        """Make parameters views of one tensor, gradients of another; return both."""
        parts = list(self.parameters())
        flat = torch.cat([p.detach().flatten() for p in parts])
        gradient, at = torch.zeros_like(flat), 0
        for p in parts:
            p.data = flat[at : at + p.numel()].view_as(p)
            p.grad = gradient[at : at + p.numel()].view_as(p)
            at += p.numel()
        return flat, gradient

    def forward(self, tokens: Tensor, since: int, head: torch.dtype | None = None) -> Tensor:
        """Logits behind the tokens from `since` on; head: the type of the last product."""
        z, p = self.size, dict(self.named_parameters())
        n, s = tokens.shape
        x = self.token[tokens] + self.place[:s]
        for layer in range(z.layers):
            qkv = functional.linear(rms(x, p[f"norm_a{layer}"]), p[f"qkv{layer}"])
            q, k, v = qkv.view(n, s, 3, z.heads, -1).permute(2, 0, 3, 1, 4)
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + functional.linear(y.transpose(1, 2).reshape(n, s, -1), p[f"out{layer}"])
            y = functional.linear(rms(x, p[f"norm_b{layer}"]), p[f"up{layer}"])
            x = x + functional.linear(functional.gelu(y, approximate="tanh"), p[f"down{layer}"])
        x = rms(x[:, since:], self.norm)
        if head is None:
            return functional.linear(x, self.head)
        with torch.autocast(DEVICE, enabled=False):
            return functional.linear(x.to(head), self.head.to(head))


# --8<-- [start:engine]
class Engine:
    """Rollouts: own copy of the weights, KV cache, one token for the whole batch at a time."""

    def __init__(
        self,
        size: Size,
        batch: int,
        kind: torch.dtype = BF16,
        head: torch.dtype | None = None,
        graph: bool = True,
        device: str = DEVICE,
    ) -> None:
        z = self.size = size
        self.batch, self.kind, self.head, self.device = batch, kind, head or kind, device
        model = GPT(z)
        self.flat = torch.zeros(
            sum(p.numel() for p in model.parameters()), dtype=kind, device=device
        )
        self.w, at = {}, 0
        for name, p in model.named_parameters():
            self.w[name] = self.flat[at : at + p.numel()].view(p.shape)
            at += p.numel()
        self.head_weight = torch.zeros(z.vocabulary, z.width, dtype=self.head, device=device)
        cache = (2, z.layers, batch, z.heads, z.length, z.width // z.heads)
        self.k, self.v = torch.zeros(cache, dtype=kind, device=device)
        whole = {"device": device, "dtype": torch.long}
        self.token, self.at = torch.zeros(batch, **whole), torch.zeros(1, **whole)
        self.out = torch.zeros(batch, z.response, **whole)
        self.logp = torch.zeros(batch, z.response, device=device)
        self.lengths = torch.zeros(batch, **whole)
        self.done = torch.zeros(batch, dtype=torch.bool, device=device)
        self.places = torch.arange(z.length, device=device)
        self.end, self.pad = Task(z).end, Task(z).pad
        self.step: Callable[[], object] = self.decode
        if graph and device.startswith("cuda"):
            try:
                self.step = self.captured()
            except RuntimeError as error:
                emit("no_graph", batch=batch, why=str(error)[:300])

    def captured(self) -> Callable[[], object]:
        """One decoding step as a CUDA graph."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.no_grad(), torch.cuda.stream(side):
            for _ in range(3):
                self.at.zero_()
                self.decode()
        torch.cuda.current_stream().wait_stream(side)
        self.at.zero_()
        graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.graph(graph):
            self.decode()
        return graph.replay

    @torch.no_grad()
    def load(
        self, flat: Tensor, head: Tensor, change: Callable[[Tensor], Tensor] | None = None
    ) -> None:
        """Take the trainer's weights (a flat tensor of any type); change: rounds matrices."""
        self.flat.copy_(flat)
        self.head_weight.copy_(head)
        if change:
            for name, w in self.w.items():
                if w.dim() == 2 and name not in ("token", "place", "head"):
                    w.copy_(change(w.float()))

    def layer(self, n: int, x: Tensor, attend: Callable[..., Tensor]) -> Tensor:
        """One layer of b x s x width; attend: what to do with queries, keys and values."""
        w, z = self.w, self.size
        b, s, _ = x.shape
        qkv = functional.linear(rms(x, w[f"norm_a{n}"]), w[f"qkv{n}"])
        q, k, v = qkv.view(b, s, 3, z.heads, -1).permute(2, 0, 3, 1, 4)
        y = attend(n, q, k, v).transpose(1, 2).reshape(b, s, -1)
        x = x + functional.linear(y, w[f"out{n}"])
        y = functional.linear(rms(x, w[f"norm_b{n}"]), w[f"up{n}"])
        return x + functional.linear(functional.gelu(y, approximate="tanh"), w[f"down{n}"])

    def with_cache(self, n: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """Put k and v into the cache, attend to all that is there."""
        at = self.at + (self.size.prompt - 1)
        self.k[n].index_copy_(2, at, k)
        self.v[n].index_copy_(2, at, v)
        mask = torch.zeros_like(self.places, dtype=self.kind)
        mask = mask.masked_fill(self.places > at, float("-inf")).view(1, 1, 1, -1)
        return functional.scaled_dot_product_attention(q, self.k[n], self.v[n], attn_mask=mask)

    def next(self) -> Tensor:
        """Log-probabilities of the next token of every response."""
        x = self.w["token"][self.token] + self.w["place"][self.at + (self.size.prompt - 1)]
        x = x[:, None]
        for n in range(self.size.layers):
            x = self.layer(n, x, self.with_cache)
        x = rms(x[:, 0], self.w["norm"]).to(self.head)
        return functional.linear(x, self.head_weight).float().log_softmax(-1)

    def decode(self) -> None:
        """Sample one token for every response, at temperature 1."""
        logp = self.next()
        noise = torch.empty_like(logp).exponential_()
        self.keep(logp, (logp.exp() / noise).argmax(-1))

    def keep(self, logp: Tensor, token: Tensor) -> None:
        token = token.masked_fill(self.done, self.pad)
        chosen = logp.gather(1, token[:, None]).masked_fill(self.done[:, None], 0)
        self.out.index_copy_(1, self.at, token[:, None])
        self.logp.index_copy_(1, self.at, chosen)
        self.lengths += ~self.done
        self.done |= token == self.end
        self.token.copy_(token)
        self.at += 1

    @torch.no_grad()
    def prefill(self, prompts: Tensor) -> None:
        """Fill the cache with the prompts; each prompt once, then copied to its group."""
        group = self.batch // len(prompts)

        def attend(n: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            s = k.shape[2]
            self.k[n, :, :, :s] = k.repeat_interleave(group, 0)
            self.v[n, :, :, :s] = v.repeat_interleave(group, 0)
            return functional.scaled_dot_product_attention(q, k, v, is_causal=True)

        given = prompts[:, :-1]  # EQUALS is the first input of decoding
        x = self.w["token"][given] + self.w["place"][: given.shape[1]]
        for n in range(self.size.layers):
            x = self.layer(n, x, attend)
        self.token.copy_(prompts[:, -1].repeat_interleave(group))
        self.at.zero_()
        self.done.zero_()
        self.lengths.zero_()
        self.out.fill_(self.pad)
        self.logp.zero_()

    @torch.no_grad()
    def respond(self) -> int:
        """Decode until all have ended; return the steps."""
        for step in range(self.size.response):
            self.step()
            if step % 8 == 7 and bool(self.done.all()):
                return step + 1
        return self.size.response

    @torch.no_grad()
    def score(self, prompts: Tensor, responses: Tensor) -> Tensor:
        """Log-probabilities of given responses, token by token through the cache."""
        self.prefill(prompts)
        for step in range(responses.shape[1]):
            self.keep(self.next(), responses[:, step])
        return self.logp[:, : responses.shape[1]].clone()


# --8<-- [end:engine]


@dataclass
class Batch:
    """What a rollout hands to training."""

    prompts: Tensor
    responses: Tensor
    logp: Tensor  # the engine's
    lengths: Tensor
    rewards: Tensor
    version: int = 0
    steps: int = 0


class Clock:
    """Seconds by part, when it is on; synchronizes at each edge."""

    def __init__(self, on: bool = False) -> None:
        self.on, self.found, self.last = on, defaultdict(list), 0.0

    def start(self) -> None:
        if self.on:
            synchronize()
            self.last = time.perf_counter()

    def end(self, part: str) -> None:
        if self.on:
            synchronize()
            now = time.perf_counter()
            self.found[part].append(now - self.last)
            self.last = now


OFF = Clock()


def rollout(
    task: Task, engine: Engine, prompts: int, clock: Clock = OFF, questions: Any = None
) -> Batch:
    """Generate a batch and check it."""
    clock.start()
    tokens, right = questions or task.prompts(prompts)
    clock.end("prompts")
    engine.prefill(tokens)
    clock.end("prefill")
    steps = engine.respond()
    clock.end("decode")
    group = engine.batch // len(tokens)
    out, lengths = engine.out.tolist(), engine.lengths.tolist()
    rewards = [
        task.reward(row[:length], right[n // group])
        for n, (row, length) in enumerate(zip(out, lengths, strict=True))
    ]
    clock.end("reward")
    return Batch(
        tokens.repeat_interleave(group, 0),
        engine.out.clone(),
        engine.logp.clone(),
        engine.lengths.clone(),
        torch.tensor(rewards, device=engine.device),
        steps=steps,
    )


class Trainer:
    """Weights in fp32, AdamW, products in BF16 by autocast."""

    def __init__(self, size: Size, flat: Tensor | None = None, rate: float = 1e-3) -> None:
        self.size = size
        self.model = GPT(size).to(DEVICE)
        self.flat, self.gradient = self.model.flatten()
        if flat is not None:
            self.flat.copy_(flat)
        parameter = nn.Parameter(self.flat)
        parameter.grad = self.gradient
        self.optimizer = torch.optim.AdamW(
            [parameter], lr=rate, betas=(0.9, 0.95), weight_decay=0.0, fused=CUDA
        )

    def logp(
        self,
        batch: Batch,
        kind: torch.dtype | None = BF16,
        head: torch.dtype | None = None,
        model: GPT | None = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Log-probabilities of the responses, which tokens count, and the entropy."""
        width = min(self.size.response, -(-int(batch.lengths.max()) // 8) * 8)
        tokens = torch.cat([batch.prompts, batch.responses[:, :width]], 1)
        with torch.autocast(DEVICE, kind or BF16, enabled=kind is not None):
            logits = (model or self.model)(tokens[:, :-1], self.size.prompt - 1, head)
        every = logits.float().log_softmax(-1)
        chosen = every.gather(2, tokens[:, self.size.prompt :, None])[..., 0]
        counts = torch.arange(width, device=chosen.device) < batch.lengths[:, None]
        entropy = -(every.detach().exp() * every.detach()).sum(-1)
        return chosen, counts, (entropy * counts).sum() / counts.sum()

    def step(self) -> Tensor:
        """Clip, update, forget the gradient; return its norm."""
        norm = self.gradient.norm()
        self.gradient.mul_((1.0 / (norm + 1e-6)).clamp(max=1))
        self.optimizer.step()
        self.gradient.zero_()
        return norm

    # --8<-- [start:learn]
    def learn(
        self, batch: Batch, correction: str, group: int, clock: Clock = OFF, cap: float = 2.0
    ) -> dict[str, float]:
        """One GRPO update from one batch."""
        clock.start()
        reward = batch.rewards.view(-1, group)
        advantage = (reward - reward.mean(1, keepdim=True)) / (reward.std(1, keepdim=True) + 1e-4)
        advantage = advantage.view(-1, 1)
        logp, counts, entropy = self.logp(batch)
        log_ratio = ((logp.detach() - batch.logp[:, : logp.shape[1]]) * counts).clamp(-20, 20)
        ratio = log_ratio.exp()
        if correction == "clip":  # PPO's, against the engine's probabilities
            moving = (logp - batch.logp[:, : logp.shape[1]]).clamp(-20, 20).exp()
            gain = torch.minimum(moving * advantage, moving.clamp(0.8, 1.2) * advantage)
        else:  # "tis": truncated importance sampling by token; "none": as if all were fresh
            weight = ratio.clamp(max=cap) if correction == "tis" else 1.0
            gain = weight * advantage * logp
        loss = -(gain * counts).sum() / counts.sum()
        clock.end("forward")
        loss.backward()
        clock.end("backward")
        norm = self.step()
        clock.end("optimizer")
        real = ratio[counts]
        looked = torch.stack(
            [
                batch.rewards.mean(),
                batch.lengths.float().mean(),
                entropy,
                norm,
                log_ratio[counts].abs().mean(),
                (real > cap).float().mean(),
                real.sum().square() / (real.square().sum() * len(real)),
                (real - 1 - log_ratio[counts]).mean(),
                (reward.std(1) == 0).float().mean(),
            ]
        ).tolist()
        names = "reward length entropy gradient drift above_cap effective kl alike".split()
        return dict(zip(names, looked, strict=True))

    # --8<-- [end:learn]


def eight_bits(w: Tensor) -> Tensor:
    """Rounded to FP8 (E4M3), a scale for each row."""
    scale = w.abs().amax(1, keepdim=True).clamp(min=1e-12) / 448
    return (w / scale).to(torch.float8_e4m3fn).float() * scale


def four_bits(w: Tensor) -> Tensor:
    """Rounded to 15 levels, a scale for each row."""
    scale = w.abs().amax(1, keepdim=True).clamp(min=1e-12) / 7
    return (w / scale).round() * scale


ROUNDED: dict[str, Callable[[Tensor], Tensor] | None] = {
    "bf16": None,
    "fp8 weights": eight_bits,
    "int4 weights": four_bits,
}


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


def publish(shared: Tensor, trainer: Trainer) -> None:
    """Weights to where the generator takes them, in BF16."""
    shared.copy_(trainer.flat)
    synchronize()


def generate(
    size: Size,
    device: str,
    prompts: int,
    shared: Tensor,
    lock: Any,
    version: Any,
    out: Any,
    stop: Any,
    engine: Engine | None = None,
) -> None:
    """Take the newest weights, generate, check, hand over; until told to stop."""
    engine = engine or Engine(size, prompts * size.group, device=device)
    task = Task(size, device)
    at = 0
    for name, w in engine.w.items():
        if name == "head":
            break
        at += w.numel()
    head = shared[at : at + engine.w["head"].numel()].view_as(engine.w["head"])
    while not stop.is_set():
        with lock:
            engine.load(shared, head)
            if CUDA:
                torch.cuda.current_stream().synchronize()
            made_by = version.value
        batch = rollout(task, engine, prompts)
        batch.version = made_by
        parts = [
            t.cpu()
            for t in (batch.prompts, batch.responses, batch.logp, batch.lengths, batch.rewards)
        ]
        start = time.perf_counter()
        while not stop.is_set():
            try:
                out.put((parts, made_by, batch.steps, start), timeout=0.2)
                break
            except queue.Full:
                continue


class Number:
    """A version that threads share."""

    value = 0


def generate_process(
    size: Size,
    device: str,
    prompts: int,
    shared: Tensor,
    lock: Any,
    version: Any,
    out: Any,
    stop: Any,
) -> None:
    """The generator in its own process."""
    if device.startswith("cuda"):
        torch.cuda.set_device(device)
    torch.manual_seed(4)
    with torch.no_grad():
        generate(size, device, prompts, shared, lock, version, out, stop)


def generate_thread(*arguments: Any) -> None:
    """The generator in a thread, on its own stream."""
    if not CUDA:
        generate(*arguments)
        return
    with torch.no_grad(), torch.cuda.stream(torch.cuda.Stream()):
        generate(*arguments)


def together(size: Size, flat: Tensor, way: str, prompts: int) -> None:
    """Time steps of one way; the rate of learning is 0, so all do the same work."""
    torch.manual_seed(3)
    trainer = Trainer(size, flat, rate=0.0)
    warm, count = (8, 48) if CUDA else (1, 3)
    ends, tokens, lags, waits = [], [], [], []
    labels = {"way": way, "responses": prompts * size.group}
    if way == "in turn":
        engine, task = Engine(size, prompts * size.group), Task(size)
        for _ in range(warm + count):
            engine.load(trainer.flat, trainer.model.head)
            batch = rollout(task, engine, prompts)
            trainer.learn(batch, "tis", size.group)
            synchronize()
            ends.append(time.perf_counter())
            tokens.append(int(batch.lengths.sum()))
            lags.append(0)
            waits.append(0.0)
    else:
        shared = torch.empty_like(trainer.flat, dtype=BF16)
        publish(shared, trainer)
        if way == "two streams":
            out, lock, stop, version = queue.Queue(1), threading.Lock(), threading.Event(), Number()
            engine = Engine(size, prompts * size.group)
            worker: Any = threading.Thread(
                target=generate_thread,
                args=(size, DEVICE, prompts, shared, lock, version, out, stop, engine),
                daemon=True,
            )
        else:
            there = mp.get_context("spawn")
            out, lock, stop, version = (
                there.Queue(1),
                there.Lock(),
                there.Event(),
                there.Value("i", 0),
            )
            device = "cuda:1" if way == "two GPUs" else ("cuda:0" if CUDA else "cpu")
            worker = there.Process(
                target=generate_process,
                args=(size, device, prompts, shared, lock, version, out, stop),
                daemon=True,
            )
        worker.start()
        try:
            for n in range(warm + count):
                start = time.perf_counter()
                parts, made_by, steps, _ = out.get(timeout=90)
                waits.append(time.perf_counter() - start)
                parts = [t.to(DEVICE) for t in parts]
                batch = Batch(*parts, version=made_by, steps=steps)
                trainer.learn(batch, "tis", size.group)
                with lock:
                    shared.copy_(trainer.flat)
                    if CUDA:
                        torch.cuda.current_stream().synchronize()
                    version.value = n + 1
                ends.append(time.perf_counter())
                tokens.append(int(batch.lengths.sum()))
                lags.append(n - made_by)
        finally:
            stop.set()
            worker.join(20)
            if way != "two streams" and worker.is_alive():
                worker.terminate()
    # Groups of eight steps: a queue makes single steps uneven.
    part = 8 if CUDA else 1
    spans, rates = [], []
    for at in range(warm, warm + count, part):
        span = ends[at + part - 1] - ends[at - 1]
        spans.append(1e3 * span / part)
        rates.append(sum(tokens[at : at + part]) / span)
    emit("together_step", "ms", spans, **labels)
    emit("together_rate", "token/s", rates, **labels)
    emit("together_lag", "update", [float(x) for x in lags[warm:]], **labels)
    emit("together_wait", "ms", [1e3 * x for x in waits[warm:]], **labels)


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
