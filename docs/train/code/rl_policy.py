"""What an RL run needs, small: a task that checks itself, a GPT, a rollout engine, a GRPO trainer.

Used by rl_run.py. The engine and the trainer compute the same model twice, as large systems do:
the engine in BF16 with a KV cache, one token at a time; the trainer whole sequences, by autocast.
"""

from __future__ import annotations

import math
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "chip/code"))
import torch
from timing import CUDA, DEVICE, emit, synchronize
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
